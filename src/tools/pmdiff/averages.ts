/** Averages of one side of a comparison, parsed from pmlogsummary's output. pmdiff(1) */
import type { Output, Tool, ToolIo } from '../lib/tool.ts'

/** An archive and the compared part of it. */
export interface Side {
  readonly archive: string
  /** Times as given. */
  readonly start: string | undefined
  readonly finish: string | undefined
  /** Name of the window in headings: `start` or `end` unless this side has its own times. */
  readonly window: string
}

/** Averages of one side. */
export interface Averages {
  /** Average by metric and instance, `disk.dev.read ["sda"]`, with the digits shown. */
  readonly values: ReadonlyMap<string, number>
  /** Output of pmlogsummary on standard error. */
  readonly warnings: string
  /** The archive was readable to its end. */
  readonly isComplete: boolean
}

/** Options for computing averages. */
export interface AverageOptions {
  /** Digits after the decimal point. */
  readonly precision: number
  /** `-z`, `-Z` and a zone, or empty. */
  readonly zone: readonly string[]
  /** Excludes matching metrics and instances. */
  readonly excluded: readonly RegExp[]
}

/** A line of pmlogsummary. An asterisk marks counters seen for a small part of the time; some lines have no number. */
const LINE = /^\*?(\S+) (\[.*\])? (\S+) \S.*$/

/** Computes averages over a side's time window. `summarize` is pmlogsummary. */
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

/** Collects output. */
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
