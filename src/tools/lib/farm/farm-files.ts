/** Reads the instances of all control files for pmlogctl and pmiectl, including stopped ones. spec: pmlogger_check(1), CONFIGURATION */
import { readFileSync } from 'node:fs'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import { type InstanceLine, parseControl } from '../admin/control-lines.ts'
import { controlFiles } from '../admin/instances.ts'
import { expandWord } from '../admin/shell-words.ts'
import type { FarmKind } from './kinds.ts'

/** An instance of a control file. */
export interface FarmInstance {
  readonly file: string
  /** Number of its line, from 1. */
  readonly line: number
  readonly isPrimary: boolean
  readonly isStopped: boolean
  /** As written; can be LOCALHOSTNAME. */
  readonly rawHost: string
  readonly host: string
  /** Directory or log, as written and resolved below. */
  readonly rawPath: string
  readonly path: string
  readonly className: string
}

/** Where and how control files are read. */
export interface FarmContext {
  readonly kind: FarmKind
  readonly variables: Variables
  readonly hostName: string
  readonly warn: (text: string) => void
}

/** The class of the instance of this host's collector. */
export const PRIMARY_CLASS = 'primary'
/** The class of instances whose file does not set one. */
export const DEFAULT_CLASS = 'default'

/** Returns the instances in the order of the files. Warns of incomplete lines and skips them. */
export function readFarm(place: FarmContext): FarmInstance[] {
  const { kind, variables } = place
  return controlFiles(variables[kind.controlVariable]!).flatMap((file) => {
    try {
      return instancesIn(file, readFileSync(file, 'utf8'), place)
    } catch (error) {
      place.warn(`cannot read control file ${file}: ${PcpError.from(error).text}`)
      return []
    }
  })
}

/** Returns the instances of one file. */
export function instancesIn(file: string, text: string, place: FarmContext): FarmInstance[] {
  const instances: FarmInstance[] = []
  let variables = place.variables
  let className = DEFAULT_CLASS
  for (const line of parseControl(text)) {
    if (line.kind === 'assignment') {
      if (line.name === undefined) continue
      // Reading a file must not run its commands: values that depend on them stay unexpanded.
      const value = expandWord(line.value, { variables })
      variables = { ...variables, [line.name]: value }
      if (line.name === 'class') className = value
    } else if (isComplete(line)) {
      instances.push(instanceOf(line, { ...place, variables }, { file, className }))
    } else {
      const host = line.host === 'LOCALHOSTNAME' ? place.hostName : line.host
      place.warn(`${file}: insufficient fields in control line for host ${host}`)
    }
  }
  return instances
}

function isComplete({ primary, socks, logPath, args }: InstanceLine): boolean {
  return primary !== '' && socks !== '' && logPath !== '' && args !== ''
}

function instanceOf(
  line: InstanceLine,
  { variables, hostName }: FarmContext,
  { file, className }: { file: string; className: string },
): FarmInstance {
  const written = line.logPath
  const isPrimary = line.primary === 'y'
  const place = expandWord(
    written
      .replace(/^\+/, '')
      .replaceAll('PCP_ARCHIVE_DIR', variables['PCP_ARCHIVE_DIR'] ?? '')
      .replaceAll('PCP_LOG_DIR', variables['PCP_LOG_DIR'] ?? '')
      .replaceAll('LOCALHOSTNAME', hostName),
    { variables },
  )
  return {
    file,
    line: line.line,
    isPrimary,
    isStopped: line.isStopped,
    rawHost: line.host,
    host: line.host === 'LOCALHOSTNAME' ? hostName : line.host,
    rawPath: written,
    path: place,
    className: isPrimary ? PRIMARY_CLASS : className,
  }
}
