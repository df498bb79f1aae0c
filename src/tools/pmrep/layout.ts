/** Shared by pmrep's printed reports: delimiter, time column, repeated headings. pmrep(1) */
import { ByteText } from '../../base/byte-text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricLabels } from '../lib/report/label-texts.ts'
import type { ReportPlan } from '../lib/report/report.ts'
import { StampWriter } from '../lib/report/stamps.ts'
import type { Output } from '../lib/tool.ts'

/** Layout of a printed report. */
export interface Layout {
  readonly plan: ReportPlan
  readonly delimiter: string
  readonly stamps: StampWriter
  /** Width of the time column; 0 without one. */
  readonly stampWidth: number
  /** Samples between headings: 0 to print them with every sample, undefined for never. */
  readonly repeatAfter: number | undefined
  /** By metric name; empty unless labels are requested. */
  readonly labels: ReadonlyMap<string, MetricLabels>
  /** Does a reader follow the output line by line? */
  readonly isFollowed: boolean
  /** Writes text. */
  readonly write: (text: string) => void
  /** Writes bytes of text; the buffer can be reused immediately. */
  readonly writeBytes: (bytes: Uint8Array) => void
}

/** Screen height assumed if it is unknown. */
const LINES = 24
/** Size of output blocks, unless a reader follows the output. */
const BLOCK = 64 << 10
const NEWLINE = 0x0a

/** Returns the layout of a printed report; `rows` is the height of the terminal. */
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
    isFollowed: plan.archiveName === undefined || settings.delay || out.isTerminal,
    write: (text) => out.write(text),
    writeBytes: (bytes) => out.writeBytes(bytes),
  }
}

/**
 * Returns the samples that fit on a screen below the headings; undefined if headings are not repeated. As in 6.0.3, headings of labels
 * and those printed again for other reasons are not counted.
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
  // As in 6.0.3, instances are counted by number, ignoring their domains.
  const insts = new Set(metrics.flatMap((metric) => metric.insts))
  return Math.max(0, Math.floor(lines / insts.size) - 1 - units)
}

/** Returns the first cell of a line of values, including its delimiter. */
export function stampCell({ stamps, stampWidth, delimiter }: Layout, time: Timestamp): string {
  return stampWidth === 0
    ? delimiter
    : stamps.text(time).padStart(stampWidth).slice(0, stampWidth) + delimiter
}

/** Returns the first cell of a heading line, including its delimiter. */
export function blankCell({ stampWidth, delimiter }: Layout): string {
  return ' '.repeat(stampWidth) + delimiter
}

/** Output lines, collected into blocks unless a reader follows the output. */
export class LineBuffer {
  /** The current line, after the buffered ones. */
  readonly text: ByteText
  readonly #layout: Layout

  constructor(layout: Layout) {
    this.#layout = layout
    this.text = new ByteText(layout.isFollowed ? 4096 : 2 * BLOCK)
  }

  /** Ends the line. */
  end(): void {
    this.text.byte(NEWLINE)
    if (this.#layout.isFollowed || this.text.length >= BLOCK) this.flush()
  }

  /** Writes all buffered lines. */
  flush(): void {
    if (this.text.length === 0) return
    this.#layout.writeBytes(this.text.written())
    this.text.clear()
  }
}

/** Determines when headings are due: first, after changes, and after a number of samples. */
export class HeadingClock {
  readonly #after: number | undefined
  #since = 0
  #isFirst = true

  constructor(after: number | undefined) {
    this.#after = after
  }

  /** Are repeated headings due? Call it once before every sample. */
  isDue(): boolean {
    const due = this.#after !== undefined && this.#since >= this.#after
    this.#since++
    return due
  }

  /** Was nothing printed yet? Otherwise an empty line precedes the headings. */
  get isFirst(): boolean {
    return this.#isFirst
  }

  /** Records that a line was printed. */
  printed(): void {
    this.#isFirst = false
  }

  /** Records that headings were printed, before or after the current sample. */
  restart(isBeforeSample: boolean): void {
    this.#since = isBeforeSample ? 1 : 0
    this.#isFirst = false
  }
}

/** Formats a line of the legend: `[ 1] - disk.dev.read["sda"] - count/s`. `digits` is the width of the number. */
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
