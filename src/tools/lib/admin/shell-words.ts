/** The subset of shell syntax used in control files: words, quotes, variables, and commands in directory names. */
import type { Variables } from '../../../sys/config.ts'

/** Runs a command of a control file and returns its output. */
export type Substitute = (command: string) => string

export interface Expansion {
  readonly variables: Variables
  /** Runs `$(command)` and back quotes, which stay unchanged without it. */
  readonly substitute?: Substitute
}

/** A word of a line, and where it ends. */
export interface ShellWord {
  /** As written, with its quotes. */
  readonly raw: string
  /** Index of the first character after it. */
  readonly end: number
}

/**
 * Returns the next word from an index of a line, skipping blanks; undefined at the end. Quotes, back quotes and `$( )`
 * may contain blanks, and extend to the end of the line if they are not closed.
 */
export function nextWord(line: string, start: number): ShellWord | undefined {
  let i = start
  while (i < line.length && isBlank(line[i]!)) i++
  if (i >= line.length) return undefined
  const begin = i
  while (i < line.length && !isBlank(line[i]!)) i = skipPiece(line, i)
  return { raw: line.slice(begin, i), end: i }
}

/** Splits a text into words and expands them, as a shell does for arguments. */
export function splitWords(text: string, expansion: Expansion = { variables: {} }): string[] {
  const words: string[] = []
  for (let at = 0; ; ) {
    const word = nextWord(text, at)
    if (word === undefined) return words
    words.push(expandWord(word.raw, expansion))
    at = word.end
  }
}

/** Expands a word: removes quotes, replaces variables and runs commands. Unset variables are empty, as in a shell. */
export function expandWord(raw: string, expansion: Expansion): string {
  let text = ''
  for (let i = 0; i < raw.length; ) {
    const end = skipPiece(raw, i)
    const piece = raw.slice(i, end)
    if (piece.length >= 2 && piece.startsWith("'") && piece.endsWith("'")) text += piece.slice(1, -1)
    else if (piece.length >= 2 && piece.startsWith('"') && piece.endsWith('"'))
      text += expandPlain(piece.slice(1, -1), expansion, true)
    else text += expandPlain(piece, expansion, false)
    i = end
  }
  return text
}

/** Expands text without its quotes. */
function expandPlain(text: string, { variables, substitute }: Expansion, isQuoted: boolean): string {
  let out = ''
  for (let i = 0; i < text.length; ) {
    const end = skipPiece(text, i, isQuoted)
    const piece = text.slice(i, end)
    const command = commandOf(piece)
    if (command !== undefined) out += substitute === undefined ? piece : substitute(command)
    else if (piece[0] === '\\' && piece.length === 2)
      out += !isQuoted || '$`"\\'.includes(piece[1]!) ? piece[1]! : piece
    else if (piece[0] === '$' && piece.length > 1) out += variables[piece.replace(/^\$\{?|\}$/g, '')] ?? ''
    else out += piece
    i = end
  }
  return out
}

function commandOf(piece: string): string | undefined {
  if (piece.startsWith('$(') && piece.endsWith(')')) return piece.slice(2, -1)
  if (piece.length >= 2 && piece.startsWith('`') && piece.endsWith('`')) return piece.slice(1, -1)
  return undefined
}

/** Returns the end of the quoted part, command, variable, escaped or plain character at `i`. */
function skipPiece(text: string, i: number, isQuoted = false): number {
  const c = text[i]!
  if (c === '\\') return Math.min(i + 2, text.length)
  if (c === '`' || (!isQuoted && (c === '"' || c === "'"))) return afterQuote(text, i)
  if (c !== '$') return i + 1
  if (text[i + 1] === '(') return afterParenthesis(text, i + 1)
  if (text[i + 1] === '{') {
    const close = text.indexOf('}', i)
    return close === -1 ? text.length : close + 1
  }
  let end = i + 1
  while (end < text.length && /\w/.test(text[end]!)) end++
  return end
}

function afterQuote(text: string, start: number): number {
  const quote = text[start]!
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\' && quote !== "'") i++
    else if (quote === '"' && text.startsWith('$(', i)) i = afterParenthesis(text, i + 1) - 1
    else if (text[i] === quote) return i + 1
  }
  return text.length
}

function afterParenthesis(text: string, start: number): number {
  let depth = 0
  for (let i = start; i < text.length; ) {
    const c = text[i]!
    if (c === '"' || c === "'") {
      i = afterQuote(text, i)
      continue
    }
    if (c === '(') depth++
    if (c === ')' && --depth === 0) return i + 1
    i++
  }
  return text.length
}

function isBlank(c: string): boolean {
  return c === ' ' || c === '\t'
}
