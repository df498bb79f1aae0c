/** A chart over time, in an element of fixed size. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import type { PlotBox } from '../marks/MarkLayer.tsx'
import { colorsVersion } from '../theme.ts'
import { type Frame, time } from '../time/control.ts'
import { formatTime } from '../time/format.ts'
import { readable, type ViewProps } from './drawn.ts'
import { hovered, pin, pinned, reading } from './instant.ts'
import { readingOf } from './line-style.ts'
import { selectedSpan } from './selected-span.ts'
import { TimeChart } from './time-chart.ts'
import type { TimeLook } from './time-look.ts'

export function TimeView({
  chart,
  data,
  frame,
  hidden,
  scale,
  cursor,
  oldText,
  Marks,
  look,
}: ViewProps & { readonly look: TimeLook }): ComponentChild {
  const host = useRef<HTMLDivElement>(null)
  const drawn = useRef<TimeChart>(undefined)
  const box = useSignal<PlotBox | undefined>(undefined)
  const colors = colorsVersion.value
  const zone = time.zone.value
  useEffect(() => {
    const made = new TimeChart(host.current!, {
      point: (crosshair, isHere) => {
        cursor.value = crosshair
        // The others mark their own nearest samples.
        if (isHere || crosshair === undefined) hovered.value = crosshair?.at
      },
      pin,
      show: (from, to) => time.show(from, to),
      zoom: (factor, at) => time.zoom(factor, at),
      placed: (placed) => (box.value = placed),
    })
    drawn.current = made
    const observer = new ResizeObserver(() => made.fit())
    observer.observe(host.current!)
    return () => {
      observer.disconnect()
      made.destroy()
      // The pointer or the focus may be on this chart, which then sends no more events.
      hovered.value = reading.value = undefined
      drawn.current = undefined
    }
  }, [])
  useLayoutEffect(() => drawn.current?.forget(), [colors])
  useEffect(() => {
    drawn.current?.draw(data, { chart, style: look, frame, hidden, zone, scale })
  }, [data, chart, look, frame, hidden, zone, colors, scale, scale?.version])
  // Not read by the component, so that a click does not render all charts.
  useEffect(() => pinned.subscribe((at) => drawn.current?.mark(at)), [])
  useEffect(() => reading.subscribe((at) => drawn.current?.read(at)), [])
  useEffect(() => selectedSpan.subscribe((span) => drawn.current?.shade(span)), [])
  useEffect(() => () => scale?.drop(chart.id), [scale, chart.id])
  // Read here and not by the card, because an age changes every second.
  const old = oldText?.(data, data.lines)
  const label = summary(chart.title, readingsOf(data, look), old, frame, zone)
  return (
    <>
      <div class="plot" ref={host} {...readable(label)} />
      {Marks !== undefined && box.value !== undefined && <Marks frame={frame} box={box.value} />}
    </>
  )
}

/** Formats the newest values of the first lines. */
function readingsOf(data: ChartData, { stacking }: TimeLook): string {
  const lines = data.lines.slice(0, 8).map(({ label }, i) => `${label} ${readingOf(data, stacking, i)}`)
  return lines.join(', ') || 'no values'
}

/** Describes the chart for screen readers. */
function summary(
  title: string,
  readings: string,
  old: string | undefined,
  { from, to }: Frame,
  zone: string,
): string {
  return `${title}, from ${formatTime(from, zone)} to ${formatTime(to, zone)}. Latest${old === undefined ? '' : `, ${old}`}: ${readings}.`
}
