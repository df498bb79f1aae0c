/** Waiting for a promise, for a limited time. */
import { after } from './after.ts'

/** Resolves as the promise does, or to undefined when that takes longer than `ms`; what it waits for goes on. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let cancel = (): void => {}
  const late = new Promise<undefined>((resolve) => {
    cancel = after(ms, () => resolve(undefined))
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel()
  }
}
