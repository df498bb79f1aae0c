/** dstat's report: sampling times, and output to screen and file. pcp-dstat(1) */
import { secondsBetween, type Timestamp, toSeconds } from '../../base/timestamp.ts'
import type { Context } from '../../pmapi/context.ts'
import { sampleLoop } from '../../pmapi/samples.ts'
import { type ColumnCursor, valueRows } from '../../pmapi/value-rows.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { SamplingWindow } from '../lib/window.ts'
import type { Column } from './columns.ts'
import {
  fitting,
  headingLines,
  isTime,
  type LinePart,
  type SampleRow,
  sampleRow,
  valueLine,
} from './lines.ts'
import { Smoother } from './smoother.ts'
import type { Theme } from './theme.ts'

/** Setup of a report. */
export interface ReportSetup {
  readonly context: Context
  readonly parts: readonly LinePart[]
  readonly theme: Theme
  readonly window: SamplingWindow
  readonly delaySec: number
  readonly count: number | undefined
  readonly repeatsHeadings: boolean
  readonly tellsMissed: boolean
  /** Show intermediate lines on a terminal. */
  readonly updates: boolean
  /** Writes each sample to a file; undefined without a file. */
  readonly toFile: ((row: SampleRow, note: string | undefined) => void) | undefined
}

/** Ends lines that will be overwritten. */
const OVERWRITE = '\r\x1b[0;0m\x1b[2K'
/** Seconds between intermediate lines. */
const UPDATE_SEC = 1
const HEADING_ROWS = 2
/** Lower screens have no headings. */
const FEWEST_ROWS = 6
const USUAL_COLUMNS = 80
const USUAL_ROWS = 25

/** Reports until the end of the archive, the number of samples, or an interrupt. */
export async function report(setup: ReportSetup, io: ToolIo): Promise<void> {
  const { context, parts, window, delaySec, count, toFile } = setup
  const screen = new Screen(setup, io)
  const reader = new Reader(context, parts)
  const hasUpdates =
    setup.updates && context.archive === undefined && delaySec > UPDATE_SEC && io.stdout.isTerminal
  const steps = hasUpdates ? Math.max(1, Math.round(delaySec / UPDATE_SEC)) : 1
  const smoother = steps > 1 ? new Smoother() : undefined
  const sampled = sampleLoop(context, {
    take: () => reader.next(io),
    origin: window.origin,
    intervalSec: delaySec / steps,
    ...(count === undefined ? {} : { count: count * steps + 1 }),
    isBeyond: (time) => compareTimes(time, window.finish) > 0,
    late: 'latest',
    skipsBy: steps,
    flush: () => io.stdout.flush(),
    call: io,
  })
  screen.begin()
  let tick = 0
  let note: string | undefined
  for await (const time of sampled) {
    if (sampled.missed > 0 && setup.tellsMissed) note = `missed ${sampled.missed / steps + 1} ticks`
    reader.read(time)
    const isStep = tick++ % steps === 0
    const now = sampleRow(parts, time)
    const row = smoother?.add(now) ?? now
    if (isStep) smoother?.restart()
    if (isStep) toFile?.(row, note)
    screen.show(row, isStep, note)
    if (isStep) note = undefined
    if (io.signal.aborted) break
  }
  screen.end()
}

/** Advances through samples, and fills columns. */
class Reader {
  readonly #rows: ColumnCursor
  readonly #columns: readonly { readonly column: Column; readonly place: number }[]
  #before: Timestamp | undefined

  constructor(context: Context, parts: readonly LinePart[]) {
    const columns = parts.flatMap((part) => (isTime(part) ? [] : part.columns))
    const descs = new Map(columns.map(({ desc }) => [desc.pmid, desc]))
    const ids = [...descs.keys()]
    this.#columns = columns.map((column) => ({ column, place: ids.indexOf(column.desc.pmid) }))
    this.#rows = valueRows(context, [...descs.values()])
  }

  /** Advances to the next sample; returns its time. */
  next(io: ToolIo): Timestamp | Promise<Timestamp> {
    return this.#rows.next(io)
  }

  /** Reads the sample's values into the columns. */
  read(time: Timestamp): void {
    const elapsed = this.#before === undefined ? 0 : secondsBetween(this.#before, time)
    this.#before = time
    for (const { column, place } of this.#columns) column.read(this.#rows.columns[place]!, elapsed)
  }
}

/** Writes lines with headings: repeated for each screenful on a terminal, elsewhere once. */
class Screen {
  readonly #setup: ReportSetup
  readonly #io: ToolIo
  readonly #isTerminal: boolean
  #shown: readonly LinePart[]
  #columns = 0
  #left = 0
  #isOpen = false
  #isFirst = true

  constructor(setup: ReportSetup, io: ToolIo) {
    this.#setup = setup
    this.#io = io
    this.#isTerminal = io.stdout.isTerminal
    this.#shown = setup.parts
    this.#fit()
  }

  begin(): void {
    if (this.#setup.theme.isOn) this.#io.stdout.writeControls('\x1b[7l')
  }

  show(row: SampleRow, isStep: boolean, note: string | undefined): void {
    const { theme } = this.#setup
    const { stdout } = this.#io
    const isResized = this.#fit()
    if (this.#isOpen) {
      stdout.writeControls(OVERWRITE)
      this.#isOpen = false
    }
    if (isResized || this.#isDue()) this.#head()
    const line = valueLine(row, this.#shown, isStep ? theme : theme.interim)
    const text =
      (line ?? '') + theme.lineEnd + (note === undefined ? '' : ` ${theme.error}${note}${theme.lineEnd}`)
    this.#write(line !== undefined && isStep ? `${text}\n` : text)
    if (line === undefined) return
    this.#isOpen = !isStep
    if (isStep) this.#left--
  }

  end(): void {
    if (this.#isOpen) this.#io.stdout.write('\n')
    if (this.#isTerminal && this.#setup.theme.isOn) this.#io.stdout.writeControls('\x1b[0;0m')
  }

  /** Writes lines of the theme, which makes data printable if it has colours. */
  #write(text: string): void {
    const { stdout } = this.#io
    if (this.#setup.theme.isOn) stdout.writeControls(text)
    else stdout.write(text)
  }

  #isDue(): boolean {
    if (this.#isFirst) return true
    const hasRoom = this.#isTerminal && rowsOf() >= FEWEST_ROWS
    return hasRoom && this.#setup.repeatsHeadings && this.#left <= 0
  }

  /** Chooses the parts that fit; returns true if they changed. */
  #fit(): boolean {
    const columns = this.#isTerminal ? (process.stdout.columns ?? USUAL_COLUMNS) : Number.POSITIVE_INFINITY
    if (columns === this.#columns) return false
    this.#columns = columns
    const before = this.#shown.length
    this.#shown = fitting(this.#setup.parts, columns)
    return this.#shown.length !== before && !this.#isFirst
  }

  #head(): void {
    const { parts, theme } = this.#setup
    const { stdout, stderr } = this.#io
    const isCut = this.#shown.length < parts.length
    if (isCut && this.#isFirst) stderr.write('Terminal width too small, trimming output.\n')
    this.#write(headingLines(this.#shown, theme, isCut))
    if (theme.isOn) stdout.writeControls('\x1b[0;0m\x1b[2K\x1b[s')
    this.#left = Math.max(1, rowsOf() - HEADING_ROWS)
    this.#isFirst = false
  }
}

function rowsOf(): number {
  return process.stdout.rows ?? USUAL_ROWS
}

/** Returns the seconds between samples, by default one. */
export function delayOf(delay: Timestamp | undefined): number {
  return delay === undefined ? 1 : toSeconds(delay)
}
