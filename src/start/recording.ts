/**
 * Daily recording: one archive a day, a new one after an early end, and regular cleaning of old archives.
 * docs/start/npm-start.md
 *
 *     begin ──► recorded until midnight, or until it fails ──► ended in order ──► begin...
 *       ▲ fails: reported once, retried
 */
import { PcpError } from '../model/errors.ts'
import type { Clock } from '../pmapi/clock.ts'
import type { LoggerEnd } from '../pmlogger/settings.ts'
import type { TidyResult } from './retention.ts'

/** An archive being recorded. */
export interface OpenArchive {
  /** Base name, without directory. */
  readonly name: string
  /** Resolves when the archive is complete. */
  readonly ended: Promise<LoggerEnd>
  /** Ends the archive in order. */
  stop(reason: string): Promise<LoggerEnd>
}

/** Dependencies of `Recording`. */
export interface RecordingDependencies {
  /** Starts an archive; rejects with the reason if it cannot. */
  readonly begin: (signal: AbortSignal) => Promise<OpenArchive>
  /** Compresses and removes archives; never rejects. `inUse` is the one being recorded. */
  readonly tidy: (inUse: () => string | undefined, signal: AbortSignal) => Promise<TidyResult>
  /** Time of day in milliseconds since the epoch, and waiting. */
  readonly clock: Clock
  /** Prints a line for the user. */
  readonly print: (line: string) => void
  /** Writes a line to the log. */
  readonly log: (line: string) => void
}

/** Interval of the check for a new day, because clocks are set and machines sleep. */
const LOOK_MS = 60_000
/** Delay before retrying after a failure. */
const RETRY_MS = 10_000
/** Interval between cleanings of old archives. */
const TIDY_MS = 3_600_000

/** Records until it is closed. */
export class Recording {
  readonly #parts: RecordingDependencies
  readonly #abort = new AbortController()
  readonly #told = new Set<string>()
  #archive: OpenArchive | undefined
  /** Day of the current archive. */
  #day = ''
  #isFailing = false
  #work: Promise<unknown> = Promise.resolve()

  constructor(parts: RecordingDependencies) {
    this.#parts = parts
  }

  /** Starts recording; resolves to the archive's name, or undefined after a failure, which was reported and is retried. */
  async start(): Promise<string | undefined> {
    await this.#begin()
    this.#work = Promise.all([this.#record(), this.#keepTidy()])
    return this.#archive?.name
  }

  /** Ends the archive in order; idempotent. */
  async close(): Promise<void> {
    this.#abort.abort()
    await this.#work
  }

  async #record(): Promise<void> {
    while (!this.#isOver()) {
      const archive = this.#archive
      if (archive === undefined) {
        await this.#pause(RETRY_MS)
        if (!this.#isOver()) await this.#begin()
        continue
      }
      const { status, reason } = await this.#untilOver(archive)
      this.#archive = undefined
      if (this.#isOver()) return
      if (status === 0) await this.#begin()
      else this.#failed(reason.replace(/, exiting$/, ''))
    }
    await this.#archive?.stop('End of pcp-ts start, exiting')
  }

  /** Waits for the next day, or for an archive that ends by itself. */
  async #untilOver(archive: OpenArchive): Promise<LoggerEnd> {
    const { clock } = this.#parts
    const today = this.#day
    let end: LoggerEnd | undefined
    const ended = archive.ended.then((how) => {
      end = how
    })
    while (!this.#isOver() && end === undefined && dayOf(clock.now()) === today)
      await Promise.race([ended, this.#pause(Math.min(LOOK_MS, untilMidnight(clock.now())))])
    return (
      end ?? (await archive.stop(this.#isOver() ? 'End of pcp-ts start, exiting' : 'Another day, exiting'))
    )
  }

  async #begin(): Promise<void> {
    const { begin, clock, print, log } = this.#parts
    this.#day = dayOf(clock.now())
    try {
      const archive = await begin(this.#abort.signal)
      this.#archive = archive
      if (this.#isFailing) print(`recording again: ${archive.name}`)
      log(`Recording ${archive.name}`)
      this.#isFailing = false
      this.#told.clear()
    } catch (error) {
      this.#failed(PcpError.from(error).message)
    }
  }

  #failed(why: string): void {
    if (this.#isOver()) return
    this.#isFailing = true
    this.#reportOnce(`not recording: ${oneLine(why)}; retrying`)
  }

  #reportOnce(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#parts.print(text)
    this.#parts.log(text)
  }

  async #keepTidy(): Promise<void> {
    const { tidy, log } = this.#parts
    while (!this.#isOver()) {
      const { compressed, removed, problems } = await tidy(() => this.#archive?.name, this.#abort.signal)
      for (const name of compressed) log(`Compressed ${name}`)
      for (const name of removed) log(`Removed ${name}`)
      if (!this.#isOver()) for (const problem of problems) this.#reportOnce(problem)
      await this.#pause(TIDY_MS)
    }
  }

  #isOver(): boolean {
    return this.#abort.signal.aborted
  }

  /** Waits, but not after closing. */
  async #pause(ms: number): Promise<void> {
    try {
      await this.#parts.clock.sleep(ms, this.#abort.signal)
    } catch {
      // closed: the caller checks for that
    }
  }
}

/** Joins a message of several lines without carets, which configuration errors have. */
function oneLine(message: string): string {
  const lines = message.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && line !== '^').join(' ')
}

/** Returns a text that differs between days of the local calendar. */
function dayOf(ms: number): string {
  return new Date(ms).toDateString()
}

function untilMidnight(ms: number): number {
  const t = new Date(ms)
  // Days have 23 to 25 hours when clocks change; Date handles that.
  return Math.max(1, new Date(t.getFullYear(), t.getMonth(), t.getDate() + 1).getTime() - ms)
}
