/** What all of pmrep's printed reports share: delimiter, time column, when headings come again. pmrep(1) */
import { ByteText } from '../../base/byte-text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricLabels } from '../lib/report/label-texts.ts'
import type { ReportPlan } from '../lib/report/report.ts'
import { StampWriter } from '../lib/report/stamps.ts'
import type { Output } from '../lib/tool.ts'

/** How a printed report looks. */
export interface Layout {
  readonly plan: ReportPlan
  readonly delimiter: string
  readonly stamps: StampWriter
  /** Width of the time column; 0 without one. */
  readonly stampWidth: number
  /** Samples until headings come again: 0 for every one, undefined for never. */
  readonly repeatAfter: number | undefined
  /** By metric name; empty unless labels are wanted. */
  readonly labels: ReadonlyMap<string, MetricLabels>
  /** Is somebody waiting for every single line? */
  readonly isWatched: boolean
  /** Writes finished text. */
  readonly write: (text: string) => void
  /** Writes finished text in bytes, which may be used again at once. */
  readonly writeBytes: (bytes: Uint8Array) => void
}

/** Lines of a terminal where nobody knows how many it has. */
const LINES = 24
/** Bytes of text that are written at once unless somebody is waiting. */
const BLOCK = 64 << 10
const NEWLINE = 0x0a

/** The layout of a printed report; `rows`: height of the terminal. */
export function layoutOf(
  plan: ReportPlan,
  labels: Layout['labels'],
  out: Pick<Output, 'write' | 'writeBytes' | 'isTerminal'>,
  { now, rows }: { readonly now: Timestamp; readonly rows: number | undefined },
): Layout {
  const { settings, zone } = plan
  const isCsv = settings.output === 'csv'
  const format = settings.timefmt ?? (isCsv ? '%Y-%m-%d %H:%M:%S' : '%H:%M:%S')
  const stamps = new StampWriter(format, zone)
  const stampWidth = settings.timestamp && format !== '' ? new StampWriter(format, zone).text(now).length : 0
  return {
    plan,
    delimiter: settings.delimiter ?? (isCsv ? ',' : '  '),
    stamps,
    stampWidth,
    repeatAfter: repeatAfter(plan, rows ?? LINES),
    labels,
    isWatched: plan.archiveName === undefined || settings.delay || out.isTerminal,
    write: (text) => out.write(text),
    writeBytes: (bytes) => out.writeBytes(bytes),
  }
}

/**
 * Samples that a screen of so many lines has room for below its headings; undefined where they are not repeated. Headings of labels,
 * and those that are written anew anyway, are not counted, as 6.0.3 does not.
 */
function repeatAfter({ settings, metrics }: ReportPlan, lines: number): number | undefined {
  const { repeat_header, unitinfo, colxrow, dynamic_header, fixed_header } = settings
  if (repeat_header !== 'auto') return repeat_header || undefined
  if (dynamic_header || fixed_header) return undefined
  const units = unitinfo ? 1 : 0
  if (colxrow === undefined) {
    const instances = metrics.some(({ hasInstances }) => hasInstances) ? 1 : 0
    return Math.max(0, lines - 2 - instances - units)
  }
  // By number, whatever their domains: so many lines 6.0.3 takes them for.
  const insts = new Set(metrics.flatMap((metric) => metric.insts))
  return Math.max(0, Math.floor(lines / insts.size) - 1 - units)
}

/** The first cell of a line of values, its delimiter included. */
export function stampCell({ stamps, stampWidth, delimiter }: Layout, time: Timestamp): string {
  return stampWidth === 0
    ? delimiter
    : stamps.text(time).padStart(stampWidth).slice(0, stampWidth) + delimiter
}

/** The first cell of a line of headings, its delimiter included. */
export function blankCell({ stampWidth, delimiter }: Layout): string {
  return ' '.repeat(stampWidth) + delimiter
}

/** Lines on their way out, in blocks unless somebody is waiting for them. */
export class LineText {
  /** The line being written, behind lines that wait. */
  readonly text: ByteText
  readonly #layout: Layout

  constructor(layout: Layout) {
    this.#layout = layout
    this.text = new ByteText(layout.isWatched ? 4096 : 2 * BLOCK)
  }

  /** The line is complete. */
  end(): void {
    this.text.byte(NEWLINE)
    if (this.#layout.isWatched || this.text.length >= BLOCK) this.flush()
  }

  /** Nothing waits any more. */
  flush(): void {
    if (this.text.length === 0) return
    this.#layout.writeBytes(this.text.written())
    this.text.clear()
  }
}

/** Knows when headings are due: at first, when they change, and again after some samples. */
export class HeadingClock {
  readonly #after: number | undefined
  #since = 0
  #isFirst = true

  constructor(after: number | undefined) {
    this.#after = after
  }

  /** Is it time to repeat them? Asked once before every sample. */
  isDue(): boolean {
    const due = this.#after !== undefined && this.#since >= this.#after
    this.#since++
    return due
  }

  /** Something was printed before: an empty line goes in front of the next headings. */
  get isFirst(): boolean {
    return this.#isFirst
  }

  /** A line was printed. */
  printed(): void {
    this.#isFirst = false
  }

  /** Headings were printed for the sample that `isDue` was asked about last. */
  restart(isBeforeSample: boolean): void {
    this.#since = isBeforeSample ? 1 : 0
    this.#isFirst = false
  }
}

/** Heading of a legend: `[ 1] - disk.dev.read["sda"] - count/s`. `digits`: width of the number. */
export function legendLine(
  number: number,
  digits: number,
  {
    name,
    instance,
    unit,
  }: { readonly name: string; readonly instance: string | undefined; readonly unit: string | undefined },
): string {
  const place = `[${String(number).padStart(digits)}]`
  const of = instance === undefined ? '' : `["${instance}"]`
  return `${place} - ${name}${of}${unit === undefined ? '' : ` - ${unit || 'none'}`}\n`
}
