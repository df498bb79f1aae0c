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

/** Synonyms of so few letters are part of many other words: `temp` of `attempts`. They count at the start of a word only. */
const SHORT = 4
/** Weight of a metric whose instance domain is empty: it has no values. */
const EMPTY = 0.4

/** Weights of common and of rare areas; the first match counts. */
const AREAS: readonly (readonly [area: RegExp, weight: number])[] = [
  [/^network\.interface\.(?:in|out|total)\.(?:bytes|packets)$/, 1.4],
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

  /**
   * `instancesOf` returns names of instances, which are searched too; the same array for metrics that share them, and an empty one for an
   * empty domain. Default: undefined, for unknown instances and metrics without a domain.
   */
  constructor(
    metrics: readonly T[],
    instancesOf: (metric: T) => readonly string[] | undefined = () => undefined,
  ) {
    const texts = new Map<readonly string[], string>()
    this.#rows = metrics.map((metric) => {
      const name = metric.name.toLowerCase()
      const [, weight] = AREAS.find(([area]) => area.test(name)) ?? [undefined, 1]
      const instances = instancesOf(metric)
      const text = instances === undefined ? '' : (texts.get(instances) ?? textOf(instances))
      if (instances !== undefined) texts.set(instances, text)
      return {
        metric,
        name,
        parts: name.split('.'),
        help: metric.help.toLowerCase(),
        instances: text,
        weight: instances?.length === 0 ? EMPTY * weight : weight,
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
  return words.reduce(
    (worst, word) => Math.min(worst, placeOf(row, word, word.length <= SHORT)),
    Number.POSITIVE_INFINITY,
  )
}

/** `atStart`: only at the start of words. */
function placeOf<T>({ name, parts, help, instances }: Row<T>, word: string, atStart = false): number {
  if (name === word) return WHOLE_NAME
  if (parts.at(-1) === word) return LAST_PART
  // A word may have several parts.
  if (`.${name}.`.includes(`.${word}.`)) return PART
  if (parts.some((part) => part.startsWith(word))) return PART_START
  if (atStart ? name.includes(`_${word}`) : name.includes(word)) return IN_NAME
  if (instances.includes(`\n${word}\n`) || instances.includes(`\n${word} `)) return INSTANCE
  let best = 0
  for (let at = help.indexOf(word); at >= 0; at = help.indexOf(word, at + 1)) {
    const isStart = !isLetter(help[at - 1])
    if (isStart && !isLetter(help[at + word.length])) return HELP_WORD
    if (isStart || !atStart) best = IN_HELP
  }
  return best
}

function isLetter(char: string | undefined): boolean {
  return char !== undefined && /[\p{L}\p{N}]/u.test(char)
}
