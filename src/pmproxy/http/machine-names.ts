/** Names and addresses of this machine, as a Host header may have them. docs/explanation/security.md */
import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { isLoopback } from '../../net/loopback.ts'

const HOSTS_FILE = '/etc/hosts'

/** Returns the host of a Host header in lower case, without port, brackets and the final dot of an absolute name. */
export function hostIn(header: string): string {
  return header
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
}

/**
 * Returns the names of a machine: `own` from the system, its first label, and names on the same lines of a hosts file. Other names in that
 * file do not count, even for loopback, because block lists map foreign names to it.
 */
export function machineNames(own: string, hostsFile: string): ReadonlySet<string> {
  const name = own.toLowerCase()
  const names = new Set([name, name.split('.', 1)[0]!])
  for (const line of hostsFile.split('\n')) {
    const [, ...aliases] = line.replace(/#.*/, '').toLowerCase().trim().split(/\s+/)
    if (aliases.includes(name)) for (const alias of aliases) names.add(alias)
  }
  names.delete('')
  return names
}

let known: ReadonlySet<string> | undefined

function ownNames(): ReadonlySet<string> {
  known ??= machineNames(hostname(), readHosts())
  return known
}

function readHosts(): string {
  try {
    return readFileSync(HOSTS_FILE, 'utf8')
  } catch {
    return '' // the file is optional
  }
}

/** Checks whether a host is this machine by its loopback address or a name that does not depend on DNS. */
export function isThisMachine(host: string): boolean {
  // Some names begin like an address.
  const isLoopbackAddress = isIP(host) !== 0 && isLoopback(host)
  return host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress || ownNames().has(host)
}

/** Checks whether a host to connect to is this machine, by its loopback address or one of its names. */
export function isLocalName(host: string): boolean {
  const name = host.toLowerCase()
  return name === 'localhost' || name === '127.0.0.1' || name === '::1' || ownNames().has(name)
}

/** Checks whether this is an address of this machine's interfaces; `reached` is the local address of the connection. */
export function isLocalAddress(host: string, reached: string | undefined): boolean {
  if (isIP(host) === 0) return false
  const own = new BlockList()
  const add = (address: string): void => own.addAddress(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  if (reached !== undefined) add(reached.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*/, ''))
  const isOwn = (): boolean => own.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
  if (isOwn()) return true
  for (const addresses of Object.values(networkInterfaces()))
    for (const { address } of addresses ?? []) add(address.replace(/%.*/, ''))
  return isOwn()
}
