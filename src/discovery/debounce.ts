/** Acts once after several changes. */
import { setLongTimeout } from '../base/after.ts'

/** How long to wait, in milliseconds. */
export interface DebounceTimes {
  /** Without a change. */
  readonly calmMs: number
  /** Since the first change. */
  readonly mostMs: number
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Calls back after a time; returns a function that cancels. Default: a timer. */
  readonly after?: (ms: number, act: () => void) => () => void
}

export class Debounce {
  readonly #act: () => void
  readonly #times: DebounceTimes
  #since: number | undefined
  #cancel: () => void = () => {}

  constructor(act: () => void, times: DebounceTimes) {
    this.#act = act
    this.#times = times
  }

  /** Notes a change. */
  changed(): void {
    const { calmMs, mostMs, now, after = setLongTimeout } = this.#times
    const at = now()
    this.#since ??= at
    this.#cancel()
    this.#cancel = after(Math.max(0, Math.min(calmMs, this.#since + mostMs - at)), () => {
      this.#since = undefined
      this.#act()
    })
  }

  /** Forgets a change that was noted. */
  close(): void {
    this.#cancel()
  }
}
