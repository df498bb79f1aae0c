/** The span of time that the user has selected on a chart, for questions about it. All charts shade it. */
import { type Signal, signal } from '@preact/signals'
import type { Frame } from '../time/control.ts'

/** The selected span; undefined for none. */
export const selectedSpan: Signal<Frame | undefined> = signal(undefined)

/** Does the next drag across a chart select a span? As Shift does, which touch screens lack. */
export const isSelecting: Signal<boolean> = signal(false)

/** Checks whether a press of the pointer starts to select a span. */
export const startsSpan = ({ button, shiftKey }: PointerEvent): boolean =>
  button === 0 && (shiftKey || isSelecting.peek())

/** Shortest span, as a share of the shown window: dragging by less is a click. */
const SHORTEST = 1 / 200
/** Share of the window that the keyboard selects first, and its steps. */
const FIRST = 1 / 3
const STEP = 1 / 30

/** Returns the span between two places on a chart, from 0 (left) to 1; undefined if they are too close to each other. */
export function spanBetween({ from, to }: Frame, one: number, other: number): Frame | undefined {
  const [left, right] = [Math.max(0, Math.min(one, other)), Math.min(1, Math.max(one, other))]
  if (right - left < SHORTEST) return undefined
  return { from: from + left * (to - from), to: from + right * (to - from) }
}

/** Returns the span that the keyboard selects first: the middle of the window. */
export const middleOf = (frame: Frame): Frame => spanBetween(frame, (1 - FIRST) / 2, (1 + FIRST) / 2)!

/** Returns a span moved, or with its end moved, by a step of the shown window; within the window. */
export function stepped(span: Frame, window: Frame, direction: 1 | -1, moves: 'span' | 'end'): Frame {
  const width = window.to - window.from
  const wanted = direction * STEP * width
  if (moves === 'end')
    return {
      from: span.from,
      to: Math.max(span.from + SHORTEST * width, Math.min(window.to, span.to + wanted)),
    }
  const by = Math.min(Math.max(wanted, window.from - span.from), window.to - span.to)
  return { from: span.from + by, to: span.to + by }
}

/** Selects by dragging, from a pointer event on a chart whose plot is `box`, until the button is released. */
export function dragSpan(event: PointerEvent, host: Element, box: DOMRect, frame: Frame): void {
  // Keeps the browser from selecting text, and the chart from zooming.
  event.preventDefault()
  host.setPointerCapture(event.pointerId)
  const placeOf = ({ clientX }: PointerEvent): number => (clientX - box.left) / box.width
  const start = placeOf(event)
  const move = (moved: Event): void => {
    selectedSpan.value = spanBetween(frame, start, placeOf(moved as PointerEvent))
  }
  const stop = (): void => {
    host.removeEventListener('pointermove', move)
    host.removeEventListener('lostpointercapture', stop)
    if (selectedSpan.peek() !== undefined) isSelecting.value = false
  }
  host.addEventListener('pointermove', move)
  host.addEventListener('lostpointercapture', stop)
}
