/** What was recorded: spans of values that were asked for, kept as long as they serve. */
import type { ReadonlySignal } from '@preact/signals'
import type { ChartRange } from '../../archive/chart-answer.ts'
import { RATE } from '../view/measure.ts'
import { isFailure, type MetricOutcome } from './answers.ts'
import type { Line } from './line.ts'
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

/** Who draws recorded values. */
export interface ChartWatcher {
  /** Some have come, or cannot be had. */
  readonly onChange: () => void
  /** Is the chart in view? Others wait for those that are. */
  readonly isSeen?: ReadonlySignal<boolean>
}

/** What a chart wants of its history: seconds since the epoch. */
export interface Wanted {
  readonly from: number
  readonly to: number
  /** Of what is shown. */
  readonly width: number
  /** Does `to` stay where it is? What goes on is asked for in steps, which the last moments wait for. */
  readonly isFixed: boolean
}

/** How far into the past and future of what is shown is asked for, in widths. */
const MARGIN = 1
/** Points for each width. */
const POINTS = 600
/** After a failure the server is left alone so long. */
const PAUSE_MS = 10_000

/** The recorded values that one chart draws. */
export class History {
  readonly #source: Source
  readonly #names: readonly string[]
  readonly #derive: Readonly<Record<string, string>>
  readonly #onChange: () => void
  readonly #isSeen: ReadonlySignal<boolean> | undefined
  readonly #isAligned: boolean
  #span: Span | undefined
  #isAsking = false
  #failedAt = -Infinity
  #problem: string | undefined

  /** `isAligned`: all metrics have values at the same moments. */
  constructor(
    source: Source,
    names: readonly string[],
    derive: Readonly<Record<string, string>>,
    { onChange, isSeen }: ChartWatcher,
    isAligned = false,
  ) {
    this.#isAligned = isAligned
    this.#source = source
    this.#names = names
    this.#derive = derive
    this.#onChange = onChange
    this.#isSeen = isSeen
  }

  /** Why nothing came the last time it was asked for. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Is an answer on its way? */
  get isAsking(): boolean {
    return this.#isAsking
  }

  /** Returns the values read so far; requests missing ones. */
  get(metric: string, wanted: Wanted): Recorded | undefined {
    const { from, to } = wanted
    if (to > from && this.#mayHave(from, to) && !this.#covers(wanted)) void this.#ask(wanted)
    return this.#span?.byName.get(metric)
  }

  /** What is shown may lie before or after an archive: one that is compared with a host, say. */
  #mayHave(from: number, to: number): boolean {
    const { span } = this.#source
    return span === undefined || (from <= span.end && to >= span.start)
  }

  #covers({ from, to, width, isFixed }: Wanted): boolean {
    const span = this.#span
    if (span === undefined) return false
    const slack = Math.max(2, width / 50)
    const known = this.#source.span
    const start = known === undefined ? from : Math.max(from, known.start)
    const end = known === undefined ? to : Math.min(to, known.end)
    const secondsEach = (span.to - span.from) / span.points
    const reaches = end <= span.to + (isFixed ? 0 : slack)
    return start >= span.from - slack && reaches && secondsEach <= (4 * width) / POINTS
  }

  async #ask({ from, to, width }: Wanted): Promise<void> {
    const { range, span } = this.#source
    if (range === undefined || this.#isAsking || performance.now() - this.#failedAt < PAUSE_MS) return
    this.#isAsking = true
    try {
      const start = Math.max(from - MARGIN * width, span?.start ?? -Infinity)
      // The future of a host is live.
      const finish = span === undefined ? to : Math.min(to + MARGIN * width, span.end)
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
        take(soFar, 0) // serves nobody, if the rest does not come
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

/** What of an answer, which may be one to several charts, is about these metrics. */
function recordedOf({ metrics, lists }: ChartRange, names: readonly string[]): Map<string, Recorded> {
  // Lines that share their times share them here too.
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
        ...(column.min === undefined || column.max === undefined
          ? {}
          : { low: valuesOf(column.min), high: valuesOf(column.max) }),
      }))
      byName.set(metric.name, { outcome: metric.rate ? { ...metric, sem: RATE } : metric, lines })
    }
  }
  return byName
}
