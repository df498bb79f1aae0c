/**
 * Interpolation state of one metric: for each instance the observation or mark on either side of a time.
 *
 * Moments hide the direction: they are seconds since the archive's start, times +1 forwards and -1 backwards, so that they always
 * ascend. `behind` is the bound already passed, `ahead` the next one:
 *
 *     forwards    prior = behind   ──t──>  ahead = next
 *     backwards   next  = behind   ──t──>  ahead = prior
 */

import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { PM_IN_NULL, PM_INDOM_NULL, pmidStr } from '../model/ids.ts'
import {
  PM_SEM_DISCRETE,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_INSITU,
} from '../model/types.ts'
import { InstanceSlots, RecordValues } from './record-values.ts'
import type { RecordView } from './record-view.ts'

/** Not searched yet. */
export const UNKNOWN = 0
/** None up to the end of the archive. */
export const NONE = 1
/** An interruption of recording. */
export const MARK = 2
/** An observation. */
export const OBSERVED = 3

/** Position of a record relative to the requested moment. */
export type RecordPlace =
  /** At or before it, in reading order. */
  | 'passed'
  /** After it, read for the first and only time. */
  | 'beyond'
  /** After it, read in advance; it will be read again. */
  | 'advance'
  /** At or before it, read against the direction. */
  | 'against'

/** Bounds on one side, a column entry per instance. */
export class Bounds {
  readonly kind: Uint8Array
  /** Moments. */
  readonly at: Float64Array
  /** Order of records at equal moments. */
  readonly order: Float64Array
  readonly high: Int32Array
  readonly low: Int32Array
  /** Copies of blocks of values that are not numbers. */
  readonly blocks: (Uint8Array | undefined)[]

  constructor(size: number) {
    this.kind = new Uint8Array(size)
    this.at = new Float64Array(size)
    this.order = new Float64Array(size)
    this.high = new Int32Array(size)
    this.low = new Int32Array(size)
    this.blocks = []
  }

  /** Copies slot `i` from the other side. */
  copy(from: Bounds, i: number): void {
    this.kind[i] = from.kind[i]!
    this.at[i] = from.at[i]!
    this.order[i] = from.order[i]!
    this.high[i] = from.high[i]!
    this.low[i] = from.low[i]!
    if (from.blocks.length > 0) this.blocks[i] = from.blocks[i]
  }
}

/** Lifetimes of instances, in seconds since the archive's start. */
export interface Lifetimes {
  readonly birth: Float64Array
  readonly death: Float64Array
}

/** A metric being interpolated, with a slot per instance. */
export class Track {
  readonly desc: MetricDesc
  readonly insts: Int32Array
  readonly behind: Bounds
  readonly ahead: Bounds
  readonly isSingular: boolean
  readonly isNumeric: boolean
  /** PM_VAL_* of its recorded values; -1 before the first. */
  format = -1
  /** Number of values in the metric's previous fetch, and its moment; -1 and NaN without one. */
  lastCount = -1
  lastMoment: number = Number.NaN
  /** Number of slots in `needed`. */
  missing = 0
  /** Slots whose bound ahead is required but unknown. */
  readonly needed: Uint8Array
  readonly #lives: Lifetimes | undefined
  readonly #sign: number
  readonly #isLong: boolean
  readonly #values: RecordValues

  /** `sign`: +1 forwards, -1 backwards. */
  constructor(desc: MetricDesc, insts: Int32Array, lives: Lifetimes | undefined, sign: 1 | -1) {
    this.desc = desc
    this.isSingular = desc.indom === PM_INDOM_NULL
    this.isNumeric = desc.type >= PM_TYPE_32 && desc.type <= PM_TYPE_DOUBLE
    this.insts = insts
    this.#isLong = [PM_TYPE_64, PM_TYPE_U64, PM_TYPE_DOUBLE].includes(desc.type)
    this.#lives = lives
    this.#sign = sign
    this.behind = new Bounds(insts.length)
    this.ahead = new Bounds(insts.length)
    this.needed = new Uint8Array(insts.length)
    this.#values = new RecordValues(
      desc,
      InstanceSlots.only(this.isSingular ? [PM_IN_NULL] : insts, this.isSingular),
      'length',
    )
  }

  /** Returns whether an instance existed at a moment. */
  isAlive(slot: number, moment: number): boolean {
    if (this.#lives === undefined) return true
    const t = moment * this.#sign
    return t >= this.#lives.birth[slot]! && t <= this.#lives.death[slot]!
  }

  /** Returns the first moment from `moment` on at which the lifetime of an instance starts or ends. */
  nextChange(moment: number): number {
    let next = Number.POSITIVE_INFINITY
    if (this.#lives === undefined) return next
    for (const column of [this.#lives.birth, this.#lives.death])
      for (const t of column) if (t * this.#sign >= moment && t * this.#sign < next) next = t * this.#sign
    return next
  }

  /** Moves bounds ahead that `moment` has reached behind. */
  shift(moment: number): void {
    const { ahead, behind } = this
    const { kind, at } = ahead
    for (let i = 0; i < kind.length; i++) {
      if (kind[i]! < MARK || at[i]! > moment) continue
      // Often it is there already: an observation exactly at the previous moment is the bound on both sides.
      if (behind.order[i] !== ahead.order[i] || behind.at[i] !== at[i]) behind.copy(ahead, i)
      if (at[i]! < moment) kind[i] = UNKNOWN
    }
  }

  /** Counts the slots whose value at `moment` depends on an unknown bound ahead. */
  need(moment: number): void {
    const { kind } = this.ahead
    if (this.missing > 0) this.needed.fill(0)
    this.missing = 0
    for (let i = 0; i < kind.length; i++) {
      if (kind[i] !== UNKNOWN || !this.#decides(i) || !this.isAlive(i, moment)) continue
      this.needed[i] = 1
      this.missing++
    }
  }

  /** Returns whether the value depends on the bound ahead. */
  #decides(slot: number): boolean {
    const isBehind = this.behind.kind[slot] === OBSERVED
    if (this.desc.sem !== PM_SEM_DISCRETE) return isBehind
    return this.#sign < 0 || (isBehind && this.isNumeric)
  }

  /** Counts the slots whose bound behind is unknown. */
  needBehind(moment: number): void {
    this.needed.fill(0)
    this.missing = 0
    for (let i = 0; i < this.insts.length; i++) {
      if (this.behind.kind[i] !== UNKNOWN || !this.isAlive(i, moment)) continue
      this.needed[i] = 1
      this.missing++
    }
  }

  /** Marks the slots still needed as having no bound on that side. */
  settle(side: Bounds): void {
    for (let i = 0; i < this.needed.length; i++) if (this.needed[i] === 1) side.kind[i] = NONE
    this.needed.fill(0)
    this.missing = 0
  }

  /**
   * Stores the metric's values in a record as bounds. Returns true if one of them is the second after the moment for its instance, so
   * that the record has to be read again. PM_ERR_LOGREC for values that contradict the metric's type.
   */
  apply(record: RecordView, moment: number, order: number, place: RecordPlace, now: number): boolean {
    const s = this.#values.find(record)
    if (s < 0 || record.statuses[s]! <= 0) return false
    this.#checkFormat(record.formats[s]!)
    const count = this.isSingular ? 1 : record.statuses[s]!
    const pairs = record.pairs[s]!
    this.#values.locate(record, s, count)
    const { slots } = this.#values
    if (place === 'passed' && this.missing === 0 && this.format === PM_VAL_INSITU) {
      this.#pass(record, pairs, count, moment, order, moment === now)
      return false
    }
    let isSecond = false
    for (let i = 0; i < count; i++) {
      const slot = slots[i]!
      if (slot < 0) continue
      const side = this.#sideFor(slot, place)
      if (side === undefined) {
        isSecond ||= place === 'beyond' && this.#isLater(slot, moment, order)
        continue
      }
      this.#observe(side, slot, record, s, i)
      this.#place(side, slot, OBSERVED, moment, order)
      if (place === 'passed' && moment === now) this.ahead.copy(this.behind, slot)
    }
    return isSecond
  }

  /** Stores the words of a passed record, the usual case, as bounds behind, and also ahead if it is exactly at this moment. */
  #pass(
    { view }: RecordView,
    pairs: number,
    count: number,
    moment: number,
    order: number,
    isNow: boolean,
  ): void {
    const { behind, ahead } = this
    const { slots } = this.#values
    for (let i = 0; i < count; i++) {
      const slot = slots[i]!
      if (slot < 0) continue
      const word = view.getInt32(pairs + 8 * i + 4)
      behind.kind[slot] = OBSERVED
      behind.at[slot] = moment
      behind.order[slot] = order
      behind.high[slot] = word
      if (!isNow) continue
      ahead.kind[slot] = OBSERVED
      ahead.at[slot] = moment
      ahead.order[slot] = order
      ahead.high[slot] = word
    }
  }

  /** Stores a mark; result as for `apply`. */
  mark(moment: number, order: number, place: RecordPlace, now: number): boolean {
    let isSecond = false
    for (let slot = 0; slot < this.insts.length; slot++) {
      const side = this.#sideFor(slot, place)
      if (side === undefined) {
        isSecond ||= place === 'beyond' && this.#isLater(slot, moment, order)
        continue
      }
      this.#place(side, slot, MARK, moment, order)
      if (place === 'passed' && moment === now) this.ahead.copy(this.behind, slot)
    }
    return isSecond
  }

  /** Returns the side whose bound a record at this place becomes, if any. */
  #sideFor(slot: number, place: RecordPlace): Bounds | undefined {
    if (place === 'passed') return this.behind
    if (place === 'against') return this.behind.kind[slot] === UNKNOWN ? this.behind : undefined
    return this.ahead.kind[slot] === UNKNOWN ? this.ahead : undefined
  }

  /** Returns whether it is after the bound ahead and has to wait until that is behind. */
  #isLater(slot: number, moment: number, order: number): boolean {
    const { kind, at, order: orders } = this.ahead
    if (kind[slot]! < MARK) return false
    return moment > at[slot]! || (moment === at[slot] && order > orders[slot]!)
  }

  #place(side: Bounds, slot: number, kind: number, moment: number, order: number): void {
    side.kind[slot] = kind
    side.at[slot] = moment
    side.order[slot] = order
    if (this.needed[slot] === 0) return
    this.needed[slot] = 0
    this.missing--
  }

  #checkFormat(format: number): void {
    if (format === this.format) return
    const { type, pmid } = this.desc
    const isWord = format === PM_VAL_INSITU
    const fits = type === PM_TYPE_FLOAT || isWord === (type === PM_TYPE_32 || type === PM_TYPE_U32)
    const isSame = this.format === -1 || (this.format === PM_VAL_INSITU) === isWord
    if (!fits || !isSame)
      throw new PcpError(
        'PM_ERR_LOGREC',
        `Values of ${pmidStr(pmid)} have format ${format}, which is invalid for their type`,
      )
    this.format = format
  }

  #observe(side: Bounds, slot: number, record: RecordView, s: number, i: number): void {
    const { view } = record
    if (this.isNumeric) {
      const at = this.#values.placeOf(record, s, i)
      if (at < 0) throw this.#outside()
      side.high[slot] = view.getInt32(at)
      if (this.#isLong) side.low[slot] = view.getInt32(at + 4)
      return
    }
    const at = record.blockAt(view.getInt32(record.pairs[s]! + 8 * i + 4))
    const length = record.blockSize(at)
    if (length === 0) throw this.#outside()
    side.blocks[slot] = record.bytes.slice(at, at + length)
  }

  #outside(): PcpError {
    return new PcpError('PM_ERR_LOGREC', `A value of ${pmidStr(this.desc.pmid)} is outside its record`)
  }
}
