/** A heat map with the names of its rows. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import { colorsVersion } from '../theme.ts'
import { type Frame, time } from '../time/control.ts'
import { momentText } from '../time/words.ts'
import { showValue } from '../view/measure.ts'
import type { Chart } from '../view/view.ts'
import { drawHeat, fits, heatAt, heatLimits } from './heat-map.ts'

interface Props {
  readonly chart: Chart
  readonly data: ChartData
  readonly frame: Frame
}

/** Draws `data`. */
export function HeatView({ chart, data, frame }: Props): ComponentChild {
  const ref = useRef<HTMLCanvasElement>(null)
  const under = useSignal('')
  const colors = colorsVersion.value
  const limits = useMemo(() => heatLimits(data), [data])
  const draw = (): void => {
    // Effects may run when the chart has left the page.
    if (ref.current !== null) drawHeat(ref.current, data, frame, limits)
  }
  const latest = useRef(draw)
  latest.current = draw
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (!fits(ref.current!)) latest.current()
    })
    observer.observe(ref.current!)
    return () => observer.disconnect()
  }, [])
  useEffect(draw, [data, frame, colors])
  const move = (event: PointerEvent): void => {
    const box = ref.current!.getBoundingClientRect()
    const place = heatAt(
      data,
      frame,
      (event.clientX - box.left) / box.width,
      (event.clientY - box.top) / box.height,
    )
    const line = place === undefined ? undefined : data.lines[place.row]
    under.value =
      line === undefined
        ? ''
        : `${line.label}: ${showValue(data.measure, line.values[place!.index])} at ${momentText(data.times[place!.index]!, time.zone.peek())}`
  }
  return (
    <div class="heat">
      <ol class="heat-rows">
        {data.lines.map(({ key, label }) => (
          <li key={key}>{label}</li>
        ))}
      </ol>
      <div class="heat-field">
        <canvas
          ref={ref}
          role="img"
          aria-label={`${chart.title}: ${data.lines.length} rows`}
          onPointerMove={move}
          onPointerLeave={() => (under.value = '')}
        />
      </div>
      <p class="heat-key">
        <span>{showValue(data.measure, limits[0])}</span>
        <span class="heat-scale" />
        <span>{showValue(data.measure, limits[1])}</span>
        <span class="heat-under">{under.value}</span>
      </p>
    </div>
  )
}
