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

/** What to sample, when, and until when. */
export interface SamplingPlan<R> {
  /** Takes one sample; without a promise where there is nothing to wait for. PM_ERR_EOL ends the samples. */
  readonly take: () => R | Promise<R>
  /** Seconds from one sample to the next; archives: negative to go back. Infinity: the next one when `hurry` is called. */
  readonly intervalSec: number
  /** Number of samples. Default: until the archive, or the window, ends. */
  readonly count?: number
  /** Archives: moment of the first sample. Default: where the contexts are, in the mode that they are in. */
  readonly origin?: Timestamp
  /** Archives: how values are found, from `origin` on. Default: interpolated. */
  readonly mode?: ArchiveMode
  /** Whether a sample is outside the window; it and those behind it are not returned. */
  readonly isBeyond?: (sample: R) => boolean
  /** Whether samples wait for their moments. Default: those of live contexts do. */
  readonly isPaced?: boolean
  /**
   * What becomes of moments that passed while a sample was taken: all of them are sampled, one after another (`'catch-up'`, default),
   * only the latest one is (`'latest'`), or the next one is waited for (`'skip'`).
   */
  readonly late?: 'catch-up' | 'latest' | 'skip'
  /** With `'latest'`: moments are skipped so many at a time. Default 1. */
  readonly skipsBy?: number
  /** Milliseconds until the first moment, for starts that are aligned. Default 0. */
  readonly startInMs?: number
  /** Waits, before the next moment is chosen, until the source can be sampled; false ends the samples. Paced ones only. */
  readonly ready?: () => Promise<boolean> | undefined
  /** Writes out what the samples so far came to, before each wait and each turn of the event loop. */
  readonly flush?: () => Promise<void>
  /** Default: that of this process. */
  readonly clock?: Clock
  /** Its signal gives up sampling. Looked at before each wait and behind each turn of the event loop, not before. */
  readonly call?: { readonly signal?: AbortSignal }
}

/** What sampling needs of a context. */
export interface SampledContext {
  readonly archive: Pick<ArchiveControl, 'setMode'> | undefined
}

/**
 * Samples a context, or several together. Archives are placed where the plan starts immediately; moments are counted from the
 * first sample on. Iterate, or call `next`, which needs no promise for archives. ECANCELED when the signal is aborted.
 */
export function samples<R extends {}>(
  contexts: SampledContext | readonly SampledContext[],
  plan: SamplingPlan<R>,
): Samples<R> {
  const all = 'length' in contexts ? contexts : [contexts]
  const { origin, mode = 'interpolate', intervalSec } = plan
  if (origin !== undefined)
    for (const { archive } of all)
      if (mode === 'interpolate') archive?.setMode(mode, origin, intervalSec)
      else archive?.setMode(mode, origin)
  return new Samples(plan, plan.isPaced ?? all.every(({ archive }) => archive === undefined))
}

/** Returns whether an error is the end of an archive. */
export function isEndOfArchive(error: unknown): boolean {
  return error instanceof PcpError && error.code === 'PM_ERR_EOL'
}

/** One sample after another. `samples` makes these. */
export class Samples<R extends {}> implements AsyncIterable<R> {
  readonly #plan: SamplingPlan<R>
  readonly #isPaced: boolean
  readonly #clock: Clock
  readonly #turn = new EventLoopTurn()
  readonly #count: number
  #taken = 0
  #isOver = false
  #startMs: number | undefined
  /** Of the last sample, in intervals since the start. */
  #moment = 0
  #wake: (() => void) | undefined
  /** Moments that were skipped for the last sample, as it was late. */
  missed = 0
  /** The PM_ERR_EOL that ended the samples. */
  end: PcpError | undefined

  constructor(plan: SamplingPlan<R>, isPaced: boolean) {
    this.#plan = plan
    this.#isPaced = isPaced
    this.#count = plan.count ?? Number.POSITIVE_INFINITY
    this.#clock = plan.clock ?? SYSTEM_CLOCK
  }

  /** Returns the next sample; undefined behind the last one. A promise only where there is something to wait for. */
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

  /** Takes the sample that is waited for immediately. Those behind it keep their moments. */
  hurry(): void {
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

  /** Chooses the next moment; returns the milliseconds until then. */
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
      throw new PcpError('ECANCELED', 'Sampling was given up', { cause: signal.reason })
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
