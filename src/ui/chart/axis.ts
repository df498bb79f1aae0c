/** Axes of charts over time: positions and texts of the tick marks. */
import type uPlot from 'uplot'
import { resolveColor } from '../theme.ts'
import { type Measure, stepFor, withUnit } from '../view/measure.ts'
import { marksIn, type TimeMark, withDates } from './time-marks.ts'

/** Height of the flags of marks above a plot, in pixels. */
export const MARKS_HEIGHT = 14

const FONT = '12px system-ui, sans-serif'
/** Minimum width of the value axis, so that the plots of charts in a column line up: that of 1.25 MiB/s. */
export const NARROWEST = 68
/** Tick spacing of axes in bytes, for round numbers of KiB, MiB ... */
const POWERS_OF_TWO: number[] = Array.from({ length: 61 }, (_, i) => 2 ** i)

/** Returns the time axis of a zone, with the labels of heat maps and the date below them. */
export function axisX(zone: string): uPlot.Axis {
  let marks: TimeMark[] = []
  return {
    stroke: resolveColor('var(--faint)'),
    grid: { stroke: resolveColor('var(--grid)'), width: 1 },
    ticks: { show: false },
    font: FONT,
    size: 34,
    splits: ({ bbox }, _, from, to) => {
      marks = marksIn({ from, to }, bbox.width / devicePixelRatio, zone)
      return marks.map(({ at }) => at)
    },
    values: () => withDates(marks),
  }
}

/** Returns the value axis. `isZero` returns whether all values are zero, or unknown. */
export function axisY(measure: Measure, isZero: () => boolean): uPlot.Axis {
  return {
    stroke: resolveColor('var(--faint)'),
    grid: { stroke: resolveColor('var(--grid)'), width: 1 },
    ticks: { show: false },
    font: FONT,
    size: (_, values) => Math.max(NARROWEST, ...(values ?? []).map(axisWidth)),
    space: 34,
    ...(measure.kind === 'bytes' ? { incrs: POWERS_OF_TWO } : {}),
    values: (_, splits) => axisLabels(measure, splits, isZero()),
  }
}

/** Returns the width of the value axis that a label needs, with a gap. Points, slashes and the like are half as wide as digits. */
export const axisWidth = (label: string): number =>
  Math.ceil(6 + 3.8 * (label.length + label.replace(/[^\w]|i/g, '').length))

/**
 * Formats tick labels with the same number of decimals. Only the highest one has the unit, which all share; zero is a plain 0.
 * Without other values than zero (`isZero`), nothing gives the axis a scale: 0 is its only label.
 */
export function axisLabels(measure: Measure, marks: readonly number[], isZero = false): string[] {
  if (isZero) return marks.map((mark) => (mark === 0 ? '0' : ''))
  const { divisor, unit } = stepFor(measure, Math.max(...marks.map(Math.abs)))
  const shown = marks.map((mark) => mark / divisor)
  const decimals = DECIMALS.find((digits) => shown.every((value) => isRound(value * 10 ** digits))) ?? 3
  const highest = shown.at(-1) === 0 ? 0 : shown.length - 1
  return shown.map((value, i) => {
    const number = value === 0 ? '0' : value.toFixed(decimals)
    return i === highest ? withUnit(number, unit) : number
  })
}

const DECIMALS: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

const isRound = (value: number): boolean => Math.abs(value - Math.round(value)) < 1e-6

/** Returns the range of an axis: from 0 up with some room above, or around the values if they are negative or far from 0. */
export function naturalRange(
  low: number | null,
  high: number | null,
  isFromZero: boolean,
): [low: number, high: number] {
  const top = high ?? 1
  const bottom = isFromZero || (low ?? 0) >= 0 ? 0 : low!
  if (top <= bottom) return [bottom, bottom + 1]
  return [bottom, top + 0.05 * (top - bottom)]
}
