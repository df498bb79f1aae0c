/**
 * Numbers of one metric in records: the decoder of record values for scans, columns, interpolation and
 * summaries. docs/formats/archive.md §5
 *
 *     value set     pmid 3 format   inst word   inst word   inst word        blocks   head NUMBER  head NUMBER ...
 *     slots                         0           1           -1, not selected
 *     values                        17          4
 */
import type { MetricDesc } from '../model/desc.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_INSITU,
} from '../model/types.ts'
import type { RecordView } from './record-view.ts'

/** Up to this many instances are searched linearly. */
const FEW = 32
const UNWANTED = -1
const TWO_32 = 0x1_0000_0000

/** Assigns slots 0, 1, 2 ... to instances, so that their state can be kept in columns. */
export class InstanceSlots {
  /** Instances by slot. */
  insts: Int32Array
  /** Slots in use. */
  length = 0
  #isClosed = false
  #slots: Map<number, number> | undefined
  readonly #isSingular: boolean

  /** `isSingular`: all instances share a slot, for metrics without instance domain, whose instance number is arbitrary in old archives. */
  constructor(room: number = 8, isSingular: boolean = false) {
    this.insts = new Int32Array(Math.max(1, room))
    this.#isSingular = isSingular
  }

  /** Returns slots for only these instances. */
  static only(insts: ArrayLike<number>, isSingular: boolean): InstanceSlots {
    const slots = new InstanceSlots(insts.length, isSingular)
    slots.insts.set(insts)
    slots.length = insts.length
    slots.#isClosed = true
    return slots
  }

  /** Returns an instance's slot, a new one for a new instance; -1 if it is not selected. */
  slotOf(inst: number): number {
    const known = this.#find(inst)
    if (known !== undefined) return known
    if (this.#isClosed) return UNWANTED
    const slot = this.length++
    if (slot === this.insts.length) {
      const grown = new Int32Array(slot * 2)
      grown.set(this.insts)
      this.insts = grown
    }
    this.insts[slot] = inst
    this.#slots?.set(inst, slot)
    return slot
  }

  #find(inst: number): number | undefined {
    if (this.#isSingular) return this.length === 0 ? undefined : 0
    if (this.length > FEW) {
      this.#slots ??= new Map(Array.from(this.insts.subarray(0, this.length), (id, slot) => [id, slot]))
      return this.#slots.get(inst)
    }
    const slot = this.insts.subarray(0, this.length).indexOf(inst)
    return slot < 0 ? undefined : slot
  }
}

/** How a value's block is checked against the descriptor: its type and length, a sufficient length, or only its position. */
export type BlockCheck = 'type' | 'length' | 'place'

/** Why a value is not a number of the metric's type. */
export type ValueFault =
  /** Its block is outside the record. */
  | 'outside'
  /** Its block has another type or length. */
  | 'mistyped'
  /** The type has 64 bits, but the value is in situ. */
  | 'wide'
  /** The type has 32 bits, but the value is in a block. */
  | 'narrow'

/** Positions of invalid values. */
const OUTSIDE = -1
const MISTYPED = -2
const WIDE = -3
const NARROW = -4
const FAULTS: readonly ValueFault[] = ['outside', 'mistyped', 'wide', 'narrow']

/** Values of the last set read, shared by all metrics. */
let numbers = new Float64Array(64)

/** Reads one metric from successive records. Their sets and instances are cached, because consecutive records mostly resemble each other. */
export class RecordValues {
  readonly desc: MetricDesc
  readonly instances: InstanceSlots
  /** Slot of each value in the last set located, -1 for an instance that is not selected. */
  slots: Int32Array = new Int32Array(1)
  /** Whether all instances of the last set located are selected. */
  #isAll = true
  /** Instances and number of values of the last set located. */
  #insts = new Int32Array(1)
  #known = 0
  #set = 0
  readonly #check: BlockCheck
  /** Whether a number fills a word, and whether one fits into a block. */
  readonly #fitsWord: boolean
  readonly #fitsBlock: boolean
  /** Length of a block with a number, and the block's first word, which is only the length from agents that omit the type. */
  readonly #size: number
  readonly #head: number

  constructor(desc: MetricDesc, instances: InstanceSlots, check: BlockCheck) {
    const { type } = desc
    this.desc = desc
    this.instances = instances
    this.#check = check
    this.#fitsBlock = type !== PM_TYPE_32 && type !== PM_TYPE_U32
    this.#fitsWord = type === PM_TYPE_FLOAT || !this.#fitsBlock
    this.#size = type === PM_TYPE_FLOAT ? 8 : 12
    this.#head = (type << 24) | this.#size
  }

  /** Returns the index of the metric's value set in a record, -1 without one. */
  find(record: RecordView): number {
    const s = record.find(this.desc.pmid, this.#set)
    if (s >= 0) this.#set = s
    return s
  }

  /** Fills `slots` for the first `count` values of set `s`. */
  locate({ view, pairs }: RecordView, s: number, count: number, from = 0): void {
    if (count > this.slots.length) this.#grow(count)
    const { slots } = this
    const insts = this.#insts
    const known = Math.min(count, this.#known)
    let isSame = count === this.#known
    for (let i = from, at = pairs[s]! + 8 * from; i < count; i++, at += 8) {
      const inst = view.getInt32(at)
      if (i < known && insts[i] === inst) continue
      isSame = false
      insts[i] = inst
      slots[i] = this.instances.slotOf(inst)
    }
    this.#known = count
    if (isSame) return
    this.#isAll = slots.subarray(0, count).every((slot) => slot >= 0)
  }

  #grow(count: number): void {
    const [slots, insts] = [new Int32Array(2 * count), new Int32Array(2 * count)]
    slots.set(this.slots)
    insts.set(this.#insts)
    this.slots = slots
    this.#insts = insts
  }

  /** Returns the offset in the record's view of the number of value `i` of set `s`; negative if it is not of the metric's type. */
  placeOf(record: RecordView, s: number, i: number): number {
    const at = record.pairs[s]! + 8 * i + 4
    if (record.formats[s] === PM_VAL_INSITU) return this.#fitsWord ? at : WIDE
    return this.#placeIn(record, record.view.getInt32(at))
  }

  #placeIn(record: RecordView, word: number): number {
    const { view, offset } = record
    const block = record.blockAt(word)
    const end = offset + record.length - 4
    if (!(block >= offset && block + this.#size <= end)) return OUTSIDE
    if (view.getInt32(block) !== this.#head && this.#check !== 'place') {
      const head = view.getInt32(block)
      const length = head & 0xffffff
      if (this.#check === 'type' && head !== this.#size) return MISTYPED
      if (length < this.#size || block + length > end) return OUTSIDE
    }
    return this.#fitsBlock ? block + 4 : NARROW
  }

  /** The values read last, by index in the set. Valid until the next set of any metric is read. */
  get values(): Float64Array {
    return numbers
  }

  /**
   * Fills `slots` and `values` for the first `count` values of set `s`; values without a slot are skipped. Stops at the first value
   * that is not of the metric's type and returns the fault; in-situ values of a 64-bit type are all NaN.
   */
  read(record: RecordView, s: number, count: number): ValueFault | undefined {
    const isInSitu = record.formats[s] === PM_VAL_INSITU
    if (count > numbers.length) numbers = new Float64Array(2 * count)
    if (count !== this.#known || (isInSitu && !this.#fitsWord)) this.locate(record, s, count)
    if (!isInSitu) return this.#readBlocks(record, s, count)
    if (this.#fitsWord) this.#readWords(record, s, count)
    else numbers.fill(Number.NaN, 0, count)
    return this.#fitsWord || !this.slots.subarray(0, count).some((slot) => slot >= 0) ? undefined : 'wide'
  }

  #readWords(record: RecordView, s: number, count: number): void {
    const { type } = this.desc
    const { view } = record
    const insts = this.#insts
    const values = numbers
    for (let i = 0, at = record.pairs[s]!; i < count; i++, at += 8) {
      if (insts[i] !== view.getInt32(at)) this.locate(record, s, count, i)
      values[i] = type === PM_TYPE_U32 ? view.getUint32(at + 4) : numberAt(view, at + 4, type)
    }
  }

  #readBlocks(record: RecordView, s: number, count: number): ValueFault | undefined {
    const { type } = this.desc
    const { view, offset } = record
    const insts = this.#insts
    const values = numbers
    const head = this.#head
    const isPlain = record.isWhole && this.#fitsBlock
    const end = offset + record.length - 4 - this.#size
    for (let i = 0, at = record.pairs[s]!; i < count; i++, at += 8) {
      if (insts[i] !== view.getInt32(at)) this.locate(record, s, count, i)
      if (!this.#isAll && this.slots[i]! < 0) continue
      const word = view.getInt32(at + 4)
      let block = offset - 8 + 4 * word
      if (!isPlain || block < offset || block > end || view.getInt32(block) !== head) {
        block = this.#placeIn(record, word) - 4
        if (block < 0) return FAULTS[-5 - block]
      }
      if (type === PM_TYPE_U64) values[i] = view.getUint32(block + 4) * TWO_32 + view.getUint32(block + 8)
      else if (type === PM_TYPE_DOUBLE) values[i] = view.getFloat64(block + 4)
      else values[i] = numberAt(view, block + 4, type)
    }
    return undefined
  }
}

/** Reads a number of a numeric type; integers beyond 2^53 are rounded. */
export function numberAt(view: DataView, at: number, type: number): number {
  switch (type) {
    case PM_TYPE_32:
      return view.getInt32(at)
    case PM_TYPE_U32:
      return view.getUint32(at)
    case PM_TYPE_64:
      return view.getInt32(at) * TWO_32 + view.getUint32(at + 4)
    case PM_TYPE_U64:
      return view.getUint32(at) * TWO_32 + view.getUint32(at + 4)
    case PM_TYPE_FLOAT:
      return view.getFloat32(at)
    case PM_TYPE_DOUBLE:
      return view.getFloat64(at)
    default:
      return Number.NaN
  }
}
