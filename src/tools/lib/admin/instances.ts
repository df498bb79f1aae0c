/** The instances that control files ask for, with their variables, macros and commands resolved. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import { isTrustedPath } from '../../../sys/trusted-path.ts'
import { type InstanceLine, instanceProblem, parseControl } from './control-lines.ts'
import type { Voice, Where } from './voice.ts'
import { expandWord, type Substitute, splitWords } from './words.ts'

/** What control files are of. */
export type Service = 'pmlogger' | 'pmie'

/** An instance that shall run, or is marked as stopped. */
export interface Instance {
  readonly where: Where
  readonly line: InstanceLine
  /** `local:` for LOCALHOSTNAME. */
  readonly host: string
  readonly isPrimary: boolean
  readonly usesSocks: boolean
  /** Directory or log. */
  readonly place: string
  /** Its archives go to a pmproxy, and the directory only has a log. */
  readonly isPushed: boolean
  readonly args: readonly string[]
  /** The environment with what the file has assigned before this line. */
  readonly variables: Variables
  /** `$class`, or `default`. */
  readonly className: string
}

/** What resolving needs to know. */
export interface ControlOptions {
  readonly service: Service
  /** Of pcp.conf and the environment. */
  readonly variables: Variables
  readonly hostName: string
  readonly voice: Voice
  /** Hears of every assignment, with the value before it. */
  readonly onAssigned?: (assigned: Assigned) => void
}

/** A variable that a control file has set. */
export interface Assigned {
  readonly name: string
  readonly value: string
  readonly previous: string | undefined
  readonly where: Where
}

/** What a control file must not change: commands would be looked for, and words taken apart, in another way. */
const FIXED: ReadonlySet<string> = new Set(['PATH', 'IFS'])

/** What packagers and editors leave beside a file. */
const LEFTOVER = /~$|\.(?:rpm(?:new|save|orig)|dpkg-\w+|swp|bak)$/

/** A control file and the files of the directory `.d` beside it, in the order in which they are read. */
export function controlFiles(path: string): string[] {
  const files = isFile(path) ? [path] : []
  const dir = `${path}.d`
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return files
  const names = readdirSync(dir).filter((name) => !LEFTOVER.test(name) && isFile(join(dir, name)))
  return [...files, ...names.sort().map((name) => join(dir, name))]
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** The instances of a file, one after the other: mistakes are told and left out. Throws when the file cannot be read. */
export function* instancesOf(file: string, options: ControlOptions): Generator<Instance> {
  const { service, hostName, voice, onAssigned } = options
  const text = readFileSync(file, 'utf8')
  let variables: Variables = options.variables
  let version: string | undefined
  let className = 'default'
  const substitute = commandRunner(file, () => variables)
  const showsFields = service === 'pmlogger' && voice.verbosity >= 2
  for (const line of parseControl(text)) {
    const where: Where = { file, line: line.line }
    if (line.kind === 'assignment') {
      if (showsFields)
        voice.line(fieldsText(where, { host: line.text, primary: '', socks: '', place: '', args: '' }))
      if (voice.showsOnly) voice.line(`# ${line.text}    `)
      const { name } = line
      if (name === undefined)
        voice.warning(where, 'in-line command is not a variable assignment, line ignored')
      else if (FIXED.has(name)) voice.warning(where, `cannot change $${name}, line ignored`)
      else {
        const value = expandWord(line.value, { variables, substitute })
        if (voice.showsOnly) voice.show(`export ${name}; ${name}=${line.value}    `)
        onAssigned?.({ name, value, previous: variables[name], where })
        variables = { ...variables, [name]: value }
        if (name === 'version') version = value
        if (name === 'class') className = value
      }
      continue
    }
    if (showsFields) voice.line(fieldsText(where, line))
    if (version === undefined) {
      voice.warning(where, 'missing $version, assuming version 1.0 control format')
      version = '1.0'
    }
    const problem = instanceProblem(line, version, service)
    if (problem !== undefined) {
      if (!line.isStopped) voice.error(where, problem, line.host)
      continue
    }
    try {
      yield resolve(line, { where, variables, className, hostName, substitute })
    } catch (error) {
      voice.error(where, PcpError.from(error).message, line.host)
    }
  }
}

function fieldsText(
  { file, line }: Where,
  { host, primary, socks, place, args }: Pick<InstanceLine, 'host' | 'primary' | 'socks' | 'place' | 'args'>,
): string {
  return `[${file}:${line}] host="${host}" primary="${primary}" socks="${socks}" dir="${place}" args="${args}"`
}

interface ResolveContext {
  readonly where: Where
  readonly variables: Variables
  readonly className: string
  readonly hostName: string
  readonly substitute: Substitute
}

function resolve(line: InstanceLine, context: ResolveContext): Instance {
  const { where, variables, className, hostName, substitute } = context
  const macros = (text: string): string =>
    text
      .replaceAll('PCP_ARCHIVE_DIR', variables['PCP_ARCHIVE_DIR'] ?? '')
      .replaceAll('PCP_LOG_DIR', variables['PCP_LOG_DIR'] ?? '')
      .replaceAll('LOCALHOSTNAME', hostName)
  const isPushed = line.place.startsWith('+')
  return {
    where,
    line,
    host: line.host === 'LOCALHOSTNAME' ? 'local:' : line.host,
    isPrimary: line.primary === 'y',
    usesSocks: line.socks === 'y',
    place: expandWord(macros(isPushed ? line.place.slice(1) : line.place), { variables, substitute }),
    isPushed,
    args: splitWords(macros(line.args), { variables, substitute }),
    variables,
    className,
  }
}

/**
 * Runs the commands of a control file, as PCP does; but only of a file that nobody can have changed but root and we.
 */
function commandRunner(file: string, variables: () => Variables): Substitute {
  return (command) => {
    if (!isTrustedPath(file))
      throw new PcpError(
        'EPERM',
        `commands are not run from a control file that others may write: chmod go-w ${file}`,
      )
    const { execFileSync } = process.getBuiltinModule('node:child_process')
    const output = execFileSync('/bin/sh', ['-c', command], {
      env: { ...variables() },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return output.replace(/\n+$/, '')
  }
}
