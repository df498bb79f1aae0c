/** Words of pmcd.conf and of [access] sections: comments, quotes, escapes and continued lines. pmcd(1) */
import { PcpError } from '../../model/errors.ts'

/** A word, a separator, the end of a line or the end of the text. */
export interface Token {
  readonly kind: 'word' | 'sign' | 'newline' | 'end'
  readonly text: string
  /** Line it starts on, from 1. */
  readonly line: number
  /** It was quoted, so it is never a keyword's separator or a section header. */
  readonly isQuoted: boolean
}

/** Longest line; a binary file mistaken for a configuration is refused early. */
const MAX_LINE = 2200

/** Splits a configuration into tokens, on demand, because separators differ between its sections. */
export class ConfigLexer {
  readonly #text: string
  #pos = 0
  #line: number

  /** `firstLine` is the number of the text's first line. Throws PM_ERR_CONV for a line that is too long. */
  constructor(text: string, firstLine = 1) {
    this.#text = text
    this.#line = firstLine
    let start = 0
    for (let line = firstLine; start <= text.length; line++) {
      const newline = text.indexOf('\n', start)
      const end = newline < 0 ? text.length : newline
      if (end - start > MAX_LINE) throw new PcpError('PM_ERR_CONV', `[line ${line}]: line too long`)
      start = end + 1
    }
  }

  /** Returns the next token; unquoted `signs` characters are tokens by themselves. Throws PM_ERR_CONV. */
  next(signs: string): Token {
    this.#skipBlanks()
    const line = this.#line
    const char = this.#text[this.#pos]
    if (char === undefined) return { kind: 'end', text: '', line, isQuoted: false }
    if (char === '\n') {
      this.#pos++
      this.#line++
      return { kind: 'newline', text: '\n', line, isQuoted: false }
    }
    if (signs.includes(char)) {
      this.#pos++
      return { kind: 'sign', text: char, line, isQuoted: false }
    }
    return this.#word(signs)
  }

  #skipBlanks(): void {
    const text = this.#text
    for (;;) {
      const char = text[this.#pos]
      if (char === '\\' && text[this.#pos + 1] === '\n') {
        this.#pos += 2
        this.#line++
      } else if (char === '#') {
        const newline = text.indexOf('\n', this.#pos)
        this.#pos = newline < 0 ? text.length : newline
      } else if (char === ' ' || char === '\t' || char === '\r' || char === '\f' || char === '\v') {
        this.#pos++
      } else {
        return
      }
    }
  }

  #word(signs: string): Token {
    const text = this.#text
    const line = this.#line
    let word = ''
    let isQuoted = false
    let inQuotes = false
    for (;;) {
      const char = text[this.#pos]
      if (char === undefined || char === '\n') {
        if (inQuotes) throw new PcpError('PM_ERR_CONV', `[line ${line}]: Error: unterminated quoted string`)
        break
      }
      const next = text[this.#pos + 1]
      if (char === '\\' && (next === '"' || next === '#')) {
        word += next
        this.#pos += 2
        continue
      }
      if (
        !inQuotes &&
        (/\s/.test(char) || char === '#' || signs.includes(char) || (char === '\\' && next === '\n'))
      )
        break
      if (char === '"') {
        inQuotes = !inQuotes
        isQuoted = true
      } else {
        word += char
      }
      this.#pos++
    }
    return { kind: 'word', text: word, line, isQuoted }
  }
}
