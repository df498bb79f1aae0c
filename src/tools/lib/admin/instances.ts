/** Reads instances from control files, and resolves their variables, macros and commands. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import { isTrustedPath } from '../../../sys/trusted-path.ts'
import { type InstanceLine, instanceProblem, parseControl } from './control-lines.ts'
import type { ControlPosition, Reporter } from './reporter.ts'
import { expandWord, type Substitute, splitWords } from './shell-words.ts'

/** The daemon a control file is for. */
export type Service = 'pmlogger' | 'pmie'

/** An instance that is to run, or is marked as stopped. */
export interface Instance {
  readonly where: ControlPosition
  readonly line: InstanceLine
  /** `local:` for LOCALHOSTNAME. */
  readonly host: string
  readonly isPrimary: boolean
  readonly usesSocks: boolean
  /** pmlogger's directory or pmie's log. */
  readonly path: string
  /** Archives are sent to a pmproxy, and the directory has only a log. */
  readonly isPushed: boolean
  readonly args: readonly string[]
  /** The environment with the assignments before this line. */
  readonly variables: Variables
  /** `$class`, or `default`. */
  readonly className: string
}

export interface ControlOptions {
  readonly service: Service
  /** From pcp.conf and the environment. */
  readonly variables: Variables
  readonly hostName: string
  readonly reporter: Reporter
  /** Called for every assignment, with the previous value. */
  readonly onAssigned?: (assigned: Assignment) => void
}

/** An assignment in a control file. */
export interface Assignment {
  readonly name: string
  readonly value: string
  readonly previous: string | undefined
  readonly where: ControlPosition
}

/** Variables that control files cannot set, as they change how commands are found and words are split. */
const FIXED: ReadonlySet<string> = new Set(['PATH', 'IFS'])

/** Backup files of package managers and editors. */
const LEFTOVER = /~$|\.(?:rpm(?:new|save|orig)|dpkg-\w+|swp|bak)$/

/** Returns a control file and the files of its `.d` directory, in the order in which they are read. */
export function controlFiles(path: string): string[] {
  const files = isFile(path) ? [path] : []
  const dir = `${path}.d`
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return files
  const names = readdirSync(dir).filter((name) => !LEFTOVER.test(name) && isFile(join(dir, name)))
  return [...files, ...names.sort().map((name) => join(dir, name))]
}

/**
 * Returns whether there is anything to do for control files. PCP's packages install one, so that a missing one is an error
 * beside a pcp.conf, or if it was named; elsewhere pmlogctl and pmiectl only write files of their own into the directory PATH.d.
 */
export function controlState(
  path: string,
  { isNamed, confPath }: { readonly isNamed: boolean; readonly confPath: string | undefined },
): 'ready' | 'missing' | 'unused' {
  if (isFile(path) || (isNamed && statSync(path, { throwIfNoEntry: false }) !== undefined)) return 'ready'
  if (isNamed || confPath !== undefined) return 'missing'
  return controlFiles(path).length === 0 ? 'unused' : 'ready'
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** Yields the instances of a file; reports and skips lines with errors. Throws if the file cannot be read. */
export function* instancesOf(file: string, options: ControlOptions): Generator<Instance> {
  const { service, hostName, reporter, onAssigned } = options
  const text = readFileSync(file, 'utf8')
  let variables: Variables = options.variables
  let version: string | undefined
  let className = 'default'
  const substitute = commandRunner(file, () => variables)
  const showsFields = service === 'pmlogger' && reporter.verbosity >= 2
  for (const line of parseControl(text)) {
    const where: ControlPosition = { file, line: line.line }
    if (line.kind === 'assignment') {
      if (showsFields)
        reporter.line(fieldsText(where, { host: line.text, primary: '', socks: '', logPath: '', args: '' }))
      if (reporter.showsOnly) reporter.line(`# ${line.text}    `)
      const { name } = line
      if (name === undefined)
        reporter.warning(where, 'in-line command is not a variable assignment, line ignored')
      else if (FIXED.has(name)) reporter.warning(where, `cannot change $${name}, line ignored`)
      else {
        const value = expandWord(line.value, { variables, substitute })
        if (reporter.showsOnly) reporter.show(`export ${name}; ${name}=${line.value}    `)
        onAssigned?.({ name, value, previous: variables[name], where })
        variables = { ...variables, [name]: value }
        if (name === 'version') version = value
        if (name === 'class') className = value
      }
      continue
    }
    if (showsFields) reporter.line(fieldsText(where, line))
    if (version === undefined) {
      reporter.warning(where, 'missing $version, assuming version 1.0 control format')
      version = '1.0'
    }
    const problem = instanceProblem(line, version, service)
    if (problem !== undefined) {
      if (!line.isStopped) reporter.error(where, problem, line.host)
      continue
    }
    try {
      yield resolve(line, { where, variables, className, hostName, substitute })
    } catch (error) {
      reporter.error(where, PcpError.from(error).message, line.host)
    }
  }
}

function fieldsText(
  { file, line }: ControlPosition,
  {
    host,
    primary,
    socks,
    logPath,
    args,
  }: Pick<InstanceLine, 'host' | 'primary' | 'socks' | 'logPath' | 'args'>,
): string {
  return `[${file}:${line}] host="${host}" primary="${primary}" socks="${socks}" dir="${logPath}" args="${args}"`
}

interface ResolveContext {
  readonly where: ControlPosition
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
  const isPushed = line.logPath.startsWith('+')
  return {
    where,
    line,
    host: line.host === 'LOCALHOSTNAME' ? 'local:' : line.host,
    isPrimary: line.primary === 'y',
    usesSocks: line.socks === 'y',
    path: expandWord(macros(isPushed ? line.logPath.slice(1) : line.logPath), { variables, substitute }),
    isPushed,
    args: splitWords(macros(line.args), { variables, substitute }),
    variables,
    className,
  }
}

/** Returns a function that runs a control file's commands, as PCP does, but only if no one but root or this user can write the file. */
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
