/** Courses of found metrics over the shown window, for sparklines. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ChartRange } from '../../archive/chart-answer.ts'
import { pathOf, SPARK_WIDTH } from '../chart/spark-path.ts'
import type { Source } from '../data/source.ts'
import { time } from '../time/control.ts'

/** Metrics whose course is read; others are listed without. */
const MOST = 20
/** The courses are read again when the window has moved by so many of its widths, and then rests, ms. */
const MOVED = 1 / 10
const RESTS_MS = 300

/** Returns the SVG paths by metric, as they arrive: of the instance with the highest value. None if the source is not recorded. */
export function useHitSparks(
  source: Source | undefined,
  names: readonly string[],
): ReadonlyMap<string, string> {
  const paths = useSignal<ReadonlyMap<string, string>>(new Map())
  const wanted = names.slice(0, MOST).join(' ')
  const { from, to } = time.frame.value
  const width = to - from
  const place = Math.round(to / (width * MOVED))
  useEffect(() => {
    paths.value = new Map()
  }, [source, wanted])
  useEffect(() => {
    // Many small parts of an archive elsewhere would be read.
    if (source?.range === undefined || source.isRemote === true || wanted === '') return
    let isCurrent = true
    const query = { names: wanted.split(' '), derive: {}, start: from, finish: to, points: SPARK_WIDTH }
    const read = (): void =>
      void source.range?.(query).then(
        (found) => {
          if (isCurrent) paths.value = sparksOf(found)
        },
        () => {}, // the list is complete without them
      )
    let timer: ReturnType<typeof setTimeout> | undefined
    if (paths.peek().size === 0) read()
    else timer = setTimeout(read, RESTS_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [source, wanted, width, place])
  return paths.value
}

/** Returns the path of each metric with values. */
function sparksOf({ metrics, lists }: ChartRange): ReadonlyMap<string, string> {
  const paths = new Map<string, string>()
  for (const metric of metrics) {
    if ('code' in metric) continue
    let [highest, most] = [0, -1]
    for (const [i, { values }] of metric.columns.entries()) {
      const high = lists[values]!.reduce((best, value) => (value > best ? value : best), -1)
      if (high > most) [highest, most] = [i, high]
    }
    if (most >= 0) paths.set(metric.name, pathOf(lists[metric.columns[highest]!.values]!, most || 1))
  }
  return paths
}
