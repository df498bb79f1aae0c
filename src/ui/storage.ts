/** Access to browser storage. Browsers that block storage throw on each access. */

/** Runs `act` with a store; returns undefined if storage is unavailable. */
export function inStore<S, T>(store: () => S, act: (storage: S) => T): T | undefined {
  try {
    return act(store())
  } catch {
    return undefined
  }
}
