/** Timers of any length. */

/** The longest delay of the runtime's timers, which fire after a millisecond where it is longer. */
export const MAX_DELAY_MS: number = 2 ** 31 - 1

/** Calls `act` once in `ms`, however long that is, unless the function it returns is called before. A process may end before a background timer. */
export function after(
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
