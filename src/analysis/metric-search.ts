/**
 * Finds metrics by words of users: in names, one-line help and instances, also by synonyms. docs/reference/pmproxy.md
 *
 * The score of a metric is the sum over the words of the best place of each, times the weight of its area. A metric needs all
 * words; if none has all, those with most words are found.
 */
import { type SearchWord, searchWords } from './search-words.ts'

/** A metric that can be found. */
export interface SearchedMetric {
  readonly name: string
  /** The one-line help; '' for none. */
  readonly help: string
}

/** Weights of what is searched. */
const WHOLE_NAME = 20
const LAST_PART = 10
const PART = 8
const PART_START = 6
const IN_NAME = 4
const INSTANCE = 5
const HELP_WORD = 3
const IN_HELP = 2
/** A synonym counts a little less than the word itself. */
const SYNONYM = 0.8
/** Each further synonym a little less than the one before. */
const LATER = 0.97

/** Weights of common and of rare areas; the first match counts. */
const AREAS: readonly (readonly [area: RegExp, weight: number])[] = [
  [/^(?:kernel\.all|mem\.util|mem\.physmem|filesys|swap)\./, 1.3],
  [/^(?:disk\.(?:dev|all)|network\.(?:interface|tcp|all)|kernel\.percpu|hinv|containers)\./, 1.2],
  [/^(?:pmcd|pmproxy|sample|simple|trivial|event|jbd2|xfs|nfs\d?|rpc|kvm)\./, 0.7],
  [/^(?:mem\.(?:vmstat|zoneinfo|slabinfo|numa)|network\.(?:ip6|icmp6|udp6|icmpmsg|mptcp))\./, 0.8],
]

interface Row<T> {
  readonly metric: T
  readonly name: string
  readonly parts: readonly string[]
  readonly help: string
  readonly instances: string
  readonly weight: number
}

/** An index of metrics. */
export class MetricSearch<T extends SearchedMetric> {
  readonly #rows: readonly Row<T>[]

  /** `instancesOf` returns names of instances, which are searched too; the same array for metrics that share them. Default: none. */
  constructor(metrics: readonly T[], instancesOf: (metric: T) => readonly string[] = () => []) {
    const texts = new Map<readonly string[], string>()
    this.#rows = metrics.map((metric) => {
      const name = metric.name.toLowerCase()
      const [, weight] = AREAS.find(([area]) => area.test(name)) ?? [undefined, 1]
      const instances = instancesOf(metric)
      const text = texts.get(instances) ?? textOf(instances)
      texts.set(instances, text)
      return {
        metric,
        name,
        parts: name.split('.'),
        help: metric.help.toLowerCase(),
        instances: text,
        weight,
      }
    })
  }

  /** Returns the metrics of a query, the best first; all in their own order for an empty query. */
  find(query: string): readonly T[] {
    const words = searchWords(query)
    if (words.length === 0) return this.#rows.map(({ metric }) => metric)
    const scored = this.#rows.map((row) => scoreOf(row, words)).filter(({ hits }) => hits > 0)
    const most = scored.reduce((best, { hits }) => Math.max(best, hits), 0)
    return scored
      .filter(({ hits }) => hits === most)
      .sort(
        (a, b) =>
          b.score - a.score || a.row.name.length - b.row.name.length || (a.row.name < b.row.name ? -1 : 1),
      )
      .map(({ row }) => row.metric)
  }
}

/** Letters of a name that are searched; longer ones are command lines. */
const MOST_LETTERS = 100

/** Joins names by newlines, which are in no word. */
function textOf(instances: readonly string[]): string {
  if (instances.length === 0) return ''
  return `\n${instances.map((each) => each.slice(0, MOST_LETTERS).toLowerCase()).join('\n')}\n`
}

interface Scored<T> {
  readonly row: Row<T>
  /** Number of words found. */
  readonly hits: number
  readonly score: number
}

function scoreOf<T>(row: Row<T>, words: readonly SearchWord[]): Scored<T> {
  let [hits, score] = [0, 0]
  for (const { text, others } of words) {
    let best = placeOf(row, text)
    for (const [i, other] of others.entries())
      best = Math.max(best, SYNONYM * LATER ** i * placeOfAll(row, other))
    if (best > 0) hits++
    score += best
  }
  return { row, hits, score: score * row.weight }
}

/** Returns the weight of the worst of words that all must occur; 0 if one does not. */
function placeOfAll<T>(row: Row<T>, words: readonly string[]): number {
  return words.reduce((worst, word) => Math.min(worst, placeOf(row, word)), Number.POSITIVE_INFINITY)
}

function placeOf<T>({ name, parts, help, instances }: Row<T>, word: string): number {
  if (name === word) return WHOLE_NAME
  if (parts.at(-1) === word) return LAST_PART
  if (parts.includes(word)) return PART
  if (parts.some((part) => part.startsWith(word))) return PART_START
  if (name.includes(word)) return IN_NAME
  if (instances.includes(`\n${word}\n`) || instances.includes(`\n${word} `)) return INSTANCE
  const at = help.indexOf(word)
  if (at < 0) return 0
  return isWordAt(help, at, word.length) ? HELP_WORD : IN_HELP
}

function isWordAt(text: string, at: number, length: number): boolean {
  const isLetter = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char)
  return !isLetter(text[at - 1]) && !isLetter(text[at + length])
}
