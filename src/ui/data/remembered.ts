/** Answers of a source whose values do not change, for pages that are shown again and zooms that are undone. */
import type { ChartRange } from '../../archive/chart-answer.ts'
import type { Source } from './source.ts'

type Range = NonNullable<Source['range']>

/** Most numbers of all answers: 16 MB. */
const MOST_NUMBERS = 2_000_000

/** Keeps the newest answers of a source. */
export function remembered(range: Range): Range {
  /** By query, least recently used first. Queries that were sent together share an answer. */
  const known = new Map<string, ChartRange>()
  return async (query, watcher) => {
    const key = JSON.stringify(query)
    const answer = known.get(key) ?? (await range(query, watcher))
    known.delete(key)
    known.set(key, answer)
    for (const oldest of known.keys()) {
      if (numbersOf(known.values()) <= MOST_NUMBERS) break
      known.delete(oldest)
    }
    return answer
  }
}

function numbersOf(answers: Iterable<ChartRange>): number {
  let sum = 0
  for (const { lists } of new Set(answers)) for (const { length } of lists) sum += length
  return sum
}
