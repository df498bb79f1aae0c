/** Answers of a source whose values do not change, for pages that are shown again and zooms that are undone. */
import type { ChartRange } from '../../archive/chart-answer.ts'
import type { Source } from './source.ts'

type Range = NonNullable<Source['range']>

/** Most numbers and answers that are kept: 16 MB of numbers. */
const MOST_NUMBERS = 2_000_000
const MOST_ANSWERS = 200
/** What a column takes besides its values, in numbers. */
const COLUMN = 50

/** Keeps the newest answers of a source about windows up to `end`, in seconds since the epoch. */
export function remembered(range: Range, end: number): Range {
  /** By query, least recently used first. Queries that were sent together share an answer. */
  const known = new Map<string, ChartRange>()
  /** How many queries share an answer. */
  const uses = new Map<ChartRange, number>()
  let numbers = 0
  const forget = (key: string): void => {
    const answer = known.get(key)
    if (answer === undefined) return
    known.delete(key)
    const left = uses.get(answer)! - 1
    if (left > 0) uses.set(answer, left)
    else {
      uses.delete(answer)
      numbers -= sizeOf(answer)
    }
  }
  return async (query, watcher) => {
    const key = JSON.stringify(query)
    const answer = known.get(key) ?? (await range(query, watcher))
    forget(key)
    if (query.finish > end) return answer // more may be recorded
    known.set(key, answer)
    if (!uses.has(answer)) numbers += sizeOf(answer)
    uses.set(answer, (uses.get(answer) ?? 0) + 1)
    for (const oldest of known.keys()) {
      if (numbers <= MOST_NUMBERS && known.size <= MOST_ANSWERS) break
      forget(oldest)
    }
    return answer
  }
}

function sizeOf({ lists, metrics }: ChartRange): number {
  let size = 0
  for (const { length } of lists) size += length
  for (const metric of metrics) if ('columns' in metric) size += COLUMN * metric.columns.length
  return size
}
