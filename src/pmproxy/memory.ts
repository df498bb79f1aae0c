/** Answers that are good for a while: what routes, searches and sources have found out. docs/pmproxy.md */
import { isError } from '../model/errors.ts'

/** How long answers are good, and how many are kept. */
export interface MemoryLimits {
  readonly keepMs: number
  readonly most: number
  /** Characters of all texts. */
  readonly mostText?: number
}

/** Limits of what one context has found out. */
export const CONTEXT_MEMORY: MemoryLimits = { keepMs: 5000, most: 500, mostText: 2 ** 20 }
/** The longest text and list that `short` keeps. */
const MOST_CHARACTERS = 65_536
const MOST_ITEMS = 1000

/** Answers by question. All are forgotten together: once the first is too old, there are too many, or something has changed. */
export class Memory<K, V> {
  #answers = new Map<K, V>()
  readonly #limits: MemoryLimits
  readonly #now: () => number
  #since = 0
  #size = 0

  constructor(limits: MemoryLimits, now: () => number = Date.now) {
    this.#limits = limits
    this.#now = now
  }

  /** Forgets everything; answers to `short` that are awaited are not kept either. */
  clear(): void {
    this.#answers = new Map()
    this.#size = 0
    this.#since = this.#now()
  }

  /** Forgets everything once it is too old or too much. */
  tidy(): void {
    const { keepMs, most, mostText = Infinity } = this.#limits
    if (this.#now() - this.#since > keepMs || this.#answers.size >= most || this.#size > mostText)
      this.clear()
  }

  /** Returns the answer for a key; callers share it while it is pending. A rejected answer is not kept. */
  one(key: K, ask: () => V & Promise<unknown>): V {
    this.tidy()
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

  /** Returns the answers to questions that are asked together: the source is asked for unknown ones alone. Errors are not kept. */
  async all(
    keys: readonly K[],
    ask: (unknown: readonly K[]) => Promise<readonly V[]>,
  ): Promise<readonly V[]> {
    this.tidy()
    const unknown = keys.filter((key) => !this.#answers.has(key))
    if (unknown.length === 0) return keys.map((key) => this.#answers.get(key)!)
    const wanted = [...new Set(unknown)]
    const found = await ask(wanted)
    const fresh = new Map(wanted.map((key, i) => [key, found[i]!]))
    const answers = keys.map((key) => fresh.get(key) ?? this.#answers.get(key))
    for (const [key, value] of fresh) if (!isError(value)) this.#answers.set(key, value)
    // Known answers may have been forgotten meanwhile.
    if (answers.every((answer) => answer !== undefined)) return answers as V[]
    return ask(keys)
  }

  /** Returns the answer to a question, and keeps it once it has arrived, if it is short. */
  async short<T extends V & (string | readonly unknown[])>(key: K, ask: () => Promise<T>): Promise<T> {
    this.tidy()
    const answers = this.#answers
    const known = answers.get(key)
    if (known !== undefined) return known as T
    const answer = await ask()
    const isText = typeof answer === 'string'
    // An answer to a question from before a change may be wrong now.
    if (answers === this.#answers && answer.length < (isText ? MOST_CHARACTERS : MOST_ITEMS)) {
      answers.set(key, answer)
      this.#size += String(key).length + (isText ? answer.length : 0)
    }
    return answer
  }
}

/** No text and no labels are answers too; a lost connection is none. */
function isLasting(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'PM_ERR_TEXT' || code === 'PM_ERR_NOLABELS'
}
