/**
 * Fetches that arrive together are answered together: no value is older than the request it answers, and one reading
 * may serve all requests that were waiting when it began. docs/decisions/coalescing.md
 */
import type { Pmid } from '../model/ids.ts'
import type { Ask, MetricSource, Requester } from '../model/source.ts'
import type { FetchResult } from '../model/values.ts'

interface Waiting {
  readonly ids: readonly Pmid[]
  readonly requester: Requester
  readonly done: (result: FetchResult) => void
  readonly failed: (error: unknown) => void
}

/** Collects fetches while sockets are being read, and asks for all of them with one moment afterwards. */
export class FetchBatch {
  readonly #source: MetricSource
  #waiting: Waiting[] = []

  constructor(source: MetricSource) {
    this.#source = source
  }

  /** Asks soon; exactly one of the callbacks is called. */
  add(
    ids: readonly Pmid[],
    requester: Requester,
    done: (result: FetchResult) => void,
    failed: (error: unknown) => void,
  ): void {
    // The check phase comes right after the poll phase in which sockets are read: nobody waits for a timer.
    if (this.#waiting.length === 0) setImmediate(() => this.flush())
    this.#waiting.push({ ids, requester, done, failed })
  }

  /** Asks now: for a request that must not overtake the fetches before it. */
  flush(): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    const moment = {}
    for (const { ids, requester, done, failed } of waiting) {
      const ask: Ask = { requester, moment }
      this.#source.fetch(ids, ask).then(done, failed)
    }
  }
}
