/** Both windows of a change as one line; the later one is marked. */
import type { ComponentChild } from 'preact'
import type { Change } from '../../analysis/what-changed.ts'
import { pathOf, SPARK_HEIGHT, SPARK_WIDTH } from '../chart/spark-path.ts'

/** Values that vary less than this share of their level are drawn from their minimum instead of zero. */
const NARROW = 0.5

/** Renders the line. */
export function ChangeSpark({ sparks: { before, now } }: Pick<Change, 'sparks'>): ComponentChild {
  const values = Float64Array.from([...before, ...now], (value) => value ?? Number.NaN)
  const known = values.filter((value) => !Number.isNaN(value))
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const base = low < 0 || high - low < NARROW * high ? low : 0
  const at = (SPARK_WIDTH * before.length) / Math.max(1, values.length)
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
      width={2 * SPARK_WIDTH}
      height={1.5 * SPARK_HEIGHT}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect x={at} y="0" width={SPARK_WIDTH - at} height={SPARK_HEIGHT} />
      <path
        d={pathOf(
          values.map((value) => value - base),
          high - base || 1,
        )}
      />
    </svg>
  )
}
