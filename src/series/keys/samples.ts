/** Samples of a series, read from its stream in pages. */
import type { Timestamp } from '../../base/timestamp.ts'
import type { Value } from '../../model/values.ts'
import { ChosenSamples } from '../chosen-samples.ts'
import { isNewestFirst } from '../query/window.ts'
import type { Sample, SampleWindow } from '../store.ts'
import type { ValueBudget } from '../value-budget.ts'
import type { KeyClient } from './client.ts'
import { listOf, withoutErrors } from './maps.ts'
import type { Reply } from './replies.ts'
import { sampleTexts } from './sample-texts.ts'
import { valuesKey } from './schema.ts'
import { storedValue } from './values.ts'

/** Samples in the first page of an unknown stream, and values in pages of known ones, about. */
const FIRST_PAGE = 100
const PAGE_VALUES = 20_000
const MOST_IN_PAGE = 5000
/** Samples in the first page of a known stream, at most: it may have more instances by now. */
const MOST_IN_FIRST = 1000

/** A position in a stream: milliseconds, and microseconds within. */
interface Place {
  readonly ms: number
  readonly us: number
}

/** The most streams of which the values in a sample are known. */
const MOST_KNOWN = 100_000

/** Reads streams. */
export class SampleStreams {
  readonly #client: KeyClient
  /** Samples that the first page of a stream may have, if that is known. */
  readonly #pages = new Map<string, number>()

  constructor(client: KeyClient) {
    this.#client = client
  }

  /** Reads the samples of a window; `type` is that of the metric. Errors of the budget and the client. */
  async read(
    series: string,
    type: number,
    window: SampleWindow,
    budget: ValueBudget,
  ): Promise<readonly Sample[]> {
    if (isNewestFirst(window)) {
      const samples: Sample[] = []
      const most = window.samples!
      if (most === 0) return samples
      await this.#each({ series, type, isReverse: true, most }, (sample) => {
        budget.take(sample.values.length)
        return samples.push(sample) < most
      })
      return samples
    }
    const chosen = new ChosenSamples(window, budget)
    const { start, finish, samples, interval } = window
    const most = interval === undefined ? samples : undefined
    await this.#each({ series, type, start, finish, isReverse: false, most }, (sample) =>
      chosen.offer(sample),
    )
    return chosen.finish()
  }

  async #each(
    { series, type, start, finish, isReverse, most }: StreamRange,
    take: (sample: Sample) => boolean,
  ): Promise<void> {
    const key = valuesKey(series)
    const decode = sampleTexts(type)
    let first = start === undefined ? '-' : idText(placeOf(start, true))
    let last = finish === undefined ? '+' : idText(placeOf(finish, false))
    let page = Math.min(this.#pages.get(series) ?? FIRST_PAGE, most ?? MOST_IN_FIRST)
    let known: readonly string[] = []
    for (;;) {
      const command = isReverse ? ['XREVRANGE', key, last, first] : ['XRANGE', key, first, last]
      const replies = await this.#client.callAll([[...command, 'COUNT', page]], decode)
      const entries = listOf(withoutErrors(this.#client, replies)[0])
      let values = 0
      let place: Place | undefined
      for (const entry of entries) {
        const [id, fields] = listOf(entry)
        place = placeIn(String(id))
        const list = listOf(fields)
        values += list.length / 2
        const sample = sampleOf(place, list, type, known)
        if (sample === undefined) continue
        known = sample.ids
        if (!take(sample)) return
      }
      if (place === undefined) return
      const next = pageOf(entries.length, values)
      this.#keepPage(series, Math.min(next, MOST_IN_FIRST))
      if (entries.length < page) return
      if (isReverse) last = before(place)
      else first = idText({ ms: place.ms, us: place.us + 1 })
      page = next
    }
  }

  #keepPage(series: string, page: number): void {
    if (this.#pages.get(series) === page) return
    if (this.#pages.size >= MOST_KNOWN) this.#pages.clear()
    this.#pages.set(series, page)
  }
}

/** Which samples of a stream to read, and at most how many. */
interface StreamRange extends Pick<SampleWindow, 'start' | 'finish'> {
  readonly series: string
  readonly type: number
  readonly isReverse: boolean
  readonly most: number | undefined
}

/** Returns how many samples a page may have, if so many entries have so many values. */
function pageOf(entries: number, values: number): number {
  return Math.max(1, Math.min(MOST_IN_PAGE, Math.floor((PAGE_VALUES * entries) / Math.max(1, values))))
}

/** Returns a sample, with the identifiers of the one before if they are the same; undefined if it has no values. */
function sampleOf(
  { ms, us }: Place,
  fields: readonly Reply[],
  type: number,
  known: readonly string[],
): Sample | undefined {
  /** Identifiers, once one differs. */
  let own: string[] | undefined
  const values: Value[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const field = fields[i]
    const value = fields[i + 1]
    if (typeof field !== 'string' || (typeof value !== 'string' && typeof value !== 'number')) continue
    if (own === undefined && known[values.length] !== field) own = known.slice(0, values.length)
    own?.push(field)
    values.push(typeof value === 'number' ? value : storedValue(value, type))
  }
  if (values.length === 0) return undefined
  const ids = own ?? (known.length === values.length ? known : known.slice(0, values.length))
  return { sec: Math.floor(ms / 1000), nsec: (ms % 1000) * 1_000_000 + us * 1000, ids, values }
}

function placeIn(id: string): Place {
  const dash = id.indexOf('-')
  return { ms: Number(id.slice(0, dash)), us: Number(id.slice(dash + 1)) }
}

/** Rounds a time up or down to microseconds. */
function placeOf({ sec, nsec }: Timestamp, isUp: boolean): Place {
  const micros = isUp ? Math.ceil(nsec / 1000) : Math.floor(nsec / 1000)
  return { ms: Math.max(0, sec * 1000 + Math.floor(micros / 1000)), us: micros % 1000 }
}

function idText({ ms, us }: Place): string {
  return `${ms}-${us}`
}

/** Returns the end of the range before a position. */
function before({ ms, us }: Place): string {
  return us > 0 ? idText({ ms, us: us - 1 }) : String(ms - 1)
}
