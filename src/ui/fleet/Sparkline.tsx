/** The course of the chosen metric of a host, in the size of a word. */
import type { ComponentChild } from 'preact'
import { pathOf, SPARK } from '../chart/spark-path.ts'
import { cellRow, range } from './state.ts'

/** Renders the line from zero to the highest value of all hosts; gaps are gaps. */
export function Sparkline({ host }: { readonly host: string }): ComponentChild {
  const found = range.value
  const row = cellRow(host)
  if (found === undefined || row < 0) return null
  const { cells, buckets, quantiles, unit } = found
  const high =
    unit === 'share' ? 1 : quantiles.max.reduce((most: number, value) => Math.max(most, value ?? 0), 0)
  const own = cells.subarray(row * buckets, (row + 1) * buckets)
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${SPARK.width} ${SPARK.height}`}
      width={SPARK.width}
      height={SPARK.height}
      aria-hidden="true"
    >
      <path d={pathOf(own, high || 1)} />
    </svg>
  )
}
