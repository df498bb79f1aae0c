/** Caches of answers for a limited time, for routes, searches and sources. docs/reference/pmproxy.md */
import { isError } from '../model/errors.ts'

/** Lifetime and size of a cache. */
export interface CacheLimits {
  readonly keepMs: number
  readonly most: number
  /** Characters of all texts. */
  readonly mostText?: number
}

/** Limits of a context's cache. */
export const CONTEXT_CACHE_LIMITS: CacheLimits = { keepMs: 5000, most: 500, mostText: 2 ** 20 }
/** Maximum length of texts and lists that `short` caches. */
const MOST_CHARACTERS = 65_536
const MOST_ITEMS = 1000

/** A cache of answers by key. It is cleared as a whole: when the oldest entry expires, when it is full, or when something has changed. */
export class AnswerCache<K, V> {
  #answers = new Map<K, V>()
  readonly #limits: CacheLimits
  readonly #now: () => number
  #since = 0
  #size = 0

  constructor(limits: CacheLimits, now: () => number = Date.now) {
    this.#limits = limits
    this.#now = now
  }

  /** Clears the cache; pending answers to `short` are not cached either. */
  clear(): void {
    this.#answers = new Map()
    this.#size = 0
    this.#since = this.#now()
  }

  /** Clears the cache if it is too old or too large. */
  expire(): void {
    const { keepMs, most, mostText = Infinity } = this.#limits
    if (this.#now() - this.#since > keepMs || this.#answers.size >= most || this.#size > mostText)
      this.clear()
  }

  /** Returns the answer for a key; callers share it while it is pending. A rejected answer is not kept. */
  one(key: K, ask: () => V & Promise<unknown>): V {
    this.expire()
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const answer = ask()
    const answers = this.#answers
    answers.set(key, answer)
    answer.catch((error: unknown) => {
      if (!isLasting(error)) answers.delete(key)
    })
    return answer
  }

  /** Returns answers to several keys; only unknown ones are requested from the source. Errors are not cached. */
  async all(
    keys: readonly K[],
    ask: (unknown: readonly K[]) => Promise<readonly V[]>,
  ): Promise<readonly V[]> {
    this.expire()
    const unknown = keys.filter((key) => !this.#answers.has(key))
    if (unknown.length === 0) return keys.map((key) => this.#answers.get(key)!)
    const wanted = [...new Set(unknown)]
    const found = await ask(wanted)
    const fresh = new Map(wanted.map((key, i) => [key, found[i]!]))
    const answers = keys.map((key) => fresh.get(key) ?? this.#answers.get(key))
    for (const [key, value] of fresh) if (!isError(value)) this.#answers.set(key, value)
    // Known answers may have been cleared meanwhile.
    if (answers.every((answer) => answer !== undefined)) return answers as V[]
    return ask(keys)
  }

  /** Returns the answer for a key, and caches it if it is short. */
  async short<T extends V & (string | readonly unknown[])>(key: K, ask: () => Promise<T>): Promise<T> {
    this.expire()
    const answers = this.#answers
    const known = answers.get(key)
    if (known !== undefined) return known as T
    const answer = await ask()
    const isText = typeof answer === 'string'
    // An answer to a request from before a change may be outdated.
    if (answers === this.#answers && answer.length < (isText ? MOST_CHARACTERS : MOST_ITEMS)) {
      answers.set(key, answer)
      this.#size += String(key).length + (isText ? answer.length : 0)
    }
    return answer
  }
}

/** Checks for an error that may be cached: a missing text or label set is an answer, a lost connection is not. */
function isLasting(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'PM_ERR_TEXT' || code === 'PM_ERR_NOLABELS'
}
