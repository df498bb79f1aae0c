/** The instances of all control files, as pmlogctl and pmiectl see them: also those that are stopped. spec: pmlogger_check(1), CONFIGURATION */
import { readFileSync } from 'node:fs'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import { type InstanceLine, parseControl } from '../admin/control-lines.ts'
import { controlFiles } from '../admin/instances.ts'
import { expandWord } from '../admin/words.ts'
import type { FarmKind } from './kinds.ts'

/** An instance of a control file. */
export interface FarmInstance {
  readonly file: string
  /** Number of its line, from 1. */
  readonly line: number
  readonly isPrimary: boolean
  readonly isStopped: boolean
  /** As written: may be LOCALHOSTNAME. */
  readonly writtenHost: string
  readonly host: string
  /** Directory or log, as written and resolved. */
  readonly writtenPlace: string
  readonly place: string
  readonly className: string
}

/** What reading needs to know. */
export interface FarmPlace {
  readonly kind: FarmKind
  readonly variables: Variables
  readonly hostName: string
  readonly warn: (text: string) => void
}

/** The class of the instance that belongs to this host's collector. */
export const PRIMARY_CLASS = 'primary'
/** Of instances whose file names no class. */
export const DEFAULT_CLASS = 'default'

/** Instances in the order of the files; lines that say too little are warned of and left out. */
export function readFarm(place: FarmPlace): FarmInstance[] {
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

/** The instances of one file. */
export function instancesIn(file: string, text: string, place: FarmPlace): FarmInstance[] {
  const instances: FarmInstance[] = []
  let variables = place.variables
  let className = DEFAULT_CLASS
  for (const line of parseControl(text)) {
    if (line.kind === 'assignment') {
      if (line.name === undefined) continue
      // Commands in a file are not run for a look at it: what depends on them stays as it is written.
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

function isComplete({ primary, socks, place, args }: InstanceLine): boolean {
  return primary !== '' && socks !== '' && place !== '' && args !== ''
}

function instanceOf(
  line: InstanceLine,
  { variables, hostName }: FarmPlace,
  { file, className }: { file: string; className: string },
): FarmInstance {
  const written = line.place
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
    writtenHost: line.host,
    host: line.host === 'LOCALHOSTNAME' ? hostName : line.host,
    writtenPlace: written,
    place,
    className: isPrimary ? PRIMARY_CLASS : className,
  }
}
