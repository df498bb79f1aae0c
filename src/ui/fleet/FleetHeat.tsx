/** One metric over all hosts as a heat map: a line for each host, the highest on top. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { FleetRange } from '../../archive/fleet/answer.ts'
import { readable } from '../chart/drawn.ts'
import { heatColors } from '../chart/heat-map.ts'
import { reading } from '../chart/instant.ts'
import { Announced, TipBox, type TipPlace } from '../chart/Readings.tsx'
import { stepOf } from '../chart/reading.ts'
import { marksIn } from '../chart/time-marks.ts'
import { colorsVersion } from '../theme.ts'
import { time } from '../time/control.ts'
import { formatTime } from '../time/format.ts'
import { showValue } from '../view/measure.ts'
import { open } from './HostTable.tsx'
import {
  cellOf,
  type FleetReading,
  type HeatCell,
  heatLines,
  heatPixels,
  highestOfLine,
  hostsOfLine,
  readingOf,
} from './heat-image.ts'
import { cellRow, means, measure, ranked } from './state.ts'

/** Distance of two touches of one place, in pixels: half a finger. */
const NEAR = 22

/** A reading, and its position for the tooltip. */
type Under = FleetReading & TipPlace

/** Renders the map. A click, or Enter after moving with the arrow keys, opens a host at a time. */
export function FleetHeat({ range }: { readonly range: FleetRange }): ComponentChild {
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSignal({ width: 300, height: 240 })
  const under = useSignal<Under | undefined>(undefined)
  const hosts = ranked.value
  const rows = hosts.map(({ key }) => cellRow(key))
  const colors = colorsVersion.value
  const limits = limitsOf(range)
  const { start, step, buckets } = range
  const { width, height } = size.value
  const lines = heatLines(rows.length, height)
  useEffect(() => {
    const of = canvas.current!
    const observer = new ResizeObserver(() => {
      size.value = { width: of.clientWidth, height: of.clientHeight }
    })
    observer.observe(of)
    return () => {
      observer.disconnect()
      reading.value = undefined
    }
  }, [])
  useEffect(() => {
    const of = canvas.current!
    const context = of.getContext('2d')
    if (context === null) return
    of.width = buckets
    of.height = lines
    if (rows.length === 0) return
    const shades = heatColors().map(channelsOf)
    context.putImageData(new ImageData(heatPixels(range, rows, lines, limits, shades), buckets, lines), 0, 0)
  }, [range, hosts, lines, colors])
  const read = (place: Under | undefined): void => {
    under.value = place
    reading.value = place?.at
  }
  const leave = (): void => read(undefined)
  const placeAt = (event: PointerEvent): Under | undefined => {
    const box = canvas.current!.getBoundingClientRect()
    const x = event.clientX - box.left
    const y = event.clientY - box.top
    const line = Math.min(lines - 1, Math.max(0, Math.floor((y / box.height) * lines)))
    const bucket = Math.min(buckets - 1, Math.max(0, Math.floor((x / box.width) * buckets)))
    const found = rows.length === 0 ? undefined : highestOfLine(range, rows, line, lines, bucket)
    return found && { ...readingOf(range, hosts, found), x, y, isRead: event.pointerType === 'touch' }
  }
  const openAt = ({ key, at }: FleetReading): void => {
    const host = hosts.find((one) => one.key === key)
    if (host !== undefined) open(host, at)
  }
  /** The first touch reads a cell, a second one near it opens its host. */
  const isOpening = useRef(true)
  const press = (event: PointerEvent): void => {
    const [before, place] = [under.value, placeAt(event)]
    const isTouch = event.pointerType === 'touch'
    const isNear =
      isTouch &&
      before !== undefined &&
      place !== undefined &&
      Math.hypot(place.x - before.x, place.y - before.y) < NEAR
    isOpening.current = !isTouch || isNear
    if (isNear) return
    if (isTouch) canvas.current!.focus({ preventScroll: true })
    read(place)
  }
  const click = (): void => {
    if (isOpening.current && under.value !== undefined) openAt(under.value)
  }
  const key = (event: KeyboardEvent): void => {
    const move = stepOf(event)
    const at = under.value
    if (event.key === 'Enter' && at !== undefined) openAt(at)
    else if (move !== undefined && hosts.length > 0) {
      const from: HeatCell = (at && cellOf(range, hosts, at)) ?? { host: 0, bucket: buckets - 1 }
      const host = Math.min(hosts.length - 1, Math.max(0, from.host + move[0]))
      const bucket = Math.min(buckets - 1, Math.max(0, from.bucket + move[1]))
      const [x, y] = [((bucket + 0.5) * width) / buckets, ((host + 0.5) * height) / hosts.length]
      read({ ...readingOf(range, hosts, { host, bucket }), isRead: true, x, y })
    } else if (event.key === 'Escape' && at !== undefined) leave()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const [, perLine] = hostsOfLine(0, lines, rows.length)
  return (
    <div class="fleet-heat">
      <div class="fleet-heat-field">
        <canvas
          ref={canvas}
          {...readable(summary(range))}
          onPointerMove={(event) => read(placeAt(event))}
          onPointerDown={press}
          // A finger leaves when it is lifted; what it has read stays.
          onPointerLeave={({ pointerType }) => {
            if (pointerType !== 'touch') leave()
          }}
          // The finger scrolls the page.
          onPointerCancel={leave}
          onClick={click}
          onKeyDown={key}
          onBlur={leave}
        />
        <Hover range={range} under={under} />
      </div>
      <ol class="heat-marks" aria-hidden="true">
        {marksIn({ from: start, to: start + step * buckets }, width, time.zone.value).map(({ at, label }) => (
          <li key={at} style={{ left: `${(100 * (at - start)) / (step * buckets)}%` }}>
            {label}
          </li>
        ))}
      </ol>
      <p class="heat-key">
        <span>{showValue(measure.value, limits[0] * measure.value.factor)}</span>
        <span class="heat-scale" />
        <span>{showValue(measure.value, limits[1] * measure.value.factor)}</span>
        <span class="fleet-note">
          {hosts.length === 1 ? '1 host' : `${hosts.length} hosts, the highest on top`}; empty: no values
          {perLine > 1 && `. Each line shows the highest of up to ${Math.ceil(rows.length / lines)} hosts`}
        </span>
      </p>
    </div>
  )
}

interface HoverProps {
  readonly range: FleetRange
  readonly under: Signal<Under | undefined>
}

/** A separate component, because the pointer moves often. */
function Hover({ range, under }: HoverProps): ComponentChild {
  const at = under.value
  const cell = at && cellOf(range, ranked.value, at)
  if (at === undefined || cell === undefined) return <Announced />
  const { start, step, buckets, cells } = range
  const value = cells[cellRow(at.key) * buckets + cell.bucket]
  const from = start + cell.bucket * step
  const zone = time.zone.value
  const text =
    value === undefined || Number.isNaN(value)
      ? 'no value'
      : showValue(measure.value, value * measure.value.factor)
  return (
    <>
      <TipBox place={at}>
        <p class="tip-time">
          {formatTime(from, zone)} – {formatTime(from + step, zone).slice(-8)}
        </p>
        <p>
          {at.key}: {text}
        </p>
      </TipBox>
      <Announced>{at.isRead === true && `${at.key}, ${formatTime(from, zone)}: ${text}`}</Announced>
    </>
  )
}

/** Returns the range of the colours: shares from 0 to 1, others from 0 to the highest value. */
function limitsOf({ unit, quantiles, cells }: FleetRange): readonly [number, number] {
  if (unit === 'share') return [0, 1]
  const high = quantiles.max.reduce((most: number, value) => Math.max(most, value ?? 0), 0)
  let low = 0
  for (const value of cells) if (value < low) low = value
  return [low, high > low ? high : low + 1]
}

function channelsOf(color: string): [number, number, number] {
  const [red = 0, green = 0, blue = 0] = (color.match(/\d+/g) ?? []).map(Number)
  return [red, green, blue]
}

/** Describes the map for screen readers; the table has the same hosts. */
function summary({ title, start, step, buckets }: FleetRange): string {
  const zone = time.zone.value
  const highest = ranked.value
    .slice(0, 3)
    .map(({ key }) => `${key} ${showValue(measure.value, means.value.get(key))}`)
  return (
    `${title} of ${ranked.value.length} hosts from ${formatTime(start, zone)} to ` +
    `${formatTime(start + step * buckets, zone)}. Highest means: ${highest.join(', ') || 'no values'}. ` +
    'Arrow keys read values, Enter opens the host.'
  )
}
