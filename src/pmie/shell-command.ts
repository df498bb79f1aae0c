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
 * Makes a command line in which each inserted value is one word or part of one, whatever quotes are around it. EINVAL for any
 * other value than a number in arithmetic, subscripts and offsets: shells would run commands in it.
 */
export function shellCommand(pieces: readonly MessagePiece[]): ShellCommand {
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

/** Returns whether the index that these pieces end is the one of an assignment, `a[%i]=1`, which bash evaluates. */
function assigns(rest: readonly MessagePiece[]): boolean {
  const text = rest.map((piece) => (piece.isInserted ? 'x' : piece.text)).join('')
  return /^[^\]]*\]\+?=/.test(text)
}

/**
 * Where a command line is: within which quotes and brackets. `braceInQuotes` is `${` between double quotes; `subscript` that of bash's
 * `${a[...]}`, or `$[...]`; `offset` all of its `${v:...}` behind the colon.
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

/** Frames whose text shells evaluate as numbers. */
const EVALUATED: ReadonlySet<Frame | undefined> = new Set(['arithmetic', 'subscript', 'offset'])

/** Matches any beginning of such text. */
const MAY_EVALUATE = /\(\(|\$\[|\$\{/

/** The parameter of an expansion: a name, a number or a sign. */
const PARAMETER = /\$\{[!#]?(?:\w+|[-@*#?$!])?/y

/**
 * Follows the quotes of a command line. Where it is mistaken, behind a here-document for example, a reference shows its quotes or is split into
 * words; it is still only a reference.
 */
class ShellContext {
  readonly #frames: Frame[] = []
  /** A backslash at the end of what was fed, which escapes what follows. */
  #escape = ''
  #last = '\n'
  #isInIndex = false
  /** Text behind the first `<<`: quotes in a here-document are text, so which quotes come after it is not known. */
  #behindHere: string | undefined

  /** Is this behind a name and a bracket, outside of quotes that began before? */
  get isInIndex(): boolean {
    return this.#isInIndex
  }

  /** Is this part of an arithmetic expression, quoted or not, and of no command in one? */
  get isArithmetic(): boolean {
    if (this.#behindHere !== undefined && MAY_EVALUATE.test(this.#behindHere)) return true
    const command = this.#frames.findLastIndex((frame) => frame === 'parenthesis' || frame === 'backtick')
    return this.#frames.findLastIndex((frame) => EVALUATED.has(frame)) > command
  }

  /** Takes the next part of the command line; returns it without a backslash at its end. */
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

  /** Refers to a variable. A backslash before it has nothing to escape. */
  reference(name: string): string {
    this.#escape = ''
    this.#last = '"'
    const top = this.#top
    if (top === 'single') return `'"\${${name}}"'`
    return top === 'double' || top === 'braceInQuotes' || EVALUATED.has(top) ? `\${${name}}` : `"\${${name}}"`
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

  /** Takes `<<`, or `<<<`, which no here-document follows. */
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

  /** Takes the beginning of an expansion up to the text that its operator is about. */
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

  /** Ends the innermost command between backticks with all that is open in it, or begins one. */
  #backtick(): void {
    const at = this.#frames.lastIndexOf('backtick')
    if (at < 0) this.#frames.push('backtick')
    else this.#frames.length = at
  }
}

/** Returns whether an offset begins with this colon, and no default value or the like. */
function isOffset(text: string, i: number): boolean {
  return text[i] === ':' && !/[-=?+]/.test(text[i + 1] ?? '')
}
