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
  #answers = new Map<string, unknown>()
  readonly #now: () => number
  #since = 0
  #size = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** The answer to a question, asked for when it is not known; only short ones are kept. */
  async get<T extends string | readonly unknown[]>(question: string, ask: () => Promise<T>): Promise<T> {
    this.tidy()
    if (this.#answers.size >= MOST_ANSWERS || this.#size > MOST_TEXT) this.clear()
    const answers = this.#answers
    const known = answers.get(question)
    if (known !== undefined) return known as T
    const answer = await ask()
    const isText = typeof answer === 'string'
    // What was asked before something changed may be wrong now.
    if (answers === this.#answers && answer.length < (isText ? MOST_CHARACTERS : MOST_ITEMS)) {
      answers.set(question, answer)
      this.#size += question.length + (isText ? answer.length : 0)
    }
    return answer
  }

  /** Lets go of answers that are too old. */
  tidy(): void {
    if (this.#now() - this.#since > MEMO_MS) this.clear()
  }

  /** Nothing is known any more, and answers that are awaited are not kept. */
  clear(): void {
    this.#answers = new Map()
    this.#size = 0
    this.#since = this.#now()
  }
}
