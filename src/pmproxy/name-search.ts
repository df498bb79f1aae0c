/** Finding metrics by words of their names and help texts. docs/pmproxy.md */
import type { MetricDesc } from '../model/desc.ts'
import type { CallOptions, Context } from '../pmapi/context.ts'
import { describeNames, isKnown, orNothing } from './describe.ts'
import { Memory } from './memory.ts'

/** A metric that was found. */
export interface FoundMetric {
  readonly name: string
  readonly desc: MetricDesc
  /** The one-line help. */
  readonly help: string
}

interface Row extends FoundMetric {
  /** What words are looked for in. */
  readonly text: string
}

/** Metrics of one source. */
const MOST_METRICS = 50_000
const BATCH = 512
const MOST_WORDS = 10

/** Lists of all metrics, a source each. */
export class NameSearch {
  readonly #lists = new Memory<string, Promise<readonly Row[]>>({ keepMs: 60_000, most: 16 })

  /**
   * Metrics with every word of `match` in name or help, in name space order; those with all words in the name come first. `key`
   * names the source that `context` is on.
   */
  async find(
    key: string,
    context: Context,
    match: string,
    options: CallOptions,
  ): Promise<readonly FoundMetric[]> {
    const words = match
      .toLowerCase()
      .split(/\s+/, MOST_WORDS)
      .filter((word) => word !== '')
    const rows = await this.#lists.one(key, () => readAll(context, options))
    const found = rows.filter(({ text }) => words.every((word) => text.includes(word)))
    if (words.length === 0) return found
    const isByName = ({ name }: Row): boolean => words.every((word) => name.toLowerCase().includes(word))
    return [...found.filter(isByName), ...found.filter((row) => !isByName(row))]
  }
}

async function readAll(context: Context, options: CallOptions): Promise<readonly Row[]> {
  const names = (await context.traverse('', options)).slice(0, MOST_METRICS)
  const rows: Row[] = []
  for (let at = 0; at < names.length; at += BATCH) {
    const metrics = await describeNames(context, names.slice(at, at + BATCH), options)
    const known = metrics.filter(isKnown)
    const texts = await Promise.all(
      known.map(({ desc }) => orNothing(context.text(desc.pmid, { ...options, level: 'oneline' }))),
    )
    known.forEach(({ name, desc }, i) => {
      const help = texts[i] ?? ''
      rows.push({ name, desc, help, text: `${name} ${help}`.toLowerCase() })
    })
  }
  return rows
}
