/**
 * Security of an outgoing connection: TLS and authentication. docs/explanation/security.md
 *
 *     challenge ──► CREDS ──► [ACK ──► TLS] ──► [SASL] ──► [container] ──► [probe]
 */
import { PcpError, statusOf } from '../model/errors.ts'
import { decodeAttr, encodeAttr, PCP_ATTR_NONE } from '../wire/attr.ts'
import {
  PDU_FLAG_AUTH,
  PDU_FLAG_CERT_REQD,
  PDU_FLAG_CREDS_REQD,
  PDU_FLAG_SECURE,
  PDU_FLAG_SECURE_ACK,
} from '../wire/creds.ts'
import { decodeError } from '../wire/error.ts'
import { newPdu, PDU_ATTR, PDU_CONTROL_REQ, PDU_ERROR, PDU_HEADER, pduBytes, pduType } from '../wire/pdu.ts'
import type { PduConnection } from './connection.ts'
import { type Env, type HostSpec, hostAttr } from './host-spec.ts'
import { nextPdu } from './next-pdu.ts'
import { authenticate, type Login } from './sasl/client.ts'
import { type SecureStream, tlsClient } from './tls.ts'
import { loadTlsConfig } from './tls-config.ts'
import { waitFor } from './wait.ts'

/** Security that a host specification requests. */
export interface RequestedSecurity {
  /** 'relaxed': if the collector offers TLS. */
  readonly tls: 'off' | 'relaxed' | 'enforce'
  /** Credentials; undefined to connect without authentication. */
  readonly login: Login | undefined
}

/** The collector, as far as security depends on it. */
export interface SecurityPeer {
  /** Name in messages. */
  readonly name: string
  /** Undefined for a unix socket. */
  readonly host: string | undefined
  /** Reached through a unix socket or a loopback address. */
  readonly isLocal: boolean
  /** PDU_FLAG_* it offers. */
  readonly features: number
}

/** Timeout and abort signal. */
export interface HandshakeLimit {
  readonly ms: number
  readonly signal: AbortSignal | undefined
}

const LOGIN_ATTRS = ['username', 'password', 'method', 'realm', 'userauth']
const PERMISSION = statusOf('PM_ERR_PERMISSION')
const IPC = statusOf('PM_ERR_IPC')

/** Returns the security that a specification and PCP_SECURE_SOCKETS request. Throws EINVAL for an incomplete login. */
export function requestedSecurity(spec: HostSpec, env: Env): RequestedSecurity {
  const asked = hostAttr(spec, 'secure') ?? (spec.scheme === 'pcps' ? 'enforce' : env['PCP_SECURE_SOCKETS'])
  const tls = asked === undefined ? 'off' : asked === 'relaxed' ? 'relaxed' : 'enforce'
  if (LOGIN_ATTRS.every((name) => hostAttr(spec, name) === undefined)) return { tls, login: undefined }
  const [user, password, method] = ['username', 'password', 'method'].map((name) => hostAttr(spec, name))
  if (!user || password === undefined)
    throw new PcpError(
      'EINVAL',
      'Authentication needs a name and a password: ?username=NAME&password=PASSWORD',
    )
  return { tls, login: { user, password, ...(method ? { method } : {}) } }
}

/**
 * Returns the flags to answer a challenge with. Throws ENOTSUP for a requested feature that the collector does not
 * offer, PM_ERR_NEEDCLIENTCERT or PM_ERR_PERMISSION for a required one that was not requested.
 */
export function wantedFlags(
  { tls, login }: RequestedSecurity,
  { name, host, isLocal, features }: SecurityPeer,
): number {
  const offers = (flag: number): boolean => (features & flag) !== 0
  const isSecure = tls !== 'off' && offers(PDU_FLAG_SECURE)
  if (tls === 'enforce' && !isSecure)
    throw new PcpError(
      'ENOTSUP',
      `${name} offers no encryption: set tls-cert-file and tls-key-file in its tls.conf`,
    )
  if (offers(PDU_FLAG_CERT_REQD) && !isLocal && !isSecure)
    throw new PcpError(
      'PM_ERR_NEEDCLIENTCERT',
      `${name} requires a client certificate: connect with pcps:// and set tls-client-cert-file in tls.conf`,
    )
  if (login !== undefined && !offers(PDU_FLAG_AUTH))
    throw new PcpError('ENOTSUP', `${name} offers no authentication`)
  const isUserRequired = offers(PDU_FLAG_CREDS_REQD) && host !== undefined
  if (isUserRequired && login === undefined)
    throw new PcpError(
      'PM_ERR_PERMISSION',
      `${name} wants to know who you are: add ?username=NAME&password=PASSWORD to the host`,
      { reason: 'login-required' },
    )
  return (
    (isSecure ? PDU_FLAG_SECURE | (features & PDU_FLAG_SECURE_ACK) : 0) |
    (login === undefined ? 0 : PDU_FLAG_AUTH) |
    (isUserRequired ? PDU_FLAG_CREDS_REQD : 0)
  )
}

/**
 * Encrypts a connection whose CREDS were sent with `flags`. Resolves to whether the collector's certificate was
 * verified. Rejects with PM_ERR_TLS or the collector's error.
 */
export async function startTls(
  connection: PduConnection,
  peer: SecurityPeer,
  flags: number,
  env: Env,
  patience: HandshakeLimit,
): Promise<boolean> {
  const { isVerifying, secure } = tlsClient(loadTlsConfig(env), peer)
  if ((flags & PDU_FLAG_SECURE_ACK) !== 0) {
    const { status } = decodeError(await nextPdu(connection, patience))
    if (status < 0) throw PcpError.fromStatus(status, `${peer.name} refuses TLS`)
  }
  const { ms, signal } = patience
  const late = (): PcpError => new PcpError('PM_ERR_TLS', `${peer.name}: no TLS handshake within ${ms} ms`)
  await waitFor<true>(
    { ms, createTimeoutError: late, signal, what: `Encrypting the connection to ${peer.name}` },
    (end) => {
      connection.onClose(end)
      connection.upgrade(({ readable }) => {
        const stream: SecureStream = secure(readable as import('node:net').Socket)
        void stream.secured.then(() => end(true))
        return stream
      })
      return () => undefined
    },
  )
  return isVerifying
}

/** Authenticates to the collector. Rejects with a SASL status as soon as the collector reports a failure. */
export async function logIn(
  connection: PduConnection,
  peer: SecurityPeer,
  login: Login,
  channel: { readonly isSecure: boolean; readonly isVerified: boolean },
  patience: HandshakeLimit,
): Promise<void> {
  const isUnix = peer.host === undefined
  await authenticate(
    login,
    { isPrivate: channel.isSecure || isUnix, isVerified: channel.isVerified || isUnix },
    {
      send: (message) => connection.send(encodeAttr(PCP_ATTR_NONE, message)),
      receive: async () => {
        const pdu = await nextPdu(connection, patience)
        refuseError(pdu, peer, login)
        if (pduType(pdu) !== PDU_ATTR) throw new PcpError('PM_ERR_IPC', `${peer.name}: not a SASL message`)
        const { key, value } = decodeAttr(pdu)
        if (key !== PCP_ATTR_NONE)
          throw new PcpError('PM_ERR_IPC', `${peer.name}: attribute ${key}, not SASL`)
        return value.slice()
      },
    },
  )
}

/**
 * Checks that the collector accepted the client, which it never confirms: sends a request of unknown type. The answer is
 * either PM_ERR_IPC for that request, or the reason of a rejection.
 */
export async function verifyAcceptance(
  connection: PduConnection,
  peer: SecurityPeer,
  login: Login,
  patience: HandshakeLimit,
): Promise<void> {
  connection.send(pduBytes(newPdu(PDU_HEADER, PDU_CONTROL_REQ, 0)))
  refuseError(await nextPdu(connection, patience), peer, login, IPC)
}

function refuseError(pdu: Uint8Array, peer: SecurityPeer, login: Login, expected?: number): void {
  if (pduType(pdu) !== PDU_ERROR) return
  const { status } = decodeError(pdu)
  if (status === expected) return
  const what = `Authentication of ${JSON.stringify(login.user)} by ${peer.name}`
  if (status === PERMISSION)
    throw new PcpError('PM_ERR_PERMISSION', `${what}: this user has no permission to connect`)
  throw PcpError.fromStatus(status < 0 ? status : IPC, what)
}
