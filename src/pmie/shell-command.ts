/**
 * Command lines of the shell action. Inserted values come from outside, such as names of containers or processes, so they are passed in
 * environment variables and never parsed by the shell. docs/reference/pmie.md
 *
 *     mail -s %i root       →  mail -s "${PMIE_1}" root
 *     echo "busy: %i"       →  echo "busy: ${PMIE_1}"
 *     echo 'busy: %i'       →  echo 'busy: '"${PMIE_1}"''
 */
import { PcpError } from '../model/errors.ts'
import type { MessagePart } from '../rules/bindings.ts'

/** A command line and the environment variables it refers to. */
export interface ShellCommand {
  readonly command: string
  readonly variables: Readonly<Record<string, string>>
}

/**
 * Builds a command line in which each inserted value is a word or part of one, within any quotes. Throws EINVAL for values other than
 * numbers in arithmetic, subscripts and offsets, where shells would run commands in the value.
 */
export function shellCommand(pieces: readonly MessagePart[]): ShellCommand {
  const context = new ShellContext()
  const names = new Map<string, string>()
  let command = ''
  for (const [i, { text, isInserted }] of pieces.entries()) {
    if (!isInserted) {
      command += context.feed(text)
      continue
    }
    const isEvaluated = context.isArithmetic || (context.isInIndex && assigns(pieces.slice(i + 1)))
    if (isEvaluated && !/^[-+]?\d+(?:\.\d+)?$/.test(text))
      throw new PcpError('EINVAL', `shell: ${JSON.stringify(text)} is not a number`)
    // Environment strings end at the first NUL.
    const value = text.replaceAll('\0', '')
    const name = names.get(value) ?? `PMIE_${names.size + 1}`
    names.set(value, name)
    command += context.reference(name)
  }
  const variables = Object.fromEntries([...names].map(([value, name]) => [name, value]))
  return { command: command + context.end(), variables }
}

/** Returns whether the index closed by these pieces belongs to an assignment, `a[%i]=1`, which bash evaluates. */
function assigns(rest: readonly MessagePart[]): boolean {
  const text = rest.map((piece) => (piece.isInserted ? 'x' : piece.text)).join('')
  return /^[^\]]*\]\+?=/.test(text)
}

/**
 * Syntactic context within a command line. `braceInQuotes` is `${` within double quotes; `subscript` is bash's `${a[...]}`, or
 * `$[...]`; `offset` is the text of `${v:...}` after the colon.
 */
type Frame =
  | 'single'
  | 'double'
  | 'backtick'
  | 'parenthesis'
  | 'arithmetic'
  | 'subscript'
  | 'offset'
  | 'brace'
  | 'braceInQuotes'
  | 'comment'

/** Frames that shells evaluate as numbers. */
const EVALUATED: ReadonlySet<Frame | undefined> = new Set(['arithmetic', 'subscript', 'offset'])

/** Matches any beginning of an evaluated frame. */
const MAY_EVALUATE = /\(\(|\$\[|\$\{/

/** A parameter expansion's name, number or sign. */
const PARAMETER = /\$\{[!#]?(?:\w+|[-@*#?$!])?/y

/**
 * Tracks the quoting of a command line. If it is wrong, for example after a here-document, a reference shows its quotes or is split into
 * words, but remains a reference.
 */
class ShellContext {
  readonly #frames: Frame[] = []
  /** A backslash at the end of the previous text, which escapes the next character. */
  #escape = ''
  #last = '\n'
  #isInIndex = false
  /** Text after the first `<<`: quotes in a here-document are plain text, so the quoting after it is uncertain. */
  #behindHere: string | undefined

  /** Whether the position is after a name and a bracket, outside of earlier quotes. */
  get isInIndex(): boolean {
    return this.#isInIndex
  }

  /** Whether the position is in an arithmetic expression, quoted or not, and not in a command within it. */
  get isArithmetic(): boolean {
    if (this.#behindHere !== undefined && MAY_EVALUATE.test(this.#behindHere)) return true
    const command = this.#frames.findLastIndex((frame) => frame === 'parenthesis' || frame === 'backtick')
    return this.#frames.findLastIndex((frame) => EVALUATED.has(frame)) > command
  }

  /** Appends a part of the command line; returns it without a trailing backslash. */
  feed(text: string): string {
    const whole = this.#escape + text
    if (this.#behindHere !== undefined) this.#behindHere += text
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

  /** Returns a reference to a variable. A pending backslash is dropped. */
  reference(name: string): string {
    this.#escape = ''
    this.#last = '"'
    const top = this.#top
    if (top === 'single') return `'"\${${name}}"'`
    return top === 'double' || top === 'braceInQuotes' || EVALUATED.has(top) ? `\${${name}}` : `"\${${name}}"`
  }

  /** Returns a pending backslash. */
  end(): string {
    return this.#escape
  }

  get #top(): Frame | undefined {
    return this.#frames.at(-1)
  }

  /** Consumes the construct at `i`; returns its length. */
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
    if (text.startsWith('<<', i) && !EVALUATED.has(top)) return this.#here(text, i)
    if (text.startsWith('((', i)) return this.#arithmetic(2)
    if (char === "'") this.#frames.push('single')
    else if (char === '(') this.#frames.push(EVALUATED.has(top) ? 'arithmetic' : 'parenthesis')
    else if (char === '[') this.#openBracket(text, i, top)
    else if (char === ']') return this.#closeBracket(text, i, top)
    else if (char === ')' && (top === 'parenthesis' || top === 'arithmetic')) this.#frames.pop()
    else if (char === '}' && (top === 'brace' || top === 'offset')) this.#frames.pop()
    else if (char === '#' && top !== 'brace' && !EVALUATED.has(top) && /[\s;&|()`]/.test(this.#last))
      this.#frames.push('comment')
    return 1
  }

  #arithmetic(length: number): number {
    this.#frames.push('arithmetic', 'arithmetic')
    return length
  }

  /** Consumes `<<`, or `<<<`, which does not begin a here-document. */
  #here(text: string, i: number): number {
    if (text[i + 2] === '<') return 3
    this.#behindHere ??= text.slice(i)
    return 2
  }

  #openBracket(text: string, i: number, top: Frame | undefined): void {
    if (top === 'subscript') this.#frames.push('subscript')
    else if (!EVALUATED.has(top) && /(?:^|[\s;&|(){}`])[A-Za-z_]\w*$/.test(text.slice(0, i)))
      this.#isInIndex = true
  }

  #closeBracket(text: string, i: number, top: Frame | undefined): number {
    if (top !== 'subscript') {
      this.#isInIndex = false
      return 1
    }
    this.#frames.pop()
    const isInBrace = this.#top === 'brace' || this.#top === 'braceInQuotes'
    if (!isInBrace || !isOffset(text, i + 1)) return 1
    this.#frames[this.#frames.length - 1] = 'offset'
    return 2
  }

  #dollar(text: string, i: number): number {
    if (text.startsWith('$((', i)) return this.#arithmetic(3)
    if (text[i + 1] === '{') return this.#brace(text, i)
    if (text[i + 1] === '(') this.#frames.push('parenthesis')
    else if (text[i + 1] === '[') this.#frames.push('subscript')
    else return 1
    return 2
  }

  /** Consumes the start of an expansion up to its operator's text. */
  #brace(text: string, i: number): number {
    PARAMETER.lastIndex = i
    const { length } = PARAMETER.exec(text)![0]
    if (isOffset(text, i + length)) {
      this.#frames.push('offset')
      return length + 1
    }
    this.#frames.push(this.#isQuoted ? 'braceInQuotes' : 'brace')
    if (text[i + length] !== '[') return length
    this.#frames.push('subscript')
    return length + 1
  }

  get #isQuoted(): boolean {
    return this.#top === 'double' || this.#top === 'braceInQuotes'
  }

  #toggle(top: Frame | undefined): void {
    if (top === 'double') this.#frames.pop()
    else this.#frames.push('double')
  }

  /** Closes the innermost backtick command with everything open in it, or opens one. */
  #backtick(): void {
    const at = this.#frames.lastIndexOf('backtick')
    if (at < 0) this.#frames.push('backtick')
    else this.#frames.length = at
  }
}

/** Returns whether a colon begins an offset, rather than an operator such as `:-`. */
function isOffset(text: string, i: number): boolean {
  return text[i] === ':' && !/[-=?+]/.test(text[i + 1] ?? '')
}
