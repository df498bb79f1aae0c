/** Fills lines of similar lengths with words. fmt(1) */

/** Cost of a line, in squared columns of deviation from the goal. */
const LINE_COST = 70 ** 2
/** Cost of a column of deviation, before it is squared; differences between neighbours count half. */
const COLUMN_COST = 10
/** Cost of a last line with a single word, less for a long word. */
const ALONE_COST = 150 ** 2

/**
 * Fills lines of less than `width` columns so that they are close to 93 % of it and differ little from each other, as fmt(1) does.
 * A longer word has its own line.
 */
export function balancedLines(words: readonly string[], width: number): readonly string[] {
  const goal = Math.floor((width * 187) / 200)
  // From the last word to the first: the lowest cost of the rest, the length of its first line, and the next line's start.
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

/** Returns the cost of a line. The last one may have any length, and its neighbour is not compared with it. */
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
