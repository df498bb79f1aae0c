/** Pixels that a tip keeps from the edges of the window. */
const EDGE = 4

/** Where a box of `size` begins beside `at`: after it, before it where there is no room, or at an edge of the window. */
export function tipOffset(at: number, gap: number, size: number, room: number): number {
  if (at + gap + size <= room - EDGE) return at + gap
  if (at - gap - size >= EDGE) return at - gap - size
  return Math.max(EDGE, room - EDGE - size)
}
