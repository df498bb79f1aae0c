/** Python's pickle format, as much as Graphite reads: a list of `(path, (time, number))`. */

/** A value of a series. */
export interface GraphitePoint {
  readonly path: string
  /** Seconds since the epoch. */
  readonly time: number
  /** A number as text. */
  readonly value: string
}

/** Returns whether a number of a protocol is known to Python. */
export function isPickleProtocol(protocol: number): boolean {
  return Number.isInteger(protocol) && protocol >= 0 && protocol <= 5
}

/** Pickles points: protocol 0 as text, 1 in bytes, and for higher ones as 2, because later ones add nothing for lists of numbers. */
export function pickle(points: readonly GraphitePoint[], protocol: number): Uint8Array {
  return protocol === 0 ? asText(points) : asBytes(points, protocol)
}

function asText(points: readonly GraphitePoint[]): Uint8Array {
  const tuples = points.map(
    ({ path, time, value }) => `(V${unicodeEscape(path)}\n(I${time}\n${textNumber(value)}tta`,
  )
  return Buffer.from(`(l${tuples.join('')}.`, 'latin1')
}

/** Python's encoding `raw-unicode-escape`, with escaped controls. */
function unicodeEscape(text: string): string {
  return text.replaceAll(
    /[^\x20-\x5b\x5d-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const MAX_INT = 0x7fff_ffff

function isReal(value: string): boolean {
  return /[.e]/.test(value)
}

function isLong(value: string): boolean {
  return Math.abs(Number(value)) > MAX_INT
}

function textNumber(value: string): string {
  if (isReal(value)) return `F${value}\n`
  return isLong(value) ? `L${value}L\n` : `I${value}\n`
}

function asBytes(points: readonly GraphitePoint[], protocol: number): Uint8Array {
  const parts: Uint8Array[] = [latin1(protocol === 1 ? ']' : '\x80\x02]'), latin1('(')]
  for (const { path, time, value } of points)
    parts.push(latin1('('), textOf(path), latin1('('), numberOf(String(time)), numberOf(value), latin1('tt'))
  parts.push(latin1('e.'))
  return Buffer.concat(parts)
}

function latin1(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}

function textOf(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  const head = Buffer.alloc(5)
  head.write('X', 'latin1')
  head.writeUInt32LE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

function numberOf(value: string): Uint8Array {
  if (isReal(value)) {
    const real = Buffer.alloc(9)
    real.write('G', 'latin1')
    real.writeDoubleBE(Number(value), 1)
    return real
  }
  if (isLong(value)) return latin1(`L${value}L\n`)
  const integer = Buffer.alloc(5)
  integer.write('J', 'latin1')
  integer.writeInt32LE(Number(value), 1)
  return integer
}
