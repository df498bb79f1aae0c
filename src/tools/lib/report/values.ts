/** The values of a report's metrics, sample after sample: rates and scales. pmFetchGroup(3) */
import type { MetricDesc } from '../../../model/desc.ts'
import { PM_INDOM_NULL } from '../../../model/ids.ts'
import { counterRate } from '../../../model/rate.ts'
import { convScale } from '../../../model/scale.ts'
import { PM_SEM_DISCRETE, PM_TYPE_DOUBLE, PM_TYPE_FLOAT } from '../../../model/types.ts'
import { extract } from '../../../model/value-set.ts'
import type { ValueSet } from '../../../model/values.ts'
import type { Conversion } from '../../../pmapi/conversion.ts'

/** A value as it is shown; undefined where there is none. */
export type Cell = number | bigint | string | undefined

/** The values of one metric in one sample: instances and cells in step. */
export interface Readings {
  readonly insts: ArrayLike<number>
  readonly cells: readonly Cell[]
}

/** No values. */
export const NO_READINGS: Readings = { insts: [], cells: [] }

/** Are the metric's cells real numbers? Others are whole ones, or text. */
export function isReal({ units: { conversion } }: ReadMetric): boolean {
  return conversion.type === PM_TYPE_DOUBLE || conversion.type === PM_TYPE_FLOAT
}

/** What of a metric says how its values are read. */
export interface ReadMetric {
  readonly desc: MetricDesc
  readonly units: { readonly conversion: Conversion }
}

/** Reads the value sets of one metric, one after the other. */
export class MetricReader {
  readonly #type: number
  readonly #isRate: boolean
  readonly #repeats: boolean
  readonly #isSingular: boolean
  readonly #wraps: boolean
  readonly #isWhole: boolean
  readonly #scale: ((value: number) => number) | undefined
  #before: Readings = NO_READINGS
  #last: Readings = NO_READINGS

  /** `wraps`: an integer counter that decreased has gone round once. */
  constructor({ desc, units: { conversion } }: ReadMetric, wraps: boolean) {
    this.#type = desc.type
    this.#isSingular = desc.indom === PM_INDOM_NULL
    this.#isRate = conversion.isRate
    this.#wraps = wraps
    this.#isWhole = conversion.type !== PM_TYPE_DOUBLE && conversion.type !== PM_TYPE_FLOAT
    this.#repeats = desc.sem === PM_SEM_DISCRETE && !conversion.isRate
    this.#scale = scaleOf(conversion)
  }

  /** Values of a set; `elapsedSec` since the one before, which rates need. What cannot be read is no value. */
  read(set: ValueSet, elapsedSec: number): Readings {
    if (set.status <= 0) {
      this.#before = NO_READINGS
      return this.#repeats && set.status === 0 ? this.#last : NO_READINGS
    }
    const raw = { insts: set.inst, cells: this.#decode(set) }
    let readings: Readings = raw
    if (this.#isRate) {
      readings = { insts: raw.insts, cells: this.#rates(raw, elapsedSec) }
      this.#before = raw
    } else if (this.#scale !== undefined) {
      const scale = this.#scale
      readings = {
        insts: raw.insts,
        cells: raw.cells.map((cell) => (cell === undefined ? undefined : scale(Number(cell)))),
      }
    }
    if (this.#repeats) this.#last = readings
    return readings
  }

  #decode(set: ValueSet): Cell[] {
    const cells: Cell[] = new Array<Cell>(set.status)
    for (let i = 0; i < set.status; i++) {
      try {
        const value = extract(set, i, this.#type)
        cells[i] = typeof value === 'object' ? undefined : value
      } catch {
        cells[i] = undefined // a value of another type than the metric's: reports show what they can
      }
    }
    return cells
  }

  #rates(now: Readings, elapsedSec: number): Cell[] {
    const before = this.#before
    const rates: Cell[] = new Array<Cell>(now.cells.length).fill(undefined)
    if (before.cells.length === 0 || elapsedSec === 0) return rates
    for (let i = 0; i < rates.length; i++) {
      // The instance number of a metric without instances means nothing: some archives have another in each record.
      const isSame = this.#isSingular || before.insts[i] === now.insts[i]
      const at = isSame ? i : indexOf(before.insts, now.insts[i]!)
      const [earlier, later] = [before.cells[at], now.cells[i]]
      if (!isNumber(earlier) || !isNumber(later)) continue
      const rate = counterRate(earlier, later, elapsedSec, this.#type, this.#wraps)
      if (rate === undefined) continue
      if (this.#isWhole) rates[i] = Math.trunc(rate)
      else rates[i] = this.#scale === undefined ? rate : this.#scale(rate)
    }
    return rates
  }
}

function isNumber(cell: Cell): cell is number | bigint {
  return typeof cell === 'number' || typeof cell === 'bigint'
}

/** Where an instance is; -1 for nowhere. */
export function indexOf(insts: ArrayLike<number>, inst: number): number {
  for (let i = 0; i < insts.length; i++) if (insts[i] === inst) return i
  return -1
}

/** What a conversion does to numbers; undefined for nothing. */
export function scaleOf({ scaling }: Conversion): ((value: number) => number) | undefined {
  if (scaling === undefined) return undefined
  const { factor, from, to, multiplier } = scaling
  const convert = (value: number): number => Number(convScale(PM_TYPE_DOUBLE, value, from, to))
  // Temperatures do not begin at the same zero; everything else is a factor.
  const ratio = convert(0) === 0 ? convert(1) : undefined
  if (ratio === undefined) return (value) => convert(value * factor) * multiplier
  return (value) => value * factor * ratio * multiplier
}
