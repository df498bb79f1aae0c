/** Input and output of decoders. */

/** Returns the next bytes of a compressed file, none at its end. They are valid until the next call. */
export type Read = () => Uint8Array

/** Takes decompressed bytes, which are valid during the call only. */
export type Write = (bytes: Uint8Array) => void

/** Decompresses a whole file. Throws an Error without a code for damaged or truncated content. */
export type Decoder = (read: Read, write: Write) => void

/** Decompressed bytes collected for one write. */
const BLOCK = 1 << 16

/** Reads single bytes. */
export class ByteInput {
  readonly #read: Read
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0

  /** Nothing is read yet. */
  constructor(read: Read) {
    this.#read = read
  }

  /** Returns the next byte, or -1 at the end. */
  next(): number {
    if (this.#at === this.#bytes.length) {
      this.#bytes = this.#read()
      this.#at = 0
      if (this.#bytes.length === 0) return -1
    }
    return this.#bytes[this.#at++]!
  }

  /** Returns the next byte. Throws at the end of the file. */
  byte(): number {
    const byte = this.next()
    if (byte === -1) throw new Error('it ends too soon')
    return byte
  }

  /** Skips `count` bytes. Throws at the end of the file. */
  skip(count: number): void {
    for (let left = count; left > 0; ) {
      this.byte()
      const part = Math.min(left - 1, this.#bytes.length - this.#at)
      this.#at += part
      left -= part + 1
    }
  }

  /** Returns a copy of the next `count` bytes. Throws at the end of the file. */
  read(count: number): Uint8Array {
    const parts: Uint8Array[] = []
    for (let left = count; left > 0; ) {
      parts.push(Uint8Array.of(this.byte()))
      const part = this.#bytes.slice(this.#at, this.#at + left - 1)
      this.#at += part.length
      parts.push(part)
      left -= part.length + 1
    }
    return join(parts, count)
  }
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

export class ByteOutput {
  readonly #write: Write
  readonly #bytes = new Uint8Array(BLOCK)
  #used = 0

  /** Writes nothing until a block is full. */
  constructor(write: Write) {
    this.#write = write
  }

  put(byte: number): void {
    if (this.#used === BLOCK) this.flush()
    this.#bytes[this.#used++] = byte
  }

  /** Writes the incomplete block. */
  flush(): void {
    this.#write(this.#bytes.subarray(0, this.#used))
    this.#used = 0
  }
}
