/** Settings of pmlogger_daily: the command line, the environment, and assignments in control files. */
import { NEVER, parseAge } from '../lib/admin/ages.ts'
import type { Assignment } from '../lib/admin/instances.ts'
import type { Reporter } from '../lib/admin/reporter.ts'
import { HELP_ROW, type OptionTable, type ParsedOptions } from '../lib/options.ts'
import type { ToolIo } from '../lib/tool.ts'
import { parseSize } from './sizes.ts'

export const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'c', long: 'control', arg: 'FILE', help: 'read only this control file' },
    { short: 'D', long: 'noreport', help: 'no daily report' },
    {
      short: 'd',
      long: 'size',
      arg: 'SIZE',
      help: 'remove the oldest archives of a directory beyond this size',
    },
    { short: 'E', long: 'expunge', help: 'omit metrics with conflicting descriptors when merging' },
    { short: 'f', long: 'force', help: 'compress even if no recorder runs' },
    { short: 'k', long: 'discard', arg: 'TIME', help: 'remove archives after DD[:HH[:MM]], or never [14]' },
    { short: 'K', help: 'only compress' },
    { short: 'l', long: 'logfile', arg: 'FILE', help: 'write messages to FILE' },
    { short: 'm', long: 'mail', arg: 'ADDRS', help: "mail the day's notices" },
    { short: 'M', help: 'neither rewrite, merge nor rename archives' },
    { short: 'N', long: 'showme', help: 'dry run: show what would be done' },
    { short: 'o', help: 'merge the archives of yesterday only' },
    { short: 'P', help: 'skip archives received by pmproxy' },
    { short: 'p', help: 'do nothing if already done today' },
    { short: 'Q', help: 'process only archives received by pmproxy' },
    { short: 'r', long: 'norewrite', help: 'do not rewrite archives' },
    { short: 'R', long: 'rewriteall', help: 'rewrite all archives, not only the merged ones' },
    {
      short: 's',
      long: 'rotate',
      arg: 'SIZE',
      help: 'rotate the notices file beyond SIZE bytes [20480]',
    },
    { short: 't', arg: 'WANT', help: 'like -VV, and keep the messages for WANT days' },
    { short: 'V', long: 'verbose', help: 'print progress; repeat for more detail' },
    { short: 'x', long: 'compress-after', arg: 'TIME', help: 'compress after DD[:HH[:MM]], or never [0]' },
    { short: 'X', long: 'compressor', arg: 'PROGRAM', help: 'compress with this program' },
    { short: 'Y', long: 'regex', arg: 'REGEX', help: 'do not compress files that match' },
    { short: 'Z', help: 'always make recorders begin a new archive' },
    { short: 'z', help: 'do not make recorders begin a new archive' },
    HELP_ROW,
  ],
}

/** Default pattern of files not to compress: small or already compressed. */
const SKIPPED = '\\.(index|Z|gz|bz2|zip|xz|lzma|lzo|lz4|zst|bz|z)$'

/** Settings that control files may change for the following instances. */
export interface Policy {
  readonly cullAfter: string
  readonly compressAfter: string
  /** Undefined for the best available program. */
  readonly compressor: string | undefined
  readonly skipped: string
  readonly mergeCallbacks: readonly string[]
  readonly compressCallbacks: readonly string[]
  /** Destination of finished archives, with DATEYYYY, DATEMM and DATEDD; empty to leave them in place. */
  readonly autosaveDir: string
}

/** Settings of the whole run. */
export interface Settings {
  readonly controlPath: string | undefined
  readonly logPath: string | undefined
  readonly expunges: boolean
  readonly isForced: boolean
  readonly onlyCompresses: boolean
  readonly merges: 'all' | 'yesterday' | 'none'
  readonly rewrites: 'merged' | 'all' | 'none'
  readonly showsOnly: boolean
  readonly verbosity: number
  readonly polls: boolean
  readonly reports: boolean
  readonly mailTo: string | undefined
  readonly noticesBytes: number
  /** Days to keep trace logs; undefined without -t. */
  readonly traceDays: number | undefined
  readonly rotation: 'daily' | 'always' | 'never'
  readonly pushed: 'too' | 'only' | 'not'
  /** Limit of the total size of a directory's archives. */
  readonly maxBytes: number | undefined
  readonly policy: Policy
}

/** Reads the command line and the environment; adds errors to `problems` and warns of ignored options. */
export function settingsOf({ given, operands, problems }: ParsedOptions, io: ToolIo): Settings {
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const has = (name: string): boolean => last(name) !== undefined
  const number = (name: string): number | undefined => {
    const text = last(name)
    if (text === undefined || /^\d+$/.test(text)) return text === undefined ? undefined : Number(text)
    problems.push(`-${name} requires a number, not "${text}"`)
    return undefined
  }
  const traceDays = number('t')
  const size = last('d')
  const maxBytes = size === undefined ? undefined : parseSize(size)
  if (size !== undefined && maxBytes === undefined)
    problems.push(`-d requires a size such as 10G, not "${size}"`)
  if (operands.length > 0) problems.push('too many arguments')
  if (has('p') && has('K')) problems.push('Error: -p and -K are mutually exclusive')
  if (has('P') && has('Q')) problems.push('-P and -Q are mutually exclusive')
  return {
    controlPath: last('c'),
    logPath: last('l'),
    expunges: has('E'),
    isForced: has('f'),
    onlyCompresses: has('K'),
    merges: has('M') ? 'none' : has('o') ? 'yesterday' : 'all',
    rewrites: has('r') || has('M') ? 'none' : has('R') ? 'all' : 'merged',
    showsOnly: has('N'),
    verbosity: Math.max(given.filter(({ name }) => name === 'V').length, traceDays === undefined ? 0 : 2),
    polls: has('p'),
    reports: !has('D'),
    mailTo: last('m'),
    noticesBytes: number('s') ?? 20_480,
    traceDays,
    rotation: has('z') ? 'never' : has('Z') ? 'always' : 'daily',
    pushed: has('P') ? 'not' : has('Q') ? 'only' : 'too',
    maxBytes,
    policy: policyOf(last, io),
  }
}

const AGE = 'must be number, time, "forever" or "never"'

/** Merges options and variables: variables take precedence, with a warning about the ignored option. */
function policyOf(last: (name: string) => string | undefined, { env, stderr }: ToolIo): Policy {
  const choose = (letter: string, variable: string): string | undefined => {
    const [option, value] = [last(letter), env[variable]]
    if (option !== undefined && value !== undefined)
      stderr.write(
        `Warning: -${letter} value (${option}) ignored because $${variable} (${value}) set in environment\n`,
      )
    return value ?? option
  }
  const compressor = choose('X', 'PCP_COMPRESS')
  const compressAfter = choose('x', 'PCP_COMPRESSAFTER') ?? '0'
  const skipped = choose('Y', 'PCP_COMPRESSREGEX') ?? SKIPPED
  const one = (name: string): string[] => (env[name] === undefined ? [] : [env[name]])
  return {
    compressor,
    compressAfter,
    skipped,
    cullAfter: choose('k', 'PCP_CULLAFTER') ?? '14',
    mergeCallbacks: one('PCP_MERGE_CALLBACK'),
    compressCallbacks: one('PCP_COMPRESS_CALLBACK'),
    autosaveDir: env['PCP_AUTOSAVE_DIR'] ?? '',
  }
}

/** Returns a problem with the policy's ages or expression, naming the option or variable. */
export function policyProblem(
  { compressAfter, cullAfter, skipped }: Policy,
  env: ToolIo['env'],
): string | undefined {
  const name = (letter: string, variable: string): string =>
    env[variable] === undefined ? `-${letter}` : `$${variable}`
  if (parseAge(compressAfter) === undefined)
    return `Error: ${name('x', 'PCP_COMPRESSAFTER')} value (${compressAfter}) ${AGE}`
  if (parseAge(cullAfter) === undefined)
    return `Error: ${name('k', 'PCP_CULLAFTER')} value (${cullAfter}) ${AGE}`
  if (expressionOf(skipped) === undefined)
    return `Error: ${name('Y', 'PCP_COMPRESSREGEX')} value (${skipped}) is not a regular expression`
  return undefined
}

/** Compiles an expression; undefined if invalid. */
export function expressionOf(text: string): RegExp | undefined {
  try {
    return new RegExp(text)
  } catch {
    return undefined // the caller names its origin
  }
}

/** Returns the policy after an assignment in a control file. */
export function assign(
  policy: Policy,
  { name, value, previous, where }: Assignment,
  reporter: Reporter,
): Policy {
  const reset = (): void => {
    if (previous !== undefined)
      reporter.warning(
        where,
        `$${name} (${value}) reset from control file, previous value (${previous}) ignored`,
      )
  }
  const age = (usual: string): string => {
    reset()
    if (parseAge(value) !== undefined) return value
    reporter.line(`pmlogger_daily: [${where.file}:${where.line}]\nError: $${name} value (${value}) ${AGE}`)
    reporter.fail()
    return usual
  }
  switch (name) {
    case 'PCP_COMPRESS':
      reset()
      return { ...policy, compressor: value }
    case 'PCP_COMPRESSAFTER':
      return { ...policy, compressAfter: age('never') }
    case 'PCP_CULLAFTER':
      return { ...policy, cullAfter: age('never') }
    case 'PCP_COMPRESSREGEX':
      reset()
      if (expressionOf(value) !== undefined) return { ...policy, skipped: value }
      reporter.warning(where, `$${name} (${value}) is not a regular expression, ignored`)
      return policy
    case 'PCP_AUTOSAVE_DIR':
      reset()
      return { ...policy, autosaveDir: value }
    case 'PCP_MERGE_CALLBACK':
      return { ...policy, mergeCallbacks: [...policy.mergeCallbacks, value] }
    case 'PCP_COMPRESS_CALLBACK':
      return { ...policy, compressCallbacks: [...policy.compressCallbacks, value] }
    default:
      return policy
  }
}

/** Converts a checked age to milliseconds. */
export function ageMs(text: string): number {
  return parseAge(text) ?? NEVER
}
