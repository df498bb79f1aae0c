/** Moving and resizing the shown window within all that is recorded. */
import type { Frame } from '../time/control.ts'

/** The dragged part: the window, or one of its ends. */
export type Grip = 'window' | 'start' | 'end'

/** Narrowest window, in seconds. */
const LEAST = 1

/** Returns the window after a grip has moved by some seconds. It stays within the bounds and keeps its width when it is moved. */
export function dragged({ from, to }: Frame, grip: Grip, by: number, bounds: Frame): Frame {
  if (grip === 'start') return { from: Math.max(bounds.from, Math.min(from + by, to - LEAST)), to }
  if (grip === 'end') return { from, to: Math.min(bounds.to, Math.max(to + by, from + LEAST)) }
  const width = to - from
  const end = Math.min(bounds.to, Math.max(to + by, Math.min(bounds.to, bounds.from + width)))
  return { from: end - width, to: end }
}

/** Returns the seconds by which a key moves a grip; undefined for other keys. Home and End move to the bounds. */
export function keyStep(
  key: string,
  isLarge: boolean,
  { from, to }: Frame,
  bounds: Frame,
): number | undefined {
  const width = to - from
  const step = isLarge ? width : width / 10
  return {
    ArrowLeft: -step,
    ArrowDown: -step,
    ArrowRight: step,
    ArrowUp: step,
    PageDown: -width,
    PageUp: width,
    Home: bounds.from - to,
    End: bounds.to - from,
  }[key]
}
