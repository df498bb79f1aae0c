/** Security of the collector's connections: certificates, TLS, users. docs/explanation/security.md */
import { PcpError } from '../model/errors.ts'
import type { Credentials } from '../model/source.ts'
import type { PduConnection } from '../net/connection.ts'
import { LoginAttempts } from '../net/login-attempts.ts'
import { isLoopback } from '../net/loopback.ts'
import { Authenticator, type FindVerifier } from '../net/sasl/server.ts'
import { userFileLookup, userFilePath } from '../net/sasl/user-file.ts'
import { hasValidClientCertificate, type TlsServer, tlsServer } from '../net/tls.ts'
import { loadTlsConfig } from '../net/tls-config.ts'
import type { Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import { openAccounts } from '../sys/native/accounts.ts'
import {
  PDU_FLAG_AUTH,
  PDU_FLAG_CERT_REQD,
  PDU_FLAG_CREDS_REQD,
  PDU_FLAG_SECURE,
  PDU_FLAG_SECURE_ACK,
} from '../wire/creds.ts'
import type { HandshakePolicy } from './handshake.ts'
import { RateLimitedLog } from './rate-limited-log.ts'

/** Security options of a collector. */
export interface SecurityOptions extends ClientRequirements {
  /** Reads certificate and key, at the start and on each reload; returns undefined for no TLS. Throws PcpError. */
  readonly readTls?: () => TlsServer | undefined
  /** Looks up verifiers of users; without it clients cannot authenticate. */
  readonly findVerifier?: FindVerifier
  /** Returns the account of an authenticated user on this host. */
  readonly accountOf?: (user: string) => Pick<Credentials, 'uid' | 'gid'>
}

/** Requirements on clients. */
export interface ClientRequirements {
  /** Every client must be identified, by authentication or a unix socket. @see pmcd(1) -S */
  readonly requiresUser?: boolean
  /** Clients of other hosts must have a certificate. @see pmcd(1) -Q */
  readonly requiresCertificate?: boolean
}

/** A client that is connecting. */
export interface ConnectingClient {
  readonly connection: PduConnection
  /** Undefined for a unix socket. */
  readonly address: string | undefined
  readonly credentials: Credentials | undefined
  /** True if access rules name users or groups. */
  readonly isJudgedByUser: boolean
  /** Called after authentication. Throws PcpError if the user may not connect. */
  readonly loggedIn: (credentials: Credentials) => void
}

/** Returns the security options of a collector process: tls.conf, passwd.conf and the accounts of the host. */
export function processSecurity(
  variables: Variables,
  log: Log,
  demands: ClientRequirements = {},
): SecurityOptions {
  let accounts: ReturnType<typeof openAccounts> | undefined
  return {
    ...demands,
    readTls: () => tlsServer(loadTlsConfig(variables), (problem) => log.notice('warning', problem)),
    findVerifier: userFileLookup(userFilePath(variables), (problem) => log.notice('error', problem)),
    accountOf: (user) => {
      accounts ??= openAccounts()
      const [uid, gid] = [accounts.userId(user), accounts.firstGroupOf(user)]
      return { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) }
    },
  }
}

/** Security of a running collector. */
export class CollectorSecurity {
  readonly #options: SecurityOptions
  readonly #log: Log
  readonly #authenticator: Authenticator
  #tls: TlsServer | undefined
  /** Limits log lines to one per host and kind until the next reload. */
  readonly #rateLimit = new RateLimitedLog()
  readonly #attempts = new LoginAttempts({
    report: (origin, count) => {
      if (count > 1) this.#tell(`logins ${count}`, origin, `${count} failed or refused logins from ${origin}`)
    },
  })

  constructor(options: SecurityOptions, log: Log) {
    this.#options = options
    this.#log = log
    this.#authenticator = new Authenticator(options.findVerifier, this.#attempts)
  }

  /** True if TLS is offered. */
  get isSecure(): boolean {
    return this.#tls !== undefined
  }

  /** True if clients can authenticate. */
  get hasUsers(): boolean {
    return this.#options.findVerifier !== undefined
  }

  /** Requirements on clients. */
  get demands(): ClientRequirements {
    return this.#options
  }

  /** Reads the certificates. Throws PcpError if they are required but unusable; otherwise TLS is disabled. */
  start(): void {
    const { readTls, requiresCertificate = false } = this.#options
    try {
      this.#tls = readTls?.()
    } catch (error) {
      if (requiresCertificate) throw error
      this.#log.notice('error', `${PcpError.from(error).message}: connections are not encrypted`)
    }
    if (requiresCertificate && this.#tls?.hasCa !== true)
      throw new PcpError(
        'PM_ERR_TLS',
        'Client certificates are required (-Q), but tls.conf lacks tls-cert-file, tls-key-file or tls-ca-cert-file',
      )
  }

  /** Rereads the certificates; unusable ones do not replace the current ones. */
  reload(): void {
    this.#rateLimit.clear()
    try {
      const tls = this.#options.readTls?.()
      if (this.#options.requiresCertificate === true && tls?.hasCa !== true)
        throw new PcpError('PM_ERR_TLS', 'tls.conf lacks what -Q needs')
      this.#tls = tls
    } catch (error) {
      this.#log.notice('error', `Certificates left unchanged: ${PcpError.from(error).message}`)
    }
  }

  /** Returns what a new client may and must do in its handshake. */
  handshakePolicyFor({
    connection,
    address,
    credentials,
    isJudgedByUser,
    loggedIn,
  }: ConnectingClient): HandshakePolicy {
    const { requiresUser = false, requiresCertificate = false, accountOf } = this.#options
    const tls = this.#tls
    const authenticator = this.#authenticator
    const isUserNeeded = requiresUser || isJudgedByUser
    const needsCertificate = requiresCertificate && address !== undefined && !isLoopback(address)
    const host = address ?? 'this host'
    // A guest is not identified, so guests are refused where users are required.
    const takesGuests = address === undefined && !isUserNeeded
    const hasLogins = this.hasUsers || takesGuests
    connection.onClose((error) => {
      if (error.code === 'PM_ERR_TLS') this.#tell('tls', host, error.message)
    })
    return {
      features:
        (tls === undefined ? 0 : PDU_FLAG_SECURE | PDU_FLAG_SECURE_ACK) |
        (hasLogins ? PDU_FLAG_AUTH : 0) |
        (isUserNeeded ? PDU_FLAG_CREDS_REQD : 0) |
        (requiresCertificate ? PDU_FLAG_CERT_REQD : 0),
      needsLogin: isUserNeeded && credentials === undefined,
      needsCertificate,
      isUnix: address === undefined,
      ...(tls === undefined ? {} : { secure: secureWith(tls, connection, needsCertificate) }),
      ...(hasLogins
        ? {
            beginLogin: (isPrivate) =>
              authenticator.begin(isPrivate, { address, uid: credentials?.uid }, takesGuests),
          }
        : {}),
      loginFailed: (error) =>
        this.#tell('login', host, `Authentication of a client from ${host} failed: ${error.message}`),
      loggedIn: (user) => {
        const { pid } = credentials ?? {}
        if (user === undefined) loggedIn({ isGuest: true })
        else loggedIn({ ...(pid === undefined ? {} : { pid }), user, ...accountOf?.(user) })
      },
    }
  }

  #tell(kind: string, host: string, text: string): void {
    if (this.#rateLimit.isNew(`${kind} ${host}`)) this.#log.notice('warning', text)
  }
}

function secureWith(
  tls: TlsServer,
  connection: PduConnection,
  needsCertificate: boolean,
): NonNullable<HandshakePolicy['secure']> {
  return (done) => {
    connection.upgrade(({ readable }) => {
      const stream = tls.secure(readable as import('node:net').Socket)
      void stream.secured.then((socket) => {
        const isGood = !(tls.verifiesClients || needsCertificate) || hasValidClientCertificate(socket)
        done(isGood ? undefined : new PcpError('PM_ERR_NEEDCLIENTCERT'))
      })
      return stream
    })
  }
}
