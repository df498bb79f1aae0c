/** The columns of a table: one for each instance of each metric. pmrep(1) */

import { NO_VALUE, NO_VALUES, type ValueColumns } from '../../model/value-columns.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { ReportPlan } from '../lib/report/report.ts'
import type { Settings } from '../lib/report/settings.ts'
import { isReal } from '../lib/report/values.ts'
import type { CellShape } from './cell.ts'

export interface Column extends CellShape {
  readonly metric: ReportMetric
  /** Index of its metric in samples. */
  readonly at: number
  readonly inst: number
  /** '' for a metric without instances. */
  readonly instance: string
}

/** Minimum width of columns. */
const LEAST_WIDTH = 3
/** Minimum width of columns with numbers as headings. */
const NUMBERED_WIDTH = 8

/** Returns the width of a metric's columns. */
export function widthOf({ width, label }: ReportMetric, settings: Settings): number {
  const natural = settings.separate_header ? NUMBERED_WIDTH : [...label].length
  return Math.max(LEAST_WIDTH, width || natural)
}

/** Returns the format of a metric's values. */
export function shapeOf(metric: ReportMetric, settings: Settings): CellShape {
  return { width: widthOf(metric, settings), precision: metric.precision, isReal: isReal(metric) }
}

/** Returns a column for every known instance. */
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

/** Returns a column for every existing value. */
export function presentColumns(plan: ReportPlan, readings: readonly ValueColumns[]): Column[] {
  return plan.metrics.flatMap((metric, at) => {
    const { insts, has, size } = readings[at] ?? NO_VALUES
    const shape = shapeOf(metric, plan.settings)
    const columns: Column[] = []
    for (let i = 0; i < size; i++) {
      if (has[i] === NO_VALUE) continue
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

/** Sorts items by the initial order of a metric's instances, with new ones last; ranked ones by number. */
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

/** Finds the positions of columns among the values of their metrics. */
export class ColumnPlaces {
  #columns: readonly Column[] = []
  #places = new Int32Array(0)
  /** Instances of each metric when its positions were found. */
  #insts: (Int32Array | undefined)[] = []

  /** Returns a position for each column, -1 for a missing value; valid until the next sample. */
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

/** Do both lists have the same columns? */
export function areSame(a: readonly Column[], b: readonly Column[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ metric, inst }, i) => metric.name === b[i]!.metric.name && inst === b[i]!.inst)
  )
}
