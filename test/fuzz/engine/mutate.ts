/** Mutations of inputs. All randomness is from `pick`, so that a seed repeats a run. */

/** A whole number below a bound. */
export type Pick = (below: number) => number

/** Inputs of mutations. */
export interface Material {
  readonly pick: Pick
  /** Words of the parser. */
  readonly words: readonly Uint8Array[]
  /** Another input of the corpus. */
  readonly other: () => Uint8Array
  readonly isText: boolean
  readonly maxLength: number
}

type Mutation = (input: Uint8Array, material: Material) => Uint8Array

const ODD_WORDS = [
  0, 1, -1, 2, -2, 64, 127, 128, 255, 256, 0x7fff, 0xffff, 0x10000, 0x7fff_ffff, -0x8000_0000,
]
const ODD_NUMBERS = [
  ...['0', '1', '-1', '00', '2147483647', '2147483648', '-2147483648', '4294967295', '4294967296'],
  ...['9007199254740993', '9223372036854775807', '9223372036854775808', '18446744073709551615'],
  ...['18446744073709551616', '99999999999999999999999999', '1e308', '1e400', '-0', '0.1', '.5', '1e-400'],
  ...['0x10', '0x', '010', '1.7976931348623157e308', 'NaN', 'Infinity', '-inf'],
]
const ODD_CHARACTERS = '\0\t\n\r "#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~\x7f\x80\xe4\xff'
const encoder = new TextEncoder()
const numbers = ODD_NUMBERS.map((number) => encoder.encode(number))

const BYTES: readonly Mutation[] = [
  // A bit.
  (input, { pick }) => changed(input, pick, (at, copy) => (copy[at]! ^= 1 << pick(8))),
  // A byte.
  (input, { pick }) => changed(input, pick, (at, copy) => (copy[at] = pick(256))),
  // A byte a little more or less.
  (input, { pick }) => changed(input, pick, (at, copy) => (copy[at]! += pick(35) - 17)),
  // A word in either byte order.
  (input, { pick }) =>
    changed(input, pick, (at, copy) => {
      const value = pick(4) === 0 ? pick(copy.length * 2) : ODD_WORDS[pick(ODD_WORDS.length)]!
      const view = new DataView(copy.buffer, copy.byteOffset, copy.length)
      const start = pick(2) === 0 ? at & ~3 : at
      const isLittle = pick(4) === 0
      if (pick(4) === 0 && start + 2 <= copy.length) view.setInt16(start, value, isLittle)
      else if (start + 4 <= copy.length) view.setInt32(start, value, isLittle)
    }),
  // A word a little more or less.
  (input, { pick }) =>
    changed(input, pick, (at, copy) => {
      const start = Math.min(at & ~3, copy.length - 4)
      if (start < 0) return
      const view = new DataView(copy.buffer, copy.byteOffset, copy.length)
      view.setInt32(start, view.getInt32(start) + pick(17) - 8)
    }),
]

const BLOCKS: readonly Mutation[] = [
  // Removes a range.
  (input, { pick }) => {
    const { start, end } = stretch(input, pick)
    return joined(input.subarray(0, start), input.subarray(end))
  },
  // Repeats a range elsewhere.
  (input, { pick }) => {
    const { start, end } = stretch(input, pick)
    const at = pick(input.length + 1)
    return joined(input.subarray(0, at), input.subarray(start, end), input.subarray(at))
  },
  // Overwrites one range with another.
  (input, { pick }) => {
    const { start, end } = stretch(input, pick)
    const copy = input.slice()
    copy.copyWithin(pick(input.length + 1), start, end)
    return copy
  },
  // Truncates the input.
  (input, { pick }) => input.slice(0, pick(input.length + 1)),
  // Inserts a word of the parser.
  (input, { pick, words }) => {
    if (words.length === 0) return input
    const at = pick(input.length + 1)
    return joined(input.subarray(0, at), words[pick(words.length)]!, input.subarray(at))
  },
  // Overwrites with a word of the parser.
  (input, { pick, words }) => {
    if (words.length === 0) return input
    const word = words[pick(words.length)]!
    const at = pick(input.length + 1)
    return joined(input.subarray(0, at), word, input.subarray(Math.min(input.length, at + word.length)))
  },
  // The head of one input and the tail of another.
  (input, { pick, other }) => {
    const tail = other()
    return joined(input.subarray(0, pick(input.length + 1)), tail.subarray(pick(tail.length + 1)))
  },
  // Inserts a range of another input.
  (input, { pick, other }) => {
    const from = other()
    const { start, end } = stretch(from, pick)
    const at = pick(input.length + 1)
    return joined(input.subarray(0, at), from.subarray(start, end), input.subarray(at))
  },
]

const TEXTS: readonly Mutation[] = [
  // Replaces a number by another.
  (input, { pick }) => replaced(input, pick, isDigit, numbers[pick(numbers.length)]!),
  // Replaces a word by one of the parser.
  (input, { pick, words }) =>
    words.length === 0 ? input : replaced(input, pick, isLetter, words[pick(words.length)]!),
  // An odd character.
  (input, { pick }) => {
    const at = pick(input.length + 1)
    const char = ODD_CHARACTERS.charCodeAt(pick(ODD_CHARACTERS.length))
    return joined(input.subarray(0, at), Uint8Array.of(char), input.subarray(at + pick(2)))
  },
  // Removes, repeats or swaps lines.
  (input, { pick, other }) => {
    const lines = linesOf(input)
    const at = pick(lines.length)
    const from = pick(3) === 0 ? linesOf(other()) : lines
    if (pick(3) === 0) lines.splice(at, 1)
    else lines.splice(at, pick(2), from[pick(from.length)]!)
    return joined(...lines)
  },
  // Repeats one character many times: depth and length limits.
  (input, { pick }) => {
    if (pick(8) !== 0 || input.length === 0) return input
    const at = pick(input.length)
    const many = new Uint8Array(1 << pick(12)).fill(input[at]!)
    return joined(input.subarray(0, at), many, input.subarray(at))
  },
]

const ALL = [...BYTES, ...BLOCKS, ...BLOCKS]
const ALL_TEXT = [...BYTES.slice(0, 2), ...BLOCKS, ...TEXTS, ...TEXTS]

/** Makes a new input from one of the corpus. */
export function mutate(input: Uint8Array, material: Material): Uint8Array {
  const { pick, isText, maxLength } = material
  const mutations = isText ? ALL_TEXT : ALL
  let result: Uint8Array = input.slice()
  for (let times = 1 << pick(4); times > 0; times--) {
    if (result.length === 0) result = material.other().slice()
    result = mutations[pick(mutations.length)]!(result, material)
  }
  return result.length > maxLength ? result.slice(0, maxLength) : result
}

function changed(
  input: Uint8Array,
  pick: Pick,
  change: (at: number, copy: Uint8Array) => unknown,
): Uint8Array {
  if (input.length === 0) return input
  const copy = input.slice()
  change(pick(copy.length), copy)
  return copy
}

function stretch(input: Uint8Array, pick: Pick): { start: number; end: number } {
  const start = pick(input.length + 1)
  // Short stretches more often than long ones; words of four bytes matter in binary formats.
  const longest = [4, 16, 64, input.length + 1][pick(4)]!
  const length = pick(2) === 0 ? 1 + pick(Math.max(1, longest)) : 4 * (1 + pick(4))
  return { start, end: Math.min(input.length, start + length) }
}

function replaced(
  input: Uint8Array,
  pick: Pick,
  isPart: (byte: number) => boolean,
  by: Uint8Array,
): Uint8Array {
  let start = pick(input.length + 1)
  while (start < input.length && !isPart(input[start]!)) start++
  while (start > 0 && isPart(input[start - 1]!)) start--
  let end = start
  while (end < input.length && isPart(input[end]!)) end++
  return joined(input.subarray(0, start), by, input.subarray(end))
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

function isLetter(byte: number): boolean {
  return byte === 0x5f || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
}

function linesOf(input: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let start = 0; start <= input.length; ) {
    const end = input.indexOf(0x0a, start) + 1 || input.length + 1
    lines.push(input.subarray(start, end))
    start = end
  }
  return lines
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    result.set(part, at)
    at += part.length
  }
  return result
}
