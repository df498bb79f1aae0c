/** The values of a report's metrics, sample after sample: rates and scales. pmFetchGroup(3) */
import type { MetricDesc } from '../../../model/desc.ts'
import { Counters } from '../../../model/rate.ts'
import { convScale } from '../../../model/scale.ts'
import { PM_SEM_DISCRETE, PM_TYPE_DOUBLE, PM_TYPE_FLOAT } from '../../../model/types.ts'
import { type ColumnValue, NOTHING, OTHER, ValueColumns } from '../../../model/value-columns.ts'
import type { Conversion } from '../../../pmapi/conversion.ts'

/** What of a metric decides how its values are read. */
export interface ReadMetric {
  readonly desc: MetricDesc
  readonly units: { readonly conversion: Conversion }
}

/** Are the metric's cells real numbers? Others are whole ones, or text. */
export function isReal({ units: { conversion } }: ReadMetric): boolean {
  return conversion.type === PM_TYPE_DOUBLE || conversion.type === PM_TYPE_FLOAT
}

/** Reads the values of one metric, sample after sample. */
export class MetricReader {
  readonly #shown: ValueColumns
  readonly #counters: Counters | undefined
  /** Instances of the counters. */
  #insts: Int32Array = new Int32Array(0)
  readonly #repeats: boolean
  readonly #convert: ((value: number) => number) | undefined

  /** `wraps`: an integer counter that decreased has gone round once. */
  constructor(metric: ReadMetric, wraps: boolean) {
    const { desc, units } = metric
    const { isRate } = units.conversion
    this.#shown = new ValueColumns(desc)
    this.#counters = isRate ? new Counters(0, desc.type, wraps) : undefined
    this.#repeats = desc.sem === PM_SEM_DISCRETE && !isRate
    this.#convert = isRate && !isReal(metric) ? Math.trunc : scaleOf(units.conversion)
  }

  /**
   * The cells of a sample, good until the next one; `elapsedSec` since the one before, which rates need. A discrete metric without
   * values keeps those it had.
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
      if (Number.isNaN(growth[i]) || seconds === 0) shown.has[i] = NOTHING
      else {
        const rate = growth[i]! / seconds
        shown.putNumber(i, convert === undefined ? rate : convert(rate))
      }
    }
  }

  /** Has the counters in step with the values. */
  #arrange(counters: Counters, { insts, isSingular }: ValueColumns): void {
    const before = this.#insts
    if (insts === before) return
    this.#insts = insts
    // The instance number of a metric without instances means nothing: some archives have another in each record.
    if (isSingular && insts.length === before.length) return
    counters.rearrange(
      Array.from(insts, (inst, i) => (isSingular || before[i] === inst ? i : before.indexOf(inst))),
    )
  }

  #readConverted(now: ValueColumns, convert: (value: number) => number): void {
    const shown = this.#shown
    shown.beginAs(now)
    for (let i = 0; i < now.size; i++) {
      if (now.has[i] === NOTHING) shown.has[i] = NOTHING
      else shown.putNumber(i, convert(now.has[i] === OTHER ? Number(now.others[i]) : now.values[i]!))
    }
  }
}

/** What a conversion does to numbers; undefined for nothing. */
function scaleOf({ scaling }: Conversion): ((value: number) => number) | undefined {
  if (scaling === undefined) return undefined
  const { factor, from, to, multiplier } = scaling
  const convert = (value: number): number => Number(convScale(PM_TYPE_DOUBLE, value, from, to))
  // Temperatures do not begin at the same zero; everything else is a factor.
  const ratio = convert(0) === 0 ? convert(1) : undefined
  if (ratio === undefined) return (value) => convert(value * factor) * multiplier
  return (value) => value * factor * ratio * multiplier
}

/** A value as a report shows it; undefined for a missing value. */
export type Cell = ColumnValue
