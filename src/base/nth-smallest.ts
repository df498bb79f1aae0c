/** The n-th smallest of many numbers without sorting them all. */

/** Partitions after which the rest is sorted: unlucky orders would take quadratic time. */
const MOST_PARTITIONS = 64

/** Returns the number at position `n` of the ascending order, from 0 on; reorders `values`, which must not have NaN. */
export function nthSmallest(values: Float64Array, n: number): number {
  let [low, high] = [0, values.length - 1]
  for (let round = 0; low < high; round++) {
    if (round === MOST_PARTITIONS) {
      values.subarray(low, high + 1).sort()
      break
    }
    const pivot = values[(low + high) >> 1]!
    let [left, right] = [low, high]
    while (left <= right) {
      while (values[left]! < pivot) left++
      while (values[right]! > pivot) right--
      if (left > right) break
      const value = values[left]!
      values[left++] = values[right]!
      values[right--] = value
    }
    if (n <= right) high = right
    else if (n >= left) low = left
    else break
  }
  return values[n]!
}
