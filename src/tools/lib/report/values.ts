/** Converts the values of a report's metrics to rates and units. pmFetchGroup(3) */
import type { MetricDesc } from '../../../model/desc.ts'
import { Counters } from '../../../model/rate.ts'
import { convScale } from '../../../model/scale.ts'
import { PM_SEM_DISCRETE, PM_TYPE_DOUBLE, PM_TYPE_FLOAT } from '../../../model/types.ts'
import { type ColumnValue, NO_VALUE, OTHER_VALUE, ValueColumns } from '../../../model/value-columns.ts'
import type { Conversion } from '../../../pmapi/conversion.ts'

/** The properties of a metric that determine how its values are read. */
export interface ReadMetric {
  readonly desc: MetricDesc
  readonly units: { readonly conversion: Conversion }
}

/** Are the metric's cells floating point numbers, not integers or text? */
export function isReal({ units: { conversion } }: ReadMetric): boolean {
  return conversion.type === PM_TYPE_DOUBLE || conversion.type === PM_TYPE_FLOAT
}

/** Reads one metric's values from successive samples. */
export class MetricReader {
  readonly #shown: ValueColumns
  readonly #counters: Counters | undefined
  /** Instances of the counters. */
  #insts: Int32Array = new Int32Array(0)
  readonly #repeats: boolean
  readonly #convert: ((value: number) => number) | undefined

  /** `wraps`: treat a decreased integer counter as having wrapped once. */
  constructor(metric: ReadMetric, wraps: boolean) {
    const { desc, units } = metric
    const { isRate } = units.conversion
    this.#shown = new ValueColumns(desc)
    this.#counters = isRate ? new Counters(0, desc.type, wraps) : undefined
    this.#repeats = desc.sem === PM_SEM_DISCRETE && !isRate
    this.#convert = isRate && !isReal(metric) ? Math.trunc : scaleOf(units.conversion)
  }

  /**
   * Returns the cells of a sample, valid until the next call; `elapsedSec` since the previous sample is needed for rates. A discrete
   * metric without values keeps its previous ones.
   */
  read(now: ValueColumns, elapsedSec: number): ValueColumns {
    const shown = this.#shown
    if (now.status <= 0) {
      this.#counters?.forget()
      return now.status === 0 && this.#repeats ? shown : now
    }
    if (this.#counters !== undefined) this.#readRates(this.#counters, now, elapsedSec)
    else if (this.#convert !== undefined) this.#readConverted(now, this.#convert)
    else if (this.#repeats) shown.copy(now)
    else return now
    return shown
  }

  #readRates(counters: Counters, now: ValueColumns, elapsedSec: number): void {
    const shown = this.#shown
    const convert = this.#convert
    this.#arrange(counters, now)
    const growth = counters.read(now, 0, elapsedSec < 0)
    const seconds = Math.abs(elapsedSec)
    shown.beginAs(now)
    for (let i = 0; i < growth.length; i++) {
      if (Number.isNaN(growth[i]) || seconds === 0) shown.has[i] = NO_VALUE
      else {
        const rate = growth[i]! / seconds
        shown.putNumber(i, convert === undefined ? rate : convert(rate))
      }
    }
  }

  /** Puts the counters in the order of the values. */
  #arrange(counters: Counters, { insts, isSingular }: ValueColumns): void {
    const before = this.#insts
    if (insts === before) return
    this.#insts = insts
    // A singular metric's instance number is meaningless: some archives have another one in each record.
    if (isSingular && insts.length === before.length) return
    counters.rearrange(
      Array.from(insts, (inst, i) => (isSingular || before[i] === inst ? i : before.indexOf(inst))),
    )
  }

  #readConverted(now: ValueColumns, convert: (value: number) => number): void {
    const shown = this.#shown
    shown.beginAs(now)
    for (let i = 0; i < now.size; i++) {
      if (now.has[i] === NO_VALUE) shown.has[i] = NO_VALUE
      else shown.putNumber(i, convert(now.has[i] === OTHER_VALUE ? Number(now.others[i]) : now.values[i]!))
    }
  }
}

/** Returns a conversion as a function; undefined if it changes nothing. */
function scaleOf({ scaling }: Conversion): ((value: number) => number) | undefined {
  if (scaling === undefined) return undefined
  const { factor, from, to, multiplier } = scaling
  const convert = (value: number): number => Number(convScale(PM_TYPE_DOUBLE, value, from, to))
  // Temperature scales differ in their zero; all others differ by a factor only.
  const ratio = convert(0) === 0 ? convert(1) : undefined
  if (ratio === undefined) return (value) => convert(value * factor) * multiplier
  return (value) => value * factor * ratio * multiplier
}

/** A value in a report; undefined if missing. */
export type Cell = ColumnValue
