/** Bounded waiting for a promise. */
import { setLongTimeout } from './after.ts'

/** Resolves as the promise does, or to undefined after `ms`; the promise itself is not cancelled. */
export async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let cancel = (): void => {}
  const late = new Promise<undefined>((resolve) => {
    cancel = setLongTimeout(ms, () => resolve(undefined))
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel()
  }
}
