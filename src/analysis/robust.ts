/** Robust statistics of short lists. */

/** Returns the quantile `q` of ascending numbers, interpolated; NaN for none. */
export function quantileOfSorted(sorted: Float64Array, q: number): number {
  if (sorted.length === 0) return Number.NaN
  const at = q * (sorted.length - 1)
  const low = Math.floor(at)
  const below = sorted[low]!
  return below + ((sorted[Math.ceil(at)] ?? below) - below) * (at - low)
}

/** Returns the median; NaN for none. */
export function median(values: Float64Array): number {
  return quantileOfSorted(values.slice().sort(), 0.5)
}

/** Returns the mean; NaN for none. */
export function mean(values: Float64Array): number {
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}

/** Returns the standard deviation of numbers about their mean; 0 for fewer than two. */
export function deviation(values: Float64Array): number {
  if (values.length < 2) return 0
  const centre = mean(values)
  let sum = 0
  for (const value of values) sum += (value - centre) ** 2
  return Math.sqrt(sum / (values.length - 1))
}

/** Returns Pearson's correlation of the pairs without NaN; 0 for fewer than four, or if one list is constant. */
export function correlation(one: Float64Array, other: Float64Array): number {
  let [n, x, y, xx, yy, xy] = [0, 0, 0, 0, 0, 0]
  for (let i = 0; i < one.length; i++) {
    const a = one[i]!
    const b = other[i]!
    if (Number.isNaN(a) || Number.isNaN(b)) continue
    n++
    x += a
    y += b
    xx += a * a
    yy += b * b
    xy += a * b
  }
  if (n < 4) return 0
  const spread = (n * xx - x * x) * (n * yy - y * y)
  return spread > 1e-12 * n * n ? (n * xy - x * y) / Math.sqrt(spread) : 0
}
