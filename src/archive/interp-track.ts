/**
 * What interpolation knows of one metric: for each instance the observation or mark on either side of a moment.
 *
 * Directions are told apart once: moments are seconds since the archive's start times +1 forwards and -1 backwards, so that they
 * always ascend. `behind` is the bound passed already, `ahead` the one still to come:
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

/** Nobody has looked yet. */
export const UNKNOWN = 0
/** There is none up to the end of the archive. */
export const NONE = 1
/** Recording was interrupted. */
export const MARK = 2
/** An observation. */
export const OBSERVED = 3

/** Where a record stands as seen from the moment asked for. */
export type Place =
  /** At or before it, in reading order. */
  | 'passed'
  /** Behind it, read for the first and only time. */
  | 'beyond'
  /** Behind it, read in advance: it will be read again. */
  | 'advance'
  /** At or before it, read against the direction. */
  | 'against'

/** One side's bounds, a column entry an instance. */
export class Bounds {
  readonly kind: Uint8Array
  /** Moments. */
  readonly at: Float64Array
  /** Order of records with equal moments. */
  readonly order: Float64Array
  readonly high: Int32Array
  readonly low: Int32Array
  /** Copies of the blocks of values that are no numbers. */
  readonly blocks: (Uint8Array | undefined)[]

  constructor(size: number) {
    this.kind = new Uint8Array(size)
    this.at = new Float64Array(size)
    this.order = new Float64Array(size)
    this.high = new Int32Array(size)
    this.low = new Int32Array(size)
    this.blocks = []
  }

  /** Takes slot `i` from the other side. */
  copy(from: Bounds, i: number): void {
    this.kind[i] = from.kind[i]!
    this.at[i] = from.at[i]!
    this.order[i] = from.order[i]!
    this.high[i] = from.high[i]!
    this.low[i] = from.low[i]!
    if (from.blocks.length > 0) this.blocks[i] = from.blocks[i]
  }
}

/** From when to when instances existed, in seconds since the archive's start. */
export interface Lives {
  readonly birth: Float64Array
  readonly death: Float64Array
}

/** A metric under interpolation, with a slot an instance. */
export class Track {
  readonly desc: MetricDesc
  readonly insts: Int32Array
  readonly behind: Bounds
  readonly ahead: Bounds
  readonly isSingular: boolean
  readonly isNumeric: boolean
  /** PM_VAL_* of its values in the archive; -1 before the first. */
  format = -1
  /** Values in the fetch before; -1 without one. */
  lastCount = -1
  /** Slots in `needed`. */
  missing = 0
  /** Slots whose bound ahead is unknown and wanted. */
  readonly needed: Uint8Array
  readonly #lives: Lives | undefined
  readonly #sign: number
  readonly #isLong: boolean
  readonly #values: RecordValues

  /** `sign`: +1 forwards, -1 backwards. */
  constructor(desc: MetricDesc, insts: Int32Array, lives: Lives | undefined, sign: 1 | -1) {
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

  /** Did the instance exist at a moment? */
  isAlive(slot: number, moment: number): boolean {
    if (this.#lives === undefined) return true
    const t = moment * this.#sign
    return t >= this.#lives.birth[slot]! && t <= this.#lives.death[slot]!
  }

  /** The first moment from `moment` on at which an instance begins or ends to be. */
  nextChange(moment: number): number {
    let next = Number.POSITIVE_INFINITY
    if (this.#lives === undefined) return next
    for (const column of [this.#lives.birth, this.#lives.death])
      for (const t of column) if (t * this.#sign >= moment && t * this.#sign < next) next = t * this.#sign
    return next
  }

  /** Moves what was ahead and has been reached by `moment` behind. */
  shift(moment: number): void {
    const { ahead, behind } = this
    const { kind, at } = ahead
    for (let i = 0; i < kind.length; i++) {
      if (kind[i]! < MARK || at[i]! > moment) continue
      // Mostly it is there already: an observation at the moment before was the bound on both sides.
      if (behind.order[i] !== ahead.order[i] || behind.at[i] !== at[i]) behind.copy(ahead, i)
      if (at[i]! < moment) kind[i] = UNKNOWN
    }
  }

  /** Counts the slots whose value at `moment` depends on a bound ahead that is unknown. */
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

  /** Does the bound ahead decide about the value? */
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

  /** The slots still needed have no bound on that side. */
  settle(side: Bounds): void {
    for (let i = 0; i < this.needed.length; i++) if (this.needed[i] === 1) side.kind[i] = NONE
    this.needed.fill(0)
    this.missing = 0
  }

  /**
   * Takes note of the metric's values in a record. True when one of them is the second beyond the moment for its instance, so that the
   * record has to be read again. PM_ERR_LOGREC for values that contradict the metric's type.
   */
  apply(record: RecordView, moment: number, order: number, place: Place, now: number): boolean {
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

  /** Words of a record that is passed, which most records are: these are the bounds behind, and ahead where they are of this moment. */
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

  /** Takes note of an interruption; result as for `apply`. */
  mark(moment: number, order: number, place: Place, now: number): boolean {
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

  /** The side that something at a place becomes the bound of, if any. */
  #sideFor(slot: number, place: Place): Bounds | undefined {
    if (place === 'passed') return this.behind
    if (place === 'against') return this.behind.kind[slot] === UNKNOWN ? this.behind : undefined
    return this.ahead.kind[slot] === UNKNOWN ? this.ahead : undefined
  }

  /** Is it later than the bound ahead, so that it has to wait until that is behind? */
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
        `Values of ${pmidStr(pmid)} have format ${format}, which their type cannot have`,
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
    return new PcpError('PM_ERR_LOGREC', `A value of ${pmidStr(this.desc.pmid)} lies outside its record`)
  }
}
