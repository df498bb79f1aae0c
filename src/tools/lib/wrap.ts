/** Words in lines of about the same length. fmt(1) */

/** A new line costs as much as being this much longer or shorter than it should. */
const LINE_COST = 70 ** 2
/** What one column too few costs, before it is squared; differences between neighbours count half. */
const COLUMN_COST = 10
/** What it costs to leave the last word alone on a line: less for a long one. */
const ALONE_COST = 150 ** 2

/**
 * Puts words into lines of less than `width` columns, blanks between them, so that lines come near 93 % of it and differ little from
 * each other, as fmt(1) does and the scripts that use it. A word longer than that has a line of its own.
 */
export function balancedLines(words: readonly string[], width: number): readonly string[] {
  const goal = Math.floor((width * 187) / 200)
  // From the last word to the first: the cheapest way to set what follows, its first line, and where the next one begins.
  const best: { cost: number; length: number; next: number }[] = []
  best[words.length] = { cost: 0, length: 0, next: words.length }
  for (let first = words.length - 1; first >= 0; first--) {
    let length = -1
    let chosen = { cost: Number.POSITIVE_INFINITY, length: 0, next: first + 1 }
    for (let next = first + 1; next <= words.length; next++) {
      length += 1 + words[next - 1]!.length
      if (length >= width && next > first + 1) break
      let cost = best[next]!.cost + lineCost(length, best[next]!, { goal, count: words.length, next })
      if (next === words.length - 1) cost += ALONE_COST / (words[next]!.length + 2)
      if (cost < chosen.cost) chosen = { cost, length, next }
    }
    best[first] = chosen
  }
  const lines: string[] = []
  for (let at = 0; at < words.length; at = best[at]!.next)
    lines.push(words.slice(at, best[at]!.next).join(' '))
  return lines
}

/** The last line may be of any length, and the one before it need not be like it. */
function lineCost(
  length: number,
  following: { readonly length: number; readonly next: number },
  { goal, count, next }: { readonly goal: number; readonly count: number; readonly next: number },
): number {
  if (next === count) return LINE_COST
  const short = (COLUMN_COST * (goal - length)) ** 2
  const ragged = following.next === count ? 0 : (COLUMN_COST * (length - following.length)) ** 2 / 2
  return LINE_COST + short + ragged
}
