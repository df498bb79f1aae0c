/** How the collector's connections are protected: certificates, TLS, users. docs/security.md */
import { PcpError } from '../model/errors.ts'
import type { Credentials } from '../model/source.ts'
import type { PduConnection } from '../net/connection.ts'
import { LoginAttempts } from '../net/login-attempts.ts'
import { isLoopback } from '../net/loopback.ts'
import { Authenticator, type FindVerifier } from '../net/sasl/server.ts'
import { userFilePath, usersIn } from '../net/sasl/user-file.ts'
import { hasGoodCertificate, type TlsServer, tlsServer } from '../net/tls.ts'
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
import type { Gate } from './handshake.ts'
import { RateLimitedLog } from './rate-limited-log.ts'

/** What protects a collector. */
export interface SecurityOptions extends Demands {
  /** Reads certificate and key, at the start and with each new configuration; undefined: no TLS. Throws PcpError. */
  readonly readTls?: () => TlsServer | undefined
  /** Finds users; without it nobody can authenticate. */
  readonly findVerifier?: FindVerifier
  /** The account of an authenticated user on this host. */
  readonly accountOf?: (user: string) => Pick<Credentials, 'uid' | 'gid'>
}

/** What clients must do. */
export interface Demands {
  /** All must be known, by authentication or by a unix socket. @see pmcd(1) -S */
  readonly requiresUser?: boolean
  /** Those from other hosts must have a certificate. @see pmcd(1) -Q */
  readonly requiresCertificate?: boolean
}

/** What is known of a client when it connects. */
export interface Visitor {
  readonly connection: PduConnection
  /** Undefined for a unix socket. */
  readonly address: string | undefined
  readonly credentials: Credentials | undefined
  /** Do access rules ask for users? */
  readonly isJudgedByUser: boolean
  /** It has proved who it is. Throws PcpError when that one may not connect. */
  readonly loggedIn: (credentials: Credentials) => void
}

/** What a collector process is protected by: tls.conf, passwd.conf and the accounts of the host. */
export function securityOf(variables: Variables, log: Log, demands: Demands = {}): SecurityOptions {
  let accounts: ReturnType<typeof openAccounts> | undefined
  return {
    ...demands,
    readTls: () => tlsServer(loadTlsConfig(variables), (problem) => log.notice('warning', problem)),
    findVerifier: usersIn(userFilePath(variables), (problem) => log.notice('error', problem)),
    accountOf: (user) => {
      accounts ??= openAccounts()
      const [uid, gid] = [accounts.userId(user), accounts.firstGroupOf(user)]
      return { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) }
    },
  }
}

/** What protects a running collector. */
export class Security {
  readonly #options: SecurityOptions
  readonly #log: Log
  readonly #authenticator: Authenticator
  #tls: TlsServer | undefined
  /** What has been logged since the last reading of the configuration: one line for each host and kind. */
  readonly #told = new RateLimitedLog()
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

  /** Is TLS offered? */
  get isSecure(): boolean {
    return this.#tls !== undefined
  }

  /** Can clients authenticate? */
  get hasUsers(): boolean {
    return this.#options.findVerifier !== undefined
  }

  /** What clients must do. */
  get demands(): Demands {
    return this.#options
  }

  /** Reads the certificates. Throws PcpError when they are needed and cannot be used; otherwise there is no TLS. */
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

  /** Reads the certificates again; those that cannot be used do not replace the present ones. */
  reload(): void {
    this.#told.clear()
    try {
      const tls = this.#options.readTls?.()
      if (this.#options.requiresCertificate === true && tls?.hasCa !== true)
        throw new PcpError('PM_ERR_TLS', 'tls.conf lacks what -Q needs')
      this.#tls = tls
    } catch (error) {
      this.#log.notice('error', `Certificates left unchanged: ${PcpError.from(error).message}`)
    }
  }

  /** What lies between a client and its first request. */
  gateFor({ connection, address, credentials, isJudgedByUser, loggedIn }: Visitor): Gate {
    const { requiresUser = false, requiresCertificate = false, accountOf } = this.#options
    const tls = this.#tls
    const authenticator = this.#authenticator
    const isUserNeeded = requiresUser || isJudgedByUser
    const needsCertificate = requiresCertificate && address !== undefined && !isLoopback(address)
    const host = address ?? 'this host'
    // A guest is not known, and so not admitted where users must be.
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
    if (this.#told.isNew(`${kind} ${host}`)) this.#log.notice('warning', text)
  }
}

function secureWith(
  tls: TlsServer,
  connection: PduConnection,
  needsCertificate: boolean,
): NonNullable<Gate['secure']> {
  return (done) => {
    connection.upgrade(({ readable }) => {
      const stream = tls.secure(readable as import('node:net').Socket)
      void stream.secured.then((socket) => {
        const isGood = !(tls.verifiesClients || needsCertificate) || hasGoodCertificate(socket)
        done(isGood ? undefined : new PcpError('PM_ERR_NEEDCLIENTCERT'))
      })
      return stream
    })
  }
}
