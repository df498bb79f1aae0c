/** Reads the values of charts with keys and fingers. uPlot reads them with the mouse. */
import type { ChartData } from '../data/chart-data.ts'
import { hasModifier } from '../keyboard.ts'
import { pin, pinned, pointed, reading } from './instant.ts'
import type { TipPlace, TipProps } from './Readings.tsx'

/** Samples or rows that an arrow key moves by with Shift. */
const LEAP = 10

/** A pressed key. */
export type Key = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'altKey' | 'ctrlKey' | 'metaKey'>

/** Rows and samples to move by. */
export type Step = readonly [rows: number, samples: number]

/** Returns the step of a key: arrows move by one, with Shift by ten, Home and End to the ends of the row. Undefined for other keys. */
export function stepOf(event: Key): Step | undefined {
  if (hasModifier(event)) return undefined
  const by = event.shiftKey ? LEAP : 1
  const steps: Readonly<Record<string, Step>> = {
    ArrowUp: [-by, 0],
    ArrowDown: [by, 0],
    ArrowLeft: [0, -by],
    ArrowRight: [0, by],
    Home: [0, -Infinity],
    End: [0, Infinity],
  }
  return steps[event.key]
}

/**
 * Returns the sample `by` samples after the one nearest to a time, among those of the window for which `isKnown` holds. Without a time it
 * is the newest, or with Home the oldest. Undefined without samples.
 */
export function sampleBy(
  { times, frame: { from, to } }: Pick<ChartData, 'times' | 'frame'>,
  isKnown: (index: number) => boolean,
  at: number | undefined,
  by: number,
): number | undefined {
  const known = [...times.keys()].filter((i) => times[i]! >= from && times[i]! <= to && isKnown(i))
  let nearest = known.length - 1
  const distance = (i: number): number => Math.abs(times[known[i]!]! - at!)
  while (at !== undefined && nearest > 0 && distance(nearest - 1) <= distance(nearest)) nearest--
  const step = at === undefined && by !== -Infinity ? 0 : by
  return known[Math.min(known.length - 1, Math.max(0, nearest + step))]
}

/** Returns the time from which a key moves: that of the crosshair, else the pinned one, so that the next chart continues there. */
export const startTime = (): number | undefined => pointed.peek() ?? pinned.peek()

/** Performs a key of a chart that is read: Enter pins the time, Escape ends the reading. Returns false for other keys. */
export function endReading({ key }: Key): boolean {
  const at = reading.peek()
  if (at === undefined) return false
  if (key === 'Enter') pin(at)
  else if (key === 'Escape') reading.value = undefined
  else return false
  return true
}

/** Moves the crosshair of a chart of lines by a key, and the tooltip to `place`. */
export function readByKey(
  event: KeyboardEvent,
  { data, hidden }: TipProps,
  place: (at: TipPlace) => void,
): void {
  const target = event.target as Element
  // Flags of marks and heat maps have their own keys.
  if (!target.matches('.plot')) return
  const step = stepOf(event)
  if (step === undefined || step[1] === 0) {
    if (!endReading(event)) return
  } else {
    const lines = data.lines.filter(({ key }) => !hidden.has(key))
    const isKnown = (i: number): boolean => lines.some(({ values }) => values[i] != null)
    const index = sampleBy(data, isKnown, startTime(), step[1])
    if (index === undefined) return
    reading.value = data.times[index]!
    const { left, top, height } = target.querySelector('.u-cursor-x')!.getBoundingClientRect()
    place({ x: left, y: top + height / 3, isRead: true })
  }
  event.preventDefault()
  event.stopPropagation() // the page pans by half a window
}

/** Follows a finger over a chart of lines; the mouse ends a reading. */
export function readByPointer({ type, target, clientX, pointerType }: PointerEvent, data: ChartData): void {
  // Not over the axes, or a flag of marks.
  const over = (target as Element).closest('.u-over')
  if (over === null) return
  if (pointerType !== 'touch') {
    reading.value = undefined
    return
  }
  // The reading ends when another part of the page is touched.
  if (type === 'pointerdown') over.closest<HTMLElement>('.plot')!.focus({ preventScroll: true })
  const { left, width } = over.getBoundingClientRect()
  const { from, to } = data.frame
  reading.value = from + Math.min(1, Math.max(0, (clientX - left) / width)) * (to - from)
}
