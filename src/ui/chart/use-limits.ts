/** The limits of colours and bars, for all sources that are beside each other. */
import { useEffect, useMemo } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import { heatLimits } from './heat-map.ts'
import type { SharedScale } from './shared-scale.ts'

/** Returns the limits of a chart, wide enough for those of its `scale`. */
export function useLimits(
  id: string,
  data: ChartData,
  scale: SharedScale | undefined,
): readonly [number, number] {
  const own = useMemo(() => heatLimits(data), [data])
  useEffect(() => () => scale?.drop(id), [scale, id])
  if (scale === undefined || data.limits !== undefined) return own
  scale.version // drawn again when another chart needs more
  return scale.include(id, data.measure, own)
}
