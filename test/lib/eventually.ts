/** Waiting for what a test cannot be told of. */
import { vi } from 'vitest'

/** Tries until a check no longer throws; fails with what it threw last after a time that a busy machine may need. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 20_000, interval: 10 })
}
