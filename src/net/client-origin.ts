/** Origin of a client, the unit that limits apply to. docs/explanation/security.md */
import { isLoopback } from './loopback.ts'

/** Address or user that a client connects from. */
export interface ClientOrigin {
  /** Undefined for a unix socket. */
  readonly address: string | undefined
  /** Peer user of a unix socket, where the kernel reports it. */
  readonly uid?: number | undefined
}

const IPV6_NETWORK_GROUPS = 4

/** Returns the origin of a client: a user of this machine, an IPv4 address, or an IPv6 /64 network, within which a host can choose any address. */
export function originOf({ address, uid }: ClientOrigin): string {
  if (address === undefined) return uid === undefined ? 'this host' : `user ${uid} of this host`
  if (isLoopback(address)) return 'loopback'
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  return `${networkOf(address)}/64`
}

/** Returns the first half of an IPv6 address. */
function networkOf(address: string): string {
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const groups = head.split(':').filter((group) => group !== '')
  const last = (tail ?? '').split(':').filter((group) => group !== '')
  while (tail !== undefined && groups.length + last.length < 2 * IPV6_NETWORK_GROUPS) groups.push('0')
  return `${[...groups, ...last].slice(0, IPV6_NETWORK_GROUPS).join(':')}::`
}
