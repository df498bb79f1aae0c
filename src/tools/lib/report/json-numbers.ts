/** Numbers in JSON documents with a decimal point if they are real, by which some readers distinguish them from integers. */
import { valueText } from './export.ts'
import type { ReportMetric } from './metrics.ts'
import { type Cell, isReal } from './values.ts'

/** Prefix of a text that becomes a number; metric values never contain it. */
const BARE = '\0'

/** Returns a number, or text that `bared` makes one; integers beyond 2^53, NaN, infinities and text stay text. */
export function exactly(metric: ReportMetric, cell: NonNullable<Cell>): string | number {
  if (typeof cell !== 'number' || !Number.isFinite(cell)) return valueText(metric, cell)
  if (!isReal(metric)) return cell
  const value = Number(valueText(metric, cell))
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? `${BARE}${value}.0` : value
}

/** Removes the quotes from the numbers that `exactly` marked. */
export function bared(json: string): string {
  return json.replaceAll(/"\\u0000(-?\d+\.0)"/g, '$1')
}
