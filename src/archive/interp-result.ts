/** The values of one metric at a moment between its bounds. docs/formats/archive.md §10 */
import { PM_SEM_COUNTER, PM_SEM_DISCRETE } from '../model/types.ts'
import type { ValueSet } from '../model/values.ts'
import { SetOutput } from './interp-set.ts'
import { type Bounds, OBSERVED, type Track } from './interp-track.ts'
import { interpolateCounter, type Words } from './interp-value.ts'

/** How values between observations come about. */
export interface ValueRules {
  /** A counter that decreased went round once, rather than restarted. */
  readonly counterWrap: boolean
  /**
   * Numbers that are no counters: the nearer observation, as in PCP since 6.3.2; false: always the one before, as earlier.
   */
  readonly nearest: boolean
}

/** Reused: where a value is wanted, with the words of the two observations, and the value. */
const between = {
  prior: { high: 0, low: 0 },
  next: { high: 0, low: 0 },
  elapsed: 0,
  span: 0,
}
const value: Words = { high: 0, low: 0 }

/** Makes the values of a track at one moment after another. */
export class TrackValues {
  readonly track: Track
  /** Slots that are wanted, in the order of the answer. */
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

  /** The values at `moment` (as `Track` counts them); with `reuses` good until the next ones. */
  at(moment: number, reuses: boolean): ValueSet {
    const { track, slots, rules } = this
    const sign = this.#sign
    const output = this.#output
    const before = sign > 0 ? track.behind : track.ahead
    const after = sign > 0 ? track.ahead : track.behind
    output.begin(reuses)
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!
      if (!track.isAlive(slot, moment)) continue
      const side = sideOf(track, before, after, slot, moment, rules.nearest)
      if (side === undefined) continue
      if (side === 'between') {
        words(before, slot, between.prior)
        words(after, slot, between.next)
        between.elapsed = (moment - before.at[slot]!) * sign
        between.span = (after.at[slot]! - before.at[slot]!) * sign
        interpolateCounter(track.desc.type, between, rules.counterWrap, value)
        output.addWords(slot, value.high, value.low)
      } else if (track.isNumeric) output.addWords(slot, side.high[slot]!, side.low[slot]!)
      else output.addBlock(slot, side.blocks[slot]!)
    }
    return output.finish()
  }
}

/** The observation that is the value, or that it lies between both, or undefined for none. */
function sideOf(
  { desc, isNumeric }: Track,
  before: Bounds,
  after: Bounds,
  slot: number,
  moment: number,
  nearest: boolean,
): Bounds | 'between' | undefined {
  if (before.kind[slot] !== OBSERVED) return undefined
  const isBracketed = after.kind[slot] === OBSERVED
  if (!isBracketed) return desc.sem === PM_SEM_DISCRETE ? before : undefined
  const [p, n] = [before.at[slot]!, after.at[slot]!]
  if (p === moment) return before
  if (desc.sem === PM_SEM_COUNTER) return n === moment ? after : 'between'
  if (n === moment) return after
  // Half of the sum, not half of the distance: so that rounding falls as in the reference.
  return isNumeric && nearest && isNearer(p, n, moment) ? after : before
}

/** Is the moment in the later half? Exactly in the middle the earlier observation holds. */
function isNearer(p: number, n: number, moment: number): boolean {
  return p <= n ? moment > (p + n) / 2 : moment < (p + n) / 2
}

function words(side: Bounds, slot: number, into: Words): void {
  into.high = side.high[slot]!
  into.low = side.low[slot]!
}
