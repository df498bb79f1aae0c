/** Batches the range queries of all charts for one source and window, so that an archive is read once for all of them. */
import { type ReadonlySignal, signal } from '@preact/signals'
import type { ChartRange } from '../../archive/chart-answer.ts'
import type { RangeQuery } from './responses.ts'
import type { Source } from './source.ts'

type Range = (query: RangeQuery, onPart: (soFar: ChartRange) => void) => Promise<ChartRange>

interface Waiting {
  readonly query: RangeQuery
  readonly isSeen: ReadonlySignal<boolean>
  readonly onPart: (soFar: ChartRange) => void
  readonly resolve: (answer: ChartRange | Promise<ChartRange>) => void
  /** Stops watching whether the chart comes into view. */
  stop?: () => void
}

/** Maximum length of the names and expressions of one request, which must fit into a URL. */
const MOST_LETTERS = 5000
/** Used for callers that do not report visibility. */
const SEEN = signal(true)

/**
 * Batches the queries of one microtask. A response may contain more metrics than a caller requested. Queries of charts out of view
 * wait until the others have been answered, or until the chart comes into view.
 */
export function batched(range: Range): NonNullable<Source['range']> {
  let waiting: Waiting[] = []
  let isDue = false
  /** Number of requests in flight. */
  let open = 0
  const later = (): void => {
    if (isDue || waiting.length === 0) return
    isDue = true
    queueMicrotask(send)
  }
  const send = (): void => {
    isDue = false
    const seen = waiting.filter(({ isSeen }) => isSeen.value)
    const now = seen.length > 0 || open > 0 ? seen : waiting
    waiting = waiting.filter((one) => !now.includes(one))
    for (const one of now) one.stop?.()
    for (const one of waiting) one.stop ??= one.isSeen.subscribe((isSeen) => isSeen && later())
    for (const part of byWindow(now).flatMap(partsOf)) {
      open++
      void answerAll(range, part).then(() => {
        open--
        later()
      })
    }
  }
  return (query, { isSeen = SEEN, onPart = () => {} } = {}) =>
    new Promise((resolve) => {
      waiting.push({ query, isSeen, onPart, resolve })
      later()
    })
}

function byWindow(waiting: readonly Waiting[]): Waiting[][] {
  const windows = new Map<string, Waiting[]>()
  for (const one of waiting) {
    const { start, finish, points, aligned, names } = one.query
    // The common sample times of one stack need not suit another.
    const key = `${start} ${finish} ${points} ${aligned === true ? names.join() : ''}`
    const known = windows.get(key)
    if (known === undefined) windows.set(key, [one])
    else known.push(one)
  }
  return [...windows.values()]
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
  const answer = range({ ...first, names, derive }, (soFar) => {
    for (const { onPart } of waiting) onPart(soFar)
  })
  // Retries one by one, so that one bad metric or a too large response does not fail the others.
  const isAlone = waiting.length === 1
  const failed = await answer.then(
    () => false,
    () => !isAlone,
  )
  for (const { query, onPart, resolve } of waiting) resolve(failed ? range(query, onPart) : answer)
}
