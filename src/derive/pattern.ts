/** POSIX extended regular expressions as JavaScript's. regcomp(3) */

/** Why a pattern is none, in the words of the C library. */
export class PatternError extends Error {}

const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  blank: ' \\t',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '\\x21-\\x7e',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\s',
  upper: 'A-Z',
  xdigit: '0-9A-Fa-f',
}
const BOUND = /\{(\d*)(,?)(\d*)\}/y
const MAX_REPEATS = 32767

/** Compiles a pattern that holds no backslashes. Throws PatternError. */
export function compilePattern(pattern: string): RegExp {
  const source = new Translator(pattern).run()
  try {
    return new RegExp(source, 's')
  } catch {
    throw new PatternError('Invalid regular expression')
  }
}

class Translator {
  readonly #pattern: string
  #at = 0
  #out = ''
  #depth = 0
  /** Is there something that `*` could repeat? */
  #hasAtom = false

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  run(): string {
    while (this.#at < this.#pattern.length) this.#step(this.#pattern[this.#at]!)
    if (this.#depth > 0) throw new PatternError('Unmatched ( or \\(')
    return this.#out
  }

  #step(character: string): void {
    switch (character) {
      case '(':
        this.#depth++
        this.#emit('(?:', false)
        return
      case ')':
        if (this.#depth-- === 0) throw new PatternError('Unmatched ) or \\)')
        this.#emit(')', true)
        return
      case '|':
        this.#emit('|', false)
        return
      case '^':
      case '$':
        this.#emit(character, false)
        return
      case '*':
      case '+':
      case '?':
        this.#repeat(character)
        return
      case '{':
        this.#repeat(this.#bound())
        return
      case '[':
        this.#bracket()
        return
      case '.':
        this.#emit('.', true)
        return
      default:
        this.#emit(/[\\/\]}]/.test(character) ? `\\${character}` : character, true)
    }
  }

  #emit(text: string, isAtom: boolean): void {
    this.#out += text
    this.#hasAtom = isAtom
    this.#at++
  }

  #repeat(operator: string): void {
    if (!this.#hasAtom) throw new PatternError('Invalid preceding regular expression')
    // `a**` and `a+?` repeat a repetition: in JavaScript the second character would mean something else.
    this.#out = /(?:[*+?]|\{[\d,]+\})$/.test(this.#out) ? `(?:${this.#out})${operator}` : this.#out + operator
    this.#at++
  }

  /** A bound such as `{2,3}`, leaving the position at its last character. */
  #bound(): string {
    BOUND.lastIndex = this.#at
    const bound = BOUND.exec(this.#pattern)
    if (bound === null) {
      throw new PatternError(
        this.#pattern.indexOf('}', this.#at) < 0 ? 'Unmatched \\{' : 'Invalid content of \\{\\}',
      )
    }
    const [text, low, comma, high] = bound
    const least = Number(low || 0)
    const most = high === '' ? least : Number(high)
    if ((low === '' && comma === '') || least > most) throw new PatternError('Invalid content of \\{\\}')
    if (most > MAX_REPEATS) throw new PatternError('Regular expression too big')
    this.#at += text.length - 1
    return comma === '' ? `{${least}}` : `{${least},${high}}`
  }

  #bracket(): void {
    const pattern = this.#pattern
    let at = this.#at + 1
    let out = '['
    if (pattern[at] === '^') {
      out += '^'
      at++
    }
    for (let first = true; first || pattern[at] !== ']'; first = false) {
      const named = /^\[:([a-z]*):\]/.exec(pattern.slice(at))
      if (at >= pattern.length) throw new PatternError('Invalid regular expression')
      if (named !== null) {
        const members = CLASSES[named[1]!]
        if (members === undefined) throw new PatternError('Invalid character class name')
        out += members
        at += named[0].length
        continue
      }
      const low = pattern[at++]!
      const isRange = pattern[at] === '-' && at + 1 < pattern.length && pattern[at + 1] !== ']'
      out += escaped(low)
      if (!isRange) continue
      const high = pattern[at + 1]!
      if (high < low) throw new PatternError('Invalid range end')
      out += `-${escaped(high)}`
      at += 2
    }
    this.#at = at
    this.#emit(`${out}]`, true)
  }
}

function escaped(character: string): string {
  return /[\\\]^[-]/.test(character) ? `\\${character}` : character
}
