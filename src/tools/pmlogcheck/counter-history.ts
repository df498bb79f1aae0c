/** The last value of each instance of a counter. */
import type { RecordView } from '../../archive/record-view.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import { PM_TYPE_32, PM_TYPE_64, PM_TYPE_U64, PM_VAL_INSITU } from '../../model/types.ts'
import { InstanceSlots } from '../lib/instance-slots.ts'

const BLOCK_HEADER = 4
const NEVER = -1

/** Values of one counter as columns by instance. Numbers beyond 2^53 are rounded: a decrease shows all the same. */
export class CounterHistory {
  /** After `update` stopped: what it found, the instance, its value and the one before with the number of its record. */
  problem: 'decrease' | 'unreadable' = 'decrease'
  inst = 0
  value = 0
  before = 0
  seen = 0
  readonly #type: number
  readonly #slots: InstanceSlots
  #values = new Float64Array(8)
  #records = new Int32Array(8).fill(NEVER)

  constructor({ type, indom }: MetricDesc) {
    this.#type = type
    this.#slots = new InstanceSlots(8, indom === PM_INDOM_NULL)
  }

  /**
   * Takes the values of value set `s` from the `from`th on as those of record `number`. Stops at one that is less than that of a record
   * from `since` on, and at one that cannot be read; returns its place, or the number of values.
   */
  update(record: RecordView, s: number, from: number, number: number, since: number): number {
    const { view } = record
    const count = record.statuses[s]!
    const isInSitu = record.formats[s] === PM_VAL_INSITU
    const type = this.#type
    if (isInSitu && type > 1) return this.#stop('unreadable', from, 0)
    let { insts } = this.#slots
    let at = record.pairs[s]! + 8 * from
    for (let i = from; i < count; i++, at += 8) {
      const inst = view.getInt32(at)
      let slot = i
      if (i >= this.#slots.length || insts[i] !== inst) {
        slot = this.#slots.slotOf(inst)
        insts = this.#slots.insts
        this.#grow()
      }
      let value: number
      if (isInSitu) value = type === PM_TYPE_32 ? view.getInt32(at + 4) : view.getUint32(at + 4)
      else {
        const block = record.blockAt(view.getInt32(at + 4))
        const head = view.getInt32(block)
        if ((head & 0xffffff) !== 8 + BLOCK_HEADER || (head >>> 24 !== type && head >>> 24 !== 0))
          return this.#stop('unreadable', i, inst)
        const high = type === PM_TYPE_U64 ? view.getUint32(block + 4) : view.getInt32(block + 4)
        if (type !== PM_TYPE_U64 && type !== PM_TYPE_64) return this.#stop('unreadable', i, inst)
        value = high * 0x1_0000_0000 + view.getUint32(block + 8)
      }
      const before = this.#values[slot]!
      const seen = this.#records[slot]!
      this.#values[slot] = value
      this.#records[slot] = number
      if (value < before && seen >= since) {
        this.value = value
        this.before = before
        this.seen = seen
        return this.#stop('decrease', i, inst)
      }
    }
    return count
  }

  #stop(problem: 'decrease' | 'unreadable', i: number, inst: number): number {
    this.problem = problem
    this.inst = inst
    return i
  }

  /** Columns as long as there are instances. */
  #grow(): void {
    if (this.#slots.length <= this.#values.length) return
    const values = new Float64Array(this.#slots.insts.length)
    values.set(this.#values)
    this.#values = values
    const records = new Int32Array(this.#slots.insts.length).fill(NEVER)
    records.set(this.#records)
    this.#records = records
  }
}
