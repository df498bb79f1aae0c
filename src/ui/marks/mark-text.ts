/** Marks as text: on flags, in tooltips and in images. */
import { printableWord } from '../../base/printable.ts'
import { formatTime } from '../time/format.ts'
import type { Mark, MarkGroup, MarkKind } from './marks.ts'

/** Sign and name of each kind, so that colour is not the only difference. */
const SIGNS: Readonly<Record<MarkKind, readonly [sign: string, name: string]>> = {
  alert: ['!', 'Alert'],
  reboot: ['↻', 'Reboot'],
  agent: ['×', 'Agent'],
  clock: ['±', 'Clock'],
  gap: ['–', 'Gap'],
  rule: ['?', 'Rule'],
  note: ['✎', 'Note'],
}

/** Marks listed; the rest is counted. */
const MOST_LINES = 8

/** Returns the sign of a flag, or the number of its marks. */
export const signOf = ({ kind, marks }: MarkGroup): string =>
  marks.length > 1 ? String(marks.length) : SIGNS[kind][0]

/** Returns a line for each mark. */
export function linesOf({ marks }: MarkGroup, zone: string): string[] {
  const lines = marks.slice(0, MOST_LINES).map((mark) => lineOf(mark, zone))
  if (marks.length > MOST_LINES) lines.push(`and ${marks.length - MOST_LINES} more`)
  return lines
}

function lineOf({ at, until, kind, text }: Mark, zone: string): string {
  const end =
    until === undefined ? '' : Number.isFinite(until) ? ` to ${formatTime(until, zone)}` : ', not ended'
  return `${SIGNS[kind][1]}, ${formatTime(at, zone)}${end}: ${printableWord(text)}`
}
