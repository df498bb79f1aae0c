/** Timers of any length. */

/** Longest delay of setTimeout; a longer one fires after a millisecond. */
export const MAX_DELAY_MS: number = 2 ** 31 - 1

/** Calls `act` once after `ms`, however long. Returns a function that cancels it. A background timer does not keep the process alive. */
export function setLongTimeout(
  ms: number,
  act: () => void,
  { isBackground = false }: { readonly isBackground?: boolean } = {},
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = (leftMs: number): void => {
    const delay = Math.min(leftMs, MAX_DELAY_MS)
    timer = setTimeout(() => (leftMs > delay ? arm(leftMs - delay) : act()), delay)
    if (isBackground) timer.unref()
  }
  arm(Math.max(0, ms))
  return () => clearTimeout(timer)
}
