/** What pmlogger_daily shall do: the command line, the environment, and what control files assign. */
import { NEVER, parseAge } from '../lib/admin/ages.ts'
import type { Assigned } from '../lib/admin/instances.ts'
import type { Voice } from '../lib/admin/voice.ts'
import { HELP_ROW, type OptionTable, type ParsedOptions } from '../lib/options.ts'
import type { ToolIo } from '../lib/tool.ts'
import { parseSize } from './sizes.ts'

/** The command line. */
export const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'c', long: 'control', arg: 'FILE', help: 'read this control file, and no other' },
    { short: 'D', long: 'noreport', help: 'no daily report' },
    {
      short: 'd',
      long: 'size',
      arg: 'SIZE',
      help: 'remove the oldest archives of a directory beyond this size',
    },
    { short: 'E', long: 'expunge', help: 'leave out of merged archives what they describe differently' },
    { short: 'f', long: 'force', help: 'compress also where no recorder runs' },
    { short: 'k', long: 'discard', arg: 'TIME', help: 'remove archives after DD[:HH[:MM]], or never [14]' },
    { short: 'K', help: 'compress, and nothing else' },
    { short: 'l', long: 'logfile', arg: 'FILE', help: 'write messages there' },
    { short: 'm', long: 'mail', arg: 'ADDRS', help: 'send the notices of the day by mail' },
    { short: 'M', help: 'neither rewrite, merge nor rename archives' },
    { short: 'N', long: 'showme', help: 'show what would be done, and do nothing' },
    { short: 'o', help: 'merge the archives of yesterday only' },
    { short: 'P', help: 'leave out archives that a pmproxy receives' },
    { short: 'p', help: 'do nothing if this was done today' },
    { short: 'Q', help: 'only archives that a pmproxy receives' },
    { short: 'r', long: 'norewrite', help: 'do not rewrite archives' },
    { short: 'R', long: 'rewriteall', help: 'rewrite all archives, not only those that are merged' },
    {
      short: 's',
      long: 'rotate',
      arg: 'SIZE',
      help: 'begin a new file of notices beyond SIZE bytes [20480]',
    },
    { short: 't', arg: 'WANT', help: 'as -VV, and keep what was said for WANT days' },
    { short: 'V', long: 'verbose', help: 'say what is done; more often for more' },
    { short: 'x', long: 'compress-after', arg: 'TIME', help: 'compress after DD[:HH[:MM]], or never [0]' },
    { short: 'X', long: 'compressor', arg: 'PROGRAM', help: 'compress with this program' },
    { short: 'Y', long: 'regex', arg: 'REGEX', help: 'do not compress files that match' },
    { short: 'Z', help: 'have recorders begin a new archive, also on the same day' },
    { short: 'z', help: 'have no recorder begin a new archive' },
    HELP_ROW,
  ],
}

/** Files that are small, or compressed. */
const SKIPPED = '\\.(index|Z|gz|bz2|zip|xz|lzma|lzo|lz4|zst|bz|z)$'

/** What holds for the instances that follow. */
export interface Policy {
  readonly cullAfter: string
  readonly compressAfter: string
  /** Undefined for the best there is. */
  readonly compressor: string | undefined
  readonly skipped: string
  readonly mergeCallbacks: readonly string[]
  readonly compressCallbacks: readonly string[]
  /** Where finished archives go, with DATEYYYY, DATEMM and DATEDD; empty for nowhere. */
  readonly autosaveDir: string
}

/** What holds for the whole run. */
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
  /** Days that what was said is kept; undefined without -t. */
  readonly traceDays: number | undefined
  readonly rotation: 'daily' | 'always' | 'never'
  readonly pushed: 'too' | 'only' | 'not'
  /** Of the archives of a directory. */
  readonly maxBytes: number | undefined
  readonly policy: Policy
}

/** Reads the command line and the environment; mistakes are added to the problems, and values made void are warned of. */
export function settingsOf({ given, operands, problems }: ParsedOptions, io: ToolIo): Settings {
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const has = (name: string): boolean => last(name) !== undefined
  const number = (name: string): number | undefined => {
    const text = last(name)
    if (text === undefined || /^\d+$/.test(text)) return text === undefined ? undefined : Number(text)
    problems.push(`-${name} wants a number, not "${text}"`)
    return undefined
  }
  const traceDays = number('t')
  const size = last('d')
  const maxBytes = size === undefined ? undefined : parseSize(size)
  if (size !== undefined && maxBytes === undefined)
    problems.push(`-d wants a size such as 10G, not "${size}"`)
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

/** What an option and a variable say: the variable wins, and the option is told to be void. */
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

/** What is wrong with the ages and the expression of a policy, in the words of its option or variable. */
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
    return `Error: ${name('Y', 'PCP_COMPRESSREGEX')} value (${skipped}) is no regular expression`
  return undefined
}

/** The expression, or undefined for what is none. */
export function expressionOf(text: string): RegExp | undefined {
  try {
    return new RegExp(text)
  } catch {
    return undefined // the caller says whose it is
  }
}

/** The policy after an assignment of a control file. */
export function assign(policy: Policy, { name, value, previous, where }: Assigned, voice: Voice): Policy {
  const reset = (): void => {
    if (previous !== undefined)
      voice.warning(
        where,
        `$${name} (${value}) reset from control file, previous value (${previous}) ignored`,
      )
  }
  const age = (usual: string): string => {
    reset()
    if (parseAge(value) !== undefined) return value
    voice.line(`pmlogger_daily: [${where.file}:${where.line}]\nError: $${name} value (${value}) ${AGE}`)
    voice.fail()
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
      voice.warning(where, `$${name} (${value}) is no regular expression, ignored`)
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

/** Milliseconds of an age that was checked. */
export function ageMs(text: string): number {
  return parseAge(text) ?? NEVER
}
