/** The macros of the preprocessor, and where they are replaced. docs/formats/pmns.md §4 */

// A brace that is never closed protects the rest of the line.
const HASH_WORD = /#\{([^}]*)\}|#\{.*|#([A-Za-z0-9][A-Za-z0-9_]*)/gs
const PERCENT_WORD = /%\{([^}]*)\}|%\{.*|%([A-Za-z0-9][A-Za-z0-9_]*)/gs

/** Character codes below 128: 1 may be inside a word, 3 may also start it. */
const WORD = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  WORD[code] = /[A-Za-z_]/.test(char) ? 3 : /[0-9]/.test(char) ? 1 : 0
}

/** Macros by name. Names are what `#define` accepts: letters, digits and `_`. */
export class Macros {
  readonly #values = new Map<string, string>()
  /** Lengths (mod 32, as bits) of the macros ever defined, by first character: rules most words out unseen. */
  readonly #lengths = new Int32Array(128)
  readonly #isRestricted: boolean
  readonly #words: RegExp

  /** `isRestricted` replaces only `#name` and `#{name}`; with `isPercent` their sign is `%`. */
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

  /** How many are defined. */
  get size(): number {
    return this.#values.size
  }

  /** Is there one of this name? */
  has(name: string): boolean {
    return this.#values.has(name)
  }

  /** What one stands for. */
  get(name: string): string | undefined {
    return this.#values.get(name)
  }

  /** Defines one. */
  set(name: string, value: string): void {
    this.#values.set(name, value)
    this.#lengths[name.charCodeAt(0)]! |= 1 << (name.length & 31)
  }

  /** Forgets one, if there is one. */
  delete(name: string): void {
    this.#values.delete(name)
  }

  /** Replaces macros once; what they stand for is not looked at again. */
  expand(text: string): string {
    const macros = this.#values
    if (macros.size === 0) return text
    if (!this.#isRestricted) return this.#expandWords(text)
    return text.replace(this.#words, (all: string, braced?: string, bare?: string) => {
      const name = braced ?? bare
      // Only names that start with a letter or a digit count here, unlike in #define.
      return name === undefined || name.startsWith('_') ? all : (macros.get(name) ?? all)
    })
  }

  /** Every word is a candidate. By hand, because this is where the time goes: a third of what a pattern takes. */
  #expandWords(text: string): string {
    let expanded = ''
    let copied = 0
    let at = 0
    while (at < text.length) {
      const first = text.charCodeAt(at++)
      if (first > 127 || WORD[first] !== 3) continue // digits before a word do not protect it
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
