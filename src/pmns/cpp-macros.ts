/** Macros of the preprocessor and their expansion. docs/formats/pmns.md §4 */

// An unclosed brace protects the rest of the line.
const HASH_WORD = /#\{([^}]*)\}|#\{.*|#([A-Za-z0-9][A-Za-z0-9_]*)/gs
const PERCENT_WORD = /%\{([^}]*)\}|%\{.*|%([A-Za-z0-9][A-Za-z0-9_]*)/gs

/** By character code below 128: 1 within a word, 3 also at its start. */
const WORD = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  WORD[code] = /[A-Za-z_]/.test(char) ? 3 : /[0-9]/.test(char) ? 1 : 0
}

/** Macros by name; `#define` allows letters, digits and `_`. */
export class Macros {
  readonly #values = new Map<string, string>()
  /** Lengths (mod 32, as bits) of all macros ever defined, by first character: a quick test that rejects most words. */
  readonly #lengths = new Int32Array(128)
  readonly #isRestricted: boolean
  readonly #words: RegExp

  /** `isRestricted` expands only `#name` and `#{name}`, or `%name` and `%{name}` with `isPercent`. */
  constructor({
    isRestricted = false,
    isPercent = false,
  }: {
    readonly isRestricted?: boolean
    readonly isPercent?: boolean
  }) {
    this.#isRestricted = isRestricted
    this.#words = isPercent ? PERCENT_WORD : HASH_WORD
  }

  /** Number of macros. */
  get size(): number {
    return this.#values.size
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  /** Returns the value of a macro. */
  get(name: string): string | undefined {
    return this.#values.get(name)
  }

  /** Defines a macro. */
  set(name: string, value: string): void {
    this.#values.set(name, value)
    this.#lengths[name.charCodeAt(0)]! |= 1 << (name.length & 31)
  }

  /** Removes a macro, if it is defined. */
  delete(name: string): void {
    this.#values.delete(name)
  }

  /** Expands macros once; their values are not expanded again. */
  expand(text: string): string {
    const macros = this.#values
    if (macros.size === 0) return text
    if (!this.#isRestricted) return this.#expandWords(text)
    return text.replace(this.#words, (all: string, braced?: string, bare?: string) => {
      const name = braced ?? bare
      // Unlike in #define, only names that start with a letter or a digit count here.
      return name === undefined || name.startsWith('_') ? all : (macros.get(name) ?? all)
    })
  }

  /** Looks up every word. A loop, because this is the slowest part: it takes a third of the time of a regular expression. */
  #expandWords(text: string): string {
    let expanded = ''
    let copied = 0
    let at = 0
    while (at < text.length) {
      const first = text.charCodeAt(at++)
      if (first > 127 || WORD[first] !== 3) continue // digits before a name are skipped
      const start = at - 1
      while (at < text.length && WORD[text.charCodeAt(at)]! > 0) at++
      if ((this.#lengths[first]! & (1 << ((at - start) & 31))) === 0) continue
      const value = this.#values.get(text.slice(start, at))
      if (value === undefined) continue
      expanded += text.slice(copied, start) + value
      copied = at
    }
    return copied === 0 ? text : expanded + text.slice(copied)
  }
}
