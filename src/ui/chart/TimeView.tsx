/** A chart over time, in an element that keeps its size. */
import type { Signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import { rest } from '../later.tsx'
import { colorsVersion } from '../theme.ts'
import { type Frame, time } from '../time/control.ts'
import { momentText } from '../time/words.ts'
import type { Chart } from '../view/view.ts'
import { readingOf } from './line-look.ts'
import type { Pointed } from './pointed.ts'
import type { SharedScale } from './shared-scale.ts'
import { TimeChart } from './time-chart.ts'

interface Props {
  readonly chart: Chart
  readonly data: ChartData
  readonly frame: Frame
  readonly hidden: ReadonlySet<string>
  /** The scale that it has together with other charts. */
  readonly scale: SharedScale | undefined
  /** Gets the position of the crosshair. */
  readonly cursor: Signal<Pointed | undefined>
}

/** Draws `data`. */
export function TimeView({ chart, data, frame, hidden, scale, cursor }: Props): ComponentChild {
  const host = useRef<HTMLDivElement>(null)
  const drawn = useRef<TimeChart>(undefined)
  const colors = colorsVersion.value
  const zone = time.zone.value
  useEffect(() => {
    const made = new TimeChart(host.current!, {
      point: (pointed) => {
        cursor.value = pointed
      },
      show: (from, to) => time.show(from, to),
      zoom: (factor, at) => time.zoom(factor, at),
    })
    drawn.current = made
    const observer = new ResizeObserver(() => made.fit())
    observer.observe(host.current!)
    return () => {
      observer.disconnect()
      made.destroy()
      drawn.current = undefined
    }
  }, [])
  useLayoutEffect(() => drawn.current?.forget(), [colors])
  useEffect(() => {
    drawn.current?.draw(data, { chart, frame, hidden, zone, scale })
  }, [data, chart, frame, hidden, zone, colors, scale, scale?.version])
  useEffect(() => () => scale?.drop(chart.id), [scale, chart.id])
  return <div class="plot" ref={host} role="img" aria-label={summary(chart, data, frame, zone)} />
}

/** What a chart shows, for those who do not see it. */
function summary({ title, style }: Chart, data: ChartData, { from, to }: Frame, zone: string): string {
  const lines = data.lines.slice(0, 8).map(({ label }, i) => `${label} ${readingOf(data, style, i)}`)
  const old = rest.value?.oldText(data, data.lines)
  return `${title}, from ${momentText(from, zone)} to ${momentText(to, zone)}. Latest${old === undefined ? '' : `, ${old}`}: ${lines.join(', ') || 'no values'}.`
}
