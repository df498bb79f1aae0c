/** Samples that no line shows: those between two gaps. */

/**
 * Returns an index of each run of samples that is no longer than `shortest` seconds, within `from` and `to`; undefined without one. As a
 * line such a run would be too short to be seen.
 */
export function loneSamples(
  times: readonly number[],
  values: readonly (number | null | undefined)[],
  { from, to, shortest }: { readonly from: number; readonly to: number; readonly shortest: number },
): number[] | undefined {
  const found: number[] = []
  let first = -1
  let last = -1
  const end = (): void => {
    if (first >= 0 && times[last]! - times[first]! <= shortest) found.push(last)
    first = -1
  }
  for (let i = 0; i < times.length; i++) {
    const value = values[i]
    if (value === undefined) continue
    if (value === null) end()
    else {
      if (first < 0) first = i
      last = i
    }
  }
  end()
  const shown = found.filter((i) => times[i]! >= from && times[i]! <= to)
  return shown.length === 0 ? undefined : shown
}
