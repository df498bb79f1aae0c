/** A heat map with row labels. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import { colorsVersion } from '../theme.ts'
import { type Frame, time } from '../time/control.ts'
import { formatTime } from '../time/format.ts'
import { type Measure, showValue } from '../view/measure.ts'
import type { Chart } from '../view/view.ts'
import { ageOf, oldText } from './age.tsx'
import { MARKS_HEIGHT } from './axis.ts'
import { readable, type ViewProps } from './drawn.ts'
import { drawHeat, fits, type HeatReading, heatAt, heatMove, heatSample, useLimits } from './heat-map.ts'
import { instant, pin, reading } from './instant.ts'
import { newestIndex } from './line-style.ts'
import { Name } from './Name.tsx'
import { startPan, wheelFactor } from './pan.ts'
import { Announced, TipBox, type TipPlace } from './Readings.tsx'
import { endReading, startTime, stepOf } from './reading.ts'
import { dragSpan, selectedSpan, startsSpan } from './selected-span.ts'
import { shadeOf } from './span-shade.ts'
import { marksIn } from './time-marks.ts'

/** Height of a row label. */
const NAME_HEIGHT = 14

/** The cell that is read, and its position. */
type Under = HeatReading & TipPlace

export function HeatView({ chart, data, frame, scale, Marks }: ViewProps): ComponentChild {
  const ref = useRef<HTMLCanvasElement>(null)
  const under = useSignal<Under | undefined>(undefined)
  const size = useSignal({ width: 300, height: 200 })
  const colors = colorsVersion.value
  const limits = useLimits(chart.id, data, scale)
  const draw = (): void => {
    // Effects may run when the chart has left the page.
    if (ref.current !== null) drawHeat(ref.current, data, frame, limits)
  }
  const latest = useRef(draw)
  latest.current = draw
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (ref.current === null) return
      const { clientWidth, clientHeight } = ref.current
      size.value = { width: clientWidth, height: clientHeight }
      if (!fits(ref.current)) latest.current()
    })
    observer.observe(ref.current!)
    return () => {
      observer.disconnect()
      // It may be the chart that is read, which then sends no more events.
      reading.value = undefined
    }
  }, [])
  useEffect(draw, [data, frame, colors, ...limits])
  const read = (place: Under | undefined): void => {
    under.value = place
    reading.value = place?.time
  }
  const leave = (): void => read(undefined)
  const readAt = (place: TipPlace): void => {
    const { width, height } = size.peek()
    const found = heatAt(data, frame, place.x / width, (place.y - MARKS_HEIGHT) / height)
    read(found && { ...place, ...found })
  }
  useEffect(() => {
    const place = under.peek()
    // The window moves below the mouse.
    if (place?.isRead === false && reading.peek() === place.time) readAt(place)
  }, [data, frame])
  const move = (event: PointerEvent): void => {
    const { left, top } = ref.current!.getBoundingClientRect()
    const isRead = event.pointerType === 'touch'
    // The reading ends when another part of the page is touched.
    if (isRead && event.type === 'pointerdown') ref.current!.focus({ preventScroll: true })
    readAt({ isRead, x: event.clientX - left, y: MARKS_HEIGHT + event.clientY - top })
  }
  const key = (event: KeyboardEvent): void => {
    const step = stepOf(event)
    const place = step && heatMove(data, under.value, step, startTime())
    if (place === undefined && !endReading(event)) return
    event.preventDefault()
    event.stopPropagation() // the page pans by half a window
    if (place === undefined) return
    const { width, height } = size.value
    read({
      ...place,
      isRead: true,
      x: (width * (place.time - frame.from)) / (frame.to - frame.from),
      y: MARKS_HEIGHT + (height * (heatSample(data, place)!.row + 0.5)) / data.lines.length,
    })
  }
  const press = (event: PointerEvent): void => {
    move(event)
    const canvas = ref.current!
    if (startsSpan(event)) dragSpan(event, canvas, canvas.getBoundingClientRect(), frame)
  }
  const shade = shadeOf(selectedSpan.value, frame)
  const { width, height } = size.value
  // Labels that do not fit are left out; each shown label covers the rows up to the next one.
  const step = Math.ceil((data.lines.length * NAME_HEIGHT) / Math.max(NAME_HEIGHT, height))
  const zone = time.zone.value
  return (
    <div class="heat">
      <ol
        class={`heat-rows${step > 1 ? ' some' : ''}`}
        style={{ gridTemplateRows: `repeat(${data.lines.length}, minmax(0, 1fr))` }}
      >
        {data.lines
          .filter((_, i) => i % step === 0 && i + step <= data.lines.length)
          .map(({ key, label }, i) => (
            <li key={key} title={label} style={{ gridRow: `${i * step + 1} / span ${step}` }}>
              <Name text={label} />
            </li>
          ))}
      </ol>
      <div class="heat-field">
        {/* Before the canvas, above which they are, so that focus moves in visual order. */}
        {Marks !== undefined && (
          <Marks frame={frame} box={{ left: 0, top: 0, width, height: height + MARKS_HEIGHT }} />
        )}
        <canvas
          ref={ref}
          {...readable(summary(chart, data))}
          onPointerMove={move}
          onPointerDown={press}
          onClick={({ shiftKey }) => {
            if (!shiftKey) pin(reading.value)
          }}
          onKeyDown={key}
          onBlur={leave}
          // A finger leaves when it is lifted; what it has read stays.
          onPointerLeave={({ pointerType }) => {
            if (pointerType !== 'touch') leave()
          }}
          // The finger scrolls the page.
          onPointerCancel={leave}
        />
        <Instant frame={frame} />
        {shade !== undefined && <div class="span-shade" style={shade} />}
        <HoverText data={data} frame={frame} under={under} />
      </div>
      <ol
        class="heat-marks time-axis"
        aria-hidden="true"
        onPointerDown={(event) =>
          startPan(event.currentTarget, event, {
            frame,
            width: event.currentTarget.clientWidth,
            show: (from, to) => time.show(from, to),
          })
        }
        onWheel={(event) => {
          event.preventDefault()
          const { left, width } = event.currentTarget.getBoundingClientRect()
          time.zoom(wheelFactor(event), (event.clientX - left) / width)
        }}
      >
        {marksIn(frame, width, zone).map(({ at, label }) => (
          <li key={at} style={{ left: `${(100 * (at - frame.from)) / (frame.to - frame.from)}%` }}>
            {label}
          </li>
        ))}
      </ol>
      <p class="heat-key">
        <span>{showValue(data.measure, limits[0])}</span>
        <span class="heat-scale" />
        <span>{showValue(data.measure, limits[1])}</span>
      </p>
    </div>
  )
}

interface ReadingProps {
  readonly data: ChartData
  readonly frame: Frame
  readonly under: Signal<Under | undefined>
}

/** A separate component, because the pointer moves often. */
function HoverText({ data, frame, under }: ReadingProps): ComponentChild {
  const at = under.value
  const found = at && heatSample(data, at)
  // Another chart may be read.
  if (at === undefined || found === undefined || reading.value !== at.time) return <Announced />
  const sampled = data.times[found.index]
  // The window has left the time. The last cell may end behind the window.
  if (at.time < frame.from || (at.time > frame.to && sampled === undefined)) return <Announced />
  const line = data.lines[found.row]!
  const name = cellName(line)
  const value = readingAt(line, data.measure, found.index)
  const when = formatTime(sampled ?? at.time, time.zone.value)
  return (
    <>
      <TipBox place={at}>
        <p class="tip-time">{when}</p>
        <p>
          <b>{name}</b>: {value}
        </p>
      </TipBox>
      <Announced>{at.isRead === true && `${name}: ${value}, ${when}`}</Announced>
    </>
  )
}

/** The line at the pinned instant, or at the crosshair of all charts. A separate component, as above. */
function Instant({ frame }: { readonly frame: Frame }): ComponentChild {
  const at = instant.value
  if (at === undefined || at < frame.from || at > frame.to) return null
  return (
    <div class="pinned-mark" style={{ left: `${(100 * (at - frame.from)) / (frame.to - frame.from)}%` }} />
  )
}

/** Returns the name of a row, with its instance if the label has another name for it, e.g. a mount point. */
function cellName({ label, instance }: ChartLine): string {
  return instance === null || label.includes(instance) ? label : `${label} (${instance})`
}

/** Formats a value. For means of several samples it adds minimum and maximum, which the colour does not show. */
function readingAt({ values, low, high }: ChartLine, measure: Measure, index: number): string {
  const mean = showValue(measure, values[index])
  return low === undefined || high === undefined || low[index] === high[index]
    ? mean
    : `${mean}, ${showValue(measure, low[index])} to ${showValue(measure, high[index])}`
}

/** Describes the rows with the highest newest values, for screen readers. */
function summary({ title }: Chart, data: ChartData): string {
  const { lines, measure } = data
  const old = oldText(data, lines)
  const highest = lines
    .map((line) => ({
      label: line.label,
      age: ageOf(data, line),
      value: line.values[newestIndex(data, line.values)],
    }))
    // Rows that have ended have no current value.
    .filter(({ age, value }) => value != null && (old !== undefined || age?.isOld === false))
    .sort((a, b) => b.value! - a.value!)
    .slice(0, 4)
    .map(({ label, value }) => `${label} ${showValue(measure, value)}`)
  const when = old === undefined ? 'now' : `last, ${old}`
  return `${title}: ${lines.length} rows. Highest ${when}: ${highest.join(', ') || 'no values'}.`
}
