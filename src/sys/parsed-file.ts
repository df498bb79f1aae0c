/** Files that hardly ever change: read each time, and worked out again only when they say something else. */
import { decodeText } from '../base/text.ts'
import type { ProcFile } from './proc.ts'

/** A file and what its text means. */
export class ParsedFile<T> {
  readonly #file: ProcFile
  readonly #parse: (text: string) => T
  #seen: Uint8Array | undefined
  #value: T | undefined

  /** What `parse` returns is given out again and again: nobody may change it. */
  constructor(file: ProcFile, parse: (text: string) => T) {
    this.#file = file
    this.#parse = parse
  }

  /** What the file says now: the same object as long as its bytes are the same. Throws as `ProcFile.read` and `parse` do. */
  read(): T {
    const bytes = this.#file.read()
    if (this.#seen !== undefined && Buffer.compare(bytes, this.#seen) === 0) return this.#value as T
    this.#value = this.#parse(decodeText(bytes))
    this.#seen = bytes.slice()
    return this.#value
  }
}
