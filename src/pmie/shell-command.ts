/**
 * Command lines of the action shell. What rules insert comes from outside, such as names of containers or processes, so it is handed over in
 * variables of the environment: the shell never parses it. docs/pmie.md
 *
 *     mail -s %i root       →  mail -s "${PMIE_1}" root
 *     echo "busy: %i"       →  echo "busy: ${PMIE_1}"
 *     echo 'busy: %i'       →  echo 'busy: '"${PMIE_1}"''
 */
import { PcpError } from '../model/errors.ts'
import type { MessagePiece } from './bindings.ts'

/** A command line and the variables that it refers to. */
export interface ShellCommand {
  readonly command: string
  readonly variables: Readonly<Record<string, string>>
}

/**
 * Makes a command line in which each inserted value is one word or part of one, whatever quotes are around it. EINVAL for a value in an
 * arithmetic expansion that is no number: shells would run commands in it.
 */
export function shellCommand(pieces: readonly MessagePiece[]): ShellCommand {
  const context = new ShellContext()
  const names = new Map<string, string>()
  let command = ''
  for (const { text, isInserted } of pieces) {
    if (!isInserted) {
      command += context.feed(text)
      continue
    }
    if (context.isArithmetic && !/^[-+]?\d+(?:\.\d+)?$/.test(text))
      throw new PcpError('EINVAL', `shell: ${JSON.stringify(text)} is no number`)
    // Strings of the environment end at the first NUL.
    const value = text.replaceAll('\0', '')
    const name = names.get(value) ?? `PMIE_${names.size + 1}`
    names.set(value, name)
    command += context.reference(name)
  }
  const variables = Object.fromEntries([...names].map(([value, name]) => [name, value]))
  return { command: command + context.end(), variables }
}

/** Where a command line is: within which quotes and brackets. `braceInQuotes` is `${` between double quotes. */
type Frame =
  | 'single'
  | 'double'
  | 'backtick'
  | 'parenthesis'
  | 'arithmetic'
  | 'brace'
  | 'braceInQuotes'
  | 'comment'

/**
 * Follows the quotes of a command line. Where it is mistaken, in a here-document for example, a reference shows its quotes or is split into
 * words; it is still only a reference.
 */
class ShellContext {
  readonly #frames: Frame[] = []
  /** A backslash at the end of what was fed, which escapes what follows. */
  #escape = ''
  #last = '\n'

  /** Is this part of an arithmetic expression, quoted or not, and of no command in one? */
  get isArithmetic(): boolean {
    const command = this.#frames.findLastIndex((frame) => frame === 'parenthesis' || frame === 'backtick')
    return this.#frames.lastIndexOf('arithmetic') > command
  }

  /** Takes the next part of the command line; returns it without a backslash at its end. */
  feed(text: string): string {
    const whole = this.#escape + text
    this.#escape = ''
    let i = 0
    while (i < whole.length) {
      const isEscape = whole[i] === '\\' && this.#top !== 'single' && this.#top !== 'comment'
      if (isEscape && i + 1 === whole.length) {
        this.#escape = '\\'
        return whole.slice(0, i)
      }
      i += isEscape ? 2 : this.#take(whole, i)
      this.#last = isEscape ? '' : whole[i - 1]!
    }
    return whole
  }

  /** Refers to a variable. A backslash before it has nothing to escape. */
  reference(name: string): string {
    this.#escape = ''
    this.#last = '"'
    const top = this.#top
    if (top === 'single') return `'"\${${name}}"'`
    return top === 'double' || top === 'braceInQuotes' || top === 'arithmetic'
      ? `\${${name}}`
      : `"\${${name}}"`
  }

  /** Returns what is left. */
  end(): string {
    return this.#escape
  }

  get #top(): Frame | undefined {
    return this.#frames.at(-1)
  }

  /** Takes what begins at `i`; returns its length. */
  #take(text: string, i: number): number {
    const top = this.#top
    const char = text[i]
    if (top === 'single' || top === 'comment') {
      if (char === (top === 'single' ? "'" : '\n')) this.#frames.pop()
      return 1
    }
    if (char === '$') return this.#dollar(text, i)
    if (char === '`') this.#backtick()
    else if (char === '"') this.#toggle(top)
    else if (top === 'braceInQuotes' && char === '}') this.#frames.pop()
    else if (top !== 'double' && top !== 'braceInQuotes') return this.#unquoted(text, i, top)
    return 1
  }

  #unquoted(text: string, i: number, top: Frame | undefined): number {
    const char = text[i]
    if (text.startsWith('((', i)) return this.#arithmetic(2)
    if (char === "'") this.#frames.push('single')
    else if (char === '(') this.#frames.push(top === 'arithmetic' ? 'arithmetic' : 'parenthesis')
    else if (char === ')' && (top === 'parenthesis' || top === 'arithmetic')) this.#frames.pop()
    else if (char === '}' && top === 'brace') this.#frames.pop()
    else if (char === '#' && top !== 'brace' && top !== 'arithmetic' && /[\s;&|()`]/.test(this.#last))
      this.#frames.push('comment')
    return 1
  }

  #arithmetic(length: number): number {
    this.#frames.push('arithmetic', 'arithmetic')
    return length
  }

  #dollar(text: string, i: number): number {
    if (text.startsWith('$((', i)) return this.#arithmetic(3)
    if (text[i + 1] === '(') this.#frames.push('parenthesis')
    else if (text[i + 1] === '{') this.#frames.push(this.#isQuoted ? 'braceInQuotes' : 'brace')
    else return 1
    return 2
  }

  get #isQuoted(): boolean {
    return this.#top === 'double' || this.#top === 'braceInQuotes'
  }

  #toggle(top: Frame | undefined): void {
    if (top === 'double') this.#frames.pop()
    else this.#frames.push('double')
  }

  /** Ends the innermost command between backticks with all that is open in it, or begins one. */
  #backtick(): void {
    const at = this.#frames.lastIndexOf('backtick')
    if (at < 0) this.#frames.push('backtick')
    else this.#frames.length = at
  }
}
