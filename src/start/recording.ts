/**
 * Recording day after day: an archive a day, another one when it ends early, and a look now and then at those there are.
 * docs/start.md
 *
 *     begin ──► recorded until midnight, or until it fails ──► ended in order ──► begin...
 *       ▲ fails: told once, tried again
 */
import { PcpError } from '../model/errors.ts'
import type { Clock } from '../pmapi/clock.ts'
import type { LoggerEnd } from '../pmlogger/settings.ts'
import type { Tidied } from './retention.ts'

/** An archive that is being recorded. */
export interface BegunArchive {
  /** Base name, without directory. */
  readonly name: string
  /** Resolves when the archive is complete. */
  readonly ended: Promise<LoggerEnd>
  /** Ends it in order. */
  stop(reason: string): Promise<LoggerEnd>
}

/** What recording is made of. */
export interface RecordingParts {
  /** Begins an archive; rejects with why it cannot. */
  readonly begin: (signal: AbortSignal) => Promise<BegunArchive>
  /** Compresses and removes archives; never rejects. `inUse` is the one being recorded. */
  readonly tidy: (inUse: () => string | undefined, signal: AbortSignal) => Promise<Tidied>
  /** The time of day, in milliseconds since the epoch, and waiting. */
  readonly clock: Clock
  /** Tells the user. */
  readonly say: (line: string) => void
  /** Tells the log. */
  readonly note: (line: string) => void
}

/** How often it is looked whether it is another day: clocks are set, and machines sleep. */
const LOOK_MS = 60_000
/** Time until what failed is tried again. */
const RETRY_MS = 10_000
/** Time between two looks at old archives. */
const TIDY_MS = 3_600_000

/** Records until it is closed. */
export class Recording {
  readonly #parts: RecordingParts
  readonly #abort = new AbortController()
  readonly #told = new Set<string>()
  #archive: BegunArchive | undefined
  /** The day that the archive is of. */
  #day = ''
  #isFailing = false
  #work: Promise<unknown> = Promise.resolve()

  constructor(parts: RecordingParts) {
    this.#parts = parts
  }

  /** Begins; resolves to the name of the archive, or to undefined when that failed, which was told and is tried again. */
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
    await this.#archive?.stop('End of npm start, exiting')
  }

  /** Waits for another day, or for an archive that ends by itself. */
  async #untilOver(archive: BegunArchive): Promise<LoggerEnd> {
    const { clock } = this.#parts
    const today = this.#day
    let end: LoggerEnd | undefined
    const ended = archive.ended.then((how) => {
      end = how
    })
    while (!this.#isOver() && end === undefined && dayOf(clock.now()) === today)
      await Promise.race([ended, this.#pause(Math.min(LOOK_MS, untilMidnight(clock.now())))])
    return end ?? (await archive.stop(this.#isOver() ? 'End of npm start, exiting' : 'Another day, exiting'))
  }

  async #begin(): Promise<void> {
    const { begin, clock, say, note } = this.#parts
    this.#day = dayOf(clock.now())
    try {
      const archive = await begin(this.#abort.signal)
      this.#archive = archive
      if (this.#isFailing) say(`recording again: ${archive.name}`)
      note(`Recording ${archive.name}`)
      this.#isFailing = false
      this.#told.clear()
    } catch (error) {
      this.#failed(PcpError.from(error).message)
    }
  }

  #failed(why: string): void {
    if (this.#isOver()) return
    this.#isFailing = true
    this.#tellOnce(`not recording: ${oneLine(why)}; this is tried again`)
  }

  #tellOnce(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#parts.say(text)
    this.#parts.note(text)
  }

  async #keepTidy(): Promise<void> {
    const { tidy, note } = this.#parts
    while (!this.#isOver()) {
      const { compressed, removed, problems } = await tidy(() => this.#archive?.name, this.#abort.signal)
      for (const name of compressed) note(`Compressed ${name}`)
      for (const name of removed) note(`Removed ${name}`)
      if (!this.#isOver()) for (const problem of problems) this.#tellOnce(problem)
      await this.#pause(TIDY_MS)
    }
  }

  #isOver(): boolean {
    return this.#abort.signal.aborted
  }

  /** Waits, or less when it is over. */
  async #pause(ms: number): Promise<void> {
    try {
      await this.#parts.clock.sleep(ms, this.#abort.signal)
    } catch {
      // closing: whoever waits looks for that
    }
  }
}

/** Messages about configurations are several lines, the last of which may be a caret below the one before. */
function oneLine(message: string): string {
  const lines = message.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && line !== '^').join(' ')
}

/** Days of the local calendar differ in this. */
function dayOf(ms: number): string {
  return new Date(ms).toDateString()
}

function untilMidnight(ms: number): number {
  const t = new Date(ms)
  // Days have 23 to 25 hours where clocks change: the calendar knows.
  return Math.max(1, new Date(t.getFullYear(), t.getMonth(), t.getDate() + 1).getTime() - ms)
}
