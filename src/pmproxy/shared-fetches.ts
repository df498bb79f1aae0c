/**
 * Shares fetches among all requests for the same values. A request that arrives during a fetch gets the values of the next one, sent when the
 * first is answered, so that no value is older than its request.
 *
 *     requests    A   B C D      E
 *     sent        1───►2────►    3──►
 *     answers     A    B C D     E
 */
import type { Pmid } from '../model/ids.ts'
import type { Profile } from '../model/profile.ts'
import type { Ask, MetricSource } from '../model/source.ts'
import type { FetchResult } from '../model/values.ts'

interface Flight {
  readonly done: Promise<FetchResult>
  /** The following fetch, if a request waits for it. */
  next: Promise<FetchResult> | undefined
}

/** Fetches of one source that are in flight. */
export class SharedFetches {
  readonly #source: MetricSource
  readonly #flights = new Map<Profile, Map<string, Flight>>()

  constructor(source: MetricSource) {
    this.#source = source
  }

  /** Like `MetricSource.fetch`, but ignores the signal, as other requests may share the fetch. */
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
