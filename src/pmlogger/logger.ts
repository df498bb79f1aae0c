/**
 * Records the metrics of one collector into one archive. docs/reference/pmlogger.md
 *
 *     schedule ──task──► queue ──► fetch ──► recorder ──► archive
 *                          ▲ one operation at a time: fetches, control requests, new volumes, the end
 *
 * If the collector is lost the archive stays open: due fetches try to reconnect, and a mark record shows the gap.
 */
import { ArchiveWriter } from '../archive/write/writer.ts'
import { now, type Timestamp } from '../base/timestamp.ts'
import { debug } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { Context } from '../pmapi/context.ts'
import { uptimeMs } from '../sys/uptime.ts'
import { addTimes, earlierOf, laterOf } from '../time/arithmetic.ts'
import type { LogStatus } from '../wire/log-status.ts'
import { Collector } from './collector.ts'
import { CollectorClock } from './collector-clock.ts'
import {
  type AgentFacts,
  type CollectorFacts,
  LOG_RECORD_METRICS,
  LOGGER_INDOM,
  prologueValues,
  readAgentFacts,
} from './collector-facts.ts'
import { NO_COUNTS, type RecorderCounts } from './counts.ts'
import { Limits } from './limits.ts'
import type { LoggedMetric } from './logged-metric.ts'
import { PeriodicSync } from './periodic-sync.ts'
import { Recorder } from './recorder.ts'
import { taskReport, taskTrace } from './report.ts'
import { TaskScheduler } from './schedule.ts'
import type { LoggerEnd, LoggerParts, LoggerSettings } from './settings.ts'
import { SYNC_MS } from './sizes.ts'
import { logStatus, type OwnZones } from './status.ts'
import { planTasks, selectSets, type Task } from './tasks.ts'
import { Volumes } from './volumes.ts'
import { WriteFailureLog } from './write-failure-log.ts'

/** Errors that may pass: a full disk, or a process out of memory or file descriptors. Other file errors are permanent. */
const MAY_PASS: ReadonlySet<string> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EIO', 'ETIMEDOUT', 'EAGAIN'],
  ...['ENOMEM', 'EMFILE', 'ENFILE'],
])
/** Milliseconds until metrics logged once are retried. */
const RETRY_ONCE_MS = 10_000
/** Age in milliseconds after which an archive that failed to sync is closed in favor of a new one. */
const DOUBTFUL_MS = 600_000

const MILLISECOND: Timestamp = { sec: 0, nsec: 1_000_000 }

export class Logger {
  readonly #settings: LoggerSettings
  readonly #context: Context
  readonly #facts: CollectorFacts
  readonly #writer: ArchiveWriter
  readonly #recorder: Recorder
  readonly #schedule: TaskScheduler
  readonly #limits: Limits
  readonly #volumes: Volumes
  readonly #sync: PeriodicSync
  readonly #trouble: WriteFailureLog
  readonly #clock = new CollectorClock()
  readonly #collector: Collector
  readonly #counts: RecorderCounts
  readonly #elapsedMs: () => number
  readonly #startMs: number
  readonly #abort = new AbortController()
  readonly #metrics: Map<Pmid, LoggedMetric>
  #queue: Promise<unknown> = Promise.resolve()
  /** Number of requests to log once. */
  #rounds = 0
  /** Periodic tasks whose size has been reported. */
  readonly #reported = new Set<string>()
  /** The next record is not continuous with the last one. */
  #isGap = false
  /** Results were lost, possibly of metrics that are logged only once. */
  #hasLost = false
  /** A sync of the archive failed. */
  #isDoubtful = false
  #end: LoggerEnd | undefined
  #resolveEnd: (end: LoggerEnd) => void = () => {}
  /** Resolves when the archive is complete. */
  readonly ended: Promise<LoggerEnd>

  /** Creates the archive. Throws EEXIST and other file system errors. */
  constructor(settings: LoggerSettings, parts: LoggerParts) {
    this.#settings = settings
    this.#context = parts.context
    this.#facts = parts.facts
    this.#metrics = parts.metrics
    this.#writer = ArchiveWriter.create(settings.files, {
      indexesMarks: true,
      version: settings.version,
      ...parts.label,
      pid: settings.pid,
      ...(settings.buffer === undefined ? {} : { buffer: settings.buffer }),
      onVolume: (volume) => this.#volumes.noteBegun(volume, 'max data volume size'),
    })
    const { monotonicMs = uptimeMs, counts = NO_COUNTS, syncMs = SYNC_MS } = settings
    this.#elapsedMs = monotonicMs
    this.#startMs = monotonicMs()
    this.#counts = counts
    this.#trouble = new WriteFailureLog(settings.log, monotonicMs)
    this.#sync = new PeriodicSync(syncMs, {
      sync: () => this.#writer.sync(),
      atRisk: (ms) => counts.unsyncedAge(ms),
      failed: (error) => this.#syncFailed(error),
    })
    this.#recorder = new Recorder(this.#writer)
    this.#collector = new Collector(settings, parts, {
      signal: this.#abort.signal,
      isEnding: () => this.#end !== undefined,
      interrupted: () => {
        this.#isGap = true
      },
      reconnected: () => this.#schedule.repeatOnce(),
      newMetrics: () => this.replan(),
      stop: (reason, status) => void this.stop(reason, status),
    })
    this.#schedule = new TaskScheduler(
      (task) => this.#do(() => this.#sample(task)),
      settings.notBefore,
      (lateMs, leftOut) => counts.fetchBegan(lateMs, leftOut),
    )
    this.#limits = new Limits(settings, {
      end: (reason) => void this.stop(reason),
      beginVolume: (reason) => this.#volumes.tryBegin(reason),
      beginVolumeSoon: (reason) => void this.exclusively(() => this.#volumes.tryBegin(reason)),
    })
    this.#volumes = new Volumes({
      writer: this.#writer,
      log: settings.log,
      sync: () => this.#sync.now(),
      isEnding: () => this.#end !== undefined,
      begun: () => this.#limits.volumeBegun(),
    })
    this.ended = new Promise((resolve) => {
      this.#resolveEnd = resolve
    })
  }

  /** Writes the first record and starts logging. */
  begin(): void {
    // PCP's logger writes the record before its metadata; if killed in between it leaves values without a descriptor.
    const { at } = this.#facts
    const { pid } = this.#settings
    this.#writer.start(at)
    for (const [i, { name, desc }] of LOG_RECORD_METRICS.entries()) {
      this.#recorder.writeDesc(desc, name)
      if (i === 0) this.#writer.instances(at, LOGGER_INDOM, [pid], [String(pid)])
    }
    this.#writeLogue(at, this.#facts)
    this.#counts.archiveBegun()
    this.#sync.written()
    void this.#sync.now()
    this.#collector.watch()
    this.#limits.begin()
    this.replan()
  }

  /** Removes an archive whose first record could not be written, which frees its name. */
  discard(): void {
    this.#writer.discard()
  }

  /** Metrics by PMID. After changing their states call `replan`. */
  get metrics(): Map<Pmid, LoggedMetric> {
    return this.#metrics
  }

  /** Returns a new number for a request to log once. */
  nextRound(): number {
    return ++this.#rounds
  }

  get context(): Context {
    return this.#context
  }

  /** Plans the tasks again after changes of the metrics' states. */
  replan(): void {
    const tasks = planTasks(this.#metrics.values())
    if (debug.optfetch) for (const [i, task] of tasks.entries()) this.#settings.log.line(taskTrace(i, task))
    this.#schedule.set(tasks)
  }

  /** Runs work when no other operation is in progress. */
  exclusively<T>(work: () => Promise<T> | T): Promise<T> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => undefined)
    return done
  }

  /** Begins a new volume; resolves to its number. */
  switchVolume(reason: string): Promise<number> {
    return this.exclusively(() => this.#volumes.begin(reason))
  }

  /** Total bytes of all volumes. */
  get dataBytes(): number {
    return this.#writer.dataBytes
  }

  /** Returns the status for control clients; `own` holds the logger's time zones. */
  status(own: OwnZones): LogStatus {
    return logStatus(this.#writer, this.#facts, this.#settings.source, own)
  }

  /** Logs the reason and ends with a last record; resolves when the archive is complete. */
  stop(reason: string, status = 0): Promise<LoggerEnd> {
    return this.#stop({ status, reason })
  }

  /** Like `stop`, but without a request to the collector: nothing in the archive is later than the last values. */
  abandon(reason: string): Promise<LoggerEnd> {
    return this.#stop({ status: 0, reason, isAbandoned: true })
  }

  #stop(end: LoggerEnd): Promise<LoggerEnd> {
    if (this.#end === undefined) {
      this.#end = end
      this.#sync.stop()
      this.#schedule.stop()
      this.#limits.stop()
      void this.exclusively(() => this.#finish(end))
      // Requests to an unresponsive collector must not delay the end.
      this.#abort.abort()
    }
    return this.ended
  }

  /** Always resolves `ended`: failures are logged and the remaining steps still run. */
  async #finish(end: LoggerEnd): Promise<void> {
    const { log } = this.#settings
    log.notice('info', `pmlogger: ${end.reason}`)
    this.#collector.unwatch()
    try {
      // After a clock step, the collector's time would misplace the last record.
      const isOwnTime = this.#collector.isLost || end.continues !== undefined || end.isAbandoned === true
      const facts = isOwnTime ? this.#facts : await this.#lastFacts()
      const isLate = facts === this.#facts || !this.#mayRecord()
      this.#writeLogue(isLate ? afterLast(this.#writer.lastTime) : facts.at, facts)
    } catch (error) {
      log.line(`Warning: problem writing archive epilogue: ${PcpError.from(error).message}`)
    }
    this.#trouble.ended()
    try {
      this.#writer.close()
      this.#counts.unsyncedAge(undefined)
    } catch (error) {
      log.notice('error', `Closing the archive: ${PcpError.from(error).message}`)
    }
    try {
      await this.#context.close()
    } catch (error) {
      log.notice('warning', `Closing the connection to the collector: ${PcpError.from(error).message}`)
    }
    this.#resolveEnd(end)
  }

  async #lastFacts(): Promise<AgentFacts> {
    try {
      return await readAgentFacts(this.#context)
    } catch {
      return this.#facts // the collector is gone: use the last known facts
    }
  }

  #writeLogue(at: Timestamp, facts: AgentFacts): void {
    const { pid, ownHost, archivePath, port } = this.#settings
    const last = this.#writer.lastTime
    const time = last === undefined ? at : laterOf(at, last)
    this.#markGap(time)
    this.#writer.result(
      time,
      prologueValues({ pid, hostname: ownHost, port: port(), archive: archivePath }, facts),
    )
  }

  /** Queues work that reports its own errors. */
  async #do(work: () => Promise<void>): Promise<void> {
    try {
      await this.exclusively(work)
    } catch (error) {
      this.#failed(PcpError.from(error))
    }
  }

  async #sample(task: Task): Promise<void> {
    if (this.#end !== undefined) return
    if (this.#isDoubtful && this.#elapsedMs() - this.#startMs >= DOUBTFUL_MS) {
      this.continueElsewhere('The disk failed, continuing in a new archive')
      return
    }
    const askedMs = this.#elapsedMs()
    const results = await this.#collector.fetchAll(task.fetches)
    if (results === undefined) {
      if (task.deltaMs === 0) this.#schedule.repeatOnce(RETRY_ONCE_MS)
      return
    }
    if (this.#end !== undefined || results.some(({ timestamp }) => this.#isClockSet(timestamp, askedMs)))
      return
    // The process may have been stopped for a while since the request.
    if (!this.#mayRecord()) return
    const before = this.#writer.dataBytes
    this.#sync.written()
    for (const [i, { timestamp, sets }] of results.entries()) {
      const fetch = task.fetches[i]!
      const at = laterOf(timestamp, this.#writer.lastTime ?? timestamp)
      const size = this.#writer.dataBytes
      this.#markGap(at)
      await this.#recordLabels(at)
      await this.#recorder.record(this.#context, at, { key: task.key, fetch }, selectSets(fetch, sets))
      this.#counts.recorded(this.#writer.dataBytes - size)
    }
    await this.#written(task, this.#writer.dataBytes - before)
  }

  #mayRecord(): boolean {
    return this.#settings.mayRecord?.() !== false
  }

  /** Returns whether the collector's clock was stepped; recording then continues in a new archive. */
  #isClockSet(at: Timestamp, askedMs: number): boolean {
    const seconds = this.#clock.step(at, askedMs, this.#elapsedMs())
    if (seconds === 0) return false
    const { log, source } = this.#settings
    const how = `${seconds < 0 ? 'back' : 'forward'} by ${Math.abs(seconds).toFixed(3)} seconds`
    log.notice('warning', `pmlogger: The clock of "${source}" went ${how}`)
    this.continueElsewhere('The clock was set, continuing in a new archive')
    return true
  }

  /** Ends the archive; recording continues in another one. */
  continueElsewhere(reason: string): void {
    void this.#stop({ status: 0, reason, continues: this.#limits.spent(this.#writer.dataBytes) })
  }

  /** Writes a mark record if the next record is not continuous with the last. */
  #markGap(next: Timestamp): void {
    if (!this.#isGap) return
    const last = this.#writer.lastTime
    if (last !== undefined && !this.#writer.endsInMark)
      this.#writer.mark(earlierOf(next, addTimes(last, MILLISECOND)))
    this.#isGap = false
  }

  /** Records the context labels if they changed. */
  async #recordLabels(at: Timestamp): Promise<void> {
    if (!this.#collector.hasNewLabels) return
    const isDone = await this.#recorder.recordContextLabels(this.#context, at)
    this.#collector.hasNewLabels = !isDone
  }

  async #written(task: Task, bytes: number): Promise<void> {
    const { reports, log } = this.#settings
    this.#trouble.passed()
    if (this.#hasLost) this.#schedule.repeatOnce()
    this.#hasLost = false
    if (reports && !this.#reported.has(task.key)) log.line(taskReport(task, bytes))
    if (task.deltaMs > 0) this.#reported.add(task.key)
    await this.#volumes.retry()
    await this.#limits.written(this.#writer.dataBytes, this.#writer.volumeBytes)
  }

  #syncFailed(error: PcpError): void {
    this.#counts.syncFailed()
    if (!this.#isDoubtful)
      this.#settings.log.notice(
        'error',
        `pmlogger: Cannot sync the archive to disk, a power failure may lose data: ${error.message}`,
      )
    this.#isDoubtful = true
  }

  /** Handles an error of writing a result or fetching its metadata. */
  #failed(error: PcpError): void {
    if (this.#end !== undefined) return
    if (this.#collector.isLost || error.code.startsWith('PM_ERR_')) {
      this.#collector.failed(error)
      return
    }
    this.#isGap = true
    this.#hasLost = true
    this.#counts.lost()
    this.#trouble.failed(error)
    if (!MAY_PASS.has(error.code)) void this.stop('The archive cannot be written, exiting', 1)
  }
}

/** Returns 1 ms after the last record: the time of marks, and of the end if the collector's time is unavailable. */
function afterLast(last: Timestamp | undefined): Timestamp {
  return last === undefined ? now() : addTimes(last, MILLISECOND)
}
