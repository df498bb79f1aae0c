/** The client's end of an authentication. docs/formats/wire.md §4.3, docs/security.md */
import { decodeText, encodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { GUEST_MECHANISM, MECHANISMS, type Mechanism } from './mechanism.ts'
import { checkServer, proveScram, startScram } from './scram.ts'

/** Who to be. */
export interface Login {
  readonly user: string
  readonly password: string
  /** Mechanism to use, in any case of letters; default: the best that both ends have. */
  readonly method?: string
}

/** Gives up who we are. */
export const GUEST_LOGIN: Login = { user: 'guest', password: '', method: GUEST_MECHANISM }

/** What is known about the connection. */
export interface Channel {
  /** Others cannot read it: TLS or a unix socket. */
  readonly isPrivate: boolean
  /** The collector is who it says: its certificate was checked, or it owns the unix socket. */
  readonly isVerified: boolean
}

/** Messages to and from the server. */
export interface SaslTransport {
  readonly send: (message: Uint8Array) => void
  /** The server's next message; rejects with what it refuses with. */
  readonly receive: () => Promise<Uint8Array>
}

/**
 * Authenticates; the server speaks first. Resolves when everything is said, which for PLAIN is before the server has
 * judged it. Rejects with a SASL status, EACCES for a password that others could read on its way.
 */
export async function authenticate(login: Login, channel: Channel, transport: SaslTransport): Promise<void> {
  const offered = decodeText(await transport.receive()).split(' ')
  const mechanism = choose(offered, login.method, channel)
  if (mechanism === GUEST_MECHANISM) transport.send(encodeText(mechanism))
  else if (mechanism === 'PLAIN') plain(login, transport)
  else await scram(login, transport)
}

/** Throws when nothing offered is fit for this channel. */
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
      `No common way to authenticate: the collector offers ${offered.join(', ') || 'none'}, we have ${MECHANISMS.join(', ')}${method === undefined ? '' : `, asked for is ${method}`}`,
    )
  if (common === 'PLAIN' && !channel.isPrivate)
    throw new PcpError('EACCES', 'PLAIN sends the password readable for others: use pcps:// or SCRAM-SHA-256')
  // Whoever pretends to be the collector would offer PLAIN alone, and get the password.
  if (common === 'PLAIN' && asked === undefined && !channel.isVerified)
    throw new PcpError(
      'EACCES',
      'PLAIN hands the password to a collector whose certificate was not checked: set tls-ca-cert-file in tls.conf, or ask for it with method=plain',
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
