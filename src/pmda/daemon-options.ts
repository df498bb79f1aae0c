/** Parses the command line common to all agent daemons, with the agent's own options. pmdaGetOptions(3), docs/reference/agent-toolkit.md */
import { parseDebug } from '../model/debug.ts'

/** An agent's own option. */
export interface DaemonOption {
  /** One letter or digit, not one of the common options. */
  readonly short?: string
  /** The name after `--`, and in `env.options`. */
  readonly long: string
  /** Name of its argument in the usage text; an option without one takes none. */
  readonly arg?: string
  readonly help: string
}

/** Values of the agent's own options: the argument, or true for an option without one. */
export type OptionValues = Readonly<Record<string, string | true>>

/** How pmcd connects to the agent. */
export type Transport =
  | { readonly kind: 'pipe' }
  | { readonly kind: 'inet' | 'ipv6'; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string }

/** A parsed command line. */
export interface DaemonOptions {
  readonly domain: number | undefined
  /** Log file; default NAME.log in the current directory. */
  readonly log: string | undefined
  readonly user: string | undefined
  /** Diagnostics, in the syntax of setDebug. */
  readonly debug: string | undefined
  /** Base name of help files, whose texts take precedence over the agent's tables. */
  readonly help: string | undefined
  readonly transport: Transport
  readonly own: OptionValues
}

/** Mistakes in a command line, without the program's name. With neither mistakes nor options, help was requested. */
export interface DaemonUsage {
  readonly problems: readonly string[]
}

interface Row {
  readonly short: string
  readonly long: string
  /** Name of the argument; '' for none. */
  readonly arg: string
  readonly help: string
  readonly isOwn?: true
}

const ROWS: readonly Row[] = [
  { short: 'd', long: 'domain', arg: 'NUM', help: "number of the metrics domain (default: the agent's own)" },
  {
    short: 'D',
    long: 'debug',
    arg: 'SPEC',
    help: 'diagnostics to write into the log, as pmdbg -l lists them',
  },
  {
    short: 'h',
    long: 'helpfile',
    arg: 'FILE',
    help: "help files (FILE.dir, FILE.pag) to use before the agent's own texts (default: help in its PCP_PMDAS_DIR)",
  },
  { short: 'l', long: 'log', arg: 'FILE', help: 'log file (default: NAME.log in the current directory)' },
  { short: 'U', long: 'username', arg: 'USER', help: 'become this user before doing anything' },
  { short: 'i', long: 'inet', arg: 'PORT', help: 'wait for pmcd on an IPv4 port (number or service)' },
  { short: '6', long: 'ipv6', arg: 'PORT', help: 'wait for pmcd on an IPv6 port (number or service)' },
  { short: 'u', long: 'unix', arg: 'FILE', help: 'wait for pmcd on a unix socket' },
  { short: 'p', long: 'pipe', arg: '', help: 'talk to pmcd on standard input and output (default)' },
  { short: '?', long: 'help', arg: '', help: 'print this text and exit' },
]
const TRANSPORTS = 'ip6u'

/** Checks an agent's own options. Returns the first mistake, or undefined. */
export function checkOwnOptions(own: readonly DaemonOption[]): string | undefined {
  const rows = [...ROWS]
  for (const row of own.map(rowOf)) {
    if (!/^[a-z][a-z0-9-]+$/.test(row.long) || !/^[A-Za-z0-9]?$/.test(row.short))
      return `option --${row.long}: two or more small letters, digits or -, and as its short form one letter or digit`
    if (rows.some(({ short, long }) => long === row.long || (short !== '' && short === row.short)))
      return `option --${row.long} exists already, or its short form does`
    rows.push(row)
  }
  return undefined
}

/** Returns the usage text. */
export function daemonUsage(program: string, own: readonly DaemonOption[] = []): string {
  const lines = [...ROWS, ...own.map(rowOf)].map(({ short, long, arg, help }) => {
    const [space, equals] = arg === '' ? ['', ''] : [` ${arg}`, `=${arg}`]
    const option = `${short === '' ? '   ' : `-${short}${space},`} --${long}${equals}`
    return `  ${option.padEnd(26)} ${help}\n`
  })
  return `Usage: ${program} [options]\n\nOptions (at most one of -i, -6, -u and -p):\n${lines.join('')}`
}

/** Parses a command line. `portOf` returns the port of a service name. As in PCP's agents operands are ignored. */
export function parseDaemonOptions(
  args: readonly string[],
  portOf: (service: string) => number | undefined,
  ownOptions: readonly DaemonOption[] = [],
): DaemonOptions | DaemonUsage {
  const { given, problems } = split(args, [...ROWS, ...ownOptions.map(rowOf)])
  const values = new Map<string, string>()
  const own: Record<string, string | true> = {}
  let transport: Transport | undefined
  let chosen = ''
  for (const [row, value] of given) {
    if (row.isOwn === true) own[row.long] = row.arg === '' ? true : value
    else if (TRANSPORTS.includes(row.short)) {
      if (chosen !== '') {
        problems.push(`-${row.short} option clashes with -${chosen} option`)
        continue
      }
      chosen = row.short
      transport = transportOf(row.short, value, portOf, problems)
    } else values.set(row.short, value)
  }
  const domain = domainOf(values.get('d'), problems)
  const debug = values.get('D')
  if (debug !== undefined && parseDebug(debug) === undefined)
    problems.push(`unrecognized debug options specification (${debug})`)
  if (values.has('?') || problems.length > 0) return { problems }
  const [log, user, help] = ['l', 'U', 'h'].map((short) => values.get(short))
  return { domain, log, user, debug, help, transport: transport ?? { kind: 'pipe' }, own }
}

function rowOf({ short = '', long, arg = '', help }: DaemonOption): Row {
  return { short, long, arg, help, isOwn: true }
}

function domainOf(text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined) return undefined
  const domain = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(domain <= 510)) problems.push('-d requires numeric domain number')
  return domain
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
function split(
  args: readonly string[],
  rows: readonly Row[],
): {
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
      const matches = rows.filter(({ long }) => long.startsWith(name))
      const row = matches.find(({ long }) => long === name) ?? matches[0]
      if (name === '' || row === undefined) problems.push(`unrecognized option '${arg}'`)
      else if (row.long !== name && matches.length > 1) problems.push(`option '${arg}' is ambiguous`)
      else if (row.arg === '' || rest.length > 0) given.push([row, rest.join('=')])
      else if (i + 1 < args.length) given.push([row, args[++i]!])
      else problems.push(`option '--${row.long}' requires an argument`)
    } else if (arg.startsWith('-') && arg.length > 1) {
      i += splitBundle(arg, args[i + 1], rows, { given, problems })
    }
  }
  return { given, problems }
}

/** Parses one argument of bundled letters; returns how many further arguments it used. */
function splitBundle(
  arg: string,
  next: string | undefined,
  rows: readonly Row[],
  { given, problems }: { given: (readonly [Row, string])[]; problems: string[] },
): number {
  for (let at = 1; at < arg.length; at++) {
    const letter = arg[at]!
    const row = rows.find(({ short }) => short === letter)
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
