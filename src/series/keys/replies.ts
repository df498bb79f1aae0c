/** Decodes the replies of a key server, protocol version 2. https://valkey.io/topics/protocol/ */
import { PcpError } from '../../model/errors.ts'

/** An error reply: the first word is its kind, such as ERR, MOVED or OOM. */
export class ErrorReply {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }

  /** First word. */
  get kind(): string {
    const space = this.message.indexOf(' ')
    return space < 0 ? this.message : this.message.slice(0, space)
  }
}

/** A reply: bytes, a status as text, a number, nothing, several, or an error. */
export type Reply = Buffer | string | number | null | ErrorReply | readonly Reply[]

/** The longest text, and line, of a reply, and how deep and long lists are. */
const MOST_BYTES = 1 << 26
const MOST_LINE = 1 << 16
const MOST_DEPTH = 8
const MOST_ITEMS = 1 << 22

const CR = 13
const LF = 10
const MINUS = 45
const ZERO = 48
/** Digits of a 64-bit integer with its sign. */
const MOST_DIGITS = 20
const NO_BYTES = Buffer.alloc(0)

/** Returns what a text of a reply becomes: `depth` lists are around it, and `index` elements before it in the innermost one. */
export type DecodeText = (bytes: Buffer, start: number, end: number, depth: number, index: number) => Reply

/** Replaces texts that no one needs by an empty one, which saves memory. */
export const ignoreTexts: DecodeText = () => NO_BYTES

interface Unfinished {
  readonly items: Reply[]
  left: number
}

/** Decodes a stream of replies that arrives in pieces. */
export class ReplyReader {
  #bytes: Buffer = NO_BYTES
  #at = 0
  /** Pieces after `#bytes`, until there are enough of them. */
  #later: Buffer[] = []
  #laterBytes = 0
  #needed = 0
  readonly #lists: Unfinished[] = []
  readonly #decoder: () => DecodeText | undefined

  /** `decoder` returns the decoder of the texts in the next reply; undefined for their bytes. */
  constructor(decoder: () => DecodeText | undefined = () => undefined) {
    this.#decoder = decoder
  }

  /** Adds a piece and passes on each reply that is complete. PM_ERR_IPC for bytes that are no reply, E2BIG for a reply beyond all limits. */
  push(piece: Buffer, onReply: (reply: Reply) => void): void {
    this.#later.push(piece)
    this.#laterBytes += piece.length
    const left = this.#bytes.length - this.#at
    if (left + this.#laterBytes < this.#needed) return
    this.#bytes =
      left === 0 && this.#later.length === 1
        ? piece
        : Buffer.concat([this.#bytes.subarray(this.#at), ...this.#later])
    this.#later = []
    this.#laterBytes = 0
    this.#at = 0
    this.#needed = 0
    for (;;) {
      const start = this.#at
      const value = this.#next()
      if (value === undefined) {
        this.#at = start
        return
      }
      if (value !== LIST) this.#finish(value, onReply)
    }
  }

  #finish(value: Reply, onReply: (reply: Reply) => void): void {
    let whole = value
    for (let top = this.#lists.at(-1); top !== undefined; top = this.#lists.at(-1)) {
      top.items.push(whole)
      if (--top.left > 0) return
      this.#lists.pop()
      whole = top.items
    }
    onReply(whole)
  }

  /** Returns the next text, number or empty list; LIST after the head of a list, undefined if bytes are missing. */
  #next(): Reply | typeof LIST | undefined {
    const bytes = this.#bytes
    const start = this.#at
    switch (bytes[start]) {
      case undefined:
        return undefined
      case 36: // $
      case 42: // *
      case 58: // :
        return this.#counted(start)
    }
    const end = bytes.indexOf(CR, start)
    if (end < 0 || end + 1 >= bytes.length) {
      if (bytes.length - start > MOST_LINE) throw tooLong('a line')
      return undefined
    }
    if (bytes[end + 1] !== LF) throw notReply(bytes, start)
    this.#at = end + 2
    switch (bytes[start]) {
      case 43: // +
        return bytes.toString('utf8', start + 1, end)
      case 45: // -
        return new ErrorReply(bytes.toString('utf8', start + 1, end))
      default:
        throw notReply(bytes, start)
    }
  }

  /** Reads a number, and the text or list whose length it is. */
  #counted(start: number): Reply | typeof LIST | undefined {
    const bytes = this.#bytes
    const isNegative = bytes[start + 1] === MINUS
    let value = 0
    let at = isNegative ? start + 2 : start + 1
    for (; bytes[at] !== CR; at++) {
      const digit = bytes[at]
      if (digit === undefined) return undefined
      if (digit < ZERO || digit > ZERO + 9 || at - start > MOST_DIGITS) throw notReply(bytes, start)
      value = 10 * value + digit - ZERO
    }
    if (at + 1 >= bytes.length) return undefined
    if (bytes[at + 1] !== LF) throw notReply(bytes, start)
    if (isNegative) value = -value
    this.#at = at + 2
    const kind = bytes[start]
    return kind === 36 ? this.#text(value, at + 2) : kind === 42 ? this.#list(value) : value
  }

  #text(length: number, start: number): Reply | undefined {
    if (length < 0) return null
    if (length > MOST_BYTES) throw tooLong(`a text of ${length} bytes`)
    const end = start + length
    if (this.#bytes.length < end + 2) {
      this.#needed = length + 2
      return undefined
    }
    this.#at = end + 2
    const decode = this.#decoder()
    if (decode === undefined) return this.#bytes.subarray(start, end)
    const depth = this.#lists.length
    return decode(this.#bytes, start, end, depth, depth === 0 ? 0 : this.#lists[depth - 1]!.items.length)
  }

  #list(length: number): Reply | typeof LIST {
    if (length < 0) return null
    if (length === 0) return []
    if (length > MOST_ITEMS || this.#lists.length >= MOST_DEPTH) throw tooLong(`a list of ${length} items`)
    this.#lists.push({ items: [], left: length })
    return LIST
  }
}

const LIST = Symbol('list')

function notReply(bytes: Buffer, at: number): PcpError {
  const text = JSON.stringify(bytes.toString('latin1', at, at + 20))
  return new PcpError('PM_ERR_IPC', `sends ${text}, which is no reply of a key server: check its port`)
}

function tooLong(what: string): PcpError {
  return new PcpError('E2BIG', `sends ${what}, more than a reply may have`)
}
