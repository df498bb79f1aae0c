/** How the kinds of charts over time draw their lines. */
import type uPlot from 'uplot'
import { withOpacity } from '../theme.ts'
import type { Stacking } from './stack.ts'

/** How one line is drawn. */
export interface Stroke {
  readonly color: string
  readonly dash: readonly number[] | undefined
}

/** How a kind of chart draws its lines. */
export interface TimeLook {
  readonly stacking?: Stacking
  /** Does the axis always include zero? */
  readonly isFromZero?: boolean
  /** Is the last line drawn first? */
  readonly isReversed?: boolean
  /** uPlot options that differ from a plain line. */
  readonly series: (stroke: Stroke, isFirst: boolean) => Partial<uPlot.Series>
  /** Fills between lines. */
  readonly bands?: (strokes: readonly Stroke[]) => uPlot.Band[]
}

/** Opacity of stacked areas, near that of their swatches. */
const STACK_FILL = 0.85

/** Returns the look of stacked areas. */
export function stackLook(stacking: Stacking): TimeLook {
  return {
    stacking,
    isFromZero: true,
    series: ({ color }, isFirst) => ({
      width: color === 'transparent' ? 0 : 1,
      ...(isFirst ? { fill: withOpacity(color, STACK_FILL) } : {}),
    }),
    bands: bandsOf,
  }
}

/** Returns the bands between neighbouring lines; the lowest line is filled down to zero by itself. */
function bandsOf(strokes: readonly Stroke[]): uPlot.Band[] {
  return strokes.slice(1).map(({ color }, i) => ({
    series: [i + 2, i + 1] as uPlot.Band.Bounds,
    fill: withOpacity(color, STACK_FILL),
  }))
}
