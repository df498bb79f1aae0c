/** The standard options of most commands: source, time window, zone. pmGetOptions(3) */
import { join } from 'node:path'
import type { Timestamp } from '../../base/timestamp.ts'
import { type DebugName, parseDebug } from '../../model/debug.ts'
import { PcpError } from '../../model/errors.ts'
import { parseLocalSpec } from '../../routing/local-spec.ts'
import { loadConfig } from '../../sys/config.ts'
import { parseInterval } from '../../time/interval.ts'
import type { DerivedArguments } from './derived.ts'
import { NamedSources, type SourceRules } from './named-sources.ts'
import {
  type GivenOption,
  HELP_ROW,
  type Option,
  type OptionTable,
  type ParsedOptions,
  parseOptions,
  VERSION_ROW,
} from './options.ts'
import { readFolio, readHosts } from './source-lists.ts'
import type { ToolIo } from './tool.ts'

export type StandardName =
  | 'align'
  | 'archive'
  | 'archiveList'
  | 'archiveFolio'
  | 'debug'
  | 'guimode'
  | 'host'
  | 'hostList'
  | 'hostsFile'
  | 'container'
  | 'derived'
  | 'specLocal'
  | 'localPmda'
  | 'namespace'
  | 'uniqnames'
  | 'origin'
  | 'guiport'
  | 'start'
  | 'samples'
  | 'finish'
  | 'interval'
  | 'timezone'
  | 'hostzone'
  | 'version'
  | 'help'

/** Rows for option tables. A row is recognized by identity, so a command may reuse its letters. */
export const STANDARD: Readonly<Record<StandardName, Option>> = {
  align: { short: 'A', long: 'align', arg: 'TIME', help: 'move sample times to multiples of TIME' },
  archive: { short: 'a', long: 'archive', arg: 'FILE', help: 'read values from a PCP archive' },
  archiveList: { long: 'archive-list', arg: 'FILES', help: 'read values from comma-separated archives' },
  archiveFolio: { long: 'archive-folio', arg: 'FILE', help: 'read values from the archives of a folio' },
  debug: { short: 'D', long: 'debug', arg: 'NAMES' },
  guimode: { short: 'g', long: 'guimode', help: 'let a new time control set the time' },
  host: { short: 'h', long: 'host', arg: 'HOST', help: 'read values from the collector on HOST' },
  hostList: {
    long: 'host-list',
    arg: 'HOSTS',
    help: 'read values from the collectors on comma-separated hosts',
  },
  hostsFile: {
    short: 'H',
    long: 'hostsfile',
    arg: 'FILE',
    help: 'read values from the collectors on the hosts in FILE',
  },
  container: { long: 'container', arg: 'NAME', help: 'select a container' },
  derived: { long: 'derived', arg: 'FILE', help: 'load derived metrics from FILE' },
  specLocal: { short: 'K', long: 'spec-local', arg: 'SPEC', help: 'change the agents that -L loads' },
  localPmda: { short: 'L', long: 'local-PMDA', help: 'load agents into this process, without collector' },
  namespace: { short: 'n', long: 'namespace', arg: 'FILE', help: 'take metric names from FILE' },
  uniqnames: {
    short: 'N',
    long: 'uniqnames',
    arg: 'FILE',
    help: 'like -n, but refuse several names for a PMID',
  },
  origin: { short: 'O', long: 'origin', arg: 'TIME', help: 'first sample time, inside the time window' },
  guiport: { short: 'p', long: 'guiport', arg: 'N', help: 'port of the time control that sets the time' },
  start: { short: 'S', long: 'start', arg: 'TIME', help: 'beginning of the time window' },
  samples: { short: 's', long: 'samples', arg: 'N', help: 'end after N samples' },
  finish: { short: 'T', long: 'finish', arg: 'TIME', help: 'end of the time window' },
  interval: { short: 't', long: 'interval', arg: 'DELTA', help: 'time from one sample to the next' },
  timezone: { short: 'Z', long: 'timezone', arg: 'TZ', help: 'show times in this zone' },
  hostzone: { short: 'z', long: 'hostzone', help: 'show times in the zone of the source' },
  version: VERSION_ROW,
  help: HELP_ROW,
}

/** Rows for sampling and zone that most reports have. */
export const SAMPLING_ROWS: readonly Option[] = [
  STANDARD.origin,
  STANDARD.start,
  STANDARD.samples,
  STANDARD.finish,
  STANDARD.interval,
  STANDARD.timezone,
  STANDARD.hostzone,
]

/** Environment variables that replace missing options, in the order in which they are read. */
const ENVIRONMENT: readonly (readonly [string, StandardName])[] = [
  ['PCP_ALIGN_TIME', 'align'],
  ['PCP_ARCHIVE', 'archive'],
  ['PCP_ARCHIVE_LIST', 'archiveList'],
  ['PCP_FOLIO', 'archiveFolio'],
  ['PCP_DEBUG', 'debug'],
  ['PCP_GUIMODE', 'guimode'],
  ['PCP_HOST', 'host'],
  ['PCP_HOST_LIST', 'hostList'],
  ['PCP_SPECLOCAL', 'specLocal'],
  ['PCP_LOCALMODE', 'localPmda'],
  ['PCP_LOCALPMDA', 'localPmda'],
  ['PCP_NAMESPACE', 'namespace'],
  ['PCP_UNIQNAMES', 'uniqnames'],
  ['PCP_ORIGIN', 'origin'],
  ['PCP_ORIGIN_TIME', 'origin'],
  ['PCP_GUIPORT', 'guiport'],
  ['PCP_START_TIME', 'start'],
  ['PCP_SAMPLES', 'samples'],
  ['PCP_FINISH_TIME', 'finish'],
  ['PCP_INTERVAL', 'interval'],
  ['PCP_TIMEZONE', 'timezone'],
  ['PCP_HOSTZONE', 'hostzone'],
]

/** Returns the environment variables for a standard option; empty for a command's own option. */
export function variablesOf(row: unknown): readonly string[] {
  return ENVIRONMENT.filter(([, name]) => STANDARD[name] === row).map(([variable]) => variable)
}

/** Values of the standard options. */
export interface StandardOptions {
  readonly source: 'host' | 'archive' | 'local' | undefined
  readonly hosts: readonly string[]
  /** Archive names; each text may have commas unless the tool takes `many` sources. */
  readonly archives: readonly string[]
  readonly zone: string | undefined
  readonly hostzone: boolean
  readonly interval: Timestamp | undefined
  /** Undefined if not given; 0 only if given as 0. */
  readonly samples: number | undefined
  /** Texts of the time window, resolved after the source is opened. */
  readonly window: Readonly<Partial<Record<'align' | 'start' | 'finish' | 'origin', string>>>
  readonly container: string | undefined
  readonly namespace: { readonly file: string; readonly unique: boolean } | undefined
  readonly guimode: boolean
  readonly guiport: number | undefined
  readonly derived: DerivedArguments
  /** Edits of the table of local agents, with checked syntax. */
  readonly specLocal: readonly string[]
  readonly debug: ReadonlySet<DebugName>
}

/** Differences between commands. */
export interface StandardRules extends SourceRules {
  /** The command names PCP 6's high resolution function in its messages about intervals. */
  readonly isHighRes?: boolean
  /** -A also applies to live values, and delays the first sample. */
  readonly alignsLive?: boolean
  /** Operands name archives, so a time window and -z need no -a. */
  readonly areOperandsArchives?: boolean
  /** Word between -Z and -z in the message that refuses both; default `and`. */
  readonly zonesJoin?: 'and/or'
  /** Without -a, -h and -L the source is this host, also for -z. */
  readonly hasDefaultSource?: boolean
  /** Variables replace all standard options, even without a row in the table, as `pcp` passes its options on in them. */
  readonly inherits?: boolean
}

/** A command line without its standard options, which are in `standard`. */
export interface ParsedStandard extends ParsedOptions {
  readonly standard: StandardOptions
}

/**
 * Reads a command line and the environment; `given` keeps the command's own options, -V and -?. Throws PcpError with PCP's message
 * if a file of hosts or archives cannot be used. @see pmGetOptions(3)
 */
export function parseStandard(
  table: OptionTable,
  io: Pick<ToolIo, 'args' | 'env'> & Partial<Pick<ToolIo, 'cwd'>>,
  rules: StandardRules = {},
): ParsedStandard {
  const parsed = parseOptions(table, io)
  const reader = new StandardReader(rules, { env: io.env, cwd: io.cwd ?? '.' })
  const rows = new Set<unknown>(table.rows)
  for (const [variable, name] of ENVIRONMENT) {
    const value = io.env[variable]
    if (value !== undefined && (rules.inherits === true || rows.has(STANDARD[name]))) reader.take(name, value)
  }
  const own: GivenOption[] = []
  for (const given of parsed.given) {
    const name = NAME_OF_ROW.get(given.option)
    if (name === undefined || name === 'version' || name === 'help') own.push(given)
    else reader.take(name, given.value)
  }
  const standard = reader.finish()
  return {
    given: own,
    operands: parsed.operands,
    problems: [...parsed.problems, ...reader.problems],
    standard,
  }
}

const NAME_OF_ROW: ReadonlyMap<Option, StandardName> = new Map(
  Object.entries(STANDARD).map(([name, row]) => [row, name as StandardName]),
)

class StandardReader {
  readonly problems: string[] = []
  readonly #rules: StandardRules
  readonly #io: Pick<ToolIo, 'cwd' | 'env'>
  readonly #sources: NamedSources
  readonly #window: Partial<Record<'align' | 'start' | 'finish' | 'origin', string>> = {}
  readonly #derived: string[] = []
  readonly #specLocal: string[] = []
  #local = false
  #zone: string | undefined
  #hostzone = false
  #interval: Timestamp | undefined
  #samples: number | undefined
  #container: string | undefined
  #namespace: StandardOptions['namespace']
  #guimode = false
  #guiport: number | undefined
  #debug: ReadonlySet<DebugName> = new Set()

  constructor(rules: StandardRules, io: Pick<ToolIo, 'cwd' | 'env'>) {
    this.#rules = rules
    this.#io = io
    this.#sources = new NamedSources(rules, this.problems)
  }

  take(name: StandardName, value: string): void {
    switch (name) {
      case 'host':
        this.#sources.addHosts([value], value)
        return
      case 'hostList':
        this.#sources.addHosts(
          value.split(',').filter((host) => host !== ''),
          value,
        )
        return
      case 'hostsFile':
        this.#sources.addHosts(readHosts(value, this.#io.cwd), value)
        return
      case 'archive':
        this.#sources.addArchives([value])
        return
      case 'archiveFolio':
        this.#sources.addArchives(readFolio(value, this.#io.cwd))
        return
      case 'archiveList':
        this.#sources.addArchives(this.#rules.many === true ? value.split(',') : [value])
        return
      case 'align':
      case 'start':
      case 'finish':
      case 'origin':
        this.#window[name] = value
        return
      case 'debug':
        this.#setDebug(value)
        return
      case 'guimode':
        if (this.#guiport !== undefined) this.problems.push('at most one of -g and -p allowed')
        else this.#guimode = true
        return
      case 'guiport':
        if (this.#guimode) this.problems.push('at most one of -g and -p allowed')
        else this.#guiport = Math.max(0, Number.parseInt(value, 10) || 0)
        return
      case 'hostzone':
        if (this.#zone !== undefined)
          this.problems.push(`at most one of -Z ${this.#rules.zonesJoin ?? 'and'} -z allowed`)
        else this.#hostzone = true
        return
      case 'timezone':
        if (this.#hostzone)
          this.problems.push(`at most one of -Z ${this.#rules.zonesJoin ?? 'and'} -z allowed`)
        else this.#zone = value
        return
      case 'samples':
        this.#setSamples(value)
        return
      case 'interval':
        this.#setInterval(value)
        return
      case 'namespace':
      case 'uniqnames':
        this.#setNamespace(value, name === 'uniqnames')
        return
      case 'container':
        this.#container = value
        return
      case 'derived':
        this.#derived.push(value)
        return
      case 'specLocal':
        this.#addSpecLocal(value)
        return
      case 'localPmda':
        this.#local = true
        return
      case 'version':
      case 'help':
    }
  }

  #addSpecLocal(value: string): void {
    try {
      parseLocalSpec(value)
      this.#specLocal.push(value)
    } catch (error) {
      this.problems.push(`pmSpecLocalPMDA failed: ${PcpError.from(error).message}`)
    }
  }

  #setNamespace(file: string, unique: boolean): void {
    if (this.#namespace !== undefined) {
      const { code, text } = new PcpError('PM_ERR_DUPPMNS')
      throw new PcpError(code, `Cannot load namespace from "${file}": ${text}`)
    }
    this.#namespace = { file, unique }
  }

  #setDebug(value: string): void {
    const names = parseDebug(value)
    if (names === undefined) this.problems.push(`unrecognized debug options specification (${value})`)
    else this.#debug = new Set([...this.#debug, ...names])
  }

  #setSamples(value: string): void {
    if (/^\s*\+?\d+$/.test(value)) this.#samples = Number(value)
    else this.problems.push('-s requires a positive numeric argument')
  }

  #setInterval(value: string): void {
    try {
      this.#interval = parseInterval(value)
    } catch (error) {
      // The message has two lines and its own newline.
      const why = PcpError.from(error).message.trimEnd()
      const call = this.#rules.isHighRes === true ? 'pmParseHighResInterval' : 'pmParseInterval'
      this.problems.push(`-t argument not in ${call}(3) format:\n${why}\n`)
    }
  }

  finish(): StandardOptions {
    const { align, start, origin } = this.#window
    const sources = this.#sources
    if (origin !== undefined && sources.kind === undefined && !this.#local) {
      const { PCP_ARCHIVE_DIR, PCP_LOG_DIR } = loadConfig(this.#io.env).variables
      const folder = PCP_ARCHIVE_DIR ?? `${PCP_LOG_DIR}/pmlogger`
      sources.addArchives([join(folder, process.getBuiltinModule('node:os').hostname())])
    }
    const isArchive = this.#rules.areOperandsArchives === true || (sources.kind === 'archive' && !this.#local)
    const misplaced = start ?? origin ?? (this.#rules.alignsLive === true ? undefined : align)
    if (!isArchive && misplaced !== undefined)
      this.problems.push('time window options are supported for archives only')
    const hasSource = this.#rules.areOperandsArchives === true || this.#rules.hasDefaultSource === true
    if (this.#hostzone && sources.kind === undefined && !hasSource)
      this.problems.push('use of timezone from metric source requires a source')
    return {
      source: this.#local ? 'local' : sources.kind,
      hosts: sources.hosts,
      archives: sources.archives,
      zone: this.#zone,
      hostzone: this.#hostzone,
      interval: this.#interval,
      samples: this.#samples,
      window: this.#window,
      container: this.#container,
      namespace: this.#namespace,
      guimode: this.#guimode,
      guiport: this.#guiport,
      derived: { files: this.#derived },
      specLocal: this.#specLocal,
      debug: this.#debug,
    }
  }
}
