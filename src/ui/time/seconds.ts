/** The clock that ages are counted by. It ticks while something on the page shows one. */
import { type ReadonlySignal, signal } from '@preact/signals'

/** Counts seconds since the page was opened. A machine that slept has passed them on one of its two clocks. */
export class ElapsedClock {
  #wall = Date.now()
  #steady = performance.now()
  #elapsed = 0

  /** Seconds so far; never fewer than before. */
  read(): number {
    const [wall, steady] = [Date.now(), performance.now()]
    this.#elapsed += Math.max(0, wall - this.#wall, steady - this.#steady) / 1000
    this.#wall = wall
    this.#steady = steady
    return this.#elapsed
  }
}

const clock = new ElapsedClock()

/** Seconds that have passed by now. */
export const elapsed = (): number => clock.read()

let ticker: ReturnType<typeof setInterval> | undefined
const tick = signal(0, {
  watched() {
    ticker = setInterval(() => {
      tick.value = elapsed()
    }, 1000)
  },
  unwatched() {
    clearInterval(ticker)
  },
})

/** Changes once a second: what reads it is drawn again as values grow old. */
export const seconds: ReadonlySignal<number> = tick
