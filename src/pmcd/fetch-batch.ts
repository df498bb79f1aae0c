/**
 * Fetches that arrive together are answered together: no value is older than the request it answers, and one reading
 * may serve all requests that were waiting when it began. docs/decisions/coalescing.md
 */
import type { Pmid } from '../model/ids.ts'
import { SourceLayer } from '../model/layer.ts'
import type { Ask } from '../model/source.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import { Awake } from '../net/awake.ts'

interface Waiting {
  readonly ids: readonly Pmid[]
  readonly ask: Ask
  readonly resolve: (result: FetchResult) => void
  readonly reject: (error: unknown) => void
}

/** Value sets asked for before sockets get another turn: the results of all who wait are never in memory together. */
const SETS_A_TURN = 4096

/** A layer that collects fetches while sockets are being read, and asks for all of them with one moment afterwards. */
export class FetchBatch extends SourceLayer {
  /** Those of the moment under way, in the order they came, those that come meanwhile, and how many were asked. */
  #current: Waiting[] = []
  #waiting: Waiting[] = []
  #asked = 0
  #moment: object = {}
  #isDue = false
  /** Answers within half a millisecond promise another request: docs/decisions/staying-awake.md */
  readonly #awake = new Awake({ closeMs: 0.5, awakeMs: 0.1 })

  /** Asks soon. The promise stays pending if `signal` is aborted before that. */
  override fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ids, ask, resolve, reject })
      this.#beDue()
    })
  }

  /** Asks for the fetches before it first: they must not see what it changes. */
  override store(sets: readonly ValueSet[], ask: Ask): Promise<void> {
    while (this.#ask(Number.POSITIVE_INFINITY));
    return super.store(sets, ask)
  }

  /** Asks for as much as one turn may take. */
  turn(): void {
    this.#isDue = false
    if (this.#ask(SETS_A_TURN)) this.#beDue()
  }

  #beDue(): void {
    if (this.#isDue) return
    this.#isDue = true
    // The check phase comes right after the poll phase in which sockets are read: nobody waits for a timer.
    setImmediate(turn, this)
  }

  /** Asks for fetches of one moment until there are `budget` sets. Returns whether some are left. */
  #ask(budget: number): boolean {
    if (this.#asked === this.#current.length) {
      this.#current = this.#waiting
      this.#waiting = []
      this.#asked = 0
      this.#moment = {}
    }
    const moment = this.#moment
    while (budget > 0 && this.#asked < this.#current.length) {
      const { ids, ask, resolve, reject } = this.#current[this.#asked++]!
      // A client that has gone is forgotten by the agents already: a late fetch would make them remember it.
      if (ask.signal?.aborted === true) continue
      budget -= ids.length
      this.source.fetch(ids, { ...ask, moment }).then((result) => {
        resolve(result)
        this.#awake.touch()
      }, reject)
    }
    const isDone = this.#asked === this.#current.length
    if (isDone) {
      this.#current = [] // else what was answered stays in memory until somebody asks again
      this.#asked = 0
    }
    return !isDone || this.#waiting.length > 0
  }
}

function turn(batch: FetchBatch): void {
  batch.turn()
}
