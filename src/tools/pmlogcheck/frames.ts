/** Steps over the records of a file by their lengths, without looking into them. */
import type { ByteSource } from '../../base/byte-source.ts'

/** Bytes read at a time: enough for many small records, little for the ends of large ones. */
const WINDOW = 64 * 1024

/** Reads length words anywhere in a file, from a window that follows them. */
export class WordReader {
  readonly #source: ByteSource
  readonly size: number
  readonly #bytes = new Uint8Array(WINDOW)
  readonly #view = new DataView(this.#bytes.buffer)
  #from = 0
  #length = 0

  constructor(source: ByteSource) {
    this.#source = source
    this.size = source.size
  }

  /** The signed word at an offset; undefined when the file ends before or within it. */
  at(offset: number): number | undefined {
    if (offset < this.#from || offset + 4 > this.#from + this.#length) {
      this.#from = offset
      this.#length = this.#source.readInto(this.#bytes, offset)
      if (this.#length < 4) return undefined
    }
    return this.#view.getInt32(offset - this.#from)
  }

  /** How many of `wanted` bytes the file has from an offset on. */
  available(offset: number, wanted: number): number {
    return Math.max(0, Math.min(wanted, this.size - offset))
  }
}
