/**
 * Fetches that arrive together are answered together: no value is older than the request it answers, and one reading
 * may serve all requests that were waiting when it began. docs/decisions/coalescing.md
 */
import type { Pmid } from '../model/ids.ts'
import type { MetricSource, Requester } from '../model/source.ts'
import type { FetchResult } from '../model/values.ts'

interface Waiting {
  readonly ids: readonly Pmid[]
  readonly requester: Requester
  readonly signal: AbortSignal
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

  /** Asks soon; exactly one of the callbacks is called, or none when `signal` is aborted before that. */
  add(
    ids: readonly Pmid[],
    { requester, signal }: Pick<Waiting, 'requester' | 'signal'>,
    done: (result: FetchResult) => void,
    failed: (error: unknown) => void,
  ): void {
    // The check phase comes right after the poll phase in which sockets are read: nobody waits for a timer.
    if (this.#waiting.length === 0) setImmediate(flush, this)
    this.#waiting.push({ ids, requester, signal, done, failed })
  }

  /** Asks now: for a request that must not overtake the fetches before it. */
  flush(): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    const moment = {}
    for (const { ids, requester, signal, done, failed } of waiting) {
      // A client that has gone is forgotten by the agents already: a late fetch would make them remember it.
      if (!signal.aborted) this.#source.fetch(ids, { requester, signal, moment }).then(done, failed)
    }
  }
}

function flush(batch: FetchBatch): void {
  batch.flush()
}
