/** Moving the window by the time axis of a chart. */
import type { Frame } from '../time/control.ts'

/** A plot whose window is moved. */
export interface Panned {
  readonly frame: Frame
  /** Width of the plot, in pixels. */
  readonly width: number
  readonly show: (from: number, to: number) => void
}

const WHEEL_STEP = 1.25

/** Follows the pointer that was pressed on an element until it is released. Ignores other buttons than the first. */
export function startPan(axis: HTMLElement, event: PointerEvent, { frame, width, show }: Panned): void {
  if (event.button !== 0) return
  event.preventDefault()
  axis.setPointerCapture(event.pointerId)
  const secondsPerPixel = (frame.to - frame.from) / width
  const pan = ({ clientX }: PointerEvent): void => {
    const by = (event.clientX - clientX) * secondsPerPixel
    show(frame.from + by, frame.to + by)
  }
  const stop = (): void => {
    axis.removeEventListener('pointermove', pan)
    axis.removeEventListener('lostpointercapture', stop)
  }
  axis.addEventListener('pointermove', pan)
  axis.addEventListener('lostpointercapture', stop)
}

/** Returns the factor by which a turn of the wheel scales the width of the window. */
export function wheelFactor({ deltaX, deltaY }: WheelEvent): number {
  return (deltaY || deltaX) > 0 ? WHEEL_STEP : 1 / WHEEL_STEP
}
