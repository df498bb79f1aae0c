/** Turns of the event loop for loops over archives: their fetches resolve without waiting for anything, and signals would never arrive. */
import { PcpError } from '../model/errors.ts'

/** How long such a loop may keep the event loop waiting. */
const TURN_MS = 20

/** The turns that one loop gives others. */
export class EventLoopTurn {
  #since: number | undefined

  /** Yields to the event loop when its turn is due. Rejects with ECANCELED once the signal is aborted. Undefined: nothing to wait for. */
  yieldIfDue(signal: AbortSignal): Promise<void> | undefined {
    const now = performance.now()
    this.#since ??= now
    if (now - this.#since < TURN_MS && !signal.aborted) return undefined
    return this.#yield(signal)
  }

  async #yield(signal: AbortSignal): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.#since = performance.now()
    if (signal.aborted)
      throw new PcpError('ECANCELED', 'Reading the archive was given up', { cause: signal.reason })
  }
}
