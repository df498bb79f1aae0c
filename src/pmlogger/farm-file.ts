/** Farm files: a line for each collector to record, or for a source of them. docs/reference/pmlogger.md */
import { type DiscoveredHost, directoryOf, fileName, hostKey } from '../discovery/host.ts'
import { sourceKind } from '../discovery/registry.ts'
import type { SourceKind } from '../discovery/source.ts'
import { PcpError } from '../model/errors.ts'
import { intervalMs, parseSizeLimit, type SizeLimit } from './sizes.ts'

/** How a collector is recorded, besides where it is and where its archive goes. */
export interface RecordingOptions {
  readonly labelHost?: string
  readonly defaultDeltaMs?: number
  readonly version?: 2 | 3
  readonly endLimit?: SizeLimit
  readonly volumeLimit?: SizeLimit
}

/** One collector of a farm. */
export interface FarmEntry extends RecordingOptions {
  /** A host specification. */
  readonly host: string
  /** `hostKey` of the host. */
  readonly key: string
  /** Base name of the archive, with conversions of time. */
  readonly archive: string
  /** Configuration file, as given. */
  readonly config: string
  /** A source found it: a host that returns gets a new archive, whatever its name. */
  readonly isFound?: true
}

/** A line for the hosts of a source. */
export interface FarmSource extends RecordingOptions {
  /** As given: `dns:db.example`. */
  readonly text: string
  readonly kind: SourceKind
  readonly argument: string
  /** Base name of archives, with %h for the host and %{NAME} for a label. */
  readonly archive: string
  readonly config: string
  readonly refreshMs: number
  readonly keepMs: number
  readonly graceMs: number
  readonly most: number
  readonly port: number
  /** Options of its kind. */
  readonly options: Readonly<Record<string, string>>
  readonly line: number
}

/** A parsed farm file. */
export interface FarmFile {
  readonly hosts: readonly FarmEntry[]
  readonly sources: readonly FarmSource[]
}

/** Parsers of the options of all lines; undefined for invalid values. */
const OPTIONS: Readonly<Record<string, (value: string) => RecordingOptions | undefined>> = {
  label: (value) => ({ labelHost: value }),
  interval: (value) => timeOption(value, (defaultDeltaMs) => ({ defaultDeltaMs })),
  version: (value) => (value === '2' || value === '3' ? { version: value === '2' ? 2 : 3 } : undefined),
  size: (value) => limitOption(value, (endLimit) => ({ endLimit })),
  volsize: (value) => limitOption(value, (volumeLimit) => ({ volumeLimit })),
}

type SourceOptions = Partial<Pick<FarmSource, 'refreshMs' | 'keepMs' | 'graceMs' | 'most' | 'port'>>

/** Parsers of further options of sources. */
const SOURCE_OPTIONS: Readonly<Record<string, (value: string) => SourceOptions | undefined>> = {
  refresh: (value) => timeOption(value, (refreshMs) => ({ refreshMs })),
  keep: (value) => timeOption(value, (keepMs) => ({ keepMs })),
  grace: (value) => (value === '0' ? { graceMs: 0 } : timeOption(value, (graceMs) => ({ graceMs }))),
  most: (value) => (/^[1-9]\d{0,5}$/.test(value) ? { most: Number(value) } : undefined),
  port: (value) => (isPort(value) ? { port: Number(value) } : undefined),
}

const KEEP_MS = 86_400_000
const MOST = 10_000
const PORT = 44_321
/** Most sources of a farm file. */
const MOST_SOURCES = 100

/**
 * Parses lines of host, archive and configuration, then `name=value` options: label, interval, version, size, volsize. A host that begins with
 * `@` is a source: `@KIND:ARGUMENT`. `#` begins a comment. Throws PM_ERR_CONV with file and line for errors and for duplicate archives.
 */
export function parseFarm(text: string, file: string): FarmFile {
  const hosts: FarmEntry[] = []
  const sources: FarmSource[] = []
  const archives = new Map<string, number>()
  for (const [i, raw] of text.split('\n').entries()) {
    const words = raw
      .replace(/(^|\s)#.*/, '')
      .trim()
      .split(/\s+/)
    if (words[0] === '') continue
    const fail = (problem: string): never => {
      throw new PcpError('PM_ERR_CONV', `${file}[line ${i + 1}]: ${problem}`)
    }
    const [host = '', archive, config, ...options] = words
    if (archive === undefined || config === undefined)
      return fail('expected a host, an archive and a configuration')
    if (host.startsWith('@')) {
      if (sources.length >= MOST_SOURCES) fail(`more than ${MOST_SOURCES} sources`)
      sources.push(parseSource(host.slice(1), { archive, config, options, line: i + 1 }, fail))
      continue
    }
    const { recording } = parseOptions(options, undefined, fail)
    const entry = expand(
      { host, key: keyOf(host), archive, config, ...recording },
      { spec: host, name: directoryOf(host), labels: {} },
    )
    const earlier = archives.get(entry.archive)
    if (earlier !== undefined) fail(`archive ${entry.archive} is written by line ${earlier} already`)
    archives.set(entry.archive, i + 1)
    hosts.push(entry)
  }
  if (hosts.length + sources.length === 0)
    throw new PcpError('PM_ERR_CONV', `${file}: no line names a collector`)
  return { hosts, sources }
}

/** Returns the entry of a host of a source. */
export function entryOf(source: FarmSource, found: DiscoveredHost): FarmEntry {
  const { archive, config, labelHost, defaultDeltaMs, version, endLimit, volumeLimit } = source
  const options = { labelHost, defaultDeltaMs, version, endLimit, volumeLimit }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const { spec } = found
  return expand({ host: spec, key: keyOf(spec), archive, config, isFound: true, ...given }, found)
}

/** Replaces %h by the name of the host and %{NAME} by a label, `none` without it; other conversions are of time. */
export function expandHost(template: string, { name, labels }: DiscoveredHost): string {
  return template.replace(/%%|%h|%\{([^}]*)\}/g, (all, label: string | undefined) => {
    if (all === '%%') return all
    return label === undefined ? name : fileName((Object.hasOwn(labels, label) && labels[label]) || 'none')
  })
}

function expand(entry: FarmEntry, host: DiscoveredHost): FarmEntry {
  const { labelHost } = entry
  return {
    ...entry,
    archive: expandHost(entry.archive, host),
    ...(labelHost === undefined ? {} : { labelHost: expandHost(labelHost, host) }),
  }
}

/** An invalid specification fails when it is connected to. */
function keyOf(host: string): string {
  try {
    return hostKey(host)
  } catch {
    return host
  }
}

interface SourceLine {
  readonly archive: string
  readonly config: string
  readonly options: readonly string[]
  readonly line: number
}

type Fail = (problem: string) => never

function parseSource(text: string, { archive, config, options, line }: SourceLine, fail: Fail): FarmSource {
  let named: ReturnType<typeof sourceKind>
  try {
    named = sourceKind(text)
  } catch (error) {
    return fail((error as Error).message)
  }
  const { kind, argument } = named
  if (!/%h|%\{/.test(archive))
    fail(`archive ${archive} is the same for all hosts: use %h for the name of the host`)
  const { recording, source, others } = parseOptions(options, kind, fail)
  return {
    text,
    kind,
    argument,
    archive,
    config,
    refreshMs: kind.refreshMs,
    keepMs: KEEP_MS,
    graceMs: kind.graceMs,
    most: MOST,
    port: PORT,
    ...source,
    options: others,
    line,
    ...recording,
  }
}

interface Options {
  readonly recording: RecordingOptions
  readonly source: SourceOptions
  readonly others: Readonly<Record<string, string>>
}

function parseOptions(words: readonly string[], kind: SourceKind | undefined, fail: Fail): Options {
  const parsed = { recording: {}, source: {}, others: {} as Record<string, string> }
  const ownNames = kind?.options ?? []
  const names = [
    ...Object.keys(OPTIONS),
    ...(kind === undefined ? [] : [...Object.keys(SOURCE_OPTIONS), ...ownNames]),
  ]
  for (const word of words) {
    const [name = '', value = ''] = word.split(/=(.*)/s)
    if (!names.includes(name)) fail(`unknown option "${name}": use ${names.join(', ')}`)
    if (ownNames.includes(name)) {
      parsed.others[name] = value
      continue
    }
    const [option, target] = name in OPTIONS ? [OPTIONS, parsed.recording] : [SOURCE_OPTIONS, parsed.source]
    Object.assign(target, option[name]!(value) ?? fail(`invalid value "${value}" for option ${name}`))
    if (name === 'port') parsed.others[name] = value
  }
  return parsed
}

function isPort(value: string): boolean {
  return /^[1-9]\d{0,4}$/.test(value) && Number(value) < 65_536
}

function timeOption<T>(value: string, make: (ms: number) => T): T | undefined {
  const ms = intervalMs(value)
  return ms === undefined ? undefined : make(ms)
}

function limitOption<T>(value: string, make: (limit: SizeLimit) => T): T | undefined {
  const limit = parseSizeLimit(value)
  return limit === undefined ? undefined : make(limit)
}
