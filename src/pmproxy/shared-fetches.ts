/**
 * One fetch for all who wait for the same values. Whoever asks while a fetch is under way gets the values of the next one, which is sent when
 * that one is answered: no value is older than the question.
 *
 *     asked by    A   B C D      E
 *     sent        1───►2────►    3──►
 *     answers     A    B C D     E
 */
import type { Pmid } from '../model/ids.ts'
import type { Profile } from '../model/profile.ts'
import type { Ask, MetricSource } from '../model/source.ts'
import type { FetchResult } from '../model/values.ts'

interface Flight {
  readonly done: Promise<FetchResult>
  /** The one after it, once somebody waits for that. */
  next: Promise<FetchResult> | undefined
}

/** Fetches of one source that are under way. */
export class SharedFetches {
  readonly #source: MetricSource
  readonly #flights = new Map<Profile, Map<string, Flight>>()

  constructor(source: MetricSource) {
    this.#source = source
  }

  /** As `MetricSource.fetch`; nobody's signal ends what others wait for. */
  fetch(ids: readonly Pmid[], { requester, at }: Ask): Promise<FetchResult> {
    const { profile } = requester
    const key = `${requester.context}:${requester.container ?? ''}:${at?.sec}.${at?.nsec}:${ids.join()}`
    const send = (): Promise<FetchResult> =>
      this.#send(profile, key, () =>
        this.#source.fetch(ids, { requester, ...(at === undefined ? {} : { at }) }),
      )
    const flight = this.#flights.get(profile)?.get(key)
    if (flight === undefined) return send()
    flight.next ??= flight.done.then(send, send)
    return flight.next
  }

  #send(profile: Profile, key: string, ask: () => Promise<FetchResult>): Promise<FetchResult> {
    let flights = this.#flights.get(profile)
    if (flights === undefined) {
      flights = new Map()
      this.#flights.set(profile, flights)
    }
    const flight: Flight = { done: ask(), next: undefined }
    flights.set(key, flight)
    const landed = (): void => {
      if (flights.get(key) === flight && flight.next === undefined) flights.delete(key)
      if (flights.size === 0) this.#flights.delete(profile)
    }
    flight.done.then(landed, landed)
    return flight.done
  }
}
