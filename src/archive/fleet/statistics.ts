/** Statistics over the hosts of a fleet. */

/** Values of hosts by bucket: row `i` has the buckets from `i * buckets`; NaN means no value. */
export interface FleetMatrix {
  readonly cells: Float32Array
  readonly buckets: number
}

/** Quantiles over hosts for each bucket, NaN without values, and the number of hosts with a value. */
export interface FleetQuantiles {
  readonly p50: Float64Array
  readonly p90: Float64Array
  readonly p99: Float64Array
  readonly max: Float64Array
  readonly count: Uint32Array
}

/** Returns quantiles over these rows by the nearest rank, so that each is the value of a host. */
export function fleetQuantiles({ cells, buckets }: FleetMatrix, rows: readonly number[]): FleetQuantiles {
  const empty = (): Float64Array => new Float64Array(buckets).fill(Number.NaN)
  const found = { p50: empty(), p90: empty(), p99: empty(), max: empty(), count: new Uint32Array(buckets) }
  const values = new Float64Array(rows.length)
  for (let b = 0; b < buckets; b++) {
    let count = 0
    for (const row of rows) {
      const value = cells[row * buckets + b]!
      if (!Number.isNaN(value)) values[count++] = value
    }
    found.count[b] = count
    if (count === 0) continue
    const sorted = values.subarray(0, count).sort()
    const rank = (share: number): number => sorted[Math.max(0, Math.ceil(share * count) - 1)]!
    found.p50[b] = rank(0.5)
    found.p90[b] = rank(0.9)
    found.p99[b] = rank(0.99)
    found.max[b] = sorted[count - 1]!
  }
  return found
}

/** Returns the mean of each row over its buckets with values; NaN without any. */
export function rowMeans({ cells, buckets }: FleetMatrix): Float64Array {
  const means = new Float64Array(buckets === 0 ? 0 : cells.length / buckets)
  for (let row = 0; row < means.length; row++) {
    let [sum, count] = [0, 0]
    for (let b = 0; b < buckets; b++) {
      const value = cells[row * buckets + b]!
      if (Number.isNaN(value)) continue
      sum += value
      count++
    }
    means[row] = count === 0 ? Number.NaN : sum / count
  }
  return means
}

/** Returns the indices of the rows with the highest values, highest first; rows without a value are left out. */
export function topRows(values: Float64Array, most: number, rows: readonly number[]): number[] {
  return rows
    .filter((row) => !Number.isNaN(values[row]!))
    .sort((a, b) => values[b]! - values[a]! || a - b)
    .slice(0, most)
}
