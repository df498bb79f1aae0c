/** The command line of pcp ss, like that of ss(8). pcp-ss(1) */
import { type GivenOption, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { STANDARD } from '../lib/standard.ts'

/** The parsed command line. */
export interface SsOptions {
  readonly listeningOnly: boolean
  /** Address families; both if neither is given. */
  readonly families: ReadonlySet<4 | 6>
  /** Prefixes of protocol names; undefined for all. */
  readonly protocols: readonly string[] | undefined
  readonly showsTimers: boolean
  readonly isExtended: boolean
  readonly showsMemory: boolean
  readonly showsInternals: boolean
  readonly showsHeading: boolean
  readonly isOneLine: boolean
  /** Letters of options without metrics. */
  readonly unsupported: readonly string[]
}

/** Options that select protocols by a prefix of their names. */
const PROTOCOLS: Readonly<Record<string, string>> = {
  t: 'tcp',
  M: 'mptcp',
  S: 'sctp',
  u: 'udp',
  d: 'dccp',
  w: 'raw',
  x: 'u_',
  0: 'p_',
}

/** Details without metrics, so they add nothing to the lines. */
const UNANSWERABLE = 'rpbZz'
/** Other reports of ss, which metrics cannot provide. */
const REFUSED: Readonly<Record<string, string>> = {
  s: 'a summary (-s)',
  E: 'sockets as they are destroyed (-E)',
  N: 'another network name space (-N)',
}

/** The options. Letters are those of ss, so source and time are options of `pcp`. */
export const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'General options' },
    STANDARD.debug,
    VERSION_ROW,
    { short: 'h', long: 'help', help: 'print this text and exit' },
    { heading: 'Sockets' },
    { short: 'a', long: 'all', help: 'sockets in any state' },
    { short: 'l', long: 'listening', help: 'only listening sockets' },
    { short: '4', long: 'ipv4', help: 'of IP version 4' },
    { short: '6', long: 'ipv6', help: 'of IP version 6' },
    { short: 't', long: 'tcp', help: 'of TCP' },
    { short: 'u', long: 'udp', help: 'of UDP' },
    { short: 'w', long: 'raw', help: 'raw sockets' },
    { short: 'x', long: 'unix', help: 'Unix domain sockets' },
    { short: 'M', long: 'mptcp', help: 'of multipath TCP' },
    { short: 'S', long: 'sctp', help: 'of SCTP' },
    { short: 'd', long: 'dccp', help: 'of DCCP' },
    { short: '0', long: 'packet', help: 'of packets' },
    { heading: 'Details' },
    { short: 'o', long: 'options', help: 'timers' },
    { short: 'e', long: 'extended', help: 'owner, inode, control group' },
    { short: 'm', long: 'memory', help: 'memory' },
    { short: 'i', long: 'info', help: 'internal TCP information' },
    { short: 'H', long: 'noheader', help: 'no headings' },
    { short: 'O', long: 'oneline', help: 'each socket in one line' },
    { short: 'n', long: 'numeric', help: 'no effect: addresses and ports are always numeric' },
    { heading: 'Options of ss without metrics' },
    { short: 'r', long: 'resolve', help: 'no effect: names of hosts' },
    { short: 'p', long: 'processes', help: 'no effect: processes' },
    { short: 'b', long: 'bpf', help: 'no effect: packet filters' },
    { short: 'Z', long: 'context', help: 'no effect: security contexts of processes' },
    { short: 'z', long: 'contexts', help: 'no effect: security contexts of sockets' },
    { short: 's', long: 'summary', help: 'refused' },
    { short: 'E', long: 'events', help: 'refused' },
    { short: 'N', long: 'net', help: 'refused' },
  ],
}

/** Reads the options; unsupported ones are added to `problems`. */
export function readOptions(
  given: readonly GivenOption[],
  { operands, problems }: { readonly operands: readonly string[]; readonly problems: string[] },
): SsOptions {
  const has = (letter: string): boolean => given.some(({ name }) => name === letter)
  for (const operand of operands) problems.push(`unexpected argument "${operand}"`)
  for (const [letter, what] of Object.entries(REFUSED))
    if (has(letter)) problems.push(`there are no metrics for ${what}`)
  const families = new Set(([4, 6] as const).filter((family) => has(String(family))))
  const protocols = Object.keys(PROTOCOLS).filter(has)
  return {
    listeningOnly: has('l') && !has('a'),
    families: families.size === 0 ? new Set([4, 6]) : families,
    protocols: protocols.length === 0 ? undefined : protocols.map((letter) => PROTOCOLS[letter]!),
    showsTimers: has('o'),
    isExtended: has('e'),
    showsMemory: has('m'),
    showsInternals: has('i'),
    showsHeading: !has('H'),
    isOneLine: has('O'),
    unsupported: [...UNANSWERABLE].filter(has),
  }
}
