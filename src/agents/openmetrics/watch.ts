/** Finds all sources in the configuration directory and probes them periodically in the background. docs/reference/agents/openmetrics.md */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setLongTimeout } from '../../base/after.ts'
import { withSignal } from '../../base/with-signal.ts'
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv } from '../../pmda/define.ts'
import { type SourceFile, scanDirectory } from './directory.ts'
import { LabelCache } from './exposition.ts'
import { HttpClient } from './http-get.ts'
import { MAX_CLUSTER, MAX_INSTANCE, MAX_ITEM, MAX_PROBES } from './limits.ts'
import { NameTable } from './name-table.ts'
import { probe, readExposition } from './probe.ts'
import { Source } from './source.ts'
import { NO_CONFIG, parseSourceConfig, type SourceConfig } from './source-config.ts'

/** Options of a watch. */
export interface WatchOptions {
  readonly directory: string
  /** Number files in order of their names, so that the same files have the same numbers everywhere. */
  readonly isSorted: boolean
  /** Directory of the tables of numbers. */
  readonly tables: string
  /** Interval between the starts of two probes of a source. */
  readonly intervalMs: number
  /** Time limit of a server; scripts have five times as long. */
  readonly timeoutMs: number
  /** Called when metrics were added or removed. */
  readonly onChange: () => void
}

/** Statistics of a source. */
export interface SourceStats {
  calls: number
  errors: number
  fetchMs: number
  parseMs: number
  /** Result of the last probe, in words. */
  status: string
  /** HTTP status; 0 for none. */
  statusCode: number
  samples: number
  badLines: number
  /** Time of the last document in milliseconds since the epoch. */
  readMs: number | undefined
}

/** A source with its state. */
export interface WatchedSource {
  readonly cluster: number
  readonly file: SourceFile
  readonly config: SourceConfig
  readonly source: Source
  readonly stats: SourceStats
}

interface Entry extends WatchedSource {
  readonly labels: LabelCache
  isProbed: boolean
  /** Problems logged since the last document without problems. */
  told: number
  isGone: boolean
}

const SCRIPT_PATIENCE = 5
/** Most problems of a source logged until there is a document without problems. */
const MAX_TOLD = 10
/** Most messages about the directory remembered, so that each is logged once. */
const MAX_SAID = 1000
/** Shortest time between scans of the directory caused by requests for names. */
const RESCAN_MS = 1000

/** The sources of a directory. */
export class SourceWatcher {
  readonly #env: AgentEnv
  readonly #options: WatchOptions
  readonly #client = new HttpClient()
  readonly #closing = new AbortController()
  readonly #clusters: NameTable
  readonly #entries = new Map<string, Entry>()
  readonly #waiting: Entry[] = []
  readonly #said = new Set<string>()
  #probes = 0
  #intervalMs: number
  #cancel: () => void = () => {}
  #scannedMs = Number.NEGATIVE_INFINITY
  /** Totals of all sources. */
  readonly totals: SourceStats = newStats('none')
  /** Log every probe. */
  isVerbose = false

  /** Scans the directory and starts probing. */
  constructor(env: AgentEnv, options: WatchOptions) {
    this.#env = env
    this.#options = options
    this.#intervalMs = options.intervalMs
    this.#clusters = this.#table(0, MAX_CLUSTER)
    this.#clusters.numberOf('control') // cluster 0 is for the agent's metrics
    this.scan()
    this.#restartTimer()
  }

  /** By cluster. */
  get sources(): readonly WatchedSource[] {
    return [...this.#entries.values()].sort((a, b) => a.cluster - b.cluster)
  }

  /** Names of all clusters ever assigned, in order. */
  get clusters(): NameTable {
    return this.#clusters
  }

  get intervalMs(): number {
    return this.#intervalMs
  }

  /** Restarts the timer: the next probe is one interval away. */
  set intervalMs(ms: number) {
    this.#intervalMs = ms
    this.#restartTimer()
  }

  /** Scans for new, changed and removed files unless that was done recently. */
  rescan(): void {
    if (Math.abs(this.#env.clock() - this.#scannedMs) >= RESCAN_MS) this.scan()
  }

  /** Scans for new, changed and removed files, and starts probing new ones. */
  scan(): void {
    this.#scannedMs = this.#env.clock()
    const { directory, isSorted } = this.#options
    const files = scanDirectory(directory, isSorted, (text) => this.#once(text))
    const present = new Set(files.map(({ nickname }) => nickname))
    let hasChanged = false
    for (const [nickname, entry] of this.#entries) {
      if (present.has(nickname)) continue
      entry.isGone = true
      this.#entries.delete(nickname)
      hasChanged = true
    }
    for (const file of files) {
      const known = this.#entries.get(file.nickname)
      if (known?.file.path === file.path && known.file.changedMs === file.changedMs) continue
      hasChanged = this.#add(file, known) || hasChanged
    }
    this.#save(() => this.#clusters.save())
    if (hasChanged) this.#options.onChange()
  }

  /** Aborts all probes. */
  close(): void {
    this.#cancel()
    this.#closing.abort()
    this.#client.close()
    this.#waiting.length = 0
  }

  #add(file: SourceFile, known: Entry | undefined): boolean {
    try {
      const cluster = this.#clusters.numberOf(file.nickname)
      const config = file.isScript ? NO_CONFIG : parseSourceConfig(readFileSync(file.path, 'utf8'))
      for (const { line, why } of config.problems) this.#once(`${file.path}, line ${line}: ${why}`)
      if (known !== undefined) known.isGone = true
      const entry = this.#newEntry(file, config, cluster, known?.stats ?? newStats('unknown'))
      this.#entries.set(file.nickname, entry)
      this.#enqueue(entry)
      return true
    } catch (error) {
      this.#once(`${file.path} is left out: ${PcpError.from(error).message}`)
      return false
    }
  }

  #newEntry(file: SourceFile, config: SourceConfig, cluster: number, stats: SourceStats): Entry {
    const source = new Source({
      config,
      items: this.#table(cluster, MAX_ITEM),
      instancesOf: (item) => this.#table(4096 + cluster * 1024 + item, MAX_INSTANCE),
      problem: (line, why) => this.#tellProblem(entry, line, why),
    })
    const entry: Entry = {
      cluster,
      file,
      config,
      source,
      stats,
      labels: new LabelCache(),
      isProbed: false,
      told: 0,
      isGone: false,
    }
    return entry
  }

  #table(serial: number, max: number): NameTable {
    const path = join(this.#options.tables, `${this.#env.domain}.${serial}.py`)
    return new NameTable(path, max, (text) => this.#once(text))
  }

  #restartTimer(): void {
    this.#cancel()
    if (this.#closing.signal.aborted) return
    const scan = (): void => {
      try {
        this.scan()
      } catch (error) {
        this.#once(PcpError.from(error).message)
      }
      for (const entry of this.#entries.values()) this.#enqueue(entry)
      this.#restartTimer()
    }
    this.#cancel = setLongTimeout(this.#intervalMs, scan, { isBackground: true })
  }

  /** Schedules a probe unless the source is being probed. */
  #enqueue(entry: Entry): void {
    if (entry.isProbed) return
    entry.isProbed = true
    this.#waiting.push(entry)
    this.#startProbes()
  }

  #startProbes(): void {
    while (this.#probes < MAX_PROBES) {
      const entry = this.#waiting.shift()
      if (entry === undefined) return
      this.#probes++
      void this.#probe(entry)
        .catch((error: unknown) => this.#once(`${entry.file.path}: ${PcpError.from(error).message}`))
        .finally(() => {
          this.#probes--
          entry.isProbed = false
          this.#startProbes()
        })
    }
  }

  async #probe(entry: Entry): Promise<void> {
    const { file, config, stats } = entry
    if (entry.isGone) return
    const timeoutMs = this.#options.timeoutMs * (file.isScript ? SCRIPT_PATIENCE : 1)
    const startMs = performance.now()
    const { status, document } = await withSignal({ signals: [this.#closing.signal], timeoutMs }, (signal) =>
      probe(file, config, {
        client: this.#client,
        signal,
        warn: (text) => this.#env.log('warning', `${file.path}: ${text}`),
      }),
    )
    if (this.#closing.signal.aborted || entry.isGone) return
    const fetchMs = performance.now() - startMs
    for (const each of [stats, this.totals]) {
      each.calls++
      each.fetchMs += fetchMs
    }
    stats.statusCode = status
    if (typeof document === 'string') await this.#take(entry, document)
    else this.#fail(entry, document)
    if (this.isVerbose)
      this.#env.log(
        'info',
        `${file.path}: ${stats.status}, ${stats.samples} values in ${fetchMs.toFixed(1)} ms`,
      )
  }

  async #take(entry: Entry, document: string): Promise<void> {
    const { source, stats } = entry
    const startMs = performance.now()
    const reader = await readExposition(document, entry.labels)
    if (this.#closing.signal.aborted || entry.isGone) return
    stats.badLines = 0
    for (const { line, why } of reader.problems) this.#tellProblem(entry, line, why)
    stats.badLines = reader.problemCount
    const hasNew = source.update(reader)
    if (stats.badLines === 0) entry.told = 0
    const parseMs = performance.now() - startMs
    for (const each of [stats, this.totals]) each.parseMs += parseMs
    stats.samples = reader.samples.length
    stats.status = 'success'
    stats.readMs = this.#env.clock()
    this.#save(() => source.save())
    if (hasNew) this.#options.onChange()
  }

  /** Clients would take old values for new ones, so they are removed until the next document. */
  #fail({ source, stats, file }: Entry, error: PcpError): void {
    for (const each of [stats, this.totals]) each.errors++
    const status = `cannot read ${file.isScript ? 'from script' : 'the document of'} ${file.path}: ${error.message}`
    if (status !== stats.status) this.#env.log('warning', status)
    stats.status = status
    stats.samples = 0
    source.clear()
  }

  #tellProblem(entry: Entry, line: number, why: string): void {
    entry.stats.badLines++
    if (entry.told > MAX_TOLD) return
    entry.told++
    const { path, isScript } = entry.file
    const where = isScript ? path : `${path} (${safeUrl(entry.config.url)})`
    const text = entry.told > MAX_TOLD ? 'more lines are wrong' : `line ${line}: ${why}`
    this.#env.log('warning', `${where}: ${text}`)
  }

  #save(save: () => void): void {
    try {
      save()
    } catch (error) {
      this.#once(`Numbers of metrics cannot be saved: ${PcpError.from(error).message}`)
    }
  }

  #once(text: string): void {
    if (this.#said.has(text)) return
    if (this.#said.size >= MAX_SAID) this.#said.clear()
    this.#said.add(text)
    this.#env.log('warning', text)
  }
}

/** Returns a URL without user name and password. */
export function safeUrl(text: string): string {
  return text.replace(/^(\w+:\/\/)[^/@]*@/, '$1')
}

function newStats(status: string): SourceStats {
  return {
    calls: 0,
    errors: 0,
    fetchMs: 0,
    parseMs: 0,
    status,
    statusCode: 0,
    samples: 0,
    badLines: 0,
    readMs: undefined,
  }
}
