/**
 * bzip2: blocks of run-length encoding, Burrows-Wheeler transform, move-to-front and Huffman codes.
 *
 *     'BZh' level  { 0x314159265359 crc32 randomised:1 origin:24 symbols codes data }  0x177245385090 crc32
 *
 * Why not a package: docs/decisions/decompression.md
 */
import { ByteInput, ByteOutput, type Read, type Write } from './input.ts'

const MAX_CODE_LENGTH = 20
/** Symbols coded with one table before the next selector applies. */
const SYMBOLS_PER_GROUP = 50
/** Block size per level. */
const LEVEL = 100_000

/** Decompresses one or more bzip2 streams. Throws an Error for damage, checked by the format's CRCs. */
export function decodeBzip2(read: Read, write: Write): void {
  const bytes = new ByteInput(read)
  const crcTable = makeCrcTable()
  // Shared by all streams: a file of a megabyte can contain 70,000 empty ones.
  let block = new Uint32Array(0)
  let first = bytes.byte()
  do {
    if (first !== 0x42 || bytes.byte() !== 0x5a || bytes.byte() !== 0x68)
      throw new Error('it is not a bzip2 file')
    const level = bytes.byte() - 0x30
    if (level < 1 || level > 9) throw new Error('it is not a bzip2 file')
    if (block.length < level * LEVEL) block = new Uint32Array(level * LEVEL)
    decodeStream(bytes, block.subarray(0, level * LEVEL), crcTable, write)
    first = bytes.next()
  } while (first !== -1)
}

function decodeStream(bytes: ByteInput, block: Uint32Array, crcTable: Int32Array, write: Write): void {
  const input = new BitInput(bytes)
  let combined = 0
  for (;;) {
    const magic = input.bits(24) * 2 ** 24 + input.bits(24)
    const crc = input.bits(16) * 2 ** 16 + input.bits(16)
    if (magic === 0x177245385090) {
      if (crc !== combined) throw new Error('its checksum is wrong')
      return
    }
    if (magic !== 0x314159265359) throw new Error('a block does not start where it should')
    if (input.bits(1) === 1) throw new Error('it was made by bzip2 before 0.9.5')
    const origin = input.bits(24)
    const length = readBlock(input, block)
    if (origin >= length) throw new Error('a block is damaged')
    if (writeBlock(block, length, origin, crcTable, write) !== crc) throw new Error('a checksum is wrong')
    combined = (((combined << 1) | (combined >>> 31)) ^ crc) >>> 0
  }
}

/** Reads bits, the most significant first. */
class BitInput {
  readonly #bytes: ByteInput
  #hold = 0
  #left = 0

  constructor(bytes: ByteInput) {
    this.#bytes = bytes
  }

  /** Returns the next `n` bits, at most 24. */
  bits(n: number): number {
    while (this.#left < n) {
      this.#hold = (this.#hold << 8) | this.#bytes.byte()
      this.#left += 8
    }
    this.#left -= n
    return (this.#hold >>> this.#left) & ((1 << n) - 1)
  }
}

/** A canonical Huffman code: for each length its first code, the number of codes, and the index of their symbols. */
interface Code {
  readonly shortest: number
  readonly first: Int32Array
  readonly count: Int32Array
  readonly place: Int32Array
  readonly symbols: Uint16Array
}

/** Reads one block's transformed bytes into `block`; returns their number. */
function readBlock(input: BitInput, block: Uint32Array): number {
  const order = readAlphabet(input)
  const endSymbol = order.length + 1
  const { codes, selectors } = readCodes(input, order.length + 2)
  let length = 0
  let run = 0
  let weight = 1
  for (let group = 0; ; group++) {
    if (group === selectors.length) throw new Error('a block is damaged')
    const code = codes[selectors[group]!]!
    for (let i = 0; i < SYMBOLS_PER_GROUP; i++) {
      const symbol = readSymbol(input, code)
      if (symbol <= 1) {
        // The two shortest symbols are the digits of a run's length in bijective base 2. Checked at each digit.
        run += weight << symbol
        weight *= 2
        if (length + run > block.length) throw new Error('a block is too long')
        continue
      }
      if (run > 0) {
        block.fill(order[0]!, length, length + run)
        length += run
        run = 0
        weight = 1
      }
      if (symbol === endSymbol) return length
      if (length === block.length) throw new Error('a block is too long')
      block[length++] = moveToFront(order, symbol - 1)
    }
  }
}

/** The bytes that occur in a block, ascending. */
function readAlphabet(input: BitInput): Uint8Array {
  const rows = input.bits(16)
  const bytes: number[] = []
  for (let row = 0; row < 16; row++) {
    if (((rows >> (15 - row)) & 1) === 0) continue
    const columns = input.bits(16)
    for (let column = 0; column < 16; column++)
      if (((columns >> (15 - column)) & 1) === 1) bytes.push(row * 16 + column)
  }
  if (bytes.length === 0) throw new Error('a block is damaged')
  return Uint8Array.from(bytes)
}

/** Reads the codes of a block, and which of them each group of symbols uses. */
function readCodes(input: BitInput, symbols: number): { codes: Code[]; selectors: Uint8Array } {
  const count = input.bits(3)
  const selectors = new Uint8Array(input.bits(15))
  if (count < 2 || count > 6) throw new Error('a block is damaged')
  const order = Uint8Array.from({ length: count }, (_, i) => i)
  for (let i = 0; i < selectors.length; i++) {
    let index = 0
    while (input.bits(1) === 1) if (++index === count) throw new Error('a block is damaged')
    selectors[i] = moveToFront(order, index)
  }
  return { codes: Array.from({ length: count }, () => readCode(input, symbols)), selectors }
}

function readCode(input: BitInput, symbols: number): Code {
  const lengths = new Uint8Array(symbols)
  let length = input.bits(5)
  for (let i = 0; i < symbols; i++) {
    while (length >= 1 && length <= MAX_CODE_LENGTH && input.bits(1) === 1)
      length += input.bits(1) === 1 ? -1 : 1
    if (length < 1 || length > MAX_CODE_LENGTH) throw new Error('a block is damaged')
    lengths[i] = length
  }
  return canonicalCode(lengths)
}

function canonicalCode(lengths: Uint8Array): Code {
  const first = new Int32Array(MAX_CODE_LENGTH + 1)
  const count = new Int32Array(MAX_CODE_LENGTH + 1)
  const place = new Int32Array(MAX_CODE_LENGTH + 1)
  const symbols = new Uint16Array(lengths.length)
  for (const length of lengths) count[length]!++
  for (let length = 1, code = 0, at = 0; length <= MAX_CODE_LENGTH; length++) {
    first[length] = code
    place[length] = at
    for (let symbol = 0; symbol < lengths.length; symbol++)
      if (lengths[symbol] === length) symbols[at++] = symbol
    code = (code + count[length]!) * 2
  }
  return { shortest: lengths.reduce((a, b) => Math.min(a, b)), first, count, place, symbols }
}

function readSymbol(input: BitInput, code: Code): number {
  let length = code.shortest
  let bits = input.bits(length)
  // Never below the first code of a length: it would have matched at the length before.
  while (bits - code.first[length]! >= code.count[length]!) {
    if (++length > MAX_CODE_LENGTH) throw new Error('a block is damaged')
    bits = bits * 2 + input.bits(1)
  }
  return code.symbols[code.place[length]! + bits - code.first[length]!]!
}

function moveToFront(order: Uint8Array, index: number): number {
  const value = order[index]!
  for (let i = index; i > 0; i--) order[i] = order[i - 1]!
  order[0] = value
  return value
}

/** Inverts the Burrows-Wheeler transform and the outer run lengths (four equal bytes and a count of further ones). Returns the CRC. */
function writeBlock(
  block: Uint32Array,
  length: number,
  origin: number,
  crcTable: Int32Array,
  write: Write,
): number {
  linkSorted(block, length)
  const output = new ByteOutput(write)
  let crc = -1
  let entry = block[origin]!
  let previous = -1
  let same = 0
  for (let i = 0; i < length; i++) {
    entry = block[entry >>> 8]!
    const byte = entry & 0xff
    const isCount = same === 4
    const copies = isCount ? byte : 1
    if (!isCount) {
      same = byte === previous ? same + 1 : 1
      previous = byte
    } else same = 0
    for (let copy = 0; copy < copies; copy++) {
      crc = (crc << 8) ^ crcTable[(crc >>> 24) ^ previous]!
      output.put(previous)
    }
    if (isCount) previous = -1
  }
  output.flush()
  return ~crc >>> 0
}

/** Stores in each entry, above its byte, the index of the entry that follows it in the text. */
function linkSorted(block: Uint32Array, length: number): void {
  const next = new Uint32Array(256)
  for (let i = 0; i < length; i++) next[block[i]! & 0xff]!++
  for (let byte = 0, sum = 0; byte < 256; byte++) {
    const count = next[byte]!
    next[byte] = sum
    sum += count
  }
  for (let i = 0; i < length; i++) block[next[block[i]! & 0xff]!++]! |= i << 8
}

/** CRC-32 with the most significant bit first. */
function makeCrcTable(): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << 24
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0)
    return crc
  })
}
