/** Suggests names similar to an unknown one. */

/** Most suggestions. */
const OFFERED = 3

/**
 * Returns the names most similar to `wanted`, best first: those within a small edit distance, then those that begin or end with it,
 * or that it ends with.
 */
export function similarNames(wanted: string, names: Iterable<string>): readonly string[] {
  const most = Math.max(1, Math.floor(wanted.length / 4))
  const lower = wanted.toLowerCase()
  const found: { readonly name: string; readonly distance: number }[] = []
  for (const name of names) {
    const distance = distanceOf(lower, name.toLowerCase(), most)
    if (distance <= most) found.push({ name, distance })
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
  return found.slice(0, OFFERED).map(({ name }) => name)
}

/** Returns the edit distance, `most` for partial matches, and more than that otherwise. */
function distanceOf(wanted: string, name: string, most: number): number {
  const slips = Math.abs(wanted.length - name.length) > most ? most + 1 : slipsOf(wanted, name)
  if (slips <= most) return slips
  const isPart = name.endsWith(`.${wanted}`) || name.startsWith(`${wanted}.`) || wanted.endsWith(`.${name}`)
  return isPart ? most : most + 1
}

/** Returns the edit distance; swapping two neighbouring letters counts as one edit. */
function slipsOf(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const now = [i]
    for (let k = 1; k <= b.length; k++) {
      const isSame = a[i - 1] === b[k - 1]
      let best = Math.min(now[k - 1]! + 1, last[k]! + 1, last[k - 1]! + (isSame ? 0 : 1))
      if (i > 1 && k > 1 && a[i - 1] === b[k - 2] && a[i - 2] === b[k - 1])
        best = Math.min(best, before[k - 2]! + 1)
      now.push(best)
    }
    before = last
    last = now
  }
  return last[b.length]!
}

/** Formats ` Did you mean a or b?`; '' without names. */
export function didYouMean(names: readonly string[]): string {
  if (names.length === 0) return ''
  const last = names.at(-1)!
  return ` Did you mean ${names.length === 1 ? last : `${names.slice(0, -1).join(', ')} or ${last}`}?`
}
