/** Polling for conditions without an event. */
import { vi } from 'vitest'

/** Retries until a check no longer throws; after a time sufficient for a busy machine, fails with the last error. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 20_000, interval: 10 })
}
