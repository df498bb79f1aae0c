/** What pmlogconf asks, and how it takes answers. pmlogconf(1) */
import { decodeText } from '../../base/text.ts'
import { parseInterval } from '../../time/interval.ts'
import type { ToolIo } from '../lib/tool.ts'
import { type Choice, wrap } from './config-file.ts'

/** A group as it stands before the question. */
export interface Question {
  readonly tag: string
  readonly ident: string
  readonly choice: Choice
  readonly delta: string
  readonly metrics: readonly string[]
}

/** What was answered. */
export interface Answer {
  readonly choice: Choice
  readonly delta: string
}

const HELP = `Answers:
  y  record this group
  n  do not record this group
  m  list the metrics of this group
  q  ask nothing more
  /TEXT  go on with the next group that has TEXT in its description or metrics
`

/** Answers that may be written out. */
const WHOLE_WORDS: ReadonlySet<string> = new Set(['yes', 'no', 'quit'])

/** Questions and answers, over the streams of a command. */
export class Dialogue {
  readonly #io: ToolIo
  readonly #lines: AsyncIterator<string>
  readonly #asksIntervals: boolean
  #search: string | undefined
  /** Nothing more is asked. */
  hasQuit = false

  constructor(io: ToolIo, asksIntervals: boolean) {
    this.#io = io
    this.#lines = linesOf(io.stdin)
    this.#asksIntervals = asksIntervals
  }

  /** Asks about a group; undefined when it is passed over, or nothing is asked any more. */
  async ask(question: Question): Promise<Answer | undefined> {
    const { tag, ident, choice, delta, metrics } = question
    if (this.hasQuit || !this.#isFound(question)) return undefined
    for (;;) {
      const text = await this.#prompt(
        `\nGroup: ${wrap(ident).join('\n       ')}\nLog this group? [${choice === 'x' ? 'n' : choice}] `,
      )
      if (text === 'q') {
        this.hasQuit = true
        return undefined
      }
      if (text.startsWith('/')) {
        this.#search = text.slice(1)
        this.#io.stdout.write(`Searching for "${this.#search}"\n`)
        return undefined
      }
      if (text === 'm')
        this.#io.stdout.write(
          `Metrics in this group (${tag}):\n${metrics.map((metric) => `    ${metric}\n`).join('')}`,
        )
      else if (text === '?') this.#io.stdout.write(HELP)
      else if (text === 'n') return { choice: 'n', delta }
      else if (text === 'y' || text === '') {
        const chosen = text === 'y' ? 'y' : choice
        return { choice: chosen, delta: chosen === 'y' ? await this.#interval(delta) : delta }
      } else
        this.#io.stdout.write('Error: you must answer "m", "n", "q", "y", "?" or "/pattern" ... try again\n')
    }
  }

  /** Asks whether changes are to be kept. */
  async keeps(): Promise<boolean> {
    for (;;) {
      const text = await this.#prompt('Keep changes? [y] ')
      if (text === '' || text === 'y') return true
      if (text === 'n') return false
      this.#io.stdout.write('Error: you must answer "y" or "n" ... try again\n')
    }
  }

  #isFound({ ident, metrics }: Question): boolean {
    const search = this.#search
    if (search === undefined) return true
    if (!ident.includes(search) && !metrics.some((metric) => metric.includes(search))) return false
    this.#search = undefined
    return true
  }

  async #interval(delta: string): Promise<string> {
    while (this.#asksIntervals) {
      const text = await this.#prompt(`Logging interval? [${delta}] `)
      if (text === '') return delta
      if (isDelta(text)) return text
      this.#io.stdout.write(
        'Error: an interval is a number and a unit, or "once" or "default" ... try again\n',
      )
    }
    return delta
  }

  /** The answer without blanks around it; at the end of input there is none, which means what is suggested. */
  async #prompt(text: string): Promise<string> {
    this.#io.stdout.write(text)
    await this.#io.stdout.flush()
    const { value, done } = await this.#lines.next()
    if (done === true) return ''
    const answer = value.trim()
    return WHOLE_WORDS.has(answer) ? answer[0]! : answer
  }
}

/** Is it what pmlogger takes for an interval? */
function isDelta(text: string): boolean {
  if (text === 'once' || text === 'default') return true
  try {
    parseInterval(text)
    return true
  } catch {
    return false // what is wrong with it is said once more for all
  }
}

async function* linesOf(stdin: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of stdin) {
    text += decodeText(chunk)
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
      yield text.slice(0, at)
      text = text.slice(at + 1)
    }
  }
  if (text !== '') yield text
}
