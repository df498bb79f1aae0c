/** Trace of the preprocessor for `pmcpp -d`: macros, names looked up, lines. docs/formats/pmns.md §4 */

const WORD = /[A-Za-z_][A-Za-z0-9_]*/g
/** With -r: a macro in either form, or the control character alone. */
const HASH_WORD = /#\{[^}]*\}|#[A-Za-z0-9][A-Za-z0-9_]*|#/g
const PERCENT_WORD = /%\{[^}]*\}|%[A-Za-z0-9][A-Za-z0-9_]*|%/g
/** Initial line buffer of PCP's pmcpp. */
const FIRST_ROOM = 256

/** How macros are referenced. */
interface Notation {
  readonly isRestricted?: boolean
  readonly isPercent?: boolean
}

/**
 * Traces a preprocessor in the format of PCP's pmcpp. PCP reports the growth of its line buffers; this implementation has no such buffers, so the
 * sizes that they would have are reported.
 */
export class CppTrace {
  readonly #write: (text: string) => void
  #inputRoom = FIRST_ROOM
  #outputRoom = 0
  #lines = 0
  #output = 0
  #modified = 0
  #substitutions = 0

  /** `write` is called with whole lines. */
  constructor(write: (text: string) => void) {
    this.#write = write
  }

  /** Reports a definition. */
  macro(name: string, value: string): void {
    this.#write(`<<macro ${name}="${value}"\n`)
  }

  /** Reports a file that is searched for. */
  include(path: string): void {
    this.#write(`<<include "${path}"?\n`)
  }

  /** Reports an input line. */
  read(line: string): void {
    this.#lines++
    while (line.length + 2 > this.#inputRoom) {
      this.#inputRoom *= 2
      this.#write(`<<doubled ibuf[] to ${this.#inputRoom} chars\n`)
    }
  }

  /** Reports the names looked up in a line. */
  expand(line: string, find: (name: string) => string | undefined, notation: Notation): void {
    const { isRestricted = false, isPercent = false } = notation
    const words = !isRestricted ? WORD : isPercent ? PERCENT_WORD : HASH_WORD
    let length = line.length
    let found = 0
    for (const [word] of line.matchAll(words)) {
      this.#write(`<<name="${word}"\n`)
      const value = find(isRestricted ? word.replace(/^.\{?|\}$/g, '') : word)
      if (value === undefined) continue
      this.#write(`<<value="${value}"\n`)
      length += value.length - word.length
      if (found++ === 0) this.#makeRoom(length)
    }
    this.#substitutions += found
    if (found > 0) this.#modified++
  }

  /** Counts output. */
  wrote(text: string): void {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#output++
  }

  /** Reports the totals at the end of input. */
  end(): void {
    const lines = `in ${this.#lines} out ${this.#output} (modified ${this.#modified})`
    this.#write(`<<lines: ${lines} substitutions: ${this.#substitutions}\n`)
  }

  #makeRoom(length: number): void {
    if (length < this.#outputRoom) return
    if (this.#outputRoom === 0) this.#outputRoom = FIRST_ROOM
    while (length >= this.#outputRoom) this.#outputRoom *= 2
    this.#write(`<<increased obuf[] to ${this.#outputRoom} chars\n`)
  }
}
