/** Puts values of one metric together into value sets, moment after moment. docs/formats/archive.md §10 */
import { PM_IN_NULL } from '../model/ids.ts'
import { PM_TYPE_FLOAT, PM_VAL_DPTR, PM_VAL_INSITU } from '../model/types.ts'
import { emptySet, type ValueSet } from '../model/values.ts'
import type { Track } from './interp-track.ts'

const NO_BYTES = new Uint8Array(0)

/**
 * Collects the values of one moment after another into sets of the metric's own format. Sets of the same instances share them, also
 * those that are good for ever.
 */
export class SetOutput {
  readonly #track: Track
  readonly #size: number
  readonly #blocks: Uint8Array[] = []
  #isInSitu = false
  #word: Int32Array
  #bytes: Uint8Array = NO_BYTES
  /** Instances of the set before, and whether those of this one are the same so far. */
  #inst: Int32Array
  #isSame = true
  #count = 0
  #end = 0
  /** The set before, which the next one may be with other values. */
  #set: ValueSet
  #reuses = false

  /** For at most `size` values of a track. */
  constructor(track: Track, size: number) {
    this.#track = track
    this.#size = size
    this.#set = emptySet(track.desc.pmid)
    this.#inst = this.#set.inst
    this.#word = this.#set.word
  }

  /** Begins with a set; with `reuses` it is good until the next one begins. */
  begin(reuses: boolean): void {
    const { format, isNumeric } = this.#track
    this.#isInSitu = format === PM_VAL_INSITU
    this.#count = 0
    this.#end = 0
    this.#isSame = true
    this.#blocks.length = 0
    const isRoomy = this.#word.length === this.#size && isNumeric
    if (reuses && this.#reuses && isRoomy && (this.#isInSitu || this.#bytes.length > 0)) return
    this.#reuses = reuses
    this.#set = emptySet(this.#track.desc.pmid)
    this.#word = new Int32Array(this.#size)
    this.#bytes = isNumeric && !this.#isInSitu ? new Uint8Array(LONG * this.#size) : NO_BYTES
  }

  /** Adds a number. */
  addWords(slot: number, high: number, low: number): void {
    if (this.#isInSitu) {
      this.#add(slot, high)
      return
    }
    const at = this.#end
    const { type } = this.#track.desc
    const length = type === PM_TYPE_FLOAT ? SHORT : LONG
    const bytes = this.#bytes
    putWord(bytes, at, (type << 24) | length)
    putWord(bytes, at + 4, high)
    if (length === LONG) putWord(bytes, at + 8, low)
    this.#end += length
    this.#add(slot, at)
  }

  /** Adds a value that is no number. */
  addBlock(slot: number, block: Uint8Array): void {
    this.#blocks.push(block)
    this.#add(slot, this.#end)
    this.#end += (block.length + 3) & ~3
  }

  #add(slot: number, word: number): void {
    const inst = this.#track.isSingular ? PM_IN_NULL : this.#track.insts[slot]!
    const i = this.#count
    if (this.#isSame && this.#inst[i] !== inst) {
      // The first one that differs: what was the same belongs to sets that are good for ever.
      const insts = new Int32Array(this.#size)
      insts.set(this.#inst.subarray(0, i))
      this.#inst = insts
      this.#isSame = false
    }
    if (!this.#isSame) this.#inst[i] = inst
    this.#word[i] = word
    this.#count = i + 1
  }

  /** The set. */
  finish(): ValueSet {
    const { pmid } = this.#track.desc
    const count = this.#count
    if (count === 0) return emptySet(pmid)
    if (this.#inst.length !== count) this.#inst = this.#inst.slice(0, count)
    if (this.#blocks.length > 0) this.#putBlocks()
    const inst = this.#inst
    if (this.#set.inst === inst && this.#set.status === count) return this.#set
    // A part of a small array would take it out of the fast part of the heap.
    const part = this.#reuses ? this.#word.subarray(0, count) : this.#word.slice(0, count)
    const word = count === this.#size ? this.#word : part
    const format = this.#isInSitu ? PM_VAL_INSITU : PM_VAL_DPTR
    const set = { pmid, status: count, format, inst, word, bytes: this.#bytes }
    this.#set = set
    return set
  }

  #putBlocks(): void {
    this.#bytes = new Uint8Array(this.#end)
    for (let i = 0; i < this.#blocks.length; i++) this.#bytes.set(this.#blocks[i]!, this.#word[i]!)
  }
}

/** Lengths of blocks with a number of 32 and of 64 bits. */
const SHORT = 8
const LONG = 12

/** Without a DataView, which would take small arrays out of the fast part of the heap. */
function putWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24
  bytes[at + 1] = word >>> 16
  bytes[at + 2] = word >>> 8
  bytes[at + 3] = word
}
