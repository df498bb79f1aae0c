/** Rows of `Context.sample` and `Context.table`, across absences of the source. docs/reference/client-library.md */

import { fromMillis, secondsBetween, type Timestamp } from '../base/timestamp.ts'
import { withSignal } from '../base/with-signal.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { FetchResult } from '../model/values.ts'
import { addTimes, compareTimes } from '../time/arithmetic.ts'
import { parseInterval } from '../time/interval.ts'
import type { Clock } from './clock.ts'
import type { CallOptions, ContextCalls } from './context-calls.ts'
import { type SamplingPlan, sampleLoop } from './samples.ts'

/** Sampling interval and range. */
export interface ReadingsOptions extends CallOptions {
  /** Interval: seconds, or text such as `'500ms'` or `'1 min'`. Default one second. */
  readonly every?: number | string
  /** Archives: start. Default: the archive's start, or its end when going backwards. */
  readonly from?: Timestamp
  /** End, inclusive. Default: none, or the other end of the archive. */
  readonly to?: Timestamp
  /** Archives: go from later to earlier. */
  readonly backward?: boolean
}

/** Maps fetch results to rows. */
export interface RowMapper<R> {
  /** Looks up the metrics to fetch; `isAgain` after an absence of the source, or while a metric is missing that existed before. */
  lookup(isAgain: boolean): Promise<{ readonly ids: readonly Pmid[]; readonly isComplete: boolean }>
  /** Returns a row for a result and the previous one of the same source; undefined if the row needs two results. */
  row(result: FetchResult, before: FetchResult | undefined): Promise<R | undefined>
  /** Returns the row that marks an absence of the source. */
  gapRow(away: PcpError, time: Timestamp): R
}

/**
 * Samples the metrics of a shaper and yields its rows. Live, a slow sample skips sample times without shifting them; a
 * context that reconnects automatically yields one gap row per absence of its source, and nothing is compared across it.
 * Archives are interpolated, and the context is left at the position of the last row. Ends after `count` rows, gaps not
 * counted. PM_ERR_ARG for an invalid interval, PM_ERR_NOTARCHIVE for options that only archives have, ECANCELED on abort.
 */
export async function* shapedRows<R>(
  context: ContextCalls,
  shaper: RowMapper<R>,
  options: ReadingsOptions & { readonly count?: number },
  clock: Clock,
): AsyncGenerator<R> {
  const intervalSec = intervalMs(options.every ?? 1) / 1000
  const { count = Number.POSITIVE_INFINITY } = options
  const steps =
    context.archive === undefined
      ? liveSteps(context, shaper, intervalSec, options, clock)
      : await archiveSteps(context, shaper, intervalSec, options)
  let rows = 0
  for await (const { row, isGap } of sampleLoop(context, { ...steps, call: options })) {
    if (row === undefined) continue
    yield row
    if (isGap !== true && ++rows >= count) return
  }
}

/** A row, or none if another sample is needed. */
interface Step<R> {
  readonly time: Timestamp
  readonly row: R | undefined
  /** The row marks an absence of the source. */
  readonly isGap?: boolean
}

function liveSteps<R>(
  context: ContextCalls,
  shaper: RowMapper<R>,
  intervalSec: number,
  options: ReadingsOptions,
  clock: Clock,
): SamplingPlan<Step<R>> {
  const { from, to, backward } = options
  if (from !== undefined || backward === true)
    throw new PcpError('PM_ERR_NOTARCHIVE', 'Only archives can be read from a given time on, or backwards')
  const reader = new Reader(context, shaper, options, clock)
  return {
    intervalSec,
    clock,
    late: 'skip',
    take: () => reader.step(),
    isBeyond: ({ time, isGap }) => isGap !== true && to !== undefined && compareTimes(time, to) > 0,
    ready: async () => {
      if (!reader.isAway) return true
      const left = to === undefined ? undefined : secondsBetween(reader.time, to)
      if (left !== undefined && left < 0) return false
      await untilOpen(context, options, clock, left)
      return true
    },
  }
}

/** Waits until the source is open again or the given seconds have passed. */
async function untilOpen(
  context: ContextCalls,
  options: CallOptions,
  clock: Clock,
  limitSec: number | undefined,
): Promise<void> {
  if (limitSec === undefined) {
    await context.untilOpen(options)
    return
  }
  await withSignal({ signals: [options.signal] }, async (signal, abort) => {
    try {
      await Promise.race([context.untilOpen({ ...options, signal }), clock.sleep(limitSec * 1000, signal)])
    } finally {
      abort()
    }
  })
}

/** Fetches from a live source and detects when it was reopened. */
class Reader<R> {
  readonly #context: ContextCalls
  readonly #shaper: RowMapper<R>
  readonly #options: CallOptions
  readonly #clock: Clock
  #ids: readonly Pmid[] = []
  #isComplete = false
  /** `openings` of the context at the previous fetch. */
  #opening: number | undefined
  #before: FetchResult | undefined
  #last: { readonly time: Timestamp; readonly ms: number } | undefined

  constructor(context: ContextCalls, shaper: RowMapper<R>, options: CallOptions, clock: Clock) {
    this.#context = context
    this.#shaper = shaper
    this.#options = options
    this.#clock = clock
  }

  /** Whether the source was away at the last step. */
  isAway = false

  /** Current time, by the clock of the source as of its last result. */
  get time(): Timestamp {
    const last = this.#last
    if (last === undefined) return fromMillis(Date.now())
    return addTimes(last.time, fromMillis(this.#clock.now() - last.ms))
  }

  /** Takes a step. A source that came and went without a sample in between counts as away once. */
  async step(): Promise<Step<R>> {
    const { row, away } = await this.#read()
    const wasAway = this.isAway
    this.isAway = away !== undefined
    if (away === undefined) return { time: this.time, row }
    const gap = this.#last === undefined || wasAway ? undefined : this.#shaper.gapRow(away, this.time)
    return { time: this.time, row: gap, isGap: true }
  }

  /** Fetches once: returns a row, nothing if a row needs two samples, or why the source is or was away. Throws other errors. */
  async #read(): Promise<{ readonly row?: R | undefined; readonly away?: PcpError }> {
    const { openings } = this.#context
    try {
      if (this.#opening === undefined || this.#opening === openings) {
        const row = await this.#row()
        // Otherwise names and values might be from two different sources.
        if (this.#context.openings === openings) {
          this.#opening = openings
          return { row }
        }
      }
    } catch (error) {
      const isAway = this.#context.reconnectsAutomatically && this.#context.away !== undefined
      const isOther = this.#context.openings !== openings
      if (this.#options.signal?.aborted === true || !(isAway || isOther)) throw error
    }
    this.#isComplete = false
    this.#before = undefined
    this.#opening = undefined
    return { away: this.#context.away ?? this.#context.lastAway! }
  }

  async #row(): Promise<R | undefined> {
    if (!this.#isComplete) {
      const { ids, isComplete } = await this.#shaper.lookup(this.#last !== undefined)
      this.#ids = ids
      this.#isComplete = isComplete
    }
    // While all metrics are missing that existed before, there is nothing to fetch.
    const isEmpty = this.#ids.length === 0 && !this.#isComplete
    const result = isEmpty
      ? { timestamp: this.time, changes: 0, sets: [] }
      : await this.#context.fetch(this.#ids, this.#options)
    const row = await this.#shaper.row(result, this.#before)
    this.#before = result
    this.#last = { time: result.timestamp, ms: this.#clock.now() }
    return row
  }
}

async function archiveSteps<R>(
  context: ContextCalls,
  shaper: RowMapper<R>,
  intervalSec: number,
  options: ReadingsOptions,
): Promise<SamplingPlan<Step<R>>> {
  const { ids } = await shaper.lookup(false)
  const archive = context.archive!
  const { from, to, backward = false } = options
  let before: FetchResult | undefined
  return {
    origin: from ?? (backward ? archive.end() : archive.start),
    intervalSec: backward ? -intervalSec : intervalSec,
    take: async () => {
      const result = await context.fetch(ids, options)
      const row = await shaper.row(result, before)
      before = result
      return { time: result.timestamp, row }
    },
    isBeyond: ({ time }) =>
      to !== undefined && (backward ? compareTimes(time, to) < 0 : compareTimes(time, to) > 0),
  }
}

function intervalMs(every: number | string): number {
  const ms = typeof every === 'number' ? every * 1000 : milliseconds(every)
  if (!(ms > 0)) throw new PcpError('PM_ERR_ARG', `An interval must be positive: ${every}`)
  return ms
}

/** PCP reads `ms` as minutes, the plural of `m`; in a program it can only mean milliseconds. */
function milliseconds(text: string): number {
  try {
    const { sec, nsec } = parseInterval(text.replace(/(?<=[\d.]\s*[mun])s\b/gi, 'sec'))
    return sec * 1000 + nsec / 1e6
  } catch (error) {
    throw new PcpError('PM_ERR_ARG', `Not an interval: "${text}"`, { cause: error })
  }
}
