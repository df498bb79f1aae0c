/**
 * The lines of pmlogger's and pmie's control files, as written: nothing is looked up or run here.
 *
 *     $version=1.1
 *     #!#HOST ...                       a stopped instance
 *     HOST PRIMARY SOCKS PLACE ARGS...  PLACE is pmlogger's directory or pmie's log; version 1.0 has no PRIMARY
 */
import { nextWord } from './words.ts'

/** A line that says something. */
export type ControlLine = AssignmentLine | InstanceLine

/** A line that begins with `$`. */
export interface AssignmentLine {
  readonly kind: 'assignment'
  readonly line: number
  readonly text: string
  /** Undefined for what is no assignment. */
  readonly name: string | undefined
  /** As written, quotes and all. */
  readonly value: string
}

/** A line about an instance. Fields that are not there are empty. */
export interface InstanceLine {
  readonly kind: 'instance'
  readonly line: number
  /** As in the file, with the mark of a stopped one. */
  readonly text: string
  readonly isStopped: boolean
  readonly host: string
  readonly primary: string
  readonly socks: string
  /** Directory or log, as written. */
  readonly place: string
  readonly args: string
}

/** What stands before the host of an instance that was stopped. */
export const STOPPED = '#!#'

/** The lines of a file; comments and empty lines are left out. The format of instances is that of the `$version` before them. */
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
  // `; export NAME` is what people copy from scripts.
  const plain = match[2]!.replace(/;\s*export\s+[\w\s]*$/, '').trimEnd()
  // PCP's scripts read these lines with the shell's `read`, which takes backslashes away.
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
  return { kind: 'instance', line, text, isStopped, host, primary, socks, place, args }
}

/** What is wrong with an instance under a version; undefined when nothing is. */
export function instanceProblem(
  instance: InstanceLine,
  version: string,
  service: 'pmlogger' | 'pmie',
): string | undefined {
  const { primary, socks, place, args } = instance
  if (version !== '1.0' && version !== '1.1') return `bad version (${version}) in control file`
  if (primary === '' || socks === '' || place === '' || args === '')
    return 'insufficient fields in control file record'
  if (primary !== 'y' && primary !== 'n')
    return `primary field in control file record must be y or n, not "${primary}"`
  if (socks !== 'y' && socks !== 'n')
    return `socks field in control file record must be y or n, not "${socks}"`
  if (service === 'pmie' && !args.startsWith('-'))
    return `args field in control file must begin with a hyphen not "${args}"`
  return undefined
}
