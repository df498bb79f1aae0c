/** The command line that every agent daemon understands. pmdaGetOptions(3), docs/agents.md */

/** How pmcd reaches the agent. */
export type Transport =
  | { readonly kind: 'pipe' }
  | { readonly kind: 'inet' | 'ipv6'; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string }

/** What a command line says. */
export interface DaemonOptions {
  readonly domain: number | undefined
  /** Log file; undefined is NAME.log in the current directory. */
  readonly log: string | undefined
  readonly user: string | undefined
  readonly transport: Transport
}

/** Mistakes in a command line, without the program's name; none of them and no options ask for the usage text. */
export interface DaemonUsage {
  readonly problems: readonly string[]
}

interface Row {
  readonly short: string
  readonly long: string
  /** Name of the argument; '' for none. */
  readonly arg: string
  /** '' for an option that is accepted but not shown. */
  readonly help: string
}

const ROWS: readonly Row[] = [
  { short: 'd', long: 'domain', arg: 'NUM', help: "number of the metrics domain (default: the agent's own)" },
  { short: 'D', long: 'debug', arg: 'SPEC', help: '' },
  { short: 'h', long: 'helpfile', arg: 'FILE', help: '' },
  { short: 'l', long: 'log', arg: 'FILE', help: 'log file (default: NAME.log in the current directory)' },
  { short: 'U', long: 'username', arg: 'USER', help: 'become this user before doing anything' },
  { short: 'i', long: 'inet', arg: 'PORT', help: 'wait for pmcd on an IPv4 port (number or service)' },
  { short: '6', long: 'ipv6', arg: 'PORT', help: 'wait for pmcd on an IPv6 port (number or service)' },
  { short: 'u', long: 'unix', arg: 'FILE', help: 'wait for pmcd on a unix socket' },
  { short: 'p', long: 'pipe', arg: '', help: 'talk to pmcd on standard input and output (default)' },
  { short: '?', long: 'help', arg: '', help: 'print this text and exit' },
]
const TRANSPORTS = 'ip6u'

/** Text for whoever asked for it, or made a mistake. */
export function daemonUsage(program: string): string {
  const lines = ROWS.filter(({ help }) => help !== '').map(({ short, long, arg, help }) => {
    const option = arg === '' ? `-${short}, --${long}` : `-${short} ${arg}, --${long}=${arg}`
    return `  ${option.padEnd(26)} ${help}\n`
  })
  return `Usage: ${program} [options]\n\nOptions (at most one of -i, -6, -u and -p):\n${lines.join('')}`
}

/** Takes a command line apart. `portOf` finds the port of a service name. Operands are ignored, as by every agent. */
export function parseDaemonOptions(
  args: readonly string[],
  portOf: (service: string) => number | undefined,
): DaemonOptions | DaemonUsage {
  const { given, problems } = split(args)
  let wantsHelp = false
  let domain: number | undefined
  let log: string | undefined
  let user: string | undefined
  let transport: Transport | undefined
  let chosen = ''
  for (const [row, value] of given) {
    if (TRANSPORTS.includes(row.short)) {
      if (chosen !== '') {
        problems.push(`-${row.short} option clashes with -${chosen} option`)
        continue
      }
      chosen = row.short
      transport = transportOf(row.short, value, portOf, problems)
    } else if (row.short === 'd') {
      domain = /^\d+$/.test(value) ? Number(value) : Number.NaN
      if (!(domain <= 510)) problems.push('-d requires numeric domain number')
    } else if (row.short === 'l') log = value
    else if (row.short === 'U') user = value
    else if (row.short === '?') wantsHelp = true
    // -D and -h are taken for the sake of existing pmcd.conf lines: help comes from the table of metrics.
  }
  if (wantsHelp || problems.length > 0) return { problems }
  return { domain, log, user, transport: transport ?? { kind: 'pipe' } }
}

function transportOf(
  short: string,
  value: string,
  portOf: (service: string) => number | undefined,
  problems: string[],
): Transport {
  if (short === 'p') return { kind: 'pipe' }
  if (short === 'u') return { kind: 'unix', path: value }
  const port = /^\d+$/.test(value) ? Number(value) : portOf(value)
  if (port === undefined || port > 65535)
    problems.push(`-${short} requires a port number or the name of a service, not "${value}"`)
  return { kind: short === 'i' ? 'inet' : 'ipv6', port: port ?? 0 }
}

/** Options with their values, in the order given. */
function split(args: readonly string[]): {
  readonly given: readonly (readonly [Row, string])[]
  readonly problems: string[]
} {
  const given: (readonly [Row, string])[] = []
  const problems: string[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (arg === '--') break
    if (arg.startsWith('--')) {
      const [name = '', ...rest] = arg.slice(2).split('=')
      const rows = ROWS.filter(({ long }) => long.startsWith(name))
      const row = rows.find(({ long }) => long === name) ?? rows[0]
      if (name === '' || row === undefined) problems.push(`unrecognized option '${arg}'`)
      else if (row.long !== name && rows.length > 1) problems.push(`option '${arg}' is ambiguous`)
      else if (row.arg === '' || rest.length > 0) given.push([row, rest.join('=')])
      else if (i + 1 < args.length) given.push([row, args[++i]!])
      else problems.push(`option '--${row.long}' requires an argument`)
    } else if (arg.startsWith('-') && arg.length > 1) {
      i += splitBundle(arg, args[i + 1], given, problems)
    }
  }
  return { given, problems }
}

/** One argument of bundled letters; returns how many further arguments it used. */
function splitBundle(
  arg: string,
  next: string | undefined,
  given: (readonly [Row, string])[],
  problems: string[],
): number {
  for (let at = 1; at < arg.length; at++) {
    const letter = arg[at]!
    const row = ROWS.find(({ short }) => short === letter)
    if (row === undefined) problems.push(`invalid option -- '${letter}'`)
    else if (row.arg === '') given.push([row, ''])
    else if (at + 1 < arg.length) {
      given.push([row, arg.slice(at + 1)])
      return 0
    } else if (next === undefined) {
      problems.push(`option requires an argument -- '${letter}'`)
      return 0
    } else {
      given.push([row, next])
      return 1
    }
  }
  return 0
}
