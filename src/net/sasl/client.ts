/** The client's end of an authentication. docs/formats/wire.md §4.3, docs/explanation/security.md */
import { decodeText, encodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { GUEST_MECHANISM, MECHANISMS, type Mechanism } from './mechanism.ts'
import { checkServer, proveScram, startScram } from './scram.ts'

/** Credentials to log in with. */
export interface Login {
  readonly user: string
  readonly password: string
  /** Mechanism, case-insensitive; default: the best that both ends support. */
  readonly method?: string
}

/** Drops our identity. */
export const GUEST_LOGIN: Login = { user: 'guest', password: '', method: GUEST_MECHANISM }

/** Security of the connection. */
export interface Channel {
  /** Protected from eavesdropping: TLS or a unix socket. */
  readonly isPrivate: boolean
  /** The collector's identity is verified: by its certificate or as owner of the unix socket. */
  readonly isVerified: boolean
}

/** Exchanges messages with the server. */
export interface SaslTransport {
  readonly send: (message: Uint8Array) => void
  /** Returns the server's next message; rejects with its error. */
  readonly receive: () => Promise<Uint8Array>
}

/**
 * Authenticates; the server sends first. Resolves after the last message, which for PLAIN is before the server has
 * checked the password. Rejects with a SASL status, or EACCES for a password that would be sent in the clear.
 */
export async function authenticate(login: Login, channel: Channel, transport: SaslTransport): Promise<void> {
  const offered = decodeText(await transport.receive()).split(' ')
  const mechanism = choose(offered, login.method, channel)
  if (mechanism === GUEST_MECHANISM) transport.send(encodeText(mechanism))
  else if (mechanism === 'PLAIN') plain(login, transport)
  else await scram(login, transport)
}

/** Throws when no offered mechanism is suitable for this channel. */
function choose(
  offered: readonly string[],
  method: string | undefined,
  channel: Channel,
): Mechanism | typeof GUEST_MECHANISM {
  const asked = method?.toUpperCase()
  const all = [...MECHANISMS, GUEST_MECHANISM] as const
  const known = asked === undefined ? MECHANISMS : all.filter((name) => name === asked)
  const common = known.find((name) => offered.includes(name))
  if (common === undefined)
    throw new PcpError(
      'SASL_NOMECH',
      `No common way to authenticate: the collector offers ${offered.join(', ') || 'none'}, we have ${MECHANISMS.join(', ')}${method === undefined ? '' : `, requested is ${method}`}`,
    )
  if (common === 'PLAIN' && !channel.isPrivate)
    throw new PcpError('EACCES', 'PLAIN would send the password in the clear: use pcps:// or SCRAM-SHA-256')
  // An impostor would offer PLAIN only, to get the password.
  if (common === 'PLAIN' && asked === undefined && !channel.isVerified)
    throw new PcpError(
      'EACCES',
      'PLAIN hands the password to a collector whose certificate was not checked: set tls-ca-cert-file in tls.conf, or request it with method=plain',
    )
  return common
}

function plain({ user, password }: Login, transport: SaslTransport): void {
  if (`${user}${password}`.includes('\0')) throw new PcpError('EINVAL', 'A NUL in a user name or password')
  transport.send(encodeText(`PLAIN\0\0${user}\0${password}`))
}

async function scram({ user, password }: Login, transport: SaslTransport): Promise<void> {
  const start = startScram(user)
  transport.send(encodeText(`SCRAM-SHA-256\0${start.message}`))
  const challenge = decodeText(await transport.receive())
  const proof = await proveScram(start, challenge, password)
  transport.send(encodeText(proof.message))
  const last = decodeText(await transport.receive())
  if (last === '') throw new PcpError('SASL_BADSERV', 'The server does not prove that it knows the password')
  if (!last.startsWith('v=') && !last.startsWith('e='))
    throw new PcpError('SASL_BADPROT', 'Not the last message of SCRAM')
  checkServer(last, proof.serverSignature)
  transport.send(new Uint8Array(0))
}
