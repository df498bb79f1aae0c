/** Bytes that come in pieces, as lines. */
import { decodeText } from '../../base/text.ts'

const NEWLINE = 0x0a
const RETURN = 0x0d

/** Collects pieces and gives whole lines, without newline or carriage return. A line beyond the limit loses its end. */
export class LineSplitter {
  readonly #maxBytes: number
  readonly #onLine: (line: string) => void
  /** The beginning of a line whose end has not come. */
  #pending: Uint8Array[] = []
  #size = 0

  constructor(maxBytes: number, onLine: (line: string) => void) {
    this.#maxBytes = maxBytes
    this.#onLine = onLine
  }

  /** Takes a piece, which it keeps no part of that the caller may change: what is left over is copied. */
  push(piece: Uint8Array): void {
    let start = 0
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      this.#keep(piece.subarray(start, end))
      this.#emit()
      start = end + 1
    }
    if (start < piece.length) this.#keep(piece.slice(start))
  }

  /** Gives what came without a newline at the end, when there is something. */
  finish(): void {
    if (this.#size > 0) this.#emit()
  }

  /** Forgets a line that has only begun. */
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
