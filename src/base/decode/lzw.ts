/**
 * Files of compress(1): LZW with codes of 9 to 16 bits, the least significant bit first, in groups of eight codes. The rest of a group
 * is unused when the code length changes.
 *
 *     0x1f 0x9d  flags: longest code (5 bits), 0x80 the table can be cleared  codes
 *
 * The format has neither a length nor a checksum.
 */
import { ByteInput, ByteOutput, type Read, type Write } from './input.ts'

const SHORTEST = 9
const CLEAR = 256
const MAX_CODES = 1 << 16

/** Decompresses a file of compress(1). Throws an Error for invalid codes; truncation cannot be detected. */
export function decodeLzw(read: Read, write: Write): void {
  const input = new ByteInput(read)
  if (input.byte() !== 0x1f || input.byte() !== 0x9d) throw new Error('it was not made by compress')
  const flags = input.byte()
  const longest = flags & 0x1f
  if (longest < SHORTEST || longest > 16) throw new Error('it was not made by compress')
  const output = new ByteOutput(write)
  decodeCodes(new CodeInput(input), longest, (flags & 0x80) !== 0, output)
  output.flush()
}

function decodeCodes(codes: CodeInput, longest: number, clears: boolean, output: ByteOutput): void {
  const table = new Strings()
  let free = clears ? CLEAR + 1 : CLEAR
  let width = SHORTEST
  let previous = -1
  for (;;) {
    if (free === 1 << width && width < longest) codes.align(width++)
    const code = codes.next(width)
    if (code === -1) return
    if (code === CLEAR && clears) {
      codes.align(width)
      width = SHORTEST
      // The next code adds an entry at index CLEAR, which no code can refer to.
      free = CLEAR
      continue
    }
    if (code > free || (previous === -1 && code >= CLEAR)) throw new Error('a code is damaged')
    // The only string that is not complete yet: the previous string followed by its first byte.
    if (code === free) table.add(free, previous, table.firstByte)
    table.put(code, output)
    if (previous !== -1 && free < 1 << longest) table.add(free++, previous, table.firstByte)
    previous = code
  }
}

/** Strings by code: each is a previous string and a byte. */
class Strings {
  readonly #prefix = new Uint16Array(MAX_CODES)
  readonly #last = new Uint8Array(MAX_CODES)
  readonly #stack = new Uint8Array(MAX_CODES)
  /** First byte of the string written last. */
  firstByte = 0

  add(code: number, prefix: number, last: number): void {
    this.#prefix[code] = prefix
    this.#last[code] = last
  }

  put(code: number, output: ByteOutput): void {
    let depth = 0
    let at = code
    // Terminates: every prefix has a smaller code.
    for (; at >= CLEAR; at = this.#prefix[at]!) this.#stack[depth++] = this.#last[at]!
    this.firstByte = at
    output.put(at)
    while (depth > 0) output.put(this.#stack[--depth]!)
  }
}

class CodeInput {
  readonly #bytes: ByteInput
  #hold = 0
  #bits = 0
  /** Codes read of the current group. */
  #codes = 0

  constructor(bytes: ByteInput) {
    this.#bytes = bytes
  }

  /** Returns the next code, or -1 if too few bits are left. */
  next(width: number): number {
    while (this.#bits < width) {
      const byte = this.#bytes.next()
      if (byte === -1) return -1
      this.#hold |= byte << this.#bits
      this.#bits += 8
    }
    const code = this.#hold & ((1 << width) - 1)
    this.#hold >>>= width
    this.#bits -= width
    this.#codes = (this.#codes + 1) % 8
    return code
  }

  /** Skips the rest of a group of codes of this width. */
  align(width: number): void {
    while (this.#codes !== 0 && this.next(width) !== -1);
    this.#codes = 0
  }
}
