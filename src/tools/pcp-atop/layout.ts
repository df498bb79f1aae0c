/** Which cells of a line fit, and where what is left of the width goes. pcp-atop(1), pcp-atoprc(5) */
import type { Settings } from './settings.ts'
import type { Step } from './step.ts'
import type { TaskTotals } from './task.ts'

/** How near to its limit what a cell shows is. */
export type Level = 'critical' | 'almost'

/** A cell of a system line, twelve places wide. */
export interface Cell {
  readonly text: string
  /** Of two cells that do not both fit, the one with more of it stays. */
  readonly weight: number
  readonly level?: Level | undefined
}

/** A piece of a line, and how it stands out. */
export interface Piece {
  readonly text: string
  readonly level?: Level | undefined
}

/** The width of a cell. */
export const CELL_WIDTH = 12
/** With the bar and the blanks around it. */
const SLOT_WIDTH = CELL_WIDTH + 3
const LABEL_WIDTH = 5

/** An empty cell: it keeps its place in lines wide enough; the later of two stays longer. */
export function blank(weight = 0): Cell {
  return { text: ' '.repeat(CELL_WIDTH), weight }
}

/** The line: label, bars, cells; exactly `width` wide, or less where not even one cell fits. */
export function systemLine(label: string, cells: readonly Cell[], width: number): readonly Piece[] {
  const slots = Math.max(0, Math.floor((width - LABEL_WIDTH) / SLOT_WIDTH))
  const shown = spread(heaviest(cells, slots), slots)
  const left = width - LABEL_WIDTH - shown.length * SLOT_WIDTH
  const pads = shares(Math.max(0, left), shown.length * 2)
  const pieces: Piece[] = [{ text: label, level: worst(shown) }]
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

/** As many as there are places for; of equals the first goes first. */
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

/** With empty cells spread between the others, so that all places are taken. */
function spread(cells: readonly Cell[], slots: number): readonly Cell[] {
  const extra = slots - cells.length
  if (extra <= 0 || cells.length === 0) return cells
  const after = new Array<number>(cells.length).fill(0)
  for (let k = 0; k < extra; k++) after[Math.floor(((k + 0.5) * cells.length) / extra)]!++
  return cells.flatMap((cell, i) => [cell, ...Array.from({ length: after[i]! }, () => blank())])
}

/** `total` blanks dealt out evenly to `places`, from the middle of the first share on. */
export function shares(total: number, places: number): readonly number[] {
  let due = 0.5
  return Array.from({ length: places }, () => {
    due += total / places
    // What is due exactly waits for the next place.
    const share = Math.max(0, Math.ceil(due) - 1)
    due -= share
    return share
  })
}

/** What stands above a sample: host, time, switches, and how long it took. */
export interface Heading {
  readonly host: string
  readonly time: string
  readonly flags: string
  readonly elapsed: string
}

/** The first line of a sample. */
export function headingLine({ host, time, flags, elapsed }: Heading, width: number): string {
  const first = `ATOP - ${host}`
  const last = `${elapsed} elapsed`
  // As wide as ten places at least, so that lines of short intervals look alike.
  const end = last.padStart(10)
  const left = width - first.length - time.length - flags.length - end.length
  const gap = Math.max(1, Math.floor(left / 3))
  const rest = Math.max(1, left - 2 * gap)
  return `${first}${' '.repeat(gap)}${time}${' '.repeat(gap)}${flags}${' '.repeat(rest)}${end}`
}

/** A line before it has a width. */
export interface SystemLine {
  readonly label: string
  readonly cells: readonly Cell[]
}

/** What lines are made with. */
export interface LineSetup {
  readonly step: Step
  readonly settings: Settings
  readonly totals: TaskTotals
  /** The time that rates are for; undefined where counts are shown as they are. */
  readonly perSec: number | undefined
}
