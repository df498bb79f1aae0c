/** Sparklines: the course of a value in the size of a word. */

/** Size of the drawing in its own units. */
export const SPARK = { width: 72, height: 20 }
/** Points of the line; each is the highest value of its buckets. */
const POINTS = 72

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
    const x = ((i + 0.5) * SPARK.width) / points
    const y = SPARK.height - 1 - Math.min(1, Math.max(0, most / high)) * (SPARK.height - 2)
    // A short line, so that a value between two gaps is visible.
    path += isOpen ? `L${x.toFixed(1)} ${y.toFixed(1)}` : `M${x.toFixed(1)} ${y.toFixed(1)}h.5`
    isOpen = true
  }
  return path
}
