/**
 * Parses pmlogger's and pmie's control files. Nothing is expanded, looked up or run here.
 *
 *     $version=1.1
 *     #!#HOST ...                       a stopped instance
 *     HOST PRIMARY SOCKS PLACE ARGS...  PLACE is pmlogger's directory or pmie's log; version 1.0 has no PRIMARY
 */
import { nextWord } from './shell-words.ts'

/** A line that is not blank or a comment. */
export type ControlLine = AssignmentLine | InstanceLine

/** A line that begins with `$`. */
export interface AssignmentLine {
  readonly kind: 'assignment'
  readonly line: number
  readonly text: string
  /** Undefined if the line is not a valid assignment. */
  readonly name: string | undefined
  /** As written, with its quotes. */
  readonly value: string
}

/** An instance's line. Missing fields are empty. */
export interface InstanceLine {
  readonly kind: 'instance'
  readonly line: number
  /** As in the file, including the mark of a stopped instance. */
  readonly text: string
  readonly isStopped: boolean
  readonly host: string
  readonly primary: string
  readonly socks: string
  /** Directory or log, as written. */
  readonly logPath: string
  readonly args: string
}

/** Prefix of the line of a stopped instance. */
export const STOPPED = '#!#'

/** Parses a file, without comments and empty lines. The last `$version` before an instance decides its format. */
export function parseControl(text: string): ControlLine[] {
  const lines: ControlLine[] = []
  let version = ''
  for (const [index, whole] of text.split('\n').entries()) {
    const line = index + 1
    const trimmed = whole.trim()
    const isStopped = trimmed.startsWith(STOPPED)
    if (trimmed === '' || (trimmed.startsWith('#') && !isStopped)) continue
    if (trimmed.startsWith('$')) {
      const assignment = parseAssignment(trimmed, line)
      if (assignment.name === 'version') version = assignment.value
      lines.push(assignment)
    } else
      lines.push(parseInstance(whole, { line, isStopped, hasPrimary: version !== '' && version !== '1.0' }))
  }
  return lines
}

function parseAssignment(text: string, line: number): AssignmentLine {
  const match = /^\$([A-Za-z_]\w*)=(.*)$/.exec(text)
  if (match === null) return { kind: 'assignment', line, text, name: undefined, value: '' }
  // Users copy `; export NAME` from shell scripts.
  const plain = match[2]!.replace(/;\s*export\s+[\w\s]*$/, '').trimEnd()
  // PCP's scripts read these lines with the shell's `read`, which removes backslashes.
  const value = plain.replace(/\\(.)/g, '$1')
  return { kind: 'assignment', line, text, name: match[1]!, value }
}

function parseInstance(
  text: string,
  { line, isStopped, hasPrimary }: { line: number; isStopped: boolean; hasPrimary: boolean },
): InstanceLine {
  let at = isStopped ? text.indexOf(STOPPED) + STOPPED.length : 0
  const field = (): string => {
    const word = nextWord(text, at)
    if (word === undefined) return ''
    at = word.end
    return word.raw
  }
  const host = field()
  const primary = hasPrimary ? field() : 'n'
  const socks = field()
  const place = field()
  const args = text.slice(at).trim()
  return { kind: 'instance', line, text, isStopped, host, primary, socks, logPath: place, args }
}

/** Returns the error in an instance's line for a file version; undefined if it is valid. */
export function instanceProblem(
  instance: InstanceLine,
  version: string,
  service: 'pmlogger' | 'pmie',
): string | undefined {
  const { primary, socks, logPath, args } = instance
  if (version !== '1.0' && version !== '1.1') return `bad version (${version}) in control file`
  if (primary === '' || socks === '' || logPath === '' || args === '')
    return 'insufficient fields in control file record'
  if (primary !== 'y' && primary !== 'n')
    return `primary field in control file record must be y or n, not "${primary}"`
  if (socks !== 'y' && socks !== 'n')
    return `socks field in control file record must be y or n, not "${socks}"`
  if (service === 'pmie' && !args.startsWith('-'))
    return `args field in control file must begin with a hyphen not "${args}"`
  return undefined
}
