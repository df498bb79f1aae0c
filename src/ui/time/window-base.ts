/** What typed times are relative to, and showing them. */
import { time } from './control.ts'
import type { ReadWindow, WindowBase } from './read-window.ts'

/** Returns the context of relative times now. */
export function windowBase(): WindowBase {
  return {
    frame: time.frame.peek(),
    isLive: time.mode.peek() === 'live',
    bounds: time.bounds.peek(),
    now: time.now(),
    zone: time.zone.peek(),
  }
}

/** Shows a window that was read. */
export function showWindow({ from, to, isLive, since }: ReadWindow): void {
  if (isLive) time.showLatest(to - from, since)
  else time.show(from, to)
}
