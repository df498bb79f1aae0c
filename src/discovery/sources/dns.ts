/** Names of DNS: SRV records, or all addresses of a name. */
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { PcpError } from '../../model/errors.ts'
import { type DiscoveredHost, fileName, hostOf, orSkipped, specOf } from '../host.ts'
import { type Found, polled } from '../polled.ts'
import type { SourceKind } from '../source.ts'

/** The look-ups of a name; tests pass their own. */
export interface DnsLookups {
  readonly srv: (name: string) => Promise<readonly { readonly name: string; readonly port: number }[]>
  /** Addresses with their time to live in seconds. */
  readonly addresses: (
    name: string,
    family: 4 | 6,
  ) => Promise<readonly { readonly address: string; readonly ttl: number }[]>
  /** The look-up of programs, which also reads /etc/hosts and applies search domains. */
  readonly system: (name: string) => Promise<readonly string[]>
}

/** Shortest time in milliseconds that an answer is kept, whatever its time to live. */
const LEAST_MS = 5_000
const TIMEOUT_MS = 5_000

export const dns: SourceKind = {
  name: 'dns',
  argument: 'NAME, NAME:PORT or _SERVICE._tcp.NAME',
  refreshMs: 30_000,
  graceMs: 0,
  options: [],
  open(argument, { refreshMs, port }, { clock, say }) {
    const find = finder(argument, port, networkLookups(), say)
    return polled(find, refreshMs, clock)
  },
}

/** Returns a function that looks a name up. Throws EINVAL for an invalid name. */
export function finder(
  argument: string,
  defaultPort: number,
  lookups: DnsLookups,
  say: (text: string) => void,
): () => Promise<Found> {
  const [, name = '', own = defaultPort] = /^([A-Za-z0-9._-]+?)(?::(\d{1,5}))?$/.exec(argument) ?? []
  const port = Number(own)
  if (name === '' || port < 1 || port > 65_535)
    throw new PcpError('EINVAL', `invalid name "${argument}": use ${dns.argument}`)
  return () => (name.startsWith('_') ? services(name, lookups, say) : addresses(name, port, lookups, say))
}

async function services(name: string, { srv }: DnsLookups, say: (text: string) => void): Promise<Found> {
  const records = await orEmpty(srv(name), name)
  const hosts = records.flatMap((record): DiscoveredHost | [] => {
    const target = record.name.replace(/\.$/, '')
    // An SRV record with the root as its target denies the service.
    if (target === '') return []
    return orSkipped(() => hostOf(specOf(target, record.port), { srv: name }), say) ?? []
  })
  return { hosts }
}

/** IPv6 addresses only count without any of IPv4: both are usually of the same hosts. */
async function addresses(
  name: string,
  port: number,
  lookups: DnsLookups,
  say: (text: string) => void,
): Promise<Found> {
  let found: readonly { readonly address: string; readonly ttl: number }[]
  try {
    found = await orEmpty(lookups.addresses(name, 4), name)
    if (found.length === 0) found = await orEmpty(lookups.addresses(name, 6), name)
  } catch (error) {
    // Names without a domain are only known to the system's look-up.
    if (PcpError.from(error).code !== 'ENOENT') throw error
    found = (await lookups.system(name)).map((address) => ({ address, ttl: Number.POSITIVE_INFINITY }))
  }
  const ttl = Math.min(...found.map((each) => each.ttl))
  const unique = [...new Set(found.map(({ address }) => address))]
  const hosts = unique.flatMap((address): DiscoveredHost | [] => {
    const host = orSkipped(() => hostOf(specOf(address, port), { dns: name }), say)
    return host === undefined ? [] : { ...host, name: fileName(unique.length === 1 ? name : address) }
  })
  return { hosts, againMs: Math.max(LEAST_MS, ttl * 1000) }
}

/** No record of this kind is an answer; an unknown name and a silent server are failures. */
async function orEmpty<T>(answer: Promise<readonly T[]>, name: string): Promise<readonly T[]> {
  try {
    return await answer
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (code === 'ENODATA') return []
    if (code === 'ENOTFOUND') throw new PcpError('ENOENT', `${name}: no such name in DNS`, { cause: error })
    throw new PcpError('EHOSTUNREACH', `${name}: DNS: ${(error as Error).message}`, { cause: error })
  }
}

function networkLookups(): DnsLookups {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  return {
    srv: (name) => resolver.resolveSrv(name),
    addresses: (name, family) =>
      family === 4 ? resolver.resolve4(name, { ttl: true }) : resolver.resolve6(name, { ttl: true }),
    system: async (name) => {
      try {
        const all = await systemLookup(name, { all: true })
        const four = all.filter(({ family }) => family === 4)
        return (four.length > 0 ? four : all).map(({ address }) => address)
      } catch (error) {
        throw new PcpError('ENOENT', `${name}: no such name in DNS`, { cause: error })
      }
    },
  }
}
