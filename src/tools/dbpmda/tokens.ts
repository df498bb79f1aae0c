/** Words of a command line with their positions, for error messages. dbpmda(1) */

/** A word or quoted text. */
export interface Token {
  readonly text: string
  readonly isQuoted: boolean
  /** Column after its last character. */
  readonly end: number
}

/** A syntax error in a command line. */
export class SyntaxMistake extends Error {
  override readonly name = 'Mistake'
  /** Column of the caret below the line, without the prompt. */
  readonly column: number

  constructor(message: string, column: number) {
    super(message)
    this.column = column
  }
}

const WORD = /[^\s#"']+/y

/** Splits a line into words; a word that begins with # begins a comment. Throws Mistake for an unterminated string. */
export function tokensOf(line: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < line.length) {
    const character = line[at]!
    if (character === '#') break
    if (/\s/.test(character)) {
      at++
    } else if (character === '"' || character === "'") {
      const close = line.indexOf(character, at + 1)
      if (close < 0) throw new SyntaxMistake(`Expected ${character}`, line.length - 1)
      tokens.push({ text: line.slice(at + 1, close), isQuoted: true, end: close + 1 })
      at = close + 1
    } else {
      WORD.lastIndex = at
      const [text] = WORD.exec(line)!
      at += text.length
      tokens.push({ text, isQuoted: false, end: at })
    }
  }
  return tokens
}

/** Returns the column of the caret: below a word's last character, or after it where PCP's parser reads on to find its end. */
export function caretColumn(line: string, token: Token | undefined): number {
  if (token === undefined) return Math.max(0, line.length - 1)
  return token.end < line.length && !token.isQuoted ? token.end : token.end - 1
}
