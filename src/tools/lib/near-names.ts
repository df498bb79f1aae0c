/** Names that somebody may have meant who wrote one that is not there. */

/** How many are offered. */
const OFFERED = 3

/**
 * The names nearest to `wanted`, best first: those that are few slips away from it, and those of which it is the end or another part.
 * Empty when nothing is near.
 */
export function nearNames(wanted: string, names: Iterable<string>): readonly string[] {
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

/** Slips from one text to the other, `most` for one that ends with the other or begins with it, more than that for others. */
function distanceOf(wanted: string, name: string, most: number): number {
  const slips = Math.abs(wanted.length - name.length) > most ? most + 1 : slipsOf(wanted, name)
  if (slips <= most) return slips
  const isPart = name.endsWith(`.${wanted}`) || name.startsWith(`${wanted}.`) || wanted.endsWith(`.${name}`)
  return isPart ? most : most + 1
}

/** Letters left out, added, changed or swapped with the next one between two texts. */
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

/** ` Did you mean a or b?`, '' for nothing. */
export function didYouMean(names: readonly string[]): string {
  if (names.length === 0) return ''
  const last = names.at(-1)!
  return ` Did you mean ${names.length === 1 ? last : `${names.slice(0, -1).join(', ')} or ${last}`}?`
}
