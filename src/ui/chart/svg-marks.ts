/** Marks in SVG images, as on the page: a line or a shaded span, and a flag with the text. */
import { linesOf, signOf } from '../marks/mark-text.ts'
import { groupMarks, type MarkKind } from '../marks/marks.ts'
import { MARKS_HEIGHT } from './axis.ts'
import type { ColorOf, PictureInput } from './drawn.ts'
import { n, rect, text, xml } from './svg-parts.ts'

/** Colours as in marks.css. */
const COLORS: Partial<Record<MarkKind, string>> = {
  agent: 'var(--warn)',
  clock: 'var(--warn)',
  gap: 'var(--faint)',
  rule: 'var(--accent)',
  note: 'var(--accent)',
}
const FLAG = 13

/** Returns the height that the flags of marks need above a plot. */
export const marksHeight = ({ marks = [] }: PictureInput): number => (marks.length > 0 ? MARKS_HEIGHT : 0)

/** Draws the marks of a plot that begins below their flags, at `marksHeight`. */
export function markParts(
  { marks = [], frame, zone }: PictureInput,
  { left, width, height }: { readonly left: number; readonly width: number; readonly height: number },
  color: ColorOf,
): string[] {
  const x = (at: number): number =>
    left + width * Math.min(1, Math.max(0, (at - frame.from) / (frame.to - frame.from || 1)))
  return groupMarks(marks, frame, width).flatMap((group) => {
    const { at, until, kind } = group
    const fill = color(COLORS[kind] ?? 'var(--bad)')
    const from = x(at)
    // Flags at the right edge stay in the image.
    const flag = Math.min(from, left + width - FLAG)
    const span =
      until === undefined ? [] : [`<g opacity="0.35">${rect(from, 0, x(until) - from, FLAG, fill)}</g>`]
    return [
      `<g><title>${xml(linesOf(group, zone).join('\n'))}</title>`,
      ...span,
      `<path d="M${n(from)} 0V${n(height)}" stroke="${xml(fill)}" stroke-opacity="0.7"/>`,
      rect(flag, 0, FLAG, FLAG, fill),
      text(flag + FLAG / 2, 10, signOf(group), color('var(--surface)'), { anchor: 'middle', size: 10 }),
      '</g>',
    ]
  })
}
