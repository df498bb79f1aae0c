/** Splits chunks of bytes into lines. */
import { decodeText } from '../../base/text.ts'

const NEWLINE = 0x0a
const RETURN = 0x0d

/** Passes on whole lines without newline or carriage return. Lines beyond the limit are truncated. */
export class LineSplitter {
  readonly #maxBytes: number
  readonly #onLine: (line: string) => void
  /** Start of an incomplete line. */
  #pending: Uint8Array[] = []
  #size = 0

  constructor(maxBytes: number, onLine: (line: string) => void) {
    this.#maxBytes = maxBytes
    this.#onLine = onLine
  }

  /** Adds a chunk. The rest after its last newline is copied, so the caller may reuse the buffer. */
  push(piece: Uint8Array): void {
    let start = 0
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      this.#keep(piece.subarray(start, end))
      this.#emit()
      start = end + 1
    }
    if (start < piece.length) this.#keep(piece.slice(start))
  }

  /** Passes on a last line without newline, if any. */
  finish(): void {
    if (this.#size > 0) this.#emit()
  }

  /** Discards an incomplete line. */
  reset(): void {
    this.#pending = []
    this.#size = 0
  }

  #keep(part: Uint8Array): void {
    const room = this.#maxBytes - this.#size
    if (room <= 0 || part.length === 0) return
    const kept = part.length > room ? part.subarray(0, room) : part
    this.#pending.push(kept)
    this.#size += kept.length
  }

  #emit(): void {
    const line = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending)
    const end = line.at(-1) === RETURN ? line.length - 1 : line.length
    const text = decodeText(line, 0, end)
    this.reset()
    this.#onLine(text)
  }
}
