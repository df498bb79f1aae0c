/** How uPlot draws lines: their strokes, samples without neighbours, and bands from minimum to maximum. */
import type uPlot from 'uplot'
import type { ChartLine } from '../data/chart-data.ts'
import { resolveColor, withOpacity } from '../theme.ts'
import { drawBand, loneSamples } from './envelope.ts'
import type { Stroke, TimeLook } from './time-look.ts'

type Column = readonly (number | null | undefined)[]

/** Diameter of an isolated sample, in pixels. */
const LONE_SIZE = 4
/** Opacity of bands. */
const BAND_FILL = 0.35

/** Returns the colour of the band behind a line. */
export const bandColor = ({ color }: Stroke): string => withOpacity(color, BAND_FILL)

/** Returns the uPlot series of a line. */
export function seriesOf({ series }: TimeLook, { color, dash }: Stroke, isFirst: boolean): uPlot.Series {
  const stroke = resolveColor(color)
  return {
    stroke,
    width: 1.5,
    points: { show: false, filter: lonePoints, size: LONE_SIZE, fill: stroke },
    spanGaps: false,
    ...(dash === undefined ? {} : { dash: [...dash] }),
    ...series({ color, dash }, isFirst),
  }
}

/** Returns the samples drawn as points, because a line through them would be shorter than a pixel. */
function lonePoints(plot: uPlot, series: number): number[] | null {
  const { min, max } = plot.scales['x']!
  const range = { from: min!, to: max!, shortest: plot.posToVal(1, 'x') - plot.posToVal(0, 'x') }
  const column = plot.data[series] as Column
  return loneSamples(plot.data[0] as readonly number[], column, range) ?? null
}

/** Fills the bands from minimum to maximum behind all lines, so that none hides another. */
export function fillBands(plot: uPlot, lines: readonly ChartLine[], colors: readonly string[]): void {
  const { ctx, bbox } = plot
  const [from, to] = plot.series[0]!.idxs ?? [0, plot.data[0].length - 1]
  const x = linear(plot, 'x')
  const stretch = { from, to, x: (i: number): number => x(plot.data[0][i]!), y: linear(plot, 'y') }
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  for (const [i, line] of lines.entries()) {
    if (line.low === undefined) continue
    const band = new Path2D()
    drawBand(band, line, stretch)
    ctx.fillStyle = colors[i]!
    ctx.fill(band)
  }
  ctx.restore()
}

/** Returns a function from values of a scale to canvas pixels, for the current range. */
function linear(plot: uPlot, scale: string): (value: number) => number {
  const { min, max } = plot.scales[scale]!
  const zero = plot.valToPos(min!, scale, true)
  const slope = (plot.valToPos(max!, scale, true) - zero) / (max! - min!)
  return (value) => zero + (value - min!) * slope
}
