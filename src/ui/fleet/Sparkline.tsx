/** The course of the chosen metric of a host, in the size of a word. */
import type { ComponentChild } from 'preact'
import { cellRow, range } from './state.ts'

const [WIDTH, HEIGHT] = [72, 20]
/** Points of the line; each is the highest value of its buckets. */
const POINTS = 72

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
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      aria-hidden="true"
    >
      <path d={pathOf(own, high || 1)} />
    </svg>
  )
}

/** Returns the line of values as an SVG path. */
export function pathOf(values: Float32Array, high: number): string {
  const points = Math.min(POINTS, values.length)
  let path = ''
  let isOpen = false
  for (let i = 0; i < points; i++) {
    const [from, to] = [
      Math.floor((i * values.length) / points),
      Math.floor(((i + 1) * values.length) / points),
    ]
    let most = Number.NaN
    for (const value of values.subarray(from, to))
      if (!(value <= most)) most = Number.isNaN(value) ? most : value
    if (Number.isNaN(most)) {
      isOpen = false
      continue
    }
    const x = ((i + 0.5) * WIDTH) / points
    const y = HEIGHT - 1 - Math.min(1, Math.max(0, most / high)) * (HEIGHT - 2)
    // A short line, so that a value between two gaps is visible.
    path += isOpen ? `L${x.toFixed(1)} ${y.toFixed(1)}` : `M${x.toFixed(1)} ${y.toFixed(1)}h.5`
    isOpen = true
  }
  return path
}
