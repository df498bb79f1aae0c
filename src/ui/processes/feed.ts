/**
 * The processes of the shown instant: live ones are polled and kept for a while, earlier ones are read from the recording.
 *
 *     recorded ─────────────────────────┬── kept live samples ──► now
 *                   instant: read       └  instant: nearest
 */
import type { ChartRange } from '../../archive/chart-answer.ts'
import type { ProcessesAnswer, ProcessSample } from '../../model/process-sample.ts'
import { pageKey } from '../data/key.ts'
import type { Source } from '../data/source.ts'
import { type Courses, courseQuery, liveCourses, recordedCourses } from './courses.ts'

/** What the table shows. */
export interface ShownProcesses {
  readonly answer: ProcessesAnswer | undefined
  /** Time of the shown sample. */
  readonly at: number | undefined
  /** Reason why no processes are shown. */
  readonly problem: string | undefined
  /** Is a request in flight? */
  readonly isReading: boolean
}

/** Live samples that are kept: two minutes of the overview. */
const MOST_LIVE = 24
/** Answers that are kept, so that a crosshair that returns shows its processes immediately. */
const MOST_KEPT = 30
/** Pause after a failed request. */
const PAUSE_MS = 5000

const HIDDEN = ', or you are not signed in. The link that `npm start` printed signs you in.'

const NONE: Courses = new Map()

/** Keeps the samples of one source. */
export class ProcessFeed {
  readonly #source: Source
  readonly #onChange: () => void
  readonly #nowMs: () => number
  /** Oldest first. */
  #live: ProcessSample[] = []
  /** By requested time, least recently used first; null where nothing was recorded. */
  readonly #kept = new Map<number, ProcessesAnswer | null>()
  #isAsking = false
  #isPolling = false
  #problem: string | undefined
  #failedAtMs = Number.NEGATIVE_INFINITY
  #shown: ProcessesAnswer | undefined
  /** The last recorded courses, of one sample; undefined while they are read. */
  #recorded: { readonly of: ProcessSample; readonly range: ChartRange | undefined } | undefined
  #isAskingCourses = false
  /** The last courses and their sources: they are needed again at each move of the pointer. */
  #courses: { readonly from: unknown; readonly key: string; readonly found: Courses } | undefined

  /** `onChange` is called when values arrive or a request fails. */
  constructor(source: Source, onChange: () => void, nowMs: () => number = () => performance.now()) {
    this.#source = source
    this.#onChange = onChange
    this.#nowMs = nowMs
  }

  /** Takes a live sample of a host. Does nothing for an archive, or while the last one is awaited. */
  async poll(): Promise<void> {
    if (this.#source.span !== undefined || this.#isPolling) return
    this.#isPolling = true
    try {
      const sample = (await this.#source.processes())?.sample
      this.#problem = undefined
      if (sample != null && sample.at !== this.#live.at(-1)?.at)
        this.#live = [...this.#live.slice(1 - MOST_LIVE), sample]
    } catch (error) {
      this.#fail(error)
    }
    this.#isPolling = false
    this.#onChange()
  }

  /** Returns the processes at a time, now if it is undefined, and requests missing ones. Until they arrive the last ones stay. */
  get(at: number | undefined): ShownProcesses {
    const live = this.#liveAt(at)
    if (live !== undefined) return this.#show(live)
    if (at === undefined) return this.#state()
    const kept = this.#kept.get(at)
    if (kept === undefined) {
      void this.#ask(at)
      return this.#state()
    }
    this.#kept.delete(at)
    this.#kept.set(at, kept)
    if (kept === null || kept.sample === null)
      return {
        answer: undefined,
        at: undefined,
        problem: `No processes were recorded at this time${this.#mayBeHidden() ? HIDDEN : ''}`,
        isReading: false,
      }
    return this.#show(kept)
  }

  /**
   * Returns the courses of rows around the shown sample. Those of a recorded one are requested if `isWanted`, together for all rows; until they
   * arrive the result is empty.
   */
  courses(instances: readonly string[], isWanted: boolean): Courses {
    const sample = this.#shown?.sample ?? undefined
    if (sample === undefined) return NONE
    const live = this.#live
    if (live.includes(sample)) return this.#remembered(live, instances, () => liveCourses(live, instances))
    if (this.#recorded?.of !== sample) {
      if (!isWanted) return NONE
      void this.#askCourses(sample)
    }
    const range = this.#recorded?.range
    if (range === undefined || this.#recorded?.of !== sample) return NONE
    const { family, at } = sample
    return this.#remembered(range, instances, () => recordedCourses(range, family, at, instances))
  }

  #remembered(from: unknown, instances: readonly string[], make: () => Courses): Courses {
    const key = instances.join('\n')
    const last = this.#courses
    if (last !== undefined && last.from === from && last.key === key) return last.found
    const found = make()
    this.#courses = { from, key, found }
    return found
  }

  /** Sends one request at a time: after the answer, the table requests those of the latest sample. */
  async #askCourses(sample: ProcessSample): Promise<void> {
    if (this.#isAskingCourses) return
    this.#recorded = { of: sample, range: undefined }
    // Many small parts of an archive elsewhere would be read.
    if (this.#source.range === undefined || this.#source.isRemote === true) return
    this.#isAskingCourses = true
    const range = await this.#source.range(courseQuery(sample.family, sample.at)).catch(() => undefined) // the table is complete without them
    this.#isAskingCourses = false
    this.#recorded = { of: sample, range }
    this.#onChange()
  }

  /** Returns the live sample nearest to a time; undefined for times before the kept ones. */
  #liveAt(at: number | undefined): ProcessesAnswer | undefined {
    const live = this.#live
    const first = live[0]
    if (first === undefined) return undefined
    const every = live.length < 2 ? 0 : (live.at(-1)!.at - first.at) / (live.length - 1)
    let place = live.length - 1
    if (at !== undefined) {
      if (at < first.at - every / 2) return undefined
      while (place > 0 && Math.abs(live[place - 1]!.at - at) <= Math.abs(live[place]!.at - at)) place--
    }
    return { sample: live[place]!, before: live[place - 1] ?? null, newest: live.at(-1)! }
  }

  /** Returns whether the server shows processes to signed-in users only. */
  #mayBeHidden(): boolean {
    return /^(?:host|archive):/.test(this.#source.key) && pageKey() === undefined
  }

  #show(answer: ProcessesAnswer): ShownProcesses {
    // The live list has all processes, so it decides which ones have ended.
    const newest = this.#live.at(-1) ?? answer.newest
    const whole = newest === answer.newest ? answer : { ...answer, newest }
    if (this.#shown?.sample !== whole.sample || this.#shown?.newest !== whole.newest) this.#shown = whole
    return this.#state()
  }

  #state(): ShownProcesses {
    const answer = this.#shown
    return {
      answer,
      at: answer?.sample?.at,
      problem: answer === undefined ? this.#problem : undefined,
      isReading: this.#isAsking || (this.#isPolling && answer === undefined),
    }
  }

  /** Sends one request at a time: after the answer, the table requests the latest place of a moving crosshair. */
  async #ask(at: number): Promise<void> {
    if (this.#isAsking || this.#nowMs() - this.#failedAtMs < PAUSE_MS) return
    this.#isAsking = true
    try {
      const answer = await this.#source.processes(at)
      this.#problem = undefined
      this.#kept.set(at, answer ?? null)
      // Playback may have moved on; the table still follows.
      if (answer?.sample != null) this.#show(answer)
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size <= MOST_KEPT) break
        this.#kept.delete(oldest)
      }
    } catch (error) {
      this.#fail(error)
    }
    this.#isAsking = false
    this.#onChange()
  }

  #fail(error: unknown): void {
    this.#failedAtMs = this.#nowMs()
    this.#problem = error instanceof Error ? error.message : String(error)
    this.#shown = undefined
  }
}
