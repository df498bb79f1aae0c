/** pmlogconf's prompts and their answers. pmlogconf(1) */
import { decodeText } from '../../base/text.ts'
import { parseInterval } from '../../time/interval.ts'
import type { ToolIo } from '../lib/tool.ts'
import { type Choice, wrap } from './config-file.ts'

/** A group with its current setting. */
export interface Question {
  readonly tag: string
  readonly ident: string
  readonly choice: Choice
  readonly delta: string
  readonly metrics: readonly string[]
}

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

/** Answers that may be given as words. */
const WHOLE_WORDS: ReadonlySet<string> = new Set(['yes', 'no', 'quit'])

/** Prompts on the streams of a command. */
export class Prompts {
  readonly #io: ToolIo
  readonly #lines: AsyncIterator<string>
  readonly #asksIntervals: boolean
  #search: string | undefined
  /** The user has quit; no more prompts. */
  hasQuit = false

  constructor(io: ToolIo, asksIntervals: boolean) {
    this.#io = io
    this.#lines = linesOf(io.stdin)
    this.#asksIntervals = asksIntervals
  }

  /** Prompts for a group; undefined if it is skipped or the user has quit. */
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

  /** Asks whether to keep the changes. */
  async confirmSave(): Promise<boolean> {
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

  /** Returns the trimmed answer; '' at the end of input, which selects the default. */
  async #prompt(text: string): Promise<string> {
    this.#io.stdout.write(text)
    await this.#io.stdout.flush()
    const { value, done } = await this.#lines.next()
    if (done === true) return ''
    const answer = value.trim()
    return WHOLE_WORDS.has(answer) ? answer[0]! : answer
  }
}

/** Returns whether pmlogger accepts the interval. */
function isDelta(text: string): boolean {
  if (text === 'once' || text === 'default') return true
  try {
    parseInterval(text)
    return true
  } catch {
    return false // the caller prints one message for all errors
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
