/** Samples of a window from a server that answers for spans of time: as few as possible, in parts if an answer is too large. */
import { PcpError } from '../../model/errors.ts'
import { Goals, isNewestFirst } from '../query/window.ts'
import type { Sample, SampleWindow } from '../store.ts'
import type { ValueBudget } from '../value-budget.ts'

/** Reads the samples of series from `fromMs` to `toMs`, oldest first, by identifier. */
export type SpanReader = (fromMs: number, toMs: number) => Promise<ReadonlyMap<string, readonly Sample[]>>

/** Milliseconds of the first span, if the number of samples is limited, and its growth: the last hour, and one for clocks that differ. */
const FIRST_SPAN = 7_200_000
const GROWTH = 4
/** An answer that is too large is divided so often, but not below a second. */
const MOST_DIVISIONS = 16
const LEAST_SPAN = 1000

/** Returns the samples of a window by series, in its order; `nowMs` is later than all of them. Errors of `read` and the budget. */
export async function readWindow(
  ids: readonly string[],
  window: SampleWindow,
  { read, nowMs, budget }: { read: SpanReader; nowMs: number; budget: ValueBudget },
): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const collectors = new Map(ids.map((id) => [id, new Collector(window, budget)]))
  const isNewest = isNewestFirst(window)
  const isFull = (): boolean => [...collectors.values()].every((each) => each.isFull)
  const enter = async (fromMs: number, toMs: number, divisions: number): Promise<void> => {
    let found: Awaited<ReturnType<SpanReader>>
    try {
      found = await read(fromMs, toMs)
    } catch (error) {
      const isTooLarge = error instanceof PcpError && error.code === 'E2BIG'
      if (!isTooLarge || divisions === 0 || toMs - fromMs < 2 * LEAST_SPAN) throw error
      const middle = Math.floor((fromMs + toMs) / 2)
      const halves: [number, number][] = [
        [fromMs, middle],
        [middle + 1, toMs],
      ]
      for (const [from, to] of isNewest ? halves.reverse() : halves)
        if (!isFull()) await enter(from, to, divisions - 1)
      return
    }
    for (const [id, samples] of found) {
      const collector = collectors.get(id)
      for (const sample of isNewest ? samples.toReversed() : samples) collector?.offer(sample)
    }
  }
  const start = window.start === undefined ? 0 : Math.ceil(milliseconds(window.start))
  const finish =
    window.finish === undefined ? nowMs : Math.min(nowMs, Math.floor(milliseconds(window.finish)))
  let span = window.samples === undefined ? finish - start : FIRST_SPAN
  for (let [from, to] = [start, finish]; from <= to && !isFull(); span *= GROWTH) {
    const [first, last] = isNewest ? [Math.max(from, to - span), to] : [from, Math.min(to, from + span)]
    await enter(first, last, MOST_DIVISIONS)
    if (isNewest) to = first - 1
    else from = last + 1
  }
  return new Map([...collectors].map(([id, collector]) => [id, collector.end()]))
}

/** Takes the samples of one series that belong to a window, in its order. */
class Collector {
  readonly #samples: Sample[] = []
  readonly #most: number
  readonly #goals: Goals | undefined
  readonly #budget: ValueBudget
  #waiting: Sample | undefined

  constructor({ samples = Number.POSITIVE_INFINITY, interval, start }: SampleWindow, budget: ValueBudget) {
    this.#most = samples
    this.#budget = budget
    if (interval !== undefined && interval > 0)
      this.#goals = new Goals(interval, start && milliseconds(start) / 1000)
  }

  get isFull(): boolean {
    return this.#samples.length >= this.#most
  }

  offer(sample: Sample): void {
    if (this.#goals === undefined) this.#take(sample)
    else {
      this.#pass(milliseconds(sample) / 1000)
      this.#waiting = sample
    }
  }

  end(): readonly Sample[] {
    this.#pass(undefined)
    return this.#samples
  }

  /** Takes the sample that waits for the one after it, at `next`, if it is the last before a goal. */
  #pass(next: number | undefined): void {
    if (this.#waiting === undefined || !this.#goals!.takes(milliseconds(this.#waiting) / 1000, next)) return
    this.#take(this.#waiting)
    this.#waiting = undefined
  }

  #take(sample: Sample): void {
    if (this.isFull) return
    this.#budget.take(sample.values.length)
    this.#samples.push(sample)
  }
}

function milliseconds({ sec, nsec }: Pick<Sample, 'sec' | 'nsec'>): number {
  return sec * 1000 + nsec / 1e6
}
