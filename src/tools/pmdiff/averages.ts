/** The averages of one side of a comparison: what pmlogsummary says of an archive, taken apart. pmdiff(1) */
import type { Output, Tool, ToolIo } from '../lib/tool.ts'

/** An archive and the part of it that is compared. */
export interface Side {
  /** As it was named. */
  readonly archive: string
  /** Times as they were given. */
  readonly start: string | undefined
  readonly finish: string | undefined
  /** The window in headings: `start` or `end` unless this side has its own. */
  readonly window: string
}

/** What there is on one side. */
export interface Averages {
  /** Average by metric and instance, `disk.dev.read ["sda"]`, as far as its digits are shown. */
  readonly values: ReadonlyMap<string, number>
  /** What was said of the archive on standard error. */
  readonly warnings: string
  /** The archive could be read to its end. */
  readonly isComplete: boolean
}

/** How averages are made. */
export interface AverageOptions {
  /** Digits after the point. */
  readonly precision: number
  /** `-z`, or `-Z` and a zone, or nothing. */
  readonly zone: readonly string[]
  /** Metrics and instances that are left out. */
  readonly excluded: readonly RegExp[]
}

/** A star marks counters seen for a small part of the time; a line without a number has no average. */
const LINE = /^\*?(\S+) (\[.*\])? (\S+) \S.*$/

/** Averages over the time window of a side. `summarize` is pmlogsummary. */
export async function averagesOf(
  { archive, start, finish }: Side,
  { precision, zone, excluded }: AverageOptions,
  summarize: Tool,
  io: ToolIo,
): Promise<Averages> {
  const window = [
    ...(start === undefined ? [] : ['-S', start]),
    ...(finish === undefined ? [] : ['-T', finish]),
  ]
  const args = ['-p', String(precision), ...zone, ...window, '--', archive]
  const [stdout, stderr] = [new TextOutput(), new TextOutput()]
  let status = 1
  try {
    status = await summarize.run({ ...io, progname: summarize.name, args, stdout, stderr })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    stderr.write(`${summarize.name}: ${error.message}\n`)
  }
  const values = new Map<string, number>()
  for (const line of stdout.text.split('\n')) {
    const [, metric, instance = '', value] = LINE.exec(line) ?? []
    if (metric === undefined || Number.isNaN(Number(value))) continue
    if (excluded.some((pattern) => pattern.test(`${metric} ${instance}`))) continue
    values.set(instance === '' ? metric : `${metric} ${instance}`, Number(value))
  }
  return { values, warnings: stderr.text, isComplete: status === 0 }
}

/** Output that is kept. */
class TextOutput implements Output {
  text = ''
  readonly isTerminal = false
  readonly #decoder = new TextDecoder()

  write(text: string): void {
    this.text += text
  }

  writeControls(text: string): void {
    this.text += text
  }

  writeBytes(bytes: Uint8Array): void {
    this.text += this.#decoder.decode(bytes)
  }

  async flush(): Promise<void> {}
}
