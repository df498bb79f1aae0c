/** A list of hosts: a file with a host specification in each line. */
import { parseHostSpec } from '../../net/host-spec.ts'
import { type DiscoveredHost, hostOf, orSkipped } from '../host.ts'
import { polled } from '../polled.ts'
import { readSmall, sourcePath } from '../read-small.ts'
import type { SourceKind } from '../source.ts'

export const list: SourceKind = {
  name: 'list',
  argument: 'FILE',
  refreshMs: 5_000,
  graceMs: 0,
  options: [],
  open(argument, { refreshMs, port }, io) {
    const path = sourcePath(argument, io.cwd)
    return polled(() => ({ hosts: parseList(readSmall(path), port, io.say) }), refreshMs, io.clock)
  },
}

/** Parses lines of host specifications; `#` begins a comment. Invalid lines are reported and skipped. */
export function parseList(text: string, port: number, say: (text: string) => void): DiscoveredHost[] {
  return text.split('\n').flatMap((line) => {
    const spec = line.replace(/(^|\s)#.*/, '').trim()
    if (spec === '') return []
    const host = orSkipped(() => hostOf(withPort(spec, port)), say)
    return host === undefined ? [] : [host]
  })
}

/** Adds a port to a specification of one host without any. */
function withPort(spec: string, port: number): string {
  const { hosts, scheme } = parseHostSpec(spec)
  const isPlain = scheme === undefined && hosts.length === 1 && hosts[0]!.ports.length === 0
  if (!isPlain || port === 44321) return spec
  const [host = '', ...attrs] = spec.split('?')
  return [`${host}:${port}`, ...attrs].join('?')
}
