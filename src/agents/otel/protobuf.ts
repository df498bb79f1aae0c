/** Decodes protocol buffers with a table of fields. https://protobuf.dev/programming-guides/encoding */
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'

/** Encoding of a field. */
export type FieldKind =
  | 'string'
  | 'bytes'
  | 'bool'
  | 'double'
  | 'fixed64'
  | 'sfixed64'
  | 'int64'
  | 'uint64'
  | 'uint32'
  | 'sint32'
  | 'enum'

/** One field of a message. */
export interface Field {
  /** Its name in JSON. */
  readonly name: string
  readonly kind: FieldKind | Message
  readonly isRepeated?: true
}

/** The fields of a message by number. A function, because messages may contain themselves. */
export type Message = () => { readonly [number: number]: Field }

/** A decoded message: an object as of JSON, but with bigints for 64-bit integers, and bytes. */
export interface Decoded {
  [name: string]: unknown
}

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
const FIXED32 = 5
const MAX_DEPTH = 32

/** Wire type of each kind of number. */
export const WIRE_TYPES: { readonly [kind in FieldKind]: number } = {
  string: LENGTH,
  bytes: LENGTH,
  bool: VARINT,
  double: FIXED64,
  fixed64: FIXED64,
  sfixed64: FIXED64,
  int64: VARINT,
  uint64: VARINT,
  uint32: VARINT,
  sint32: VARINT,
  enum: VARINT,
}

/** Decodes a message. Unknown fields are skipped. PM_ERR_CONV for an invalid message. */
export function decodeMessage(bytes: Uint8Array, message: Message): Decoded {
  return readMessage(new Cursor(bytes), message, 0)
}

function readMessage(cursor: Cursor, message: Message, depth: number): Decoded {
  if (depth > MAX_DEPTH) throw cursor.wrong(`messages are nested more than ${MAX_DEPTH} deep`)
  const fields = message()
  const decoded: Decoded = {}
  while (!cursor.isAtEnd) {
    const tag = cursor.number()
    const wire = tag & 7
    const field = fields[tag >>> 3]
    if (field === undefined) cursor.skip(wire)
    else readField(cursor, decoded, field, wire, depth)
  }
  return decoded
}

function readField(cursor: Cursor, decoded: Decoded, field: Field, wire: number, depth: number): void {
  const { name, kind, isRepeated } = field
  const expected = typeof kind === 'function' ? LENGTH : WIRE_TYPES[kind]
  if (isRepeated !== true) {
    if (wire !== expected) throw cursor.wrong(`"${name}" has wire type ${wire}`)
    decoded[name] = readValue(cursor, kind, depth)
    return
  }
  const list = (decoded[name] ?? []) as unknown[]
  decoded[name] = list
  if (wire === expected) list.push(readValue(cursor, kind, depth))
  else if (wire === LENGTH) {
    // Numbers may be packed in one block.
    const block = cursor.block()
    while (!block.isAtEnd) list.push(readValue(block, kind, depth))
  } else throw cursor.wrong(`"${name}" has wire type ${wire}`)
}

function readValue(cursor: Cursor, kind: FieldKind | Message, depth: number): unknown {
  if (typeof kind === 'function') return readMessage(cursor.block(), kind, depth + 1)
  switch (kind) {
    case 'string':
      return decodeText(cursor.bytes())
    case 'bytes':
      return cursor.bytes()
    case 'bool':
      return cursor.varint() !== 0n
    case 'double':
      return cursor.double()
    case 'fixed64':
      return cursor.fixed64()
    case 'sfixed64':
      return BigInt.asIntN(64, cursor.fixed64())
    case 'int64':
      return BigInt.asIntN(64, cursor.varint())
    case 'uint64':
      return cursor.varint()
    case 'uint32':
    case 'enum':
      return cursor.number()
    case 'sint32': {
      const zigzag = cursor.number()
      return (zigzag >>> 1) ^ -(zigzag & 1)
    }
  }
}

/** A position in a message. */
class Cursor {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** The low 32 bits of a varint: tags, lengths and small numbers. */
  number(): number {
    const first = this.#bytes[this.#at]
    if (first !== undefined && first < 0x80) {
      this.#at++
      return first
    }
    return Number(BigInt.asUintN(32, this.varint()))
  }

  varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw this.wrong('a number is cut short')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw this.wrong('a number is longer than 64 bits')
  }

  double(): number {
    return this.#view.getFloat64(this.#take(8), true)
  }

  fixed64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true)
  }

  /** Returns a view of the message's bytes. */
  bytes(): Uint8Array {
    const length = this.number()
    const start = this.#take(length)
    return this.#bytes.subarray(start, start + length)
  }

  block(): Cursor {
    return new Cursor(this.bytes())
  }

  skip(wire: number): void {
    if (wire === VARINT) this.varint()
    else if (wire === FIXED64) this.#take(8)
    else if (wire === LENGTH) this.bytes()
    else if (wire === FIXED32) this.#take(4)
    else throw this.wrong(`unknown wire type ${wire}`)
  }

  wrong(why: string): PcpError {
    return new PcpError('PM_ERR_CONV', `Protocol buffers, byte ${this.#at} of ${this.#bytes.length}: ${why}`)
  }

  /** Skips `length` bytes and returns where they start. */
  #take(length: number): number {
    const start = this.#at
    if (length > this.#bytes.length - start) throw this.wrong(`${length} bytes are missing`)
    this.#at += length
    return start
  }
}
