/**
 * The sampling loop: live at an interval that does not drift, or through a window of an archive.
 *
 *     for await (const result of samples(context, { intervalSec: 5, take: () => context.fetchNow(ids, call), call })) ...
 */
import type { ArchiveMode } from '../archive/source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { withSignal } from '../base/with-signal.ts'
import { PcpError } from '../model/errors.ts'
import { EventLoopTurn, yieldToEventLoop } from '../sys/event-loop.ts'
import type { ArchiveControl } from './archive-control.ts'
import { type Clock, SYSTEM_CLOCK } from './clock.ts'

/** Plan of a sampling loop. */
export interface SamplingPlan<R> {
  /** Takes one sample, synchronously if possible. PM_ERR_EOL ends the samples. */
  readonly take: () => R | Promise<R>
  /** Seconds between samples; archives: negative to go back. Infinity: sample only when `sampleNow` is called. */
  readonly intervalSec: number
  /** Number of samples. Default: until the end of the archive or window. */
  readonly count?: number
  /** Archives: time of the first sample. Default: the contexts' current position and mode. */
  readonly origin?: Timestamp
  /** Archives: mode from `origin` on. Default: interpolated. */
  readonly mode?: ArchiveMode
  /** Returns whether a sample is after the window; it and later ones are not returned. */
  readonly isBeyond?: (sample: R) => boolean
  /** Wait until each sample is due. Default: true for live contexts. */
  readonly isPaced?: boolean
  /**
   * Handling of sample times that passed while a sample was taken: sample all of them in sequence (`'catch-up'`, default),
   * only the latest (`'latest'`), or wait for the next (`'skip'`).
   */
  readonly late?: 'catch-up' | 'latest' | 'skip'
  /** With `'latest'`: skip in multiples of this number. Default 1. */
  readonly skipsBy?: number
  /** Milliseconds until the first sample, for an aligned start. Default 0. */
  readonly startInMs?: number
  /** Resolves when the source can be sampled, before the next time is chosen; false ends the samples. Paced samples only. */
  readonly ready?: () => Promise<boolean> | undefined
  /** Writes buffered output, before each wait and each turn of the event loop. */
  readonly flush?: () => Promise<void>
  /** Default: the clock of this process. */
  readonly clock?: Clock
  /** Its signal cancels sampling. Checked before each wait and after each turn of the event loop, but not earlier. */
  readonly call?: { readonly signal?: AbortSignal }
}

/** The part of a context that sampling needs. */
export interface SampledContext {
  readonly archive: Pick<ArchiveControl, 'setMode'> | undefined
}

/**
 * Samples one or several contexts. Archives are moved to the plan's origin immediately; sample times count from the first
 * sample. Iterate over the result, or call `next`, which is synchronous for archives. ECANCELED on abort.
 */
export function sampleLoop<R extends {}>(
  contexts: SampledContext | readonly SampledContext[],
  plan: SamplingPlan<R>,
): SampleSequence<R> {
  const all = 'length' in contexts ? contexts : [contexts]
  const { origin, mode = 'interpolate', intervalSec } = plan
  if (origin !== undefined)
    for (const { archive } of all)
      if (mode === 'interpolate') archive?.setMode(mode, origin, intervalSec)
      else archive?.setMode(mode, origin)
  return new SampleSequence(plan, plan.isPaced ?? all.every(({ archive }) => archive === undefined))
}

/** Returns whether an error marks the end of an archive. */
export function isEndOfArchive(error: unknown): boolean {
  return error instanceof PcpError && error.code === 'PM_ERR_EOL'
}

/** A sequence of samples, created by `samples`. */
export class SampleSequence<R extends {}> implements AsyncIterable<R> {
  readonly #plan: SamplingPlan<R>
  readonly #isPaced: boolean
  readonly #clock: Clock
  readonly #turn = new EventLoopTurn()
  readonly #count: number
  #taken = 0
  #isOver = false
  #startMs: number | undefined
  /** Time of the last sample, in intervals since the start. */
  #moment = 0
  #wake: (() => void) | undefined
  /** Sample times skipped before the last sample because it was late. */
  missed = 0
  /** The PM_ERR_EOL that ended the samples. */
  end: PcpError | undefined

  constructor(plan: SamplingPlan<R>, isPaced: boolean) {
    this.#plan = plan
    this.#isPaced = isPaced
    this.#count = plan.count ?? Number.POSITIVE_INFINITY
    this.#clock = plan.clock ?? SYSTEM_CLOCK
  }

  /** Returns the next sample, or undefined after the last one. Returns a promise only if it has to wait. */
  next(): R | undefined | Promise<R | undefined> {
    if (this.#isOver || this.#taken >= this.#count) return undefined
    if (this.#isPaced) return this.#inTime()
    return this.#turn.shouldYield() ? this.#afterTurn() : this.#take()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<R> {
    for (;;) {
      const answer = this.next()
      const sample = answer instanceof Promise ? await answer : answer
      if (sample === undefined) return
      yield sample
    }
  }

  /** Takes the next sample immediately. Later samples keep their times. */
  sampleNow(): void {
    this.#wake?.()
  }

  async #afterTurn(): Promise<R | undefined> {
    await this.#plan.flush?.()
    await this.#turn.yield()
    this.#insistOnGoing()
    return this.#take()
  }

  async #inTime(): Promise<R | undefined> {
    const { ready, flush, startInMs = 0 } = this.#plan
    const isReady = this.#startMs === undefined || ((await ready?.()) ?? true)
    if (!isReady) {
      this.#isOver = true
      return undefined
    }
    await flush?.()
    await this.#wait(this.#startMs === undefined ? startInMs : this.#untilNext())
    this.#startMs ??= this.#clock.now()
    return this.#take()
  }

  /** Chooses the next sample time; returns the milliseconds until then. */
  #untilNext(): number {
    const { intervalSec, late, skipsBy = 1 } = this.#plan
    const intervalMs = intervalSec * 1000
    const passedMs = this.#clock.now() - this.#startMs!
    const passed = passedMs / intervalMs
    const next = this.#moment + 1
    this.#moment = next
    if (late === 'skip') this.#moment = Math.max(next, Math.floor(passed) + 1)
    else if (late === 'latest') this.#moment += Math.max(0, Math.floor((passed - next) / skipsBy)) * skipsBy
    this.missed = this.#moment - next
    return this.#moment * intervalMs - passedMs
  }

  async #wait(ms: number): Promise<void> {
    const signal = this.#plan.call?.signal
    if (!(ms > 0)) {
      if (this.#startMs !== undefined) await yieldToEventLoop()
      this.#insistOnGoing()
      return
    }
    let isHurried = false
    try {
      await withSignal({ signals: [signal] }, (either, abort) => {
        this.#wake = () => {
          isHurried = true
          abort()
        }
        return this.#clock.sleep(ms, either)
      })
    } catch (error) {
      if (!isHurried || signal?.aborted === true) throw error
    } finally {
      this.#wake = undefined
    }
  }

  #insistOnGoing(): void {
    const signal = this.#plan.call?.signal
    if (signal?.aborted === true)
      throw new PcpError('ECANCELED', 'Sampling was canceled', { cause: signal.reason })
  }

  #take(): R | undefined | Promise<R | undefined> {
    this.#taken++
    try {
      const sample = this.#plan.take()
      if (!(sample instanceof Promise)) return this.#inWindow(sample)
      return sample.then(
        (taken) => this.#inWindow(taken),
        (error: unknown) => this.#ended(error),
      )
    } catch (error) {
      return this.#ended(error)
    }
  }

  #inWindow(sample: R): R | undefined {
    if (this.#plan.isBeyond?.(sample) !== true) return sample
    this.#isOver = true
    return undefined
  }

  #ended(error: unknown): undefined {
    if (!isEndOfArchive(error)) throw error
    this.#isOver = true
    this.end = PcpError.from(error)
  }
}
