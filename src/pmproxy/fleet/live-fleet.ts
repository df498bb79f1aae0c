/**
 * Health of collectors without archives, by their live values. docs/reference/pmproxy.md
 *
 * Each request samples its hosts, a few at a time, and waits a moment except for failed hosts; later requests return the remaining samples.
 */
import { FLEET_STATES, type FleetLiveAnswer, type LiveHost } from '../../archive/fleet/answer.ts'
import { byFigure, hostState, seenState, sentValue, UNKNOWN_HEALTH } from '../../archive/fleet/figures.ts'
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { withSignal } from '../../base/with-signal.ts'
import { withTimeout } from '../../base/within.ts'
import { monotonicMs } from '../../sys/monotonic.ts'
import { userKey, type WebUser } from '../web-user.ts'
import { type LiveSample, LiveSamples } from './live-samples.ts'

/** Hosts of one request, and hosts of all users that are kept. */
const MOST_HOSTS = 100
const MOST_KEPT = 300
/** Hosts that are sampled at the same time. */
const MOST_AT_ONCE = 8
/** Time for a sample, and time that a request waits for its samples, ms. */
const ATTEMPT_MS = 2000
const WAIT_MS = 1000
/** Time between samples, ms; rates need a second one soon. */
const EVERY_MS = 5000
const SECOND_MS = 900
/** Time before a host that did not answer is tried again, ms. */
const RETRY_DELAYS_MS = doublingDelays(10_000, 120_000)

/** Options of `LiveFleet`. */
export interface LiveFleetOptions {
  /** Milliseconds of a clock that does not go back. */
  readonly clock?: () => number
  /** Wall clock in milliseconds. */
  readonly nowMs?: () => number
  readonly waitMs?: number
}

/** Samples a host. */
export type ReadHost = (host: string, user: WebUser, signal: AbortSignal) => Promise<LiveSample>

/** A host as one user sees it. */
interface Kept {
  readonly samples: LiveSamples
  readonly backoff: Backoff
  hasFailed: boolean
  /** On the monotonic clock. */
  sampledMs: number
  /** Seconds since the epoch. */
  last: number | undefined
  pending: Promise<void> | undefined
}

/** Judges collectors. */
export class LiveFleet {
  readonly #read: ReadHost
  readonly #clock: () => number
  readonly #nowMs: () => number
  readonly #waitMs: number
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept>()
  readonly #slots = new Semaphore(MOST_AT_ONCE)
  readonly #closing = new AbortController()
  #attempts = 0

  constructor(
    read: ReadHost,
    { clock = monotonicMs, nowMs = Date.now, waitMs = WAIT_MS }: LiveFleetOptions = {},
  ) {
    this.#read = read
    this.#clock = clock
    this.#nowMs = nowMs
    this.#waitMs = waitMs
  }

  /** Returns the health of hosts, which does not fail for hosts that cannot be read. */
  async health(hosts: readonly string[], user: WebUser): Promise<FleetLiveAnswer> {
    const all = [...new Set(hosts)]
    const wanted = all.slice(0, MOST_HOSTS)
    const kept = wanted.map((host) => this.#sampled(host, user))
    const awaited = kept.filter(({ hasFailed }) => !hasFailed).map(({ pending }) => pending)
    await withTimeout(this.#waitMs, Promise.all(awaited))
    const isUnread = ({ samples, pending, hasFailed }: Kept): boolean =>
      !hasFailed && (samples.count < 2 || pending !== undefined)
    return {
      hosts: kept.map((each, i) => this.#judged(wanted[i]!, each)),
      unread: kept.filter(isUnread).length,
      leftOut: all.length - wanted.length,
    }
  }

  /** Stops sampling; idempotent. */
  close(): void {
    this.#closing.abort()
    this.#kept.clear()
  }

  #judged(host: string, { samples, last }: Kept): LiveHost {
    const seen = seenState(last, undefined, this.#nowMs() / 1000)
    const health = last === undefined || seen === 'stale' ? UNKNOWN_HEALTH : samples.health()
    return {
      host,
      last: last ?? null,
      state: FLEET_STATES.indexOf(hostState(seen, health.states)),
      values: byFigure(health.values.map(sentValue)),
      states: byFigure(health.states.map((state) => FLEET_STATES.indexOf(state))),
    }
  }

  /** Returns the entry of a host, after starting a sample if one is due. */
  #sampled(host: string, user: WebUser): Kept {
    const key = JSON.stringify([userKey(user), host])
    const kept = this.#kept.get(key) ?? {
      samples: new LiveSamples(),
      backoff: new Backoff({ delaysMs: RETRY_DELAYS_MS }),
      ...{ hasFailed: false, sampledMs: Number.NEGATIVE_INFINITY, last: undefined, pending: undefined },
    }
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!)
    const now = this.#clock()
    const isDue = now - kept.sampledMs >= (kept.samples.count === 1 ? SECOND_MS : EVERY_MS)
    if (kept.pending === undefined && isDue && kept.backoff.canRetry(now) && this.#attempts < MOST_KEPT)
      kept.pending = this.#sample(kept, host, user)
    return kept
  }

  async #sample(kept: Kept, host: string, user: WebUser): Promise<void> {
    this.#attempts++
    const closing = this.#closing.signal
    try {
      const limits = { signals: [closing], timeoutMs: ATTEMPT_MS }
      const attempt = (): Promise<LiveSample> =>
        withSignal(limits, (signal) => this.#read(host, user, signal))
      const sample = await this.#slots.run(attempt, closing)
      kept.samples.add(sample)
      kept.sampledMs = this.#clock()
      kept.last = this.#nowMs() / 1000
      kept.hasFailed = false
      kept.backoff.succeeded(kept.sampledMs)
    } catch {
      // Shown by its age.
      kept.hasFailed = true
      kept.backoff.failed(this.#clock())
    } finally {
      this.#attempts--
      kept.pending = undefined
    }
  }
}
