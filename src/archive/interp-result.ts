/** The values of one metric at a moment between its bounds. docs/formats/archive.md §10 */
import { PM_IN_NULL } from '../model/ids.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_TYPE_FLOAT, PM_VAL_DPTR, PM_VAL_INSITU } from '../model/types.ts'
import { emptySet, type ValueSet } from '../model/values.ts'
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

/** Reused: the words of the two observations, and of the value. */
const prior: Words = { high: 0, low: 0 }
const next: Words = { high: 0, low: 0 }
const value: Words = { high: 0, low: 0 }

/** The values at `moment` (as `Track` counts them) of the slots in `slots`. `sign`: +1 forwards, -1 backwards. */
export function valuesAt(
  track: Track,
  moment: number,
  sign: 1 | -1,
  slots: Int32Array,
  rules: ValueRules,
): ValueSet {
  const [before, after] = sign > 0 ? [track.behind, track.ahead] : [track.ahead, track.behind]
  const output = new SetOutput(track, slots.length)
  for (const slot of slots) {
    if (!track.isAlive(slot, moment)) continue
    const side = sideOf(track, before, after, slot, moment, rules.nearest)
    if (side === undefined) continue
    if (side === 'between') {
      words(before, slot, prior)
      words(after, slot, next)
      const elapsed = (moment - before.at[slot]!) * sign
      const span = (after.at[slot]! - before.at[slot]!) * sign
      interpolateCounter(track.desc.type, { prior, next, elapsed, span }, rules.counterWrap, value)
      output.addWords(slot, value)
    } else if (track.isNumeric) output.addWords(slot, words(side, slot, value))
    else output.addBlock(slot, side.blocks[slot]!)
  }
  return output.finish()
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

function words(side: Bounds, slot: number, into: Words): Words {
  into.high = side.high[slot]!
  into.low = side.low[slot]!
  return into
}

/** Collects values into a set of the metric's own format. */
class SetOutput {
  readonly #track: Track
  readonly #inst: Int32Array
  readonly #word: Int32Array
  readonly #blocks: Uint8Array[] = []
  readonly #isInSitu: boolean
  readonly #view: DataView
  #count = 0
  #end = 0

  constructor(track: Track, size: number) {
    this.#track = track
    this.#inst = new Int32Array(size)
    this.#word = new Int32Array(size)
    this.#isInSitu = track.format === PM_VAL_INSITU
    this.#view = new DataView(new ArrayBuffer(track.isNumeric && !this.#isInSitu ? 12 * size : 0))
  }

  addWords(slot: number, { high, low }: Words): void {
    if (this.#isInSitu) this.#add(slot, high)
    else {
      const at = this.#end
      const { type } = this.#track.desc
      const length = type === PM_TYPE_FLOAT ? 8 : 12
      this.#view.setInt32(at, (type << 24) | length)
      this.#view.setInt32(at + 4, high)
      if (length === 12) this.#view.setInt32(at + 8, low)
      this.#end += length
      this.#add(slot, at)
    }
  }

  addBlock(slot: number, block: Uint8Array): void {
    this.#blocks.push(block)
    this.#add(slot, this.#end)
    this.#end += (block.length + 3) & ~3
  }

  #add(slot: number, word: number): void {
    this.#inst[this.#count] = this.#track.isSingular ? PM_IN_NULL : this.#track.insts[slot]!
    this.#word[this.#count++] = word
  }

  finish(): ValueSet {
    const { pmid } = this.#track.desc
    const count = this.#count
    if (count === 0) return emptySet(pmid)
    const word = this.#word.subarray(0, count)
    let bytes = new Uint8Array(this.#view.buffer)
    if (this.#blocks.length > 0) {
      bytes = new Uint8Array(this.#end)
      for (const [i, block] of this.#blocks.entries()) bytes.set(block, word[i]!)
    }
    const format = this.#isInSitu ? PM_VAL_INSITU : PM_VAL_DPTR
    return { pmid, status: count, format, inst: this.#inst.subarray(0, count), word, bytes }
  }
}
