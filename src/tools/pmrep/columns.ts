/** The columns of a table: one for each instance of each metric. pmrep(1) */

import { NO_VALUES, NOTHING, type ValueColumns } from '../../model/value-columns.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { ReportPlan } from '../lib/report/report.ts'
import type { Settings } from '../lib/report/settings.ts'
import { isReal } from '../lib/report/values.ts'
import type { CellShape } from './cell.ts'

/** A column. */
export interface Column extends CellShape {
  readonly metric: ReportMetric
  /** Place of its metric in samples. */
  readonly at: number
  readonly inst: number
  /** '' for a metric without instances. */
  readonly instance: string
}

/** What columns are at least wide. */
const LEAST_WIDTH = 3
/** What they are where headings are numbers. */
const NUMBERED_WIDTH = 8

/** Width of a metric's columns. */
export function widthOf({ width, label }: ReportMetric, settings: Settings): number {
  const natural = settings.separate_header ? NUMBERED_WIDTH : [...label].length
  return Math.max(LEAST_WIDTH, width || natural)
}

/** How a metric's values look. */
export function shapeOf(metric: ReportMetric, settings: Settings): CellShape {
  return { width: widthOf(metric, settings), precision: metric.precision, isReal: isReal(metric) }
}

/** A column for every instance that is known. */
export function allColumns(plan: ReportPlan): Column[] {
  return plan.metrics.flatMap((metric, at) =>
    metric.insts.map((inst, i) => ({
      ...shapeOf(metric, plan.settings),
      metric,
      at,
      inst,
      instance: metric.hasInstances ? metric.names[i]! : '',
    })),
  )
}

/** A column for every value that there is. */
export function presentColumns(plan: ReportPlan, readings: readonly ValueColumns[]): Column[] {
  return plan.metrics.flatMap((metric, at) => {
    const { insts, has, size } = readings[at] ?? NO_VALUES
    const shape = shapeOf(metric, plan.settings)
    const columns: Column[] = []
    for (let i = 0; i < size; i++) {
      if (has[i] === NOTHING) continue
      columns.push({
        ...shape,
        metric,
        at,
        inst: insts[i]!,
        instance: plan.nameOf(metric, insts[i]!),
      })
    }
    return inOrder(columns, metric, plan.settings)
  })
}

/** Sorts what instances with values have as the metric's instances were at the start, new ones last; ranked ones by number. */
export function inOrder<T extends { readonly inst: number }>(
  items: T[],
  { insts, hasInstances }: ReportMetric,
  { rank }: Settings,
): T[] {
  if (!hasInstances || items.length < 2) return items
  if (rank !== 0) return items.sort((a, b) => a.inst - b.inst)
  const places = new Map<number, number>()
  for (const [i, inst] of insts.entries()) if (!places.has(inst)) places.set(inst, i)
  const place = ({ inst }: T): number => places.get(inst) ?? insts.length
  return items.sort((a, b) => place(a) - place(b))
}

/** Finds the places of columns among the values of their metrics. */
export class ColumnPlaces {
  #columns: readonly Column[] = []
  #places = new Int32Array(0)
  /** Instances of each metric when its places were found. */
  #insts: (Int32Array | undefined)[] = []

  /** A place for each column, -1 for none; good until the next sample. */
  of(columns: readonly Column[], readings: readonly ValueColumns[]): Int32Array {
    let isSame = columns === this.#columns
    for (let at = 0; isSame && at < readings.length; at++)
      if (readings[at]!.insts !== this.#insts[at]) isSame = false
    if (isSame) return this.#places
    this.#columns = columns
    this.#insts = readings.map(({ insts }) => insts)
    this.#places = Int32Array.from(columns, ({ metric, at, inst }, i) => {
      if (!metric.hasInstances) return 0
      const insts = this.#insts[at]
      return insts?.[this.#places[i]!] === inst ? this.#places[i]! : (insts?.indexOf(inst) ?? -1)
    })
    return this.#places
  }
}

/** Are these the same columns? */
export function areSame(a: readonly Column[], b: readonly Column[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ metric, inst }, i) => metric.name === b[i]!.metric.name && inst === b[i]!.inst)
  )
}
