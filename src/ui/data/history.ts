/** Recorded values: ranges that were fetched, cached while they are useful. */
import type { ReadonlySignal } from '@preact/signals'
import type { ChartRange } from '../../archive/chart-answer.ts'
import { RATE } from '../view/measure.ts'
import { continues, firstAtOrAfter, type Line } from './line.ts'
import { isDiscrete, isFailure, type MetricOutcome } from './responses.ts'
import type { Source } from './source.ts'

/** Recorded values of one metric. */
export interface Recorded {
  readonly outcome: MetricOutcome
  readonly lines: readonly Line[]
}

interface Span {
  readonly from: number
  readonly to: number
  readonly points: number
  readonly byName: ReadonlyMap<string, Recorded>
}

/** Callbacks of a chart that draws recorded values. */
export interface ChartWatcher {
  /** Values have arrived or failed. */
  readonly onChange: () => void
  /** Is the chart in view? Charts out of view wait for visible ones. */
  readonly isSeen?: ReadonlySignal<boolean>
}

/** The range a chart wants: seconds since the epoch. */
export interface RequestedRange {
  readonly from: number
  readonly to: number
  /** Width of the window. */
  readonly width: number
  /** Does `to` stay unchanged? A moving end is fetched in steps, and the newest values wait for the next step. */
  readonly isFixed: boolean
  /** Seconds between the live values that begin at `to`. If recorded ones continue up to them, those since the last answer can wait. */
  readonly liveEvery?: number | undefined
}

/** How far before and after the window to fetch, in widths. */
const MARGIN = 1
/** The same of an archive that is read in parts: samples beside the window, so that lines reach its edges. */
const REMOTE_MARGIN = 1 / 60
/** Points per width. */
const POINTS = 600
/** Pause after a failure. */
const PAUSE_MS = 10_000

/** Fetches and caches the recorded values that one chart draws. */
export class History {
  readonly source: Source
  readonly #names: readonly string[]
  readonly #derive: Readonly<Record<string, string>>
  readonly #onChange: () => void
  readonly #isSeen: ReadonlySignal<boolean> | undefined
  readonly #isAligned: boolean
  #span: Span | undefined
  #isAsking = false
  #failedAt = -Infinity
  #problem: string | undefined

  /** `isAligned`: all metrics have values at the same times. */
  constructor(
    source: Source,
    names: readonly string[],
    derive: Readonly<Record<string, string>>,
    { onChange, isSeen }: ChartWatcher,
    isAligned = false,
  ) {
    this.#isAligned = isAligned
    this.source = source
    this.#names = names
    this.#derive = derive
    this.#onChange = onChange
    this.#isSeen = isSeen
  }

  /** Why the last request failed. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Is a request in flight? */
  get isAsking(): boolean {
    return this.#isAsking
  }

  /** Returns the values read so far, and requests missing ones. */
  get(metric: string, wanted: RequestedRange): Recorded | undefined {
    const { from, to } = wanted
    if (to > from && this.#mayHave(from, to) && !this.#covers(wanted)) void this.#ask(wanted)
    return this.#span?.byName.get(metric)
  }

  /** Checks whether the source has data in the window; an archive compared with a host may not. */
  #mayHave(from: number, to: number): boolean {
    const { span } = this.source
    return span === undefined || (from <= span.end && to >= span.start)
  }

  #covers({ from, to, width, isFixed, liveEvery }: RequestedRange): boolean {
    const span = this.#span
    if (span === undefined) return false
    const slack = Math.max(2, width / 50)
    const known = this.source.span
    const start = known === undefined ? from : Math.max(from, known.start)
    const end = known === undefined ? to : Math.min(to, known.end)
    const secondsEach = (span.to - span.from) / span.points
    const reaches =
      end <= span.to + (isFixed ? 0 : slack) || (liveEvery !== undefined && isContinued(span, to, liveEvery))
    return start >= span.from - slack && reaches && secondsEach <= (4 * width) / POINTS
  }

  async #ask({ from, to, width }: RequestedRange): Promise<void> {
    const { range, span, isRemote } = this.source
    if (range === undefined || this.#isAsking || performance.now() - this.#failedAt < PAUSE_MS) return
    this.#isAsking = true
    try {
      const margin = width * (isRemote === true ? REMOTE_MARGIN : MARGIN)
      const start = Math.max(from - margin, span?.start ?? -Infinity)
      // Future values of a host will be live.
      const finish = span === undefined ? to : Math.min(to + margin, span.end)
      const points = Math.max(2, Math.min(10_000, Math.round((POINTS * (finish - start)) / width)))
      const query = {
        names: this.#names,
        derive: this.#derive,
        start,
        finish,
        points,
        aligned: this.#isAligned,
      }
      const take = (answer: ChartRange, points: number): void => {
        this.#span = { from: start, to: finish, points, byName: recordedOf(answer, this.#names) }
      }
      const onPart = (soFar: ChartRange): void => {
        take(soFar, 0) // partial data may not be reused if the rest fails
        this.#onChange()
      }
      take(await range(query, { isSeen: this.#isSeen, onPart }), points)
      this.#problem = undefined
    } catch (error) {
      this.#failedAt = performance.now()
      this.#problem = error instanceof Error ? error.message : String(error)
    }
    this.#isAsking = false
    this.#onChange()
  }
}

/** Checks whether all lines continue up to live values from a time on, of which a rate has none at first. */
function isContinued({ byName }: Span, time: number, every: number): boolean {
  return [...byName.values()].every(({ outcome, lines }) =>
    lines.every((line) =>
      continues(line, firstAtOrAfter(line.times, time), time + 2 * every, {
        every,
        isDiscrete: isDiscrete(outcome),
      }),
    ),
  )
}

/** Returns the part of a response, which may serve several charts, that is about these metrics. */
function recordedOf({ metrics, lists }: ChartRange, names: readonly string[]): Map<string, Recorded> {
  // Lines that share a list of times in the response share it here too.
  const times = new Map<number, readonly number[]>()
  const timesOf = (list: number): readonly number[] => {
    const known = times.get(list) ?? Array.from(lists[list]!)
    times.set(list, known)
    return known
  }
  const valuesOf = (list: number): (number | null)[] =>
    Array.from(lists[list]!, (value) => (Number.isNaN(value) ? null : value))
  const byName = new Map<string, Recorded>()
  for (const metric of metrics) {
    if (!names.includes(metric.name)) continue
    if (isFailure(metric)) byName.set(metric.name, { outcome: metric, lines: [] })
    else {
      const lines = metric.columns.map((column) => ({
        instance: metric.indom === null ? null : column.name,
        times: timesOf(column.times),
        values: valuesOf(column.values),
        interval: metric.interval,
        ...(column.min === undefined || column.max === undefined
          ? {}
          : { low: valuesOf(column.min), high: valuesOf(column.max) }),
      }))
      byName.set(metric.name, { outcome: metric.rate ? { ...metric, sem: RATE } : metric, lines })
    }
  }
  return byName
}
