/** Judges the figures of a host over the shown window, and sums up the problems in a sentence. */
import type { FleetState } from '../../archive/fleet/answer.ts'
import { figureState } from '../../archive/fleet/figures.ts'
import { dataEnd } from '../chart/line-style.ts'
import { SPARK_WIDTH } from '../chart/spark-path.ts'
import type { ChartData } from '../data/chart-data.ts'
import { type Measure, RATE, showLimit, showValue } from '../view/measure.ts'
import type { Chart, Plot } from '../view/view.ts'
import type { UseFigure } from './resources.ts'

/** Values are judged by their mean over so many seconds, so that short spikes raise no alarm. */
const JUDGED_SEC = 10

/** A figure over the shown window. */
export interface Judged {
  readonly figure: UseFigure
  /** The newest value; undefined without one. */
  readonly now: number | undefined
  /** Mean of the last `JUDGED_SEC`, by which the figure is judged. */
  readonly mean: number | undefined
  /** Are the values means of several samples, which hide their extremes? */
  readonly isMean: boolean
  /** The highest value and its time. */
  readonly peak: { readonly value: number; readonly at: number } | undefined
  readonly state: FleetState
  /** What an unknown figure lacks; undefined while values may be on their way. */
  readonly lacks?: 'metrics' | 'answer' | 'values' | undefined
  /** What the highest mean of `JUDGED_SEC` in the window is judged as. */
  readonly worst: FleetState
  /** Highest values of equal parts of the window; NaN is a gap. */
  readonly course: Float32Array
}

const MEASURES: Readonly<Record<UseFigure['unit'], Measure>> = {
  share: { kind: 'share', factor: 1, suffix: '' },
  number: { kind: 'number', factor: 1, suffix: '' },
  seconds: { kind: 'seconds', factor: 1, suffix: '' },
  'bytes/s': { kind: 'bytes', factor: 1, suffix: '/s' },
  '/s': { kind: 'number', factor: 1, suffix: '/s' },
}

/** Formats a value of a figure. */
export function showFigure({ unit }: Pick<UseFigure, 'unit'>, value: number | undefined): string {
  return showValue(MEASURES[unit], value)
}

/** States the thresholds of a figure. */
export function thresholdsOf(figure: UseFigure): string {
  const { warn, bad } = figure
  if (warn === Number.POSITIVE_INFINITY) return 'no thresholds'
  const from = (value: number): string =>
    value === Number.MIN_VALUE ? 'the first one' : showLimit(MEASURES[figure.unit], value)
  const critical = `critical from ${from(bad)}`
  return `${warn < bad ? `warning from ${from(warn)}, ${critical}` : critical} (mean of ${JUDGED_SEC} s)`
}

const charts = new WeakMap<UseFigure, Chart>()

/** Returns the chart whose feed has the values that a figure is computed from; it is not drawn. */
export function chartOf(figure: UseFigure): Chart {
  let chart = charts.get(figure)
  if (chart === undefined) {
    const plots = figure.needs.map(({ name, expr, instance, instances }): Plot => {
      const chosen = instance === undefined ? instances : ({ mode: 'instance', text: instance } as const)
      return {
        ...{ metric: name, optional: true },
        ...(expr === undefined ? {} : { expr }),
        ...(chosen === undefined ? {} : { instances: chosen }),
      }
    })
    // Of all kinds that show a course, heat maps have the most lines.
    chart = { id: `health ${figure.id}`, title: figure.title, style: 'heat', legend: false, plots }
    charts.set(figure, chart)
  }
  return chart
}

/** Returns the values of a figure at the times of the data; NaN where it is unknown. */
export function valuesOf(figure: UseFigure, { times, lines }: ChartData): Float64Array {
  const { plots } = chartOf(figure)
  const inputs = figure.needs.map((need, n) => {
    const own = lines.filter(({ plot }) => plot === plots[n])
    const how = need.aggregate ?? (own[0]?.info.sem === RATE ? 'sum' : 'mean')
    const scale = need.rawPerBase ?? 1
    return { own, how, scale, last: own.map(() => Number.NaN), isConstant: need.isConstant === true }
  })
  for (const { own, last, isConstant } of inputs)
    if (isConstant)
      for (const [i, { values }] of own.entries())
        last[i] = values.find((value) => value != null) ?? Number.NaN
  const needed = new Array<number>(inputs.length)
  return Float64Array.from(times, (_, t) => {
    for (const [n, { own, how, scale, last, isConstant }] of inputs.entries()) {
      let [total, most, count] = [0, Number.NEGATIVE_INFINITY, 0]
      for (let i = 0; i < own.length; i++) {
        const value = own[i]!.values[t]
        if (value != null) last[i] = value
        else if (value === null && !isConstant) last[i] = Number.NaN
        const held = last[i]!
        if (Number.isNaN(held)) continue
        total += held
        if (held > most) most = held
        count++
      }
      needed[n] =
        count === 0 ? Number.NaN : scale * (how === 'max' ? most : how === 'mean' ? total / count : total)
    }
    return figure.of(needed)
  })
}

/** Judges a figure by its values in the window. */
export function judge(figure: UseFigure, data: ChartData): Judged {
  const { times, frame } = data
  const end = dataEnd(data)
  const values = valuesOf(figure, data)
  const isMean = data.lines.some(({ high }) => high !== undefined)
  const course = new Float32Array(SPARK_WIDTH).fill(Number.NaN)
  /** Returns the mean of the last `JUDGED_SEC` before a known value. */
  const meanUntil = (until: number): number => {
    let [total, count] = [0, 0]
    for (let i = until; i >= 0 && times[i]! > times[until]! - JUDGED_SEC; i--)
      if (Number.isFinite(values[i]!)) {
        total += values[i]!
        count++
      }
    return total / count
  }
  let newest: number | undefined
  let peak: Judged['peak']
  let last: { readonly index: number; readonly bucket: number } | undefined
  let [mean, highest] = [Number.NaN, Number.NEGATIVE_INFINITY]
  for (const [i, at] of times.entries()) {
    const value = values[i]!
    if (!Number.isFinite(value) || at < frame.from || at > end) continue
    newest = i
    mean = meanUntil(i)
    if (mean > highest) highest = mean
    if (peak === undefined || value > peak.value) peak = { value, at }
    // The clock of a host may be slightly ahead.
    const part = Math.floor(((at - frame.from) / (frame.to - frame.from)) * SPARK_WIDTH)
    const bucket = Math.min(SPARK_WIDTH - 1, part)
    // Parts between two samples have the value of the earlier one, unless it is unknown between them.
    if (last !== undefined && last.index === i - 1) course.fill(course[last.bucket]!, last.bucket + 1, bucket)
    last = { index: i, bucket }
    if (!(course[bucket]! >= value)) course[bucket] = value
  }
  if (newest === undefined)
    return {
      ...{ figure, now: undefined, mean: undefined, isMean, peak, course },
      ...{ state: 'unknown', worst: 'unknown', lacks: lackOf(data) },
    }
  return {
    figure,
    now: values[newest]!,
    mean,
    isMean,
    peak,
    state: figureState(figure, mean),
    worst: figureState(figure, highest),
    course,
  }
}

/** Returns what a figure without values lacks. */
function lackOf({ isWaiting, isReading, hasNone, lines, problems }: ChartData): Judged['lacks'] {
  if (isWaiting || isReading) return undefined
  if (hasNone === true) return 'metrics'
  return lines.length === 0 && problems.length > 0 ? 'answer' : 'values'
}

/** Returns the figure with the highest value; the first one if none is known. */
export function highestOf(all: readonly Judged[]): Judged {
  return all.reduce((a, b) => ((b.mean ?? -1) > (a.mean ?? -1) ? b : a))
}

/** Returns the figure with the worst peak; of several, the highest. */
export function worstPeakOf(all: readonly Judged[]): Judged {
  const difference = (a: Judged, b: Judged): number =>
    STATES.indexOf(a.worst) - STATES.indexOf(b.worst) || (a.peak?.value ?? -1) - (b.peak?.value ?? -1)
  return all.reduce((a, b) => (difference(b, a) > 0 ? b : a))
}

/** From the best to the worst. */
const STATES: readonly FleetState[] = ['ok', 'warn', 'bad']

/** Returns the worst state of figures; unknown ones only count if all are. */
export function worstOf(all: readonly Judged[]): FleetState {
  for (const state of ['bad', 'warn', 'ok'] as const) if (all.some((one) => one.state === state)) return state
  return 'unknown'
}

/** Returns a title for use within a sentence: abbreviations keep their capitals. */
export const inSentence = (title: string): string =>
  /^\p{Lu}\p{Ll}/u.test(title) ? title[0]!.toLowerCase() + title.slice(1) : title

/** Returns the newest value, as on the cards; the mean if the newest value alone would be judged otherwise. */
const shownValue = ({ figure, now, mean, state }: Judged): number | undefined =>
  figureState(figure, now ?? Number.NaN) === state ? now : mean

/** Names the first figures, and counts the others. */
function named(of: readonly Judged[], most: number, name: (one: Judged) => string): string {
  const more = of.length > most ? `, and ${of.length - most} more` : ''
  return of.slice(0, most).map(name).join(', ') + more
}

interface SentenceOptions {
  /** Are values still arriving? Else the window ends in the past. */
  readonly isNow?: boolean
  readonly isHost?: boolean
  /** How many problems are named. */
  readonly most?: number
}

/** Sums up the problems in a sentence, from the same thresholds as the colours. */
export function sentenceOf(
  all: readonly Judged[],
  { isHost = true, isNow = isHost, most = Number.POSITIVE_INFINITY }: SentenceOptions = {},
): { readonly state: FleetState; readonly text: string } {
  const state = worstOf(all)
  const isFinal = all.every(({ state, lacks }) => state !== 'unknown' || lacks !== undefined)
  if (state === 'unknown') {
    const missing = all.filter(({ lacks }) => lacks === 'metrics').length
    const text = !isFinal
      ? 'Waiting for values …'
      : 2 * missing > all.length
        ? `${isHost ? 'This host' : 'The archive'} has no metrics of CPU, memory, disk and network: ${isHost ? 'enable the agent linux there' : 'record kernel, mem, disk and network'}, or choose another page`
        : all.some(({ lacks }) => lacks === 'answer')
          ? 'The values of these figures could not be read: see the charts'
          : isHost
            ? 'No values of these figures in this window'
            : 'The archive has no values of these figures here'
    return { state, text }
  }
  const ordered = [...all.filter((one) => one.state === 'bad'), ...all.filter((one) => one.state === 'warn')]
  if (ordered.length === 0) {
    const missing = all.filter((one) => one.state === 'unknown').length
    // Too few figures to call the host well.
    if (2 * missing > all.length && !isFinal) return { state: 'unknown', text: 'Waiting for values …' }
    if (2 * missing > all.length)
      return { state, text: `${all.length - missing} of ${all.length} figures are known, all normal` }
    const earlier = named(
      (['bad', 'warn'] as const).flatMap((worst) => all.filter((one) => one.worst === worst)),
      most,
      ({ figure, peak }) => `${inSentence(figure.title)} (${showFigure(figure, peak!.value)})`,
    )
    return {
      state,
      text: [
        earlier === '' ? 'All well' : `All well ${isNow ? 'now' : 'at the end'}; earlier: ${earlier}`,
        ...(missing === 0 ? [] : [`${missing} of ${all.length} figures are unknown here`]),
      ].join('; '),
    }
  }
  const text = named(
    ordered,
    most,
    (one) => `${one.figure.problem} (${showFigure(one.figure, shownValue(one))})`,
  )
  return { state, text: `${text[0]!.toUpperCase()}${text.slice(1)}` }
}
