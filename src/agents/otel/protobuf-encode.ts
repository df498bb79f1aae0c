/** Encodes protocol buffers with a table of fields. https://protobuf.dev/programming-guides/encoding */
import type { FieldKind, Message } from './protobuf.ts'
import { WIRE_TYPES } from './protobuf.ts'

/** Encodes an object as of ProtoJSON, where 64-bit integers may be texts. Unknown members are left out. */
export function encodeMessage(object: object, message: Message): Uint8Array {
  const writer = new Writer()
  writeMessage(writer, object, message)
  return writer.bytes()
}

function writeMessage(writer: Writer, object: object, message: Message): void {
  const members = object as Readonly<Record<string, unknown>>
  for (const [number, { name, kind, isRepeated }] of Object.entries(message())) {
    const value = members[name]
    if (value === undefined) continue
    for (const each of isRepeated === true ? (value as readonly unknown[]) : [value]) {
      writer.varint(BigInt((Number(number) << 3) | wireTypeOf(kind)))
      writeValue(writer, each, kind)
    }
  }
}

function wireTypeOf(kind: FieldKind | Message): number {
  return WIRE_TYPES[typeof kind === 'function' ? 'bytes' : kind]
}

function writeValue(writer: Writer, value: unknown, kind: FieldKind | Message): void {
  if (typeof kind === 'function') {
    writer.block(encodeMessage(value as object, kind))
    return
  }
  switch (kind) {
    case 'string':
      writer.block(new TextEncoder().encode(String(value)))
      return
    case 'bytes':
      writer.block(value as Uint8Array)
      return
    case 'double':
      writer.double(Number(value))
      return
    case 'fixed64':
    case 'sfixed64':
      writer.fixed64(integerOf(value))
      return
    case 'sint32':
      writer.varint(BigInt(((Number(value) << 1) ^ (Number(value) >> 31)) >>> 0))
      return
    default:
      writer.varint(integerOf(value))
  }
}

function integerOf(value: unknown): bigint {
  return BigInt.asUintN(64, BigInt(value as string | number | bigint | boolean))
}

/** Bytes that grow. */
class Writer {
  #bytes = new Uint8Array(256)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  varint(value: bigint): void {
    let rest = value
    for (; rest >= 0x80n; rest >>= 7n) this.#byte(Number(rest & 0x7fn) | 0x80)
    this.#byte(Number(rest))
  }

  double(value: number): void {
    this.#view.setFloat64(this.#take(8), value, true)
  }

  fixed64(value: bigint): void {
    this.#view.setBigUint64(this.#take(8), value, true)
  }

  /** Writes bytes after their number. */
  block(bytes: Uint8Array): void {
    this.varint(BigInt(bytes.length))
    const at = this.#take(bytes.length)
    this.#bytes.set(bytes, at)
  }

  #byte(value: number): void {
    const at = this.#take(1)
    this.#bytes[at] = value
  }

  /** Makes room for bytes and returns where they start. */
  #take(count: number): number {
    const at = this.#length
    this.#length += count
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#length)
      larger.set(this.#bytes)
      this.#bytes = larger
      this.#view = new DataView(larger.buffer)
    }
    return at
  }
}
