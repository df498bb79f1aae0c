/** Full-text search of metrics, instance domains and instances, in memory. docs/reference/rest.md */
import type { SearchText } from './store.ts'

/** Fields of a text that are searched. */
export type TextField = 'name' | 'oneline' | 'helptext'

/** Options of a search. */
export interface TextSearch {
  /** Default: all. */
  readonly types?: readonly SearchText['type'][] | undefined
  /** Default: all. */
  readonly fields?: readonly TextField[] | undefined
}

/** Weights of words by field, as in PCP's index. */
const WEIGHTS: Readonly<Record<TextField, number>> = { name: 9, oneline: 4, helptext: 2 }
/** Parameters of the ranking function BM25. */
const SATURATION = 1.2
const LENGTH_SHARE = 0.5
/** Words that are not searched. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with'.split(
    ' ',
  ),
)
const MOST_WORDS = 20

/** Occurrences of a word in one text, by field. */
interface Posting {
  readonly at: number
  readonly counts: Record<TextField, number>
}

/** An index of texts. */
export class TextIndex {
  readonly #texts: readonly SearchText[]
  readonly #postings = new Map<string, Posting[]>()
  readonly #lengths: number[] = []
  readonly #meanLength: number
  #occurrences = 0

  constructor(texts: readonly SearchText[]) {
    this.#texts = texts
    for (const [at, { name, oneline, help }] of texts.entries()) {
      let length = 0
      for (const [field, text] of [
        ['name', name],
        ['oneline', oneline],
        ['helptext', help],
      ] as const)
        for (const word of wordsOf(text)) {
          length += WEIGHTS[field]
          this.#count(word, at, field)
        }
      this.#lengths.push(length)
    }
    this.#meanLength = this.#lengths.reduce((a, b) => a + b, 0) / Math.max(1, texts.length)
  }

  /** Returns the texts with all words of a query, the best first. */
  search(query: string, search: TextSearch = {}): readonly SearchText[] {
    return this.ranked(query, search).map(({ text }) => text)
  }

  /** As `search`, with scores. */
  ranked(
    query: string,
    { types, fields }: TextSearch = {},
  ): readonly { readonly text: SearchText; readonly score: number }[] {
    const words = [...new Set(wordsOf(query))].slice(0, MOST_WORDS)
    if (words.length === 0) return []
    let scores: Map<number, number> | undefined
    for (const word of words) {
      const found = new Map<number, number>()
      for (const { at, counts } of this.#postings.get(word) ?? []) {
        const score = this.#score(word, at, counts, fields)
        if (score > 0 && (scores === undefined || scores.has(at)))
          found.set(at, score + (scores?.get(at) ?? 0))
      }
      scores = found
    }
    return [...scores!]
      .filter(([at]) => types === undefined || types.includes(this.#texts[at]!.type))
      .sort(([a, x], [b, y]) => y - x || a - b)
      .map(([at, score]) => ({ text: this.#texts[at]!, score }))
  }

  /** Returns names that begin with a text, then names of which a part does; shorter ones first. */
  suggest(text: string, limit: number): readonly string[] {
    const prefix = text.toLowerCase()
    if (prefix === '') return []
    const names = [...new Set(this.#texts.filter(({ type }) => type !== 'indom').map(({ name }) => name))]
    const rankOf = (name: string): number => {
      const lower = name.toLowerCase()
      if (lower.startsWith(prefix)) return 0
      return lower.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(prefix)) ? 1 : 2
    }
    return names
      .map((name) => ({ name, rank: rankOf(name) }))
      .filter(({ rank }) => rank < 2)
      .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
      .slice(0, limit)
      .map(({ name }) => name)
  }

  /** Returns an instance domain with its instances before it and its metrics after it. */
  domain(indom: string): readonly SearchText[] {
    const order: readonly SearchText['type'][] = ['instance', 'indom', 'metric']
    const all = this.#texts.filter((text) => text.indom === indom)
    return order.flatMap((type) => all.filter((text) => text.type === type))
  }

  /** Returns the numbers of texts, distinct words, and pairs of a word and a text. */
  get size(): { readonly texts: number; readonly words: number; readonly occurrences: number } {
    return { texts: this.#texts.length, words: this.#postings.size, occurrences: this.#occurrences }
  }

  #count(word: string, at: number, field: TextField): void {
    let postings = this.#postings.get(word)
    if (postings === undefined) {
      postings = []
      this.#postings.set(word, postings)
    }
    let posting = postings.at(-1)
    if (posting?.at !== at) {
      posting = { at, counts: { name: 0, oneline: 0, helptext: 0 } }
      postings.push(posting)
      this.#occurrences++
    }
    posting.counts[field]++
  }

  #score(word: string, at: number, counts: Posting['counts'], fields: TextSearch['fields']): number {
    const wanted = fields ?? (Object.keys(WEIGHTS) as TextField[])
    const weight = wanted.reduce((sum, field) => sum + counts[field] * WEIGHTS[field], 0)
    if (weight === 0) return 0
    const having = this.#postings.get(word)!.length
    const rarity = Math.log(1 + (this.#texts.length - having + 0.5) / (having + 0.5))
    const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * this.#lengths[at]!) / this.#meanLength
    return (rarity * weight * (SATURATION + 1)) / (weight + SATURATION * length)
  }
}

/** Puts `<b>` around the words of a query in a text. */
export function highlighted(text: string, query: string): string {
  return highlightedWith(text, query, ['<b>', '</b>'])
}

/** Puts marks before and after the words of a query in a text. */
export function highlightedWith(
  text: string,
  query: string,
  [before, after]: readonly [before: string, after: string],
): string {
  const words = new Set(wordsOf(query))
  return text.replace(/[\p{L}\p{N}]+/gu, (word) => (words.has(stemOf(word)) ? before + word + after : word))
}

/** Returns the words of a text in lower case, without stop words and plural endings. */
function wordsOf(text: string): readonly string[] {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).map(stemOf).filter((word) => !STOP_WORDS.has(word))
}

function stemOf(word: string): string {
  const lower = word.toLowerCase()
  return lower.length > 3 && /[^s]s$/.test(lower) ? lower.slice(0, -1) : lower
}
