/**
 * One logger: the metrics of one collector, recorded into one archive. docs/pmlogger.md
 *
 *     schedule ──task──► queue ──► fetch ──► recorder ──► archive
 *                          ▲ one thing at a time: fetches, requests of control clients, volumes, the end
 *
 * When the collector is lost the archive stays: fetches that are due try to connect again, and a mark says where the gap is.
 */
import { ArchiveWriter, type WriterOptions } from '../archive/write/writer.ts'
import { now, secondsBetween, type Timestamp } from '../base/timestamp.ts'
import { debug } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import {
  type FetchResult,
  PMCD_ADD_AGENT,
  PMCD_HOSTNAME_CHANGE,
  PMCD_LABEL_CHANGE,
  PMCD_NAMES_CHANGE,
  PMCD_RESTART_AGENT,
} from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'
import { ctime } from '../sys/log.ts'
import { addTimes, compareTimes, earlierOf, laterOf } from '../time/arithmetic.ts'
import type { LogStatus } from '../wire/log-status.ts'
import { bind, type Wish } from './bind.ts'
import {
  type AgentFacts,
  type CollectorFacts,
  LOGGER_INDOM,
  LOGUE_METRICS,
  logueSets,
  readAgentFacts,
} from './collector-facts.ts'
import { Limits } from './limits.ts'
import type { LoggedMetric } from './logged-metric.ts'
import { Recorder } from './recorder.ts'
import { taskReport, taskTrace } from './report.ts'
import { Schedule } from './schedule.ts'
import type { LoggerEnd, LoggerSettings } from './settings.ts'
import { type Fetch, planTasks, selectSets, type Task } from './tasks.ts'
import { validate } from './validate.ts'

/** A disk may have room again; other errors of the files stay. */
const MAY_PASS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO'])

const MILLISECOND: Timestamp = { sec: 0, nsec: 1_000_000 }

/** A running logger. */
export class Logger {
  readonly #settings: LoggerSettings
  readonly #context: Context
  readonly #facts: CollectorFacts
  readonly #writer: ArchiveWriter
  readonly #recorder: Recorder
  readonly #schedule: Schedule
  readonly #limits: Limits
  readonly #abort = new AbortController()
  readonly #metrics: Map<Pmid, LoggedMetric>
  /** Names that were no metrics: others may appear below them. */
  #roots: Wish[]
  #queue: Promise<unknown> = Promise.resolve()
  /** Tasks whose size was told. */
  readonly #reported = new Set<string>()
  #unsubscribe: () => void = () => {}
  #isLost = false
  /** Results that could not be written since the last one that could. */
  #unwritten = 0
  #end: LoggerEnd | undefined
  #resolveEnd: (end: LoggerEnd) => void = () => {}
  /** Resolves when the archive is complete. */
  readonly ended: Promise<LoggerEnd>

  /** Makes the archive; EEXIST, and what else the file system says. */
  constructor(settings: LoggerSettings, parts: LoggerParts) {
    this.#settings = settings
    this.#context = parts.context
    this.#facts = parts.facts
    this.#metrics = parts.metrics
    this.#roots = parts.roots
    this.#writer = ArchiveWriter.create(settings.files, {
      version: settings.version,
      ...parts.label,
      pid: settings.pid,
      ...(settings.buffer === undefined ? {} : { buffer: settings.buffer }),
      onVolume: (volume) => this.#volumeBegun(volume, 'max data volume size'),
    })
    this.#recorder = new Recorder(this.#writer)
    this.#schedule = new Schedule((task) => this.#do(() => this.#sample(task)), settings.notBefore)
    this.#limits = new Limits(settings, {
      end: (reason) => void this.stop(reason),
      beginVolume: (reason) => this.#switch(reason),
      beginVolumeSoon: (reason) => void this.#do(async () => void this.#switch(reason)),
    })
    this.ended = new Promise((resolve) => {
      this.#resolveEnd = resolve
    })
  }

  /** Writes the first record and starts to log. */
  begin(): void {
    // Unlike PCP's logger, which writes the record first: what is killed in between would have values nobody describes.
    const { at } = this.#facts
    const { pid } = this.#settings
    this.#writer.start(at)
    for (const [i, { name, desc }] of LOGUE_METRICS.entries()) {
      this.#recorder.writeDesc(desc, name)
      if (i === 0) this.#writer.instances(at, LOGGER_INDOM, [pid], [String(pid)])
    }
    this.#writeLogue(at, this.#facts)
    this.#watch()
    this.#limits.begin()
    this.replan()
  }

  /** Removes an archive whose first record could not be written: its name is free again. */
  discard(): void {
    this.#writer.discard()
  }

  /** The metrics by PMID, for whoever changes what holds for them; `replan` makes it so. */
  get metrics(): Map<Pmid, LoggedMetric> {
    return this.#metrics
  }

  /** The connection to the collector. */
  get context(): Context {
    return this.#context
  }

  /** Takes up what holds for the metrics now. */
  replan(): void {
    const tasks = planTasks(this.#metrics.values())
    if (debug.optfetch) for (const [i, task] of tasks.entries()) this.#settings.log.line(taskTrace(i, task))
    this.#schedule.set(tasks)
  }

  /** Does something when nothing else is being done. */
  exclusively<T>(work: () => Promise<T> | T): Promise<T> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => undefined)
    return done
  }

  /** Begins a new volume; resolves to its number. */
  switchVolume(reason: string): Promise<number> {
    return this.exclusively(() => this.#switch(reason))
  }

  /** Bytes of all volumes. */
  get dataBytes(): number {
    return this.#writer.dataBytes
  }

  /** What control clients are told; zones are the logger's own. */
  status(own: { readonly timezone: string; readonly zoneinfo: string }): LogStatus {
    const zero = { sec: 0, nsec: 0 }
    const { hostname, timezone, zoneinfo } = this.#facts
    return {
      start: this.#writer.startTime ?? zero,
      last: this.#writer.lastTime ?? zero,
      now: now(),
      state: this.#writer.lastTime === undefined ? 0 : 1,
      volume: this.#writer.volume,
      size: this.#writer.volumeBytes,
      pmcdHost: hostname,
      pmcdFqdn: this.#settings.source,
      pmcdTimezone: timezone,
      ...(zoneinfo === '' ? {} : { pmcdZoneinfo: zoneinfo }),
      loggerTimezone: own.timezone,
      ...(own.zoneinfo === '' ? {} : { loggerZoneinfo: own.zoneinfo }),
    }
  }

  /** Ends with a last record, for a reason that the log tells; resolves when the archive is complete. */
  stop(reason: string, status = 0): Promise<LoggerEnd> {
    if (this.#end === undefined) {
      this.#end = { status, reason }
      this.#schedule.stop()
      this.#limits.stop()
      void this.exclusively(() => this.#finish(this.#end!))
      // What waits for a collector that does not answer must not hold up the end.
      this.#abort.abort()
    }
    return this.ended
  }

  /** Resolves `ended` whatever happens: what fails here is told, and the rest is done. */
  async #finish(end: LoggerEnd): Promise<void> {
    const { log } = this.#settings
    log.notice('info', `pmlogger: ${end.reason}`)
    this.#unsubscribe()
    try {
      const facts = this.#isLost ? this.#facts : await this.#lastFacts()
      this.#writeLogue(facts === this.#facts ? afterLast(this.#writer.lastTime) : facts.at, facts)
    } catch (error) {
      log.line(`Warning: problem writing archive epilogue: ${PcpError.from(error).message}`)
    }
    try {
      this.#writer.close()
    } catch (error) {
      log.notice('error', `Closing the archive: ${PcpError.from(error).message}`)
    }
    try {
      await this.#context.close()
    } catch (error) {
      log.notice('warning', `Leaving the collector: ${PcpError.from(error).message}`)
    }
    this.#resolveEnd(end)
  }

  async #lastFacts(): Promise<AgentFacts> {
    try {
      return await readAgentFacts(this.#context)
    } catch {
      return this.#facts // it has gone: what it was is what there is to say
    }
  }

  #writeLogue(at: Timestamp, facts: AgentFacts): void {
    const { pid, ownHost, archivePath, port } = this.#settings
    const last = this.#writer.lastTime
    const time = last === undefined ? at : laterOf(at, last)
    this.#writer.result(
      time,
      logueSets({ pid, hostname: ownHost, port: port(), archive: archivePath }, facts),
    )
  }

  /** Work that reports its own errors. */
  async #do(work: () => Promise<void>): Promise<void> {
    try {
      await this.exclusively(work)
    } catch (error) {
      this.#failed(PcpError.from(error))
    }
  }

  async #sample(task: Task): Promise<void> {
    if (this.#end !== undefined || !(await this.#isConnected())) return
    let results: readonly FetchResult[]
    try {
      results = await Promise.all(task.fetches.map((fetch) => this.#fetch(fetch)))
      for (const result of results) if (result.changes !== 0) await this.#changed(result)
    } catch (error) {
      this.#fetchFailed(PcpError.from(error))
      return
    }
    if (this.#end !== undefined) return
    const before = this.#writer.dataBytes
    for (const [i, { timestamp, sets }] of results.entries()) {
      const fetch = task.fetches[i]!
      this.#tellClock(timestamp)
      await this.#recorder.record(this.#context, timestamp, { key: task.key, fetch }, selectSets(fetch, sets))
    }
    this.#written(task, this.#writer.dataBytes - before)
  }

  #fetch({ pmids, profile }: Fetch): Promise<FetchResult> {
    this.#context.profile = profile
    return this.#context.fetch(pmids, { signal: this.#abort.signal })
  }

  /** The clock of the collector may be set back: readers leave out what follows until it has caught up. */
  #tellClock(at: Timestamp): void {
    const { log, source } = this.#settings
    const last = this.#writer.lastTime
    if (last === undefined || compareTimes(last, at) <= 0) return
    const seconds = secondsBetween(at, last).toFixed(3)
    log.notice('warning', `pmlogger: The clock of "${source}" went back by ${seconds} seconds`)
  }

  #written(task: Task, bytes: number): void {
    const { reports, log } = this.#settings
    if (this.#unwritten > 0) {
      log.notice('warning', `Writing again; ${this.#unwritten} results are lost`)
      this.#schedule.repeatOnce() // what is recorded only once may be among them
    }
    this.#unwritten = 0
    if (reports && !this.#reported.has(task.key)) log.line(taskReport(task, bytes))
    this.#reported.add(task.key)
    this.#limits.written(this.#writer.dataBytes, this.#writer.volumeBytes)
  }

  #switch(reason: string): number {
    const volume = this.#writer.switchVolume(now())
    this.#volumeBegun(volume, reason)
    return volume
  }

  #volumeBegun(volume: number, reason: string): void {
    this.#limits.volumeBegun()
    this.#settings.log.line(`New log volume ${volume}, via ${reason} at ${ctime(Date.now())}`)
  }

  #watch(): void {
    this.#unsubscribe()
    this.#unsubscribe = this.#context.subscribe((event) => {
      if (event.type === 'lost') this.#lose()
    })
  }

  #lose(): void {
    if (this.#isLost || this.#end !== undefined) return
    this.#isLost = true
    const { log, source } = this.#settings
    log.notice('error', `pmlogger: Lost connection to PMCD on "${source}" at ${ctime(Date.now())}`)
  }

  /** Connects again when the collector was lost; false as long as it stays so. */
  async #isConnected(): Promise<boolean> {
    if (!this.#isLost) return true
    const { log, source } = this.#settings
    try {
      await this.#context.reconnect({ signal: this.#abort.signal })
    } catch {
      return false // tried again when the next fetch is due, and not more often than the back-off allows
    }
    this.#watch()
    log.notice('info', `pmlogger: re-established connection to PMCD on "${source}" at ${ctime(Date.now())}`)
    try {
      await this.#revalidate()
    } catch (error) {
      // Still lost: what follows without a look at the metrics, or without a mark, could mean something else.
      log.notice('error', `pmlogger: Asking "${source}" about its metrics: ${PcpError.from(error).message}`)
      return false
    }
    if (this.#end !== undefined) return false
    this.#isLost = false
    this.#writer.mark()
    this.#schedule.repeatOnce()
    return true
  }

  /** Agents came or went, names or labels changed. */
  async #changed({ changes, timestamp }: FetchResult): Promise<void> {
    if ((changes & (PMCD_ADD_AGENT | PMCD_RESTART_AGENT)) !== 0) {
      await this.#revalidate()
      if (this.#end !== undefined) return
      this.#writer.mark(earlierOf(timestamp, afterLast(this.#writer.lastTime)))
    }
    if ((changes & PMCD_NAMES_CHANGE) !== 0) {
      const before = this.#metrics.size
      const { pool, defaultDeltaMs } = this.#settings
      // What is still not there was said at the start.
      const target = { metrics: this.#metrics, pool, defaultDeltaMs, warn: () => {} }
      this.#roots = await bind(this.#context, this.#roots, target)
      if (this.#metrics.size > before) this.replan()
    }
    if ((changes & PMCD_LABEL_CHANGE) !== 0)
      await this.#recorder.recordContextLabels(this.#context, timestamp)
    if ((changes & PMCD_HOSTNAME_CHANGE) !== 0 && this.#settings.endsWithHostname)
      void this.stop('The host has another name now, exiting')
  }

  /** Metrics that are no longer what the archive says end the recording: its values would mean something else. */
  async #revalidate(): Promise<void> {
    const problem = await validate(this.#context, this.#metrics.values())
    if (problem === undefined) return
    this.#settings.log.notice('error', problem)
    void this.stop('The metrics of the collector have changed, exiting', 1)
  }

  #fetchFailed(error: PcpError): void {
    if (this.#end !== undefined || this.#isLost) return
    this.#settings.log.notice('error', `pmlogger: Fetch from "${this.#settings.source}": ${error.message}`)
  }

  /** What was fetched could not be written, or its metadata not be asked for. */
  #failed(error: PcpError): void {
    if (this.#end !== undefined || this.#isLost) return
    if (error.code.startsWith('PM_ERR_')) {
      this.#fetchFailed(error)
      return
    }
    if (this.#unwritten++ === 0)
      this.#settings.log.notice('error', `pmlogger: Cannot write the archive: ${error.message}`)
    if (!MAY_PASS.has(error.code)) void this.stop('The archive cannot be written, exiting', 1)
  }
}

/** What a logger is made of once the collector is known. */
export interface LoggerParts {
  readonly context: Context
  readonly facts: CollectorFacts
  readonly metrics: Map<Pmid, LoggedMetric>
  readonly roots: Wish[]
  /** What the archive says of its host. */
  readonly label: Pick<WriterOptions, 'hostname' | 'timezone' | 'zoneinfo'>
}

/** 1 ms after the last record: where marks stand, and ends that no collector tells the time of. */
function afterLast(last: Timestamp | undefined): Timestamp {
  return last === undefined ? now() : addTimes(last, MILLISECOND)
}
