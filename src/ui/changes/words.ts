/** Texts of a change. */
import type { Change } from '../../analysis/what-changed.ts'
import { formatTime } from '../time/format.ts'
import { measureOf, RATE, showNumber, showValue } from '../view/measure.ts'
import type { Plot } from '../view/view.ts'

/** Other instances of the metric from which on a chart shows all instead of the changed ones. */
const MANY = 4

/** Least score of a change that is clearly more than noise. */
const CLEAR = 0.15

/** Returns the changes that are clearly more than noise, and the weaker ones, which are folded away. */
export function partsOf(
  changes: readonly Change[],
): readonly [clear: readonly Change[], weaker: readonly Change[]] {
  return [changes.filter(({ score }) => score >= CLEAR), changes.filter(({ score }) => score < CLEAR)]
}

/** Returns the values before and now, with units. */
export function valuesOf({ before, now, units, isRate }: Change): readonly [before: string, now: string] {
  const measure = measureOf(units || 'none', isRate ? RATE : 'instant')
  const text = (value: number | null): string =>
    value === null ? 'none' : showValue(measure, value * measure.factor)
  return [text(before), text(now)]
}

/** Returns when the change was: `since 14:05:10`, or `14:05:10 to 14:10:00` if it was over within the span. */
export function whenOf({ since, until }: Change, zone: string): string {
  const clock = (at: number): string => formatTime(at, zone).slice(-8)
  return until === null ? `since ${clock(since)}` : `${clock(since)} to ${clock(until)}`
}

/** Returns how the value changed in a few words: `12 times`, `a third`, `new`. */
export function sizeOf({ kind, before, now }: Change): string {
  if (kind === 'new') return 'new'
  if (kind === 'gone') return 'gone'
  if (before === null || now === null || before * now <= 0) return ''
  const ratio = now / before
  if (ratio >= 1.1) return `× ${showNumber(ratio)}`
  return ratio <= 0.9 ? `÷ ${showNumber(1 / ratio)}` : ''
}

/** Returns the plots of a chart that shows the change: the series and those of its metric that moved along. */
export function plotsOf({ metric, instance, others }: Change): readonly Plot[] {
  if (instance === '') return [{ metric }]
  const same = others.filter((other) => other.metric === metric)
  if (same.length >= MANY) return [{ metric }]
  return [instance, ...same.map((other) => other.instance)].map((text) => ({
    metric,
    instances: { mode: 'instance', text },
  }))
}
