/** Hosts found by a source: specification, name and labels. */
import { formatHostSpec, parseHostSpec } from '../net/host-spec.ts'

/** A host whose collector can be recorded. */
export interface DiscoveredHost {
  /** Host specification. */
  readonly spec: string
  /** Name for archives and people; need not be unique. */
  readonly name: string
  /** From the source, such as `namespace` and `pod`. */
  readonly labels: Readonly<Record<string, string>>
}

const DEFAULT_PORT = 44321
const MOST_NAME = 200

/** Returns the same text for specifications of the same collector: `db1`, `DB1:44321` and `pcp://db1`. Throws for an invalid one. */
export function hostKey(spec: string): string {
  const parsed = parseHostSpec(spec)
  if (parsed.scheme === 'unix' || parsed.scheme === 'local') return formatHostSpec(parsed)
  const hosts = parsed.hosts.map(({ name, ports }) => ({
    name: name.toLowerCase().replace(/\.$/, ''),
    ports: ports.length === 1 && ports[0] === DEFAULT_PORT ? [] : ports,
  }))
  return formatHostSpec({ ...parsed, scheme: parsed.scheme === 'pcp' ? undefined : parsed.scheme, hosts })
}

/** Returns a host for a specification, named by it. Throws for an invalid one. */
export function hostOf(spec: string, labels: Readonly<Record<string, string>> = {}): DiscoveredHost {
  hostKey(spec)
  return { spec, name: directoryOf(spec), labels }
}

/** Returns undefined for an invalid host, which is reported: the rest of its list counts. `what` names it. */
export function orSkipped<T>(make: () => T, say: (text: string) => void, what = 'host'): T | undefined {
  try {
    return make()
  } catch (error) {
    say(`${what} skipped: ${(error as Error).message.split('\n')[0]}`)
    return undefined
  }
}

/** Returns a specification of an address or name with a port. */
export function specOf(address: string, port: number): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`
}

/** Returns the host named by a specification as a file name: `db1` for `pcp://db1:44322?secure`. */
export function directoryOf(spec: string): string {
  const [host = ''] = spec.replace(/^[a-z]+:\/*/, '').split(/[?@]/)
  const name = host.replace(/^\[(.*?)\].*$/, '$1').replace(/^([^:]*):\d+(?:,.*)?$/, '$1')
  return fileName(name)
}

/** Returns a host's name as a file name. Collectors choose their names: none may lead out of the directory. */
export function fileName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, MOST_NAME)
  return /^\.*$/.test(safe) ? `host${safe.replaceAll('.', '_')}` : safe
}
