/** Axes of charts over time: positions and texts of the tick marks. */
import type uPlot from 'uplot'
import { resolveColor } from '../theme.ts'
import { type Measure, stepFor, withUnit } from '../view/measure.ts'

/** Height of the flags of marks above a plot, in pixels. */
export const MARKS_HEIGHT = 14

const FONT = '12px system-ui, sans-serif'
/** Minimum width of the value axis, so that the plots of charts in a column line up: that of 1000 KiB/s. */
const NARROWEST = 66
const CHARACTER = 6.7
/** Width of labels such as 18:20 and 18:20:30. */
const MINUTES_SPACE = 48
const SECONDS_SPACE = 76

/** Tick spacing of axes in bytes, for round numbers of KiB, MiB ... */
const POWERS_OF_TWO: number[] = Array.from({ length: 61 }, (_, i) => 2 ** i)

/**
 * For each tick spacing: the format of a tick label and what to add below it when a year, month, day, hour ... begins. The
 * added text must be as short as a label, because the next tick may have one too.
 */
const CLOCK: (number | string | null)[][] = [
  [86_400 * 365, '{YYYY}', null, null, null, null, null, null, 1],
  [86_400 * 28, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
  [
    0.001,
    ':{ss}.{fff}',
    '\n{D} {MMM} {HH}:{mm}',
    null,
    '\n{D} {MMM} {HH}:{mm}',
    null,
    '\n{HH}:{mm}',
    null,
    1,
  ],
]

/** Returns the time axis. */
export function axisX(): uPlot.Axis {
  return {
    stroke: resolveColor('var(--faint)'),
    grid: { stroke: resolveColor('var(--grid)'), width: 1 },
    ticks: { show: false },
    font: FONT,
    // Labels of ticks less than a minute apart are longer.
    space: (_, __, min, max, width) =>
      ((max - min) / width) * MINUTES_SPACE > 30 ? MINUTES_SPACE : SECONDS_SPACE,
    size: 34,
    values: CLOCK,
  }
}

/** Returns the value axis. `isZero` returns whether all values are zero, or unknown. */
export function axisY(measure: Measure, isZero: () => boolean): uPlot.Axis {
  return {
    stroke: resolveColor('var(--faint)'),
    grid: { stroke: resolveColor('var(--grid)'), width: 1 },
    ticks: { show: false },
    font: FONT,
    size: (_, values) => {
      const longest = Math.max(0, ...(values ?? []).map((value) => value?.length ?? 0))
      return Math.max(NARROWEST, Math.ceil(longest * CHARACTER) + 10)
    },
    space: 34,
    ...(measure.kind === 'bytes' ? { incrs: POWERS_OF_TWO } : {}),
    values: (_, splits) => axisLabels(measure, splits, isZero()),
  }
}

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
