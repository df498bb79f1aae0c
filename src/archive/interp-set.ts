/** Builds value sets of one metric at successive times. docs/formats/archive.md §10 */
import { PM_IN_NULL } from '../model/ids.ts'
import { PM_TYPE_FLOAT, PM_VAL_DPTR, PM_VAL_INSITU } from '../model/types.ts'
import { emptySet, type ValueSet } from '../model/values.ts'
import type { Track } from './interp-track.ts'

const NO_BYTES = new Uint8Array(0)
/** Lengths of blocks with a 32-bit and a 64-bit number. */
const SHORT = 8
const LONG = 12

/**
 * Builds sets in the metric's own format. Sets of the same instances share the array of instances, even if the sets are
 * kept.
 */
export class SetOutput {
  /** Slots with a value, and the words of numbers; the caller fills these in before requesting a set. */
  readonly found: Int32Array
  readonly high: Int32Array
  readonly low: Int32Array
  readonly #track: Track
  /** Slots of the previous set, and their instances. */
  #slots = new Int32Array(0)
  #inst = new Int32Array(0)
  /** Offsets of blocks with numbers. */
  #offsets = new Int32Array(0)
  /** The previous set, if its memory may be reused. */
  #set: ValueSet | undefined

  /** For at most `size` values of a track. */
  constructor(track: Track, size: number) {
    this.#track = track
    this.found = new Int32Array(size)
    this.high = new Int32Array(size)
    this.low = new Int32Array(size)
  }

  /** Returns the set of the first `count` numbers; with `reuses` valid until the next call. */
  numbers(count: number, reuses: boolean): ValueSet {
    const { desc, format } = this.#track
    if (count === 0) return emptySet(desc.pmid)
    const inst = this.#instances(count)
    const known = reuses && this.#set?.inst === inst ? this.#set : undefined
    const set = format === PM_VAL_INSITU ? this.#inWords(inst, known) : this.#inBlocks(inst, known)
    this.#set = reuses ? set : undefined
    return set
  }

  #inWords(inst: Int32Array, known: ValueSet | undefined): ValueSet {
    const status = inst.length
    if (known === undefined) {
      const word = this.high.slice(0, status)
      return { pmid: this.#track.desc.pmid, status, format: PM_VAL_INSITU, inst, word, bytes: NO_BYTES }
    }
    for (let i = 0; i < status; i++) known.word[i] = this.high[i]!
    return known
  }

  #inBlocks(inst: Int32Array, known: ValueSet | undefined): ValueSet {
    const { pmid, type } = this.#track.desc
    const status = inst.length
    const size = type === PM_TYPE_FLOAT ? SHORT : LONG
    if (this.#offsets.length !== status) this.#offsets = Int32Array.from(inst.keys(), (i) => i * size)
    const bytes = known?.bytes ?? new Uint8Array(status * size)
    this.#putBlocks(bytes, status, (type << 24) | size, size)
    return known ?? { pmid, status, format: PM_VAL_DPTR, inst, word: this.#offsets, bytes }
  }

  /** Without a DataView, which would move small arrays off the fast part of V8's heap. */
  #putBlocks(bytes: Uint8Array, count: number, head: number, size: number): void {
    for (let i = 0, at = 0; i < count; i++, at += size) {
      putWord(bytes, at, head)
      putWord(bytes, at + 4, this.high[i]!)
      if (size === LONG) putWord(bytes, at + 8, this.low[i]!)
    }
  }

  /** Returns a set of values that are not numbers. */
  blocks(blocks: readonly Uint8Array[]): ValueSet {
    const { pmid } = this.#track.desc
    const count = blocks.length
    if (count === 0) return emptySet(pmid)
    const word = new Int32Array(count)
    let end = 0
    for (const [i, block] of blocks.entries()) {
      word[i] = end
      end += (block.length + 3) & ~3
    }
    const bytes = new Uint8Array(end)
    for (const [i, block] of blocks.entries()) bytes.set(block, word[i]!)
    return { pmid, status: count, format: PM_VAL_DPTR, inst: this.#instances(count), word, bytes }
  }

  /** Returns the instances of the first `count` slots in `found`: the array of the previous set if they are equal. */
  #instances(count: number): Int32Array {
    const { found } = this
    const slots = this.#slots
    let isSame = slots.length === count
    for (let i = 0; isSame && i < count; i++) if (slots[i] !== found[i]) isSame = false
    if (isSame) return this.#inst
    const { insts, isSingular } = this.#track
    this.#slots = found.slice(0, count)
    this.#inst = this.#slots.map((slot) => (isSingular ? PM_IN_NULL : insts[slot]!))
    return this.#inst
  }
}

function putWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24
  bytes[at + 1] = word >>> 16
  bytes[at + 2] = word >>> 8
  bytes[at + 3] = word
}
