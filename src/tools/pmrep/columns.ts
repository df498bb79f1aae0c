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
  /** Where its value was in the sample before. */
  place: number
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
      place: i,
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
        place: i,
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

/** Where a column's value is among those of its metric; -1 for nowhere. */
export function placeOf(column: Column, cells: ValueColumns): number {
  if (!column.metric.hasInstances) return 0
  const place = cells.find(column.inst, column.place)
  if (place >= 0) column.place = place
  return place
}

/** Are these the same columns? */
export function areSame(a: readonly Column[], b: readonly Column[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ metric, inst }, i) => metric.name === b[i]!.metric.name && inst === b[i]!.inst)
  )
}
