/** Words of a command line of dbpmda, and where they stand: mistakes are shown by their place. dbpmda(1) */

/** A word, or a text in quotes. */
export interface Token {
  readonly text: string
  readonly isQuoted: boolean
  /** Column after its last character. */
  readonly end: number
}

/** Something a command line cannot say. */
export class Mistake extends Error {
  override readonly name = 'Mistake'
  /** Column of the caret below the line, without the prompt. */
  readonly column: number

  constructor(message: string, column: number) {
    super(message)
    this.column = column
  }
}

const WORD = /[^\s#"']+/y

/** Takes a line apart; a # that begins a word begins a comment. Throws Mistake for a text that does not end. */
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
      if (close < 0) throw new Mistake(`Expected ${character}`, line.length - 1)
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

/** The column of the caret for a word: below its last character, or after it where PCP has to read on to see its end. */
export function caretColumn(line: string, token: Token | undefined): number {
  if (token === undefined) return Math.max(0, line.length - 1)
  return token.end < line.length && !token.isQuoted ? token.end : token.end - 1
}
