/** SVG images of heat maps. */
import { showValue } from '../view/measure.ts'
import type { Body, ColorOf, PictureInput } from './drawn.ts'
import { heatColors, heatLimits, heatRuns } from './heat-map.ts'
import { markParts, marksHeight } from './svg-marks.ts'
import { fitted, rect, text, textWidth, WIDTH } from './svg-parts.ts'
import { timeMarks } from './time-marks.ts'

const MARGIN = 16
const WIDEST_NAME = 220
const KEY_WIDTH = 160
/** Maximum number of time labels. */
const TIMES = 8

/** Draws labelled rows and the colour scale below them. */
export function heatPicture(drawn: PictureInput, color: ColorOf): Body {
  const { data, frame, zone } = drawn
  const limits = heatLimits(data)
  const colors = heatColors(color)
  const rowHeight = data.lines.length > 24 ? 14 : 20
  const names = Math.min(WIDEST_NAME, Math.max(0, ...data.lines.map(({ label }) => textWidth(label))))
  const left = MARGIN + names + 10
  const x = (time: number): number => {
    const share = (time - frame.from) / (frame.to - frame.from)
    return left + Math.min(1, Math.max(0, share)) * (WIDTH - MARGIN - left)
  }
  const parts: string[] = []
  const start = marksHeight(drawn)
  for (const [row, { label, values }] of data.lines.entries()) {
    const top = start + row * rowHeight
    parts.push(
      text(left - 10, top + rowHeight - 5, fitted(label, WIDEST_NAME), color('var(--text)'), {
        anchor: 'end',
      }),
    )
    for (const { from, to, shade } of heatRuns(data.times, values, limits, colors.length))
      if (x(to) > x(from)) parts.push(rect(x(from), top, x(to) - x(from), rowHeight - 1, colors[shade]!))
  }
  const end = start + data.lines.length * rowHeight
  parts.push(...markParts(drawn, { left, width: WIDTH - MARGIN - left, height: end }, color))
  for (const { at, label } of timeMarks(frame, TIMES, zone))
    parts.push(text(x(at), end + 16, label, color('var(--faint)'), { anchor: 'middle' }))
  const bottom = end + 32
  const [low, high] = limits.map((limit) => showValue(data.measure, limit)) as [string, string]
  const keyLeft = left + textWidth(low) + 8
  for (const [i, shade] of colors.entries())
    parts.push(
      rect(keyLeft + (i * KEY_WIDTH) / colors.length, bottom, KEY_WIDTH / colors.length + 0.5, 10, shade),
    )
  parts.push(
    text(left, bottom + 9, low, color('var(--faint)')),
    text(keyLeft + KEY_WIDTH + 8, bottom + 9, high, color('var(--faint)')),
  )
  return { parts, height: bottom + 14 }
}
