/** A fuzz entry: a parser of outside bytes, its seeds, and the errors that it may throw. CONTRIBUTING.md: Fuzzing */
import { PcpError } from '../../../src/model/errors.ts'

/** One parser under test. */
export interface FuzzEntry {
  /** Returns valid inputs to start from. */
  seeds(): readonly Uint8Array[]
  /** Feeds one input to the parser. Throws an error not accepted by `mayThrow` if the parser or one of its properties fails. */
  run(input: Uint8Array): void | Promise<void>
  /** Whether an error is the parser's regular refusal; by default a PcpError. */
  readonly mayThrow?: (error: unknown) => boolean
  /** Repairs the parts of an input that the first check needs, such as a length field. */
  readonly repair?: (input: Uint8Array) => Uint8Array
  /** Words that are not literals of the parser, such as magic numbers. */
  readonly words?: readonly Uint8Array[]
  /** Whether inputs are text: mutations then work on words, digits and lines as well. */
  readonly isText?: boolean
  /** Longest input, bytes. */
  readonly maxLength?: number
  /** Stops what the entry has started. */
  readonly close?: () => Promise<void>
}

/** A parser of text. */
export interface TextEntry {
  readonly seeds: () => readonly string[]
  readonly run: (text: string) => void | Promise<void>
  readonly mayThrow?: (error: unknown) => boolean
  readonly words?: readonly string[]
  readonly maxLength?: number
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Makes an entry for a parser of text; inputs are decoded as UTF-8, as files are. */
export function textEntry({ seeds, run, mayThrow, words, maxLength }: TextEntry): FuzzEntry {
  return {
    seeds: () => seeds().map((text) => encoder.encode(text)),
    run: (input) => run(decoder.decode(input)),
    isText: true,
    ...(mayThrow && { mayThrow }),
    ...(words && { words: words.map((word) => encoder.encode(word)) }),
    ...(maxLength !== undefined && { maxLength }),
  }
}

/** Whether an error of an entry is a regular refusal. */
export function isRefusal(entry: FuzzEntry, error: unknown): boolean {
  return entry.mayThrow === undefined ? error instanceof PcpError : entry.mayThrow(error)
}

/** Thrown by an entry when a property of its parser does not hold. */
export class PropertyError extends Error {
  override readonly name = 'PropertyError'
}

/** Throws when a property does not hold. */
export function hold(isTrue: boolean, property: string): asserts isTrue {
  if (!isTrue) throw new PropertyError(property)
}

/** Throws when two values differ as JSON, with big integers as text. */
export function holdSame(a: unknown, b: unknown, property: string): void {
  const [left, right] = [a, b].map((value) => JSON.stringify(value, plain))
  if (left !== right) throw new PropertyError(`${property}: ${left} became ${right}`)
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (value instanceof Map || value instanceof Set) return [...value]
  return value
}

/** Splits an input into parts, each after its length in four bytes; the rest is the last part. For parsers of several files. */
export function splitParts(input: Uint8Array, count: number): Uint8Array[] {
  const view = new DataView(input.buffer, input.byteOffset, input.length)
  const parts: Uint8Array[] = []
  let at = 0
  while (parts.length < count - 1) {
    const length = at + 4 <= input.length ? view.getUint32(at) : 0
    const start = Math.min(at + 4, input.length)
    at = Math.min(start + length, input.length)
    parts.push(input.slice(start, at))
  }
  parts.push(input.slice(at))
  return parts
}

/** Joins parts for `splitParts`. */
export function joinParts(parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length + 4, -4)
  const joined = new Uint8Array(length)
  let at = 0
  for (const [i, part] of parts.entries()) {
    if (i < parts.length - 1) {
      new DataView(joined.buffer).setUint32(at, part.length)
      at += 4
    }
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** Runs several parsers over one input, all of them even if one rejects it. */
export function attemptAll(entry: FuzzEntry, actions: readonly (() => unknown)[]): void {
  for (const action of actions)
    try {
      action()
    } catch (error) {
      if (!isRefusal(entry, error)) throw error
    }
}
