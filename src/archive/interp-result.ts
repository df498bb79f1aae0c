/** Values of one metric at a time between observations. docs/formats/archive.md §10 */
import { PM_IN_NULL } from '../model/ids.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE } from '../model/types.ts'
import type { ValueColumns } from '../model/value-columns.ts'
import type { ValueSet } from '../model/values.ts'
import { SetOutput } from './interp-set.ts'
import { type Bounds, OBSERVED, type Track } from './interp-track.ts'
import { interpolateCounter, type Words } from './interp-value.ts'

/** Rules of interpolation. */
export interface ValueRules {
  /** Whether a counter that decreased has wrapped once, instead of restarted. */
  readonly counterWrap: boolean
  /**
   * For numbers that are not counters: true for the nearer observation, as in PCP since 6.3.2; false for the earlier one, as before.
   */
  readonly nearest: boolean
}

/** Reused: the two observations, the time between them, and the result. */
const between = {
  prior: { high: 0, low: 0 },
  next: { high: 0, low: 0 },
  elapsed: 0,
  span: 0,
}
const value: Words = { high: 0, low: 0 }

/** Computes the values of a track at successive times. */
export class TrackValues {
  readonly track: Track
  /** Requested slots, in the order of the answer. */
  readonly slots: Int32Array
  readonly rules: ValueRules
  readonly #sign: 1 | -1
  readonly #output: SetOutput

  /** `sign`: +1 forwards, -1 backwards. */
  constructor(track: Track, slots: Int32Array, sign: 1 | -1, rules: ValueRules) {
    this.track = track
    this.slots = slots
    this.rules = rules
    this.#sign = sign
    this.#output = new SetOutput(track, slots.length)
  }

  /** Returns the values at `moment` (in the units of `Track`); with `reuses` valid until the next call. */
  at(moment: number, reuses: boolean): ValueSet {
    if (this.track.isNumeric) return this.#output.numbers(this.find(moment), reuses)
    const { behind, ahead } = this.track
    return this.#sign > 0 ? this.#blocks(behind, ahead, moment) : this.#blocks(ahead, behind, moment)
  }

  /** Stores the first `count` numbers of the last `find` in columns. */
  putFound(columns: ValueColumns, count: number): void {
    const { insts, isSingular } = this.track
    const { found, high, low } = this.#output
    columns.begin(count)
    for (let i = 0; i < count; i++) {
      columns.setInst(i, isSingular ? PM_IN_NULL : insts[found[i]!]!)
      columns.putWords(i, high[i]!, low[i]!)
    }
  }

  /** Computes the values of a numeric metric at `moment`; returns their number. */
  find(moment: number): number {
    const { track, slots, rules } = this
    const before = this.#sign > 0 ? track.behind : track.ahead
    const after = this.#sign > 0 ? track.ahead : track.behind
    const { found, high, low } = this.#output
    let count = 0
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!
      if (!track.isAlive(slot, moment)) continue
      const side = sideOf(track, before, after, slot, moment, rules.nearest)
      if (side === NOWHERE) continue
      if (side === BETWEEN) {
        words(before, slot, between.prior)
        words(after, slot, between.next)
        between.elapsed = (moment - before.at[slot]!) * this.#sign
        between.span = (after.at[slot]! - before.at[slot]!) * this.#sign
        interpolateCounter(track.desc.type, between, rules.counterWrap, value)
        high[count] = value.high
        low[count] = value.low
      } else {
        const bounds = side === BEFORE ? before : after
        high[count] = bounds.high[slot]!
        low[count] = bounds.low[slot]!
      }
      found[count++] = slot
    }
    return count
  }

  #blocks(before: Bounds, after: Bounds, moment: number): ValueSet {
    const { track, slots, rules } = this
    const { found } = this.#output
    const blocks: Uint8Array[] = []
    for (const slot of slots) {
      if (!track.isAlive(slot, moment)) continue
      const side = sideOf(track, before, after, slot, moment, rules.nearest)
      if (side === NOWHERE) continue
      found[blocks.length] = slot
      blocks.push((side === BEFORE ? before : after).blocks[slot]!)
    }
    return this.#output.blocks(blocks)
  }
}

/** Origin of a value: none, one of the two observations, or interpolated. */
type Side = typeof NOWHERE | typeof BEFORE | typeof AFTER | typeof BETWEEN
const NOWHERE = 0
const BEFORE = 1
const AFTER = 2
const BETWEEN = 3

function sideOf(
  { desc, isNumeric }: Track,
  before: Bounds,
  after: Bounds,
  slot: number,
  moment: number,
  nearest: boolean,
): Side {
  if (before.kind[slot] !== OBSERVED) return NOWHERE
  if (after.kind[slot] !== OBSERVED) return desc.sem === PM_SEM_DISCRETE ? BEFORE : NOWHERE
  const p = before.at[slot]!
  if (p === moment) return BEFORE
  const n = after.at[slot]!
  if (n === moment) return AFTER
  if (desc.sem === PM_SEM_COUNTER) return BETWEEN
  // Compares with half of the sum, not half of the distance, to round as the reference does.
  return isNumeric && nearest && isNearer(p, n, moment) ? AFTER : BEFORE
}

/** Returns whether the time is in the later half. Exactly in the middle the earlier observation applies. */
function isNearer(p: number, n: number, moment: number): boolean {
  return p <= n ? moment > (p + n) / 2 : moment < (p + n) / 2
}

function words(side: Bounds, slot: number, into: Words): void {
  into.high = side.high[slot]!
  into.low = side.low[slot]!
}
