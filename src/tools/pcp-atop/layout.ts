/** Chooses the cells of a line that fit, and distributes the remaining width. pcp-atop(1), pcp-atoprc(5) */
import type { Settings } from './settings.ts'
import type { Step } from './step.ts'
import type { TaskTotals } from './task.ts'

/** How close a value is to its limit. */
export type Level = 'critical' | 'almost'

/** A cell of a system line, 12 columns wide. */
export interface Cell {
  readonly text: string
  /** If not all cells fit, those with the highest weight are shown. */
  readonly weight: number
  readonly level?: Level | undefined
}

/** A part of a line, with its highlighting. */
export interface StyledText {
  readonly text: string
  readonly level?: Level | undefined
}

/** The width of a cell. */
export const CELL_WIDTH = 12
/** With the separator and its blanks. */
const SLOT_WIDTH = CELL_WIDTH + 3
const LABEL_WIDTH = 5

/** Makes an empty cell, which keeps its place in lines that are wide enough. Of two, the later one is kept longer. */
export function blank(weight = 0): Cell {
  return { text: ' '.repeat(CELL_WIDTH), weight }
}

/** Lays out a line of label, separators and cells. It is exactly `width` wide, or shorter if no cell fits. */
export function systemLine(label: string, cells: readonly Cell[], width: number): readonly StyledText[] {
  const slots = Math.max(0, Math.floor((width - LABEL_WIDTH) / SLOT_WIDTH))
  const shown = spread(heaviest(cells, slots), slots)
  const left = width - LABEL_WIDTH - shown.length * SLOT_WIDTH
  const pads = distribute(Math.max(0, left), shown.length * 2)
  const pieces: StyledText[] = [{ text: label, level: worst(shown) }]
  for (const [i, { text, level }] of shown.entries()) {
    pieces.push({ text: ` | ${' '.repeat(pads[2 * i]!)}` })
    pieces.push({ text, level })
    pieces.push({ text: ' '.repeat(pads[2 * i + 1]!) })
  }
  pieces.push({ text: ' |' })
  return pieces
}

function worst(cells: readonly Cell[]): Level | undefined {
  return cells.some(({ level }) => level === 'critical') ? 'critical' : undefined
}

/** Keeps the heaviest cells that fit; of equal ones the first is dropped first. */
export function heaviest<T extends { readonly weight: number }>(
  cells: readonly T[],
  places: number,
): readonly T[] {
  const left = [...cells]
  while (left.length > places) {
    let lightest = 0
    for (const [i, { weight }] of left.entries()) if (weight < left[lightest]!.weight) lightest = i
    left.splice(lightest, 1)
  }
  return left
}

/** Inserts empty cells between the others until all places are used. */
function spread(cells: readonly Cell[], slots: number): readonly Cell[] {
  const extra = slots - cells.length
  if (extra <= 0 || cells.length === 0) return cells
  const after = new Array<number>(cells.length).fill(0)
  for (let k = 0; k < extra; k++) after[Math.floor(((k + 0.5) * cells.length) / extra)]!++
  return cells.flatMap((cell, i) => [cell, ...Array.from({ length: after[i]! }, () => blank())])
}

/** Distributes `total` blanks evenly over `places`, starting in the middle of the first share. */
export function distribute(total: number, places: number): readonly number[] {
  let due = 0.5
  return Array.from({ length: places }, () => {
    due += total / places
    // A blank that is exactly due goes to the next place.
    const share = Math.max(0, Math.ceil(due) - 1)
    due -= share
    return share
  })
}

/** The first line of a sample: host, time, flags, and elapsed time. */
export interface Heading {
  readonly host: string
  readonly time: string
  readonly flags: string
  readonly elapsed: string
}

/** Formats the first line of a sample. */
export function headingLine({ host, time, flags, elapsed }: Heading, width: number): string {
  const first = `ATOP - ${host}`
  const last = `${elapsed} elapsed`
  // At least ten columns, so that headings of short intervals are aligned.
  const end = last.padStart(10)
  const left = width - first.length - time.length - flags.length - end.length
  const gap = Math.max(1, Math.floor(left / 3))
  const rest = Math.max(1, left - 2 * gap)
  return `${first}${' '.repeat(gap)}${time}${' '.repeat(gap)}${flags}${' '.repeat(rest)}${end}`
}

/** A line before layout. */
export interface SystemLine {
  readonly label: string
  readonly cells: readonly Cell[]
}

/** Setup shared by all lines. */
export interface LineSetup {
  readonly step: Step
  readonly settings: Settings
  readonly totals: TaskTotals
  /** Seconds that counts are divided by; undefined to show plain counts. */
  readonly perSec: number | undefined
}
