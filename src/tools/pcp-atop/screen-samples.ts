/** The intervals of atop's screen: live, or with a position in an archive. pcp-atop(1) keys t, T, b, r */
import type { Timestamp } from '../../base/timestamp.ts'
import { SYSTEM_CLOCK } from '../../pmapi/clock.ts'
import type { ReportSetup } from './report.ts'
import { Replay, Sampler } from './sampler.ts'
import type { Step } from './step.ts'

/** Source of the screen's intervals. */
export interface Samples {
  /** Time of the next one by the sampling clock; undefined if only keys advance. */
  readonly dueMs: number | undefined
  intervalSec: number
  first(): Promise<Step | undefined>
  next(): Promise<Step | undefined>
  /** Resolves to undefined at the beginning, and for live sources. */
  previous(): Promise<Step | undefined>
  /** Returns to the beginning of an archive, or shows totals since boot. */
  restart(): Promise<Step | undefined>
  /** Goes to a time of an archive. */
  goTo(time: Timestamp): Promise<Step | undefined>
}

/** Intervals of a live source. */
export class LiveSamples implements Samples {
  intervalSec: number
  dueMs: number | undefined
  readonly #sampler: Sampler
  #last: Step | undefined

  constructor({ sampler, intervalSec }: ReportSetup) {
    this.#sampler = sampler
    this.intervalSec = intervalSec
  }

  async first(): Promise<Step> {
    return this.#keep(Sampler.sinceBoot(await this.#sampler.now()))
  }

  async next(): Promise<Step> {
    return this.#last === undefined ? this.first() : this.#keep(await this.#sampler.stepFrom(this.#last.now))
  }

  async previous(): Promise<undefined> {
    return undefined
  }

  restart(): Promise<Step> {
    return this.first()
  }

  async goTo(): Promise<undefined> {
    return undefined
  }

  #keep(step: Step): Step {
    this.#last = step
    this.dueMs = this.intervalSec > 0 ? SYSTEM_CLOCK.now() + this.intervalSec * 1000 : undefined
    return step
  }
}

/** Intervals of an archive, in both directions. */
export class ArchiveSamples implements Samples {
  readonly dueMs = undefined
  readonly #setup: ReportSetup
  #replay: Replay
  #intervalSec: number
  #number = 1

  constructor(setup: ReportSetup) {
    this.#setup = setup
    this.#intervalSec = setup.intervalSec > 0 ? setup.intervalSec : 1
    this.#replay = new Replay(setup.sampler, setup.origin, this.#intervalSec)
  }

  get intervalSec(): number {
    return this.#intervalSec
  }

  set intervalSec(seconds: number) {
    if (seconds <= 0) return
    this.#intervalSec = seconds
    this.#replay = new Replay(this.#setup.sampler, this.#setup.origin, seconds)
    this.#number = 1
  }

  first(): Promise<Step | undefined> {
    return this.#to(1)
  }

  next(): Promise<Step | undefined> {
    return this.#to(this.#number + 1)
  }

  async previous(): Promise<Step | undefined> {
    return this.#number > 1 ? this.#to(this.#number - 1) : undefined
  }

  restart(): Promise<Step | undefined> {
    return this.#to(1)
  }

  goTo({ sec }: Timestamp): Promise<Step | undefined> {
    return this.#to(Math.max(1, Math.ceil((sec - this.#setup.origin.sec) / this.#intervalSec)))
  }

  async #to(number: number): Promise<Step | undefined> {
    const step = await this.#replay.step(number)
    if (step !== undefined) this.#number = number
    return step
  }
}
