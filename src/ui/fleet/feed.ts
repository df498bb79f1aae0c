/** Requests the fleet for the page's time, and again while it changes. */
import type { FleetAnswer, FleetRange } from '../../archive/fleet/answer.ts'

/** A metric over all hosts: a figure, or a metric with one of its instances or all of them. */
export type FleetMetric =
  | { readonly figure: string }
  | {
      readonly metric: string
      readonly instance?: string | undefined
      readonly aggregate?: string | undefined
    }

/** What the page shows. */
export interface FleetRequest {
  readonly from: number
  readonly to: number
  readonly metric: FleetMetric
  /** Time passes: the request is repeated. */
  readonly isMoving: boolean
}

/** Where answers come from and go to. */
export interface FleetPorts {
  readonly health: (request: FleetRequest, signal: AbortSignal) => Promise<FleetAnswer>
  readonly range: (request: FleetRequest, signal: AbortSignal) => Promise<FleetRange>
  readonly onHealth: (answer: FleetAnswer) => void
  readonly onRange: (range: FleetRange) => void
  /** The reason for missing answers; undefined once there are some again. */
  readonly onProblem: (which: 'health' | 'range', problem: string | undefined) => void
  readonly onBusy: (isBusy: boolean) => void
  /** Calls `act` later; returns a function that cancels it. */
  readonly later: (act: () => void, ms: number) => () => void
}

/** Pause between two answers about passing time, and after a failure. */
const PAUSE_MS = 10_000
/** Pause before a changed request is sent, as more changes may follow. */
const SETTLE_MS = 200
/** Pause before the hosts that were not read in time are requested. */
const REST_MS = 100

/** Keeps one request of each kind in flight at most. */
export class FleetFeed {
  readonly #ports: FleetPorts
  #request: FleetRequest | undefined
  #controller: AbortController | undefined
  #cancel: (() => void) | undefined

  constructor(ports: FleetPorts) {
    this.#ports = ports
  }

  /** Sets the window and the metric. Passing time waits for the next turn, a change aborts the request in flight. */
  show(request: FleetRequest): void {
    const before = this.#request
    this.#request = request
    const isSame =
      before?.isMoving === true && request.isMoving && isSameMetric(before.metric, request.metric)
    if (isSame && request.to - request.from === before.to - before.from) return
    this.#schedule(before === undefined ? 0 : SETTLE_MS)
  }

  /** Ends all requests; idempotent. */
  close(): void {
    this.#request = undefined
    this.#cancel?.()
    this.#controller?.abort()
  }

  #schedule(ms: number): void {
    this.#cancel?.()
    this.#cancel = this.#ports.later(() => void this.#load(), ms)
  }

  async #load(): Promise<void> {
    const request = this.#request
    if (request === undefined) return
    this.#controller?.abort()
    const controller = new AbortController()
    this.#controller = controller
    const { signal } = controller
    const { health, range, onHealth, onRange, onBusy } = this.#ports
    onBusy(true)
    const unread = await Promise.all([
      this.#receive('health', health(request, signal), onHealth, signal),
      this.#receive('range', range(request, signal), onRange, signal),
    ])
    if (signal.aborted) return
    onBusy(false)
    const isFailed = unread.includes(undefined)
    if (!isFailed && unread.some((count) => count! > 0)) this.#schedule(REST_MS)
    else if (this.#request?.isMoving === true || isFailed) this.#schedule(PAUSE_MS)
  }

  /** Passes an answer on; returns the number of hosts that it lacks, undefined for a failure. */
  async #receive<T extends { readonly unread: number }>(
    which: 'health' | 'range',
    answer: Promise<T>,
    receive: (answer: T) => void,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    try {
      const found = await answer
      if (signal.aborted) return undefined
      receive(found)
      this.#ports.onProblem(which, undefined)
      return found.unread
    } catch (error) {
      if (!signal.aborted)
        this.#ports.onProblem(which, error instanceof Error ? error.message : String(error))
      return undefined
    }
  }
}

function isSameMetric(a: FleetMetric, b: FleetMetric): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
