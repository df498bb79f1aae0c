/** What `pmcpp -d` tells of its work: macros, names looked up, lines. docs/formats/pmns.md §4 */

const WORD = /[A-Za-z_][A-Za-z0-9_]*/g
/** With -r: a macro in either form, or the control character alone. */
const HASH_WORD = /#\{[^}]*\}|#[A-Za-z0-9][A-Za-z0-9_]*|#/g
const PERCENT_WORD = /%\{[^}]*\}|%[A-Za-z0-9][A-Za-z0-9_]*|%/g
/** Length of a line for which PCP's pmcpp has room from the start. */
const FIRST_ROOM = 256

/** How names are written where they are replaced. */
interface Notation {
  readonly isRestricted?: boolean
  readonly isPercent?: boolean
}

/**
 * Tells what a preprocessor does, in the words of PCP's pmcpp. That has buffers for a line, which grow; there are none
 * here, so what is told of them is how long they would have to be.
 */
export class CppTrace {
  readonly #write: (text: string) => void
  #inputRoom = FIRST_ROOM
  #outputRoom = 0
  #lines = 0
  #output = 0
  #modified = 0
  #substitutions = 0

  /** `write` hears whole lines. */
  constructor(write: (text: string) => void) {
    this.#write = write
  }

  /** A macro was defined. */
  macro(name: string, value: string): void {
    this.#write(`<<macro ${name}="${value}"\n`)
  }

  /** A file is looked for. */
  include(path: string): void {
    this.#write(`<<include "${path}"?\n`)
  }

  /** A line was read. */
  read(line: string): void {
    this.#lines++
    while (line.length + 2 > this.#inputRoom) {
      this.#inputRoom *= 2
      this.#write(`<<doubled ibuf[] to ${this.#inputRoom} chars\n`)
    }
  }

  /** The names of a line are looked up. */
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

  /** Text was put out. */
  wrote(text: string): void {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#output++
  }

  /** The end of the input. */
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
