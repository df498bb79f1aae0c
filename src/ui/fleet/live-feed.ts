/** Requests the health of collectors without archives, again and again while it is shown. */
import type { FleetLiveAnswer, LiveHost } from '../../archive/fleet/answer.ts'

/** Where answers come from and go to. */
export interface LiveHealthPorts {
  readonly ask: (hosts: readonly string[], signal: AbortSignal) => Promise<FleetLiveAnswer>
  readonly onHealth: (hosts: readonly LiveHost[]) => void
  /** Calls `act` later; returns a function that cancels it. */
  readonly later: (act: () => void, ms: number) => () => void
}

/** Pause between two requests, and if another sample is worth one soon. */
const PAUSE_MS = 10_000
const SOON_MS = 1000

/** Keeps one request in flight at most. */
export class LiveHealthFeed {
  readonly #ports: LiveHealthPorts
  #hosts: readonly string[] = []
  #controller: AbortController | undefined
  #cancel: (() => void) | undefined

  constructor(ports: LiveHealthPorts) {
    this.#ports = ports
  }

  /** Sets the hosts; without any, requests end and nothing is known of hosts. */
  watch(hosts: readonly string[]): void {
    if (hosts.join('\n') === this.#hosts.join('\n')) return
    this.#hosts = hosts
    this.#cancel?.()
    this.#controller?.abort()
    if (hosts.length === 0) this.#ports.onHealth([])
    else this.#schedule(0)
  }

  #schedule(ms: number): void {
    this.#cancel = this.#ports.later(() => void this.#load(), ms)
  }

  async #load(): Promise<void> {
    const controller = new AbortController()
    this.#controller = controller
    const { signal } = controller
    let pause = PAUSE_MS
    try {
      const { hosts, unread } = await this.#ports.ask(this.#hosts, signal)
      if (signal.aborted) return
      this.#ports.onHealth(hosts)
      if (unread > 0) pause = SOON_MS
    } catch {
      // The request for the archives reports a server that does not answer.
      if (signal.aborted) return
      this.#ports.onHealth([])
    }
    this.#schedule(pause)
  }
}
