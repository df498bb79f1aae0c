/**
 * Values of one metric over a time range in which the same observations apply, so that only time changes.
 * docs/formats/archive.md §10
 *
 *     ──o───┼───────────────┼────────o──    counters are on straight lines
 *           └─ a stretch ───┘               other values stay constant
 */
import {
  PM_SEM_COUNTER,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U64,
  PM_VAL_INSITU,
} from '../model/types.ts'
import { numberOf } from '../model/value-columns.ts'
import type { ValueSet } from '../model/values.ts'
import type { TrackValues, ValueRules } from './interp-result.ts'
import { type Bounds, MARK, OBSERVED, type Track } from './interp-track.ts'

/** Returns the values at ascending times. The set may be the previous one, refilled, if the caller agreed to that. */
export type ValuesInRange = (moment: number) => ValueSet

/** Returns the end, exclusive, of the range in which the same observations apply as at `moment`. */
export function rangeEnd(track: Track, moment: number, rules: ValueRules): number {
  const { behind, ahead, desc } = track
  const hasMiddle = rules.nearest && desc.sem !== PM_SEM_COUNTER
  let end = track.nextChange(moment)
  for (let slot = 0; slot < ahead.kind.length; slot++) {
    if (ahead.kind[slot]! < MARK) continue
    const at = ahead.at[slot]!
    if (at < end) end = at
    if (!hasMiddle || ahead.kind[slot] !== OBSERVED || behind.kind[slot] !== OBSERVED) continue
    const middle = (behind.at[slot]! + at) / 2
    if (middle >= moment && middle < end) end = middle
  }
  return end
}

/** Returns the values from `moment` on; `reuses`: each set is valid until the next one. */
export function openRange(values: TrackValues, moment: number, reuses: boolean): ValuesInRange {
  const { track, slots } = values
  const first = values.at(moment, reuses)
  if (track.desc.sem !== PM_SEM_COUNTER || first.status <= 0) return () => first
  const present = slots.filter(
    (slot) =>
      track.isAlive(slot, moment) &&
      track.behind.kind[slot] === OBSERVED &&
      track.ahead.kind[slot] === OBSERVED,
  )
  const lines = linesOf(track, present)
  if (lines === undefined) return (now) => values.at(now, reuses)
  return alongLines(first, lines, track.desc.type, reuses)
}

/** Straight lines, one per instance: value and time of the earlier observation, and the changes until the later one. */
interface Lines {
  readonly base: Float64Array
  readonly from: Float64Array
  readonly growth: Float64Array
  readonly span: Float64Array
}

/** Returns undefined if doubles are not exact enough, or a counter wrapped. */
function linesOf({ behind, ahead, desc: { type } }: Track, slots: Int32Array): Lines | undefined {
  const column = (of: (slot: number) => number): Float64Array => Float64Array.from(slots, of)
  const observed = (side: Bounds, slot: number): number => numberOf(type, side.high[slot]!, side.low[slot]!)
  const isReal = type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE
  const base = column((slot) => observed(behind, slot))
  const next = column((slot) => observed(ahead, slot))
  const growth = next.map((value, i) => value - base[i]!)
  if (!isReal)
    for (const [i, value] of base.entries())
      if (!(growth[i]! >= 0) || !Number.isSafeInteger(value) || !Number.isSafeInteger(next[i]))
        return undefined
  // As a subtraction of 32-bit integers would overflow.
  if (type === PM_TYPE_32 && growth.some((by) => by > 0x7fff_ffff)) return undefined
  return {
    base,
    from: column((slot) => behind.at[slot]!),
    growth: type === PM_TYPE_FLOAT ? growth.map(Math.fround) : growth,
    span: column((slot) => ahead.at[slot]! - behind.at[slot]!),
  }
}

const TWO_32 = 0x1_0000_0000

function alongLines(
  first: ValueSet,
  { base, from, growth, span }: Lines,
  type: number,
  reuses: boolean,
): ValuesInRange {
  const count = first.status
  const isInSitu = first.format === PM_VAL_INSITU
  let set = first
  let view = new DataView(set.bytes.buffer, set.bytes.byteOffset, set.bytes.byteLength)
  return (moment) => {
    if (!reuses) {
      set = isInSitu ? { ...first, word: new Int32Array(count) } : { ...first, bytes: first.bytes.slice() }
      view = new DataView(set.bytes.buffer)
    }
    const { word } = set
    for (let i = 0; i < count; i++) {
      const value = base[i]! + ((moment - from[i]!) * growth[i]!) / span[i]!
      if (isInSitu && type !== PM_TYPE_FLOAT) word[i] = Math.floor(0.5 + value)
      else if (type === PM_TYPE_64 || type === PM_TYPE_U64) {
        const whole = Math.floor(0.5 + value)
        view.setInt32(word[i]! + 4, Math.floor(whole / TWO_32))
        view.setInt32(word[i]! + 8, whole)
      } else putReal(set, view, i, type, value)
    }
    return set
  }
}

const scratch = new DataView(new ArrayBuffer(4))

function putReal({ format, word }: ValueSet, view: DataView, i: number, type: number, value: number): void {
  if (type === PM_TYPE_DOUBLE) view.setFloat64(word[i]! + 4, value)
  else if (format !== PM_VAL_INSITU) view.setFloat32(word[i]! + 4, value)
  else {
    scratch.setFloat32(0, value)
    word[i] = scratch.getInt32(0)
  }
}
