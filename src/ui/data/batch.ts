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
/** Share of a window, and of its points, by which windows of one request may differ. */
const SLACK = 1 / 100
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
  const windows: Waiting[][] = []
  for (const one of waiting) {
    const known = windows.find(([first]) => isAlike(first!.query, one.query))
    if (known === undefined) windows.push([one])
    else known.push(one)
  }
  return windows
}

/** May two queries share a request? Windows end where live values of a chart begin, which differs by a few seconds. */
function isAlike({ start, finish, points, ...one }: RangeQuery, other: RangeQuery): boolean {
  const isNear = (own: number, value: number, whole: number): boolean =>
    Math.abs(own - value) <= whole * SLACK
  const width = finish - start
  return (
    isNear(start, other.start, width) &&
    isNear(finish, other.finish, width) &&
    isNear(points, other.points, points) &&
    stackOf(one) === stackOf(other)
  )
}

/** Returns the metrics of a stack, because the common sample times of one need not suit another. */
const stackOf = ({ aligned, names }: Pick<RangeQuery, 'aligned' | 'names'>): string =>
  aligned === true ? names.join() : ''

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
  const all = <Key extends keyof RangeQuery>(key: Key): RangeQuery[Key][] =>
    waiting.map(({ query }) => query[key])
  const whole = {
    ...first,
    names: [...new Set(all('names').flat())],
    derive: Object.assign({}, ...all('derive')) as RangeQuery['derive'],
    start: Math.min(...all('start')),
    finish: Math.max(...all('finish')),
    points: Math.max(...all('points')),
  }
  const answer = range(whole, (soFar) => {
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
