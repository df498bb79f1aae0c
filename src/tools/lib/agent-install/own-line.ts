/** Lines of own agents in the pmcd.conf of an instance: which names and domains are taken, and how a line is written. pmcd(1) */
import { AGENTS } from '../../../agents/registry.ts'
import { PcpError } from '../../../model/errors.ts'
import { type AgentConfig, parseConfig } from '../../../routing/pmcd-conf.ts'

/** How the collector runs an own agent: in its own process, in a thread of the collector, in the collector's thread. */
export type OwnKind = 'daemon' | 'thread' | 'dso'

export const OWN_KINDS: readonly OwnKind[] = ['daemon', 'thread', 'dso']

/** Name and domain of an agent. */
export interface NamedDomain {
  readonly name: string
  readonly domain: number
}

/** Range of domains for agents of a site; agents that come with PCP have lower ones. */
const FIRST = 385
const LAST = 510
/** Longest line that a collector reads. */
const MAX_LINE = 2000

/** Agents of this package, whose names and domains are never given to others, started or not. */
export const RESERVED: readonly NamedDomain[] = [{ name: 'pmcd', domain: 2 }, ...AGENTS]

/** Returns the agents of a pmcd.conf. Throws PM_ERR_CONV for a file with errors, which a change would not mend. */
export function ownLines(text: string, path: string): readonly AgentConfig[] {
  const { agents, problems, isValid } = parseConfig(text)
  if (!isValid) throw new PcpError('PM_ERR_CONV', `${path}${problems[0] ?? ''}: correct it first`)
  return agents
}

/**
 * Returns the agent's domain: the requested one, its own, the one it had before, or the highest free one. Throws EEXIST, naming
 * the other agent, if the name or domain is taken.
 */
export function chooseDomain(
  name: string,
  { requested, stated }: { readonly requested: number | undefined; readonly stated: number | undefined },
  others: readonly NamedDomain[],
  former: NamedDomain | undefined,
): number {
  const reserved = RESERVED.find((each) => each.name === name)
  if (reserved !== undefined)
    throw new PcpError('EEXIST', `pcp-ts has an agent "${name}": give yours another name`)
  const taken = [...RESERVED, ...others]
  const holder = (domain: number): NamedDomain | undefined => taken.find((each) => each.domain === domain)
  const wanted = requested ?? stated
  if (wanted !== undefined) {
    const other = holder(wanted)
    if (other === undefined) return wanted
    throw new PcpError(
      'EEXIST',
      `Agent "${name}": domain ${wanted} belongs to agent "${other.name}"; choose another with --domain, e.g. ${free(holder)}`,
    )
  }
  if (former !== undefined && holder(former.domain) === undefined) return former.domain
  return free(holder)
}

function free(holder: (domain: number) => NamedDomain | undefined): number {
  for (let domain = LAST; domain >= FIRST; domain--) if (holder(domain) === undefined) return domain
  throw new PcpError(
    'PM_ERR_TOOBIG',
    `Every domain from ${FIRST} to ${LAST} is in use: remove an agent first`,
  )
}

/** Returns the text after name and domain, for a module or a command. */
export function lineOf(
  subject: { readonly file: string; readonly kind: OwnKind } | { readonly argv: readonly string[] },
): string {
  const words =
    'argv' in subject
      ? ['pipe', 'binary', ...subject.argv.map(quoted)]
      : ['dso', ENTRIES[subject.kind], quoted(subject.file)]
  const line = words.join('\t')
  if (line.length > MAX_LINE)
    throw new PcpError(
      'PM_ERR_TOOBIG',
      `The command line has more than ${MAX_LINE} characters: write a script for it`,
    )
  return line
}

/** The entry of pmcd.conf for each kind. */
const ENTRIES: Readonly<Record<OwnKind, string>> = {
  daemon: 'daemon:agent',
  thread: 'worker:agent',
  dso: 'agent',
}

/** Returns the kind of a line, as users write it. */
export function kindOf(line: AgentConfig): OwnKind | 'command' | 'socket' {
  switch (line.kind) {
    case 'worker':
      return 'thread'
    case 'pipe':
      return 'command'
    default:
      return line.kind
  }
}

/** Returns the module or the command of a line. */
export function subjectOf(line: AgentConfig): string {
  if (line.kind === 'socket' || line.kind === 'pipe') return line.argv.join(' ')
  return line.path
}

function quoted(word: string): string {
  if (/[\n\\]/.test(word))
    throw new PcpError(
      'EINVAL',
      `A path or argument of an agent must have no line end and no backslash: ${word}`,
    )
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `"${word.replace(/["#]/g, '\\$&')}"`
}
