/** What routes have found out, for some seconds. docs/pmproxy.md */

/** How long answers are good, ms. */
const MEMO_MS = 5000
/** How many there may be, and how many characters of them. */
const MOST_ANSWERS = 500
const MOST_TEXT = 2 ** 20
/** The longest text and list that is kept. */
const MOST_CHARACTERS = 65_536
const MOST_ITEMS = 1000

/** Answers that are good for a while. */
export class Memo {
  readonly #answers = new Map<string, unknown>()
  readonly #now: () => number
  #since = 0
  #size = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** The answer to a question, asked for when it is not known; only short ones are kept. */
  async get<T extends string | readonly unknown[]>(question: string, ask: () => Promise<T>): Promise<T> {
    const now = this.#now()
    if (now - this.#since > MEMO_MS || this.#answers.size >= MOST_ANSWERS || this.#size > MOST_TEXT) {
      this.clear()
      this.#since = now
    }
    const known = this.#answers.get(question)
    if (known !== undefined) return known as T
    const answer = await ask()
    const isText = typeof answer === 'string'
    if (answer.length < (isText ? MOST_CHARACTERS : MOST_ITEMS)) {
      this.#answers.set(question, answer)
      this.#size += question.length + (isText ? answer.length : 0)
    }
    return answer
  }

  /** Nothing is known any more. */
  clear(): void {
    this.#answers.clear()
    this.#size = 0
  }
}
