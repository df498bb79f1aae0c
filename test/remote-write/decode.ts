/** Decodes messages of Remote Write, independently of the encoder: by field number and wire type only. */
import { snappyUncompress } from 'hyparquet'

/** A sample; `bits` are those of the value, in hexadecimal. */
export interface DecodedSample {
  readonly time: number
  readonly value: number
  readonly bits: string
}

/** A series. */
export interface DecodedSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly samples: readonly DecodedSample[]
  /** 2.0: type, help and unit. */
  readonly metadata: readonly [number, string, string] | undefined
}

/** A message. */
export interface Decoded {
  readonly series: readonly DecodedSeries[]
  /** 1.0: type, help and unit by family. */
  readonly metadata: Readonly<Record<string, readonly [number, string, string]>>
}

type Fields = Map<number, (bigint | Buffer)[]>

function varintAt(bytes: Buffer, from: number): { readonly value: bigint; readonly end: number } {
  let value = 0n
  for (let at = from, shift = 0n; ; shift += 7n) {
    const byte = bytes[at++]
    if (byte === undefined) throw new Error('truncated')
    value |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) return { value, end: at }
  }
}

/** Reads all fields of a message. */
function fieldsOf(bytes: Buffer): Fields {
  const fields: Fields = new Map()
  const take = (at: number): { readonly value: bigint; readonly end: number } => varintAt(bytes, at)
  for (let at = 0; at < bytes.length; ) {
    const key = take(at)
    at = key.end
    const wire = Number(key.value & 7n)
    let value: bigint | Buffer
    if (wire === 0) {
      const found = take(at)
      value = found.value
      at = found.end
    } else {
      if (wire !== 1 && wire !== 2) throw new Error(`wire type ${wire}`)
      const length = wire === 1 ? { value: 8n, end: at } : take(at)
      at = length.end + Number(length.value)
      value = bytes.subarray(length.end, at)
      if (at > bytes.length) throw new Error('truncated')
    }
    const field = Number(key.value >> 3n)
    fields.set(field, [...(fields.get(field) ?? []), value])
  }
  return fields
}

const list = (from: Fields, field: number): Buffer[] => (from.get(field) ?? []) as Buffer[]
const number = (from: Fields, field: number): number => Number(from.get(field)?.[0] ?? 0n)
const text = (from: Fields, field: number): string => list(from, field)[0]?.toString() ?? ''

function packed(bytes: Buffer): number[] {
  const numbers: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const { value, end } = varintAt(bytes, at)
    numbers.push(Number(value))
    at = end
  }
  return numbers
}

function samplesOf(series: Fields): DecodedSample[] {
  return list(series, 2).map((bytes) => {
    const sample = fieldsOf(bytes)
    const value = list(sample, 1)[0] ?? Buffer.alloc(8)
    const time = Number(BigInt.asIntN(64, (sample.get(2)?.[0] as bigint | undefined) ?? 0n))
    return { time, value: value.readDoubleLE(), bits: Buffer.from(value).reverse().toString('hex') }
  })
}

/** Decompresses a body with another implementation of Snappy. */
export function decompressed(body: Buffer): Buffer {
  const output = Buffer.alloc(Number(varintAt(body, 0).value))
  if (output.length > 0) snappyUncompress(body, output)
  return output
}

/** Decodes a message, whose version the caller knows. */
export function decodeRequest(message: Buffer, version: 1 | 2): Decoded {
  const fields = fieldsOf(message)
  return version === 1 ? decodeV1(fields) : decodeV2(fields)
}

function decodeV1(fields: Fields): Decoded {
  const series = list(fields, 1).map((bytes): DecodedSeries => {
    const one = fieldsOf(bytes)
    const pairs = list(one, 1).map((label) => [text(fieldsOf(label), 1), text(fieldsOf(label), 2)] as const)
    return { labels: sortedRecord(pairs), samples: samplesOf(one), metadata: undefined }
  })
  const metadata = list(fields, 3).map((bytes) => {
    const one = fieldsOf(bytes)
    return [text(one, 2), [number(one, 1), text(one, 4), text(one, 5)] as const] as const
  })
  return { series, metadata: Object.fromEntries(metadata) }
}

function decodeV2(fields: Fields): Decoded {
  const symbols = list(fields, 4).map(String)
  if (symbols[0] !== '') throw new Error('the first symbol is not empty')
  const series = list(fields, 5).map((bytes): DecodedSeries => {
    const one = fieldsOf(bytes)
    const refs = packed(list(one, 1)[0]!)
    const pairs = refs.flatMap((ref, i) =>
      i % 2 === 0 ? [[symbols[ref]!, symbols[refs[i + 1]!]!] as const] : [],
    )
    const about = fieldsOf(list(one, 5)[0]!)
    const metadata = [number(about, 1), symbols[number(about, 3)]!, symbols[number(about, 4)]!] as const
    return { labels: sortedRecord(pairs), samples: samplesOf(one), metadata }
  })
  return { series, metadata: {} }
}

/** Checks what receivers rely on: names are sorted and unique, and values not empty. */
function sortedRecord(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  for (const [i, [name, value]] of pairs.entries())
    if (value === '' || (i > 0 && pairs[i - 1]![0] >= name))
      throw new Error(`labels: ${JSON.stringify(pairs)}`)
  return Object.fromEntries(pairs)
}
