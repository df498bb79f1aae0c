/** A host whose connections, replies and losses the test controls, with a manual clock. */
import { onAbort } from '../../src/base/on-abort.ts'
import { PcpError } from '../../src/model/errors.ts'
import { rejectingSource } from '../../src/model/layer.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { Ask, MetricSource, SourceEvent } from '../../src/model/source.ts'
import type { FetchResult } from '../../src/model/values.ts'
import type { Clock } from '../../src/pmapi/clock.ts'

/** A clock that the test advances. */
export class ManualClock implements Clock {
  #now = 0
  readonly #sleeping = new Set<{ readonly at: number; readonly wake: () => void }>()
  #onSleep: (() => void) | undefined

  now(): number {
    return this.#now
  }

  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#sleeping.delete(sleeper)
        reject(new PcpError('ECANCELED'))
      }
      const unwatch = onAbort(signal, giveUp)
      const wake = (): void => {
        this.#sleeping.delete(sleeper)
        unwatch()
        resolve()
      }
      const sleeper = { at: this.#now + ms, wake }
      this.#sleeping.add(sleeper)
      if (signal?.aborted === true) giveUp()
      this.#onSleep?.()
    })
  }

  /** Number of sleepers. */
  get sleepers(): number {
    return this.#sleeping.size
  }

  /** Waits for a sleeper; returns the milliseconds until the first one wakes. */
  async nextMs(): Promise<number> {
    while (this.#sleeping.size === 0)
      await new Promise<void>((resolve) => {
        this.#onSleep = resolve
      })
    return Math.min(...[...this.#sleeping].map(({ at }) => at)) - this.#now
  }

  /** Advances the time and wakes due sleepers. */
  async advance(ms: number): Promise<void> {
    this.#now += ms
    for (const { at, wake } of [...this.#sleeping]) if (at <= this.#now) wake()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

interface Source {
  readonly number: number
  readonly listeners: Set<(event: SourceEvent) => void>
  readonly fail: (error: PcpError) => void
}

const NOT_ASKED = new PcpError('PM_ERR_NYI')

/** A host; its sources are numbered, and their timestamps have the number as seconds. */
export class FakeHost {
  /** End aborted attempts to connect immediately. */
  honoursAbort = true
  /** Hold replies and closes for the test. */
  isSlow = false
  /** Profiles of all fetches. */
  readonly profiles: Profile[] = []
  /** Value that fetches return; counters restart with the host. */
  value = 0
  readonly #alive = new Map<number, Source>()
  readonly #sources: Source[] = []
  readonly #dials: ((works: boolean) => void)[] = []
  readonly #answers = new Set<() => void>()
  readonly #closes: (() => void)[] = []

  /** Numbers of the open sources. */
  get alive(): readonly number[] {
    return [...this.#alive.keys()]
  }

  /** Number of pending attempts to connect. */
  get pending(): number {
    return this.#dials.length
  }

  /** True if anything is pending. */
  get isBusy(): boolean {
    return this.#dials.length + this.#answers.size + this.#closes.length > 0
  }

  /** Number of listeners on all sources ever opened. */
  get listeners(): number {
    return this.#sources.reduce((sum, { listeners }) => sum + listeners.size, 0)
  }

  /** For `ContextOptions.reopen`. */
  readonly reopen = (signal?: AbortSignal): Promise<MetricSource> =>
    new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        const place = this.#dials.indexOf(complete)
        if (place >= 0) this.#dials.splice(place, 1)
        unwatch()
        settle()
      }
      const complete = (works: boolean): void =>
        end(() => {
          if (works) resolve(this.open())
          else reject(new PcpError('ECONNREFUSED'))
        })
      const unwatch = onAbort(signal, () => {
        if (this.honoursAbort) end(() => reject(new PcpError('ECANCELED')))
      })
      this.#dials.push(complete)
    })

  /** Completes the first pending attempt to connect. */
  complete(works: boolean): void {
    this.#dials[0]?.(works)
  }

  /** Sends pending replies. */
  answer(): void {
    for (const answer of [...this.#answers]) answer()
  }

  /** Completes the first pending close. */
  completeClose(): void {
    this.#closes.shift()?.()
  }

  /** Loses one of the open sources. */
  lose(error: PcpError, which = 0): void {
    const source = [...this.#alive.values()][which]
    if (source === undefined) return
    this.#alive.delete(source.number)
    source.fail(error)
    for (const listener of [...source.listeners]) listener({ type: 'lost', error })
  }

  /** Opens a source. */
  open(): MetricSource {
    let endedBy: PcpError | undefined
    const asked = new Set<(error: PcpError) => void>()
    const source: Source = {
      number: this.#sources.length,
      listeners: new Set(),
      fail: (error) => {
        endedBy = error
        for (const reject of [...asked]) reject(error)
      },
    }
    this.#sources.push(source)
    this.#alive.set(source.number, source)
    const fetch = (_ids: readonly number[], { requester }: Ask): Promise<FetchResult> => {
      if (endedBy !== undefined) return Promise.reject(endedBy)
      this.profiles.push(requester.profile)
      return new Promise((resolve, reject) => {
        const settle = (how: () => void): void => {
          this.#answers.delete(answer)
          asked.delete(fail)
          how()
        }
        const answer = (): void =>
          settle(() => resolve({ timestamp: { sec: source.number, nsec: 0 }, changes: 0, sets: [] }))
        const fail = (error: PcpError): void => settle(() => reject(error))
        asked.add(fail)
        this.#answers.add(answer)
        if (!this.isSlow) answer()
      })
    }
    return {
      ...rejectingSource(NOT_ASKED),
      fetch,
      subscribe: (listener) => {
        source.listeners.add(listener)
        return () => source.listeners.delete(listener)
      },
      close: () => {
        this.#alive.delete(source.number)
        source.fail(endedBy ?? new PcpError('PM_ERR_EOF'))
        return this.isSlow ? new Promise((resolve) => this.#closes.push(resolve)) : Promise.resolve()
      },
    }
  }
}
