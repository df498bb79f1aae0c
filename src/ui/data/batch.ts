/** What the charts of a page ask of one source for one window, asked together: an archive is read once for all of them. */
import type { ChartRange } from '../../archive/chart-answer.ts'
import type { RangeQuery } from './answers.ts'

type Range = (query: RangeQuery) => Promise<ChartRange>

interface Waiting {
  readonly query: RangeQuery
  readonly resolve: (answer: ChartRange | Promise<ChartRange>) => void
}

/** Names and expressions of one request: they have to fit into an address. */
const MOST_LETTERS = 5000

/** Puts together what is asked in one turn. An answer may hold more than what was asked for. */
export function batched(range: Range): Range {
  const byWindow = new Map<string, Waiting[]>()
  const send = (): void => {
    for (const waiting of byWindow.values()) for (const part of partsOf(waiting)) void answerAll(range, part)
    byWindow.clear()
  }
  return (query) =>
    new Promise((resolve) => {
      if (byWindow.size === 0) queueMicrotask(send)
      const { start, finish, points } = query
      const key = `${start} ${finish} ${points}`
      const waiting = byWindow.get(key) ?? []
      waiting.push({ query, resolve })
      byWindow.set(key, waiting)
    })
}

function partsOf(waiting: readonly Waiting[]): Waiting[][] {
  const parts: Waiting[][] = []
  let letters = Number.POSITIVE_INFINITY
  for (const one of waiting) {
    const more = JSON.stringify([one.query.names, one.query.derive]).length
    letters += more
    if (letters > MOST_LETTERS) {
      parts.push([])
      letters = more
    }
    parts.at(-1)!.push(one)
  }
  return parts
}

async function answerAll(range: Range, waiting: readonly Waiting[]): Promise<void> {
  const [{ query: first }] = waiting as readonly [Waiting]
  const names = [...new Set(waiting.flatMap(({ query }) => query.names))]
  const derive = Object.assign({}, ...waiting.map(({ query }) => query.derive)) as RangeQuery['derive']
  const answer = range({ ...first, names, derive })
  // What is wrong with one of them, or too much for one answer, is no fault of the others.
  const isAlone = waiting.length === 1
  const failed = await answer.then(
    () => false,
    () => !isAlone,
  )
  for (const { query, resolve } of waiting) resolve(failed ? range(query) : answer)
}
