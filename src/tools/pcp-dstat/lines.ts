/** Formats dstat's lines: headings that fit the terminal, and values. pcp-dstat(1) */
import type { Timestamp } from '../../base/timestamp.ts'
import { strftime } from '../../time/strftime.ts'
import type { Zone } from '../../time/zone.ts'
import { type Block, type HeadingGroup, ownSubtitle, type StyledCell } from './blocks.ts'
import { cellText, centered } from './format.ts'
import type { TimeName } from './options.ts'
import type { Theme } from './theme.ts'

/** A block with the time of the sample. */
export interface TimeBlock {
  readonly name: TimeName
  readonly width: number
  text(time: Timestamp): string
}

/** A part of a line. */
export type LinePart = Block | TimeBlock

const TIME_TITLES: Readonly<Record<TimeName, string>> = {
  time: 'system',
  'time-adv': 'system',
  epoch: 'epoch',
  'epoch-adv': 'epoch',
}
const TIME_WIDTHS: Readonly<Record<TimeName, number>> = {
  time: 14,
  'time-adv': 18,
  epoch: 10,
  'epoch-adv': 14,
}
const TIME_FORMAT = '%d-%m %H:%M:%S'

/** Makes a time column; `format` replaces the default of `time`. */
export function timeBlock(name: TimeName, zone: Zone, format: string | undefined): TimeBlock {
  const millis = (nsec: number): string => String(Math.floor(nsec / 1e6)).padStart(3, '0')
  const text = ({ sec, nsec }: Timestamp): string => {
    if (name === 'epoch') return String(sec)
    if (name === 'epoch-adv') return `${sec}.${millis(nsec)}`
    const stamp = strftime(format ?? TIME_FORMAT, sec, zone, nsec)
    return name === 'time' ? stamp : `${stamp}.${millis(nsec)}`
  }
  const usual = TIME_WIDTHS[name]
  const width = format === undefined || name.startsWith('epoch') ? usual : text({ sec: 0, nsec: 0 }).length
  return { name, width, text }
}

/** Is it a time column? */
export function isTime(part: LinePart): part is TimeBlock {
  return 'text' in part
}

/** Returns the title of a time column. */
export function timeTitle({ name }: TimeBlock): string {
  return TIME_TITLES[name]
}

/** Returns the width of a part on the screen, without separator. */
export function partWidth(part: LinePart): number {
  if (isTime(part)) return part.width
  return part.headings().reduce((sum, { width }) => sum + width + 1, -1)
}

/** Formats titles and subtitles; `isCut` if not all parts fit. */
export function headingLines(parts: readonly LinePart[], theme: Theme, isCut: boolean): string {
  const titles = parts.map((part) => {
    const groups = isTime(part) ? [{ title: timeTitle(part), width: part.width }] : part.headings()
    return (
      groups
        .map(({ title, width }) => theme.title + centered(theme.data(title), width).replaceAll(' ', '-'))
        .join(theme.join) + theme.reset
    )
  })
  const subtitles = parts.map((part) => {
    if (isTime(part)) return underlined(centered(part.name, part.width), theme)
    const own = ownSubtitle(part)
    if (own !== undefined) return underlined(centered(own, part.headings()[0]!.width), theme)
    return part
      .headings()
      .map((group) => subtitleOf(group, theme))
      .join(`${theme.frame}:`)
  })
  const end = isCut ? `${theme.frame}>` : ''
  return `${titles.join(`${theme.frame} `)}${end}\n${subtitles.join(`${theme.frame}|`)}${end}\n`
}

function subtitleOf({ columns }: HeadingGroup, theme: Theme): string {
  return columns.map(({ label, width }) => underlined(centered(label, width), theme)).join(' ')
}

function underlined(text: string, theme: Theme): string {
  return theme.subtitle + theme.underline + theme.data(text) + theme.reset
}

/** A sample's values by part. */
export type SampleRow = readonly (
  | { readonly part: TimeBlock; readonly stamp: string }
  | { readonly part: Block; readonly groups: readonly (readonly StyledCell[])[] }
)[]

/** Returns the values of the last sample. Call it once for each sample, as some values depend on previous ones. */
export function sampleRow(parts: readonly LinePart[], time: Timestamp): SampleRow {
  return parts.map((part) =>
    isTime(part) ? { part, stamp: part.text(time) } : { part, groups: part.row(time) },
  )
}

/** Formats the `shown` parts of a sample, with a mark if others are missing; undefined without any values. */
export function valueLine(row: SampleRow, shown: readonly LinePart[], theme: Theme): string | undefined {
  let hasValues = false
  const texts: string[] = []
  for (const each of row) {
    if (!shown.includes(each.part)) continue
    if ('stamp' in each) {
      hasValues = true
      texts.push(theme.text + theme.data(each.stamp))
      continue
    }
    if (each.groups.length === 0) continue
    if (each.groups.some((cells) => cells.some(({ cell }) => cell !== undefined))) hasValues = true
    texts.push(each.groups.map((cells) => groupText(cells, theme)).join(`${theme.frame}:`))
  }
  if (!hasValues) return undefined
  const end = shown.length < row.length ? `${theme.frame}>` : ''
  return texts.join(`${theme.frame}|`) + end
}

function groupText(cells: readonly StyledCell[], theme: Theme): string {
  return cells.map(({ cell, style }) => cellText(cell, style, theme)).join(' ')
}

/** Returns as many parts as fit a width. */
export function fitting(parts: readonly LinePart[], columns: number): readonly LinePart[] {
  let used = 0
  for (const [i, part] of parts.entries()) {
    used += partWidth(part) + (i === 0 ? 0 : 1)
    if (used > columns - (i === parts.length - 1 ? 0 : 1)) return parts.slice(0, Math.max(1, i))
  }
  return parts
}
