/** Fetches at an interval: live, without drift, or through a window of an archive. docs/pmapi.md */

import { fromMillis, secondsBetween, type Timestamp } from '../base/timestamp.ts'
import { withSignal } from '../base/with-signal.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import { addTimes, compareTimes } from '../time/arithmetic.ts'
import { parseInterval } from '../time/interval.ts'
import type { Clock } from './clock.ts'
import type { CallOptions, ContextCalls } from './context-calls.ts'

/** When to read. */
export interface ReadingsOptions extends CallOptions {
  /** Time from one reading to the next: seconds, or text such as `'500ms'` or `'1 min'`. Default one second. */
  readonly every?: number | string
  /** Archives: the first moment. Default: the archive's start, or its end when going backwards. */
  readonly from?: Timestamp
  /** The last moment there may be. Default: none, or the other end of the archive. */
  readonly to?: Timestamp
  /** Archives: from later to earlier. */
  readonly backward?: boolean
}

/** Metrics to read repeatedly, and the rows made of them. */
export interface Subject<R> {
  /** Looks up what to fetch; `isAgain` after the source was away, or while something is missing that was there before. */
  lookup(isAgain: boolean): Promise<{ readonly ids: readonly Pmid[]; readonly isComplete: boolean }>
  /** Makes a row of a reading and the one before, if it belongs to the same source; undefined where a row needs two. */
  row(result: FetchResult, before: FetchResult | undefined): Promise<R | undefined>
  /** Makes the row that marks an absence of the source. */
  gap(away: PcpError, time: Timestamp): R
}

/**
 * Reads a subject again and again. Live, a slow reading skips moments, it does not shift them; where the context reconnects by
 * itself there is one gap for each time its source was away, and nothing is compared across it. From an archive the values
 * are interpolated, and the context is left where the reading ended. Ends after `count` rows, gaps apart. PM_ERR_ARG for an
 * interval that is none, PM_ERR_NOTARCHIVE for options that only archives have, ECANCELED when the signal is aborted.
 */
export async function* readings<R>(
  context: ContextCalls,
  subject: Subject<R>,
  options: ReadingsOptions & { readonly count?: number },
  clock: Clock,
): AsyncGenerator<R> {
  const interval = intervalMs(options.every ?? 1)
  const { count = Number.POSITIVE_INFINITY } = options
  const isLive = context.archive === undefined
  const found = isLive
    ? liveRows(context, subject, interval, options, clock)
    : archiveRows(context, subject, interval / 1000, options)
  let rows = 0
  for await (const { row, isGap } of found) {
    yield row
    if (!isGap && ++rows >= count) return
  }
}

interface Found<R> {
  readonly row: R
  readonly isGap: boolean
}

async function* liveRows<R>(
  context: ContextCalls,
  subject: Subject<R>,
  interval: number,
  options: ReadingsOptions,
  clock: Clock,
): AsyncGenerator<Found<R>> {
  const { from, to, backward, signal } = options
  if (from !== undefined || backward === true)
    throw new PcpError('PM_ERR_NOTARCHIVE', 'Only archives can be read from a moment on, or backwards')
  const reader = new Reader(context, subject, options, clock)
  const start = clock.now()
  let isAway = false
  for (;;) {
    const { row, away } = await reader.read()
    if (away === undefined) {
      if (to !== undefined && compareTimes(reader.time, to) > 0) return
      isAway = false
      if (row !== undefined) yield { row, isGap: false }
    } else {
      // A source that comes and goes without a reading in between was away once.
      if (reader.hasRead && !isAway) {
        isAway = true
        yield { row: subject.gap(away, reader.time), isGap: true }
      }
      const left = to === undefined ? undefined : secondsBetween(reader.time, to)
      if (left !== undefined && left < 0) return
      await untilOpen(context, options, clock, left)
    }
    const now = clock.now()
    const next = start + (Math.floor((now - start) / interval) + 1) * interval
    await clock.sleep(next - now, signal)
  }
}

/** Waits until the source is back, or so many seconds have passed. */
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

/** Reads a live source, and notices when it is another one than before. */
class Reader<R> {
  readonly #context: ContextCalls
  readonly #subject: Subject<R>
  readonly #options: CallOptions
  readonly #clock: Clock
  #ids: readonly Pmid[] = []
  #isComplete = false
  /** The opening of the source that the reading before is from. */
  #opening: number | undefined
  #before: FetchResult | undefined
  #last: { readonly time: Timestamp; readonly ms: number } | undefined

  constructor(context: ContextCalls, subject: Subject<R>, options: CallOptions, clock: Clock) {
    this.#context = context
    this.#subject = subject
    this.#options = options
    this.#clock = clock
  }

  /** Was there ever a reading? */
  get hasRead(): boolean {
    return this.#last !== undefined
  }

  /** Now, by the clock of the source as of its last reading. */
  get time(): Timestamp {
    const last = this.#last
    if (last === undefined) return fromMillis(Date.now())
    return addTimes(last.time, fromMillis(this.#clock.now() - last.ms))
  }

  /** Reads once: a row, nothing where a row needs two readings, or why the source is away or was. Other errors are thrown. */
  async read(): Promise<{ readonly row?: R | undefined; readonly away?: PcpError }> {
    const { openings } = this.#context
    try {
      if (this.#opening === undefined || this.#opening === openings) {
        const row = await this.#row()
        // Else names and values may be from two sources.
        if (this.#context.openings === openings) {
          this.#opening = openings
          return { row }
        }
      }
    } catch (error) {
      const isAway = this.#context.reconnectsItself && this.#context.away !== undefined
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
      const { ids, isComplete } = await this.#subject.lookup(this.hasRead)
      this.#ids = ids
      this.#isComplete = isComplete
    }
    // While everything is missing that was there before, there is nothing to fetch.
    const isEmpty = this.#ids.length === 0 && !this.#isComplete
    const result = isEmpty
      ? { timestamp: this.time, changes: 0, sets: [] }
      : await this.#context.fetch(this.#ids, this.#options)
    const row = await this.#subject.row(result, this.#before)
    this.#before = result
    this.#last = { time: result.timestamp, ms: this.#clock.now() }
    return row
  }
}

/** The values of a metric in the reading before; mostly they are in the same place. */
export function setOf(before: FetchResult | undefined, id: Pmid, place: number): ValueSet | undefined {
  const set = before?.sets[place]
  return set?.pmid === id ? set : before?.sets.find(({ pmid }) => pmid === id)
}

async function* archiveRows<R>(
  context: ContextCalls,
  subject: Subject<R>,
  stepSec: number,
  options: ReadingsOptions,
): AsyncGenerator<Found<R>> {
  const { ids } = await subject.lookup(false)
  const archive = context.archive!
  const { from, to, backward = false } = options
  archive.setMode(
    'interpolate',
    from ?? (backward ? archive.end() : archive.start),
    backward ? -stepSec : stepSec,
  )
  let before: FetchResult | undefined
  for (;;) {
    let result: FetchResult
    try {
      result = await context.fetch(ids, options)
    } catch (error) {
      if (error instanceof PcpError && error.code === 'PM_ERR_EOL') return
      throw error
    }
    const beyond = to === undefined ? 0 : compareTimes(result.timestamp, to) * (backward ? -1 : 1)
    if (beyond > 0) return
    const row = await subject.row(result, before)
    before = result
    if (row !== undefined) yield { row, isGap: false }
  }
}

function intervalMs(every: number | string): number {
  const ms = typeof every === 'number' ? every * 1000 : milliseconds(every)
  if (!(ms > 0)) throw new PcpError('PM_ERR_ARG', `An interval must be positive: ${every}`)
  return ms
}

/** PCP reads `ms` as minutes, the plural of `m`. Nobody who writes it in a program means that. */
function milliseconds(text: string): number {
  try {
    const { sec, nsec } = parseInterval(text.replace(/(?<=[\d.]\s*[mun])s\b/gi, 'sec'))
    return sec * 1000 + nsec / 1e6
  } catch (error) {
    throw new PcpError('PM_ERR_ARG', `Not an interval: "${text}"`, { cause: error })
  }
}
