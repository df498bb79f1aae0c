/** Finds metrics by words in their names and help texts. docs/reference/pmproxy.md */
import type { MetricDesc } from '../model/desc.ts'
import type { CallOptions, Context } from '../pmapi/context.ts'
import { AnswerCache } from './cache.ts'
import { describeNames, isKnown, orUndefined } from './describe.ts'

export interface FoundMetric {
  readonly name: string
  readonly desc: MetricDesc
  /** The one-line help. */
  readonly help: string
}

interface Row extends FoundMetric {
  /** Lower-case text to search. */
  readonly text: string
}

/** Maximum number of metrics of a source. */
const MOST_METRICS = 50_000
const BATCH = 512
const MOST_WORDS = 10

/** Searches lists of all metrics, one for each source. */
export class NameSearch {
  readonly #lists = new AnswerCache<string, Promise<readonly Row[]>>({ keepMs: 60_000, most: 16 })

  /**
   * Returns metrics with every word of `match` in name or help, in name space order; matches in the name alone come first. `key`
   * identifies the source of `context`.
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
      known.map(({ desc }) => orUndefined(context.text(desc.pmid, { ...options, level: 'oneline' }))),
    )
    known.forEach(({ name, desc }, i) => {
      const help = texts[i] ?? ''
      rows.push({ name, desc, help, text: `${name} ${help}`.toLowerCase() })
    })
  }
  return rows
}
