/** What the browser keeps. One that is told to keep nothing throws whenever it is asked. */

/** Uses a store; returns undefined where there is none. */
export function inStore<S, T>(store: () => S, act: (storage: S) => T): T | undefined {
  try {
    return act(store())
  } catch {
    return undefined
  }
}
