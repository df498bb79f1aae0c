/** The clock for ages of values. It ticks while a component shows an age. */
import { type ReadonlySignal, signal } from '@preact/signals'

/** Counts seconds since the page was opened. It reads two clocks, because only one of them includes the time a machine slept. */
export class ElapsedClock {
  #wall = Date.now()
  #steady = performance.now()
  #elapsed = 0

  /** Returns the elapsed seconds; never decreases. */
  read(): number {
    const [wall, steady] = [Date.now(), performance.now()]
    this.#elapsed += Math.max(0, wall - this.#wall, steady - this.#steady) / 1000
    this.#wall = wall
    this.#steady = steady
    return this.#elapsed
  }
}

const clock = new ElapsedClock()

/** Returns the elapsed seconds. */
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

/** Changes once per second; components that read it are redrawn as values age. */
export const seconds: ReadonlySignal<number> = tick
