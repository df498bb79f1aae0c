/** Keeps the last value of each instance of a counter. */
import { InstanceSlots, numberAt, RecordValues } from '../../archive/record-values.ts'
import type { RecordView } from '../../archive/record-view.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'

const NEVER = -1

/** Values of one integer counter as columns by instance. Numbers beyond 2^53 are rounded, but decreases are still detected. */
export class CounterHistory {
  /** Set when `update` stops: the problem, the instance, its value, and the previous value with its record number. */
  problem: 'decrease' | 'unreadable' = 'decrease'
  inst = 0
  value = 0
  before = 0
  seen = 0
  readonly #decoder: RecordValues
  #values = new Float64Array(8)
  #records = new Int32Array(8).fill(NEVER)

  constructor(desc: MetricDesc) {
    this.#decoder = new RecordValues(desc, new InstanceSlots(8, desc.indom === PM_INDOM_NULL), 'type')
  }

  /**
   * Adds the values of value set `s`, starting at index `from`, as values of record `number`. Stops at a value smaller than one of a
   * record from `since` on, and at an unreadable one; returns its index, or the number of values.
   */
  update(record: RecordView, s: number, from: number, number: number, since: number): number {
    const { view } = record
    const { type } = this.#decoder.desc
    const count = record.statuses[s]!
    const pairs = record.pairs[s]!
    this.#decoder.locate(record, s, count)
    this.#grow(this.#decoder.instances)
    const { slots } = this.#decoder
    for (let i = from; i < count; i++) {
      const place = this.#decoder.placeOf(record, s, i)
      if (place < 0) return this.#stop('unreadable', i, view.getInt32(pairs + 8 * i))
      const value = numberAt(view, place, type)
      const slot = slots[i]!
      const before = this.#values[slot]!
      const seen = this.#records[slot]!
      this.#values[slot] = value
      this.#records[slot] = number
      if (value < before && seen >= since) {
        this.value = value
        this.before = before
        this.seen = seen
        return this.#stop('decrease', i, view.getInt32(pairs + 8 * i))
      }
    }
    return count
  }

  #stop(problem: 'decrease' | 'unreadable', i: number, inst: number): number {
    this.problem = problem
    this.inst = inst
    return i
  }

  /** Enlarges the columns to the number of instances. */
  #grow({ length, insts }: InstanceSlots): void {
    if (length <= this.#values.length) return
    const values = new Float64Array(insts.length)
    values.set(this.#values)
    this.#values = values
    const records = new Int32Array(insts.length).fill(NEVER)
    records.set(this.#records)
    this.#records = records
  }
}
