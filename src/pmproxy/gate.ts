/** Requests that cost much while they are answered: few at a time, some more wait for their turn. docs/security.md */
import { PcpError } from '../model/errors.ts'
import { wait } from '../net/wait.ts'

/** How many a gate lets in. */
export interface GateLimits {
  /** Behind it at a time. */
  readonly inside: number
  /** Before it, and how long each of them waits, ms. */
  readonly waiting: number
  readonly waitMs: number
}

/** Lets in those who come first. */
export class Gate {
  readonly #limits: GateLimits
  readonly #what: string
  #inside = 0
  /** Those before it, in the order they came. */
  readonly #waiting = new Set<() => void>()

  /** `what` is counted: `requests of archives`. */
  constructor(what: string, limits: GateLimits) {
    this.#what = what
    this.#limits = limits
  }

  /** Acts once there is room. EBUSY when too many wait, or one has waited for too long; ECANCELED by the signal while it waits. */
  async pass<T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    if (this.#inside < this.#limits.inside) this.#inside++
    else await this.#wait(signal)
    try {
      return await act()
    } finally {
      this.#leave()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    const { waiting, waitMs: ms } = this.#limits
    const busy = (): PcpError =>
      new PcpError('EBUSY', `Too many ${this.#what} are being answered: try again in a moment`)
    if (this.#waiting.size >= waiting) throw busy()
    return wait<void>({ ms, late: busy, signal, what: 'Waiting' }, (end) => {
      const enter = (): void => end()
      this.#waiting.add(enter)
      return () => this.#waiting.delete(enter)
    })
  }

  /** Whoever waits gets the room that is left: `inside` stays what it was. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#inside--
    else next()
  }
}
