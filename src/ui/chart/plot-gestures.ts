/** Wheel, drags and double clicks on a chart over time. uPlot itself selects spans to zoom into. */
import type { Frame } from '../time/control.ts'
import { startPan, wheelFactor } from './pan.ts'
import { dragSpan, startsSpan } from './selected-span.ts'
import { isOver } from './span-shade.ts'

/** Callbacks for gestures. */
export interface GestureEvents {
  /** A span was selected, or the chart was dragged. */
  readonly show: (from: number, to: number) => void
  /** The wheel was turned: show `factor` times as much, around `at` (0 to 1). */
  readonly zoom: (factor: number, at: number) => void
}

/** Listens to the gestures on the element of a chart. `boxOf` returns where its plot is, without axes; undefined while none is drawn. */
export function listenToGestures(
  host: HTMLElement,
  { show, zoom }: GestureEvents,
  boxOf: () => DOMRect | undefined,
  frameOf: () => Frame,
): void {
  host.addEventListener(
    'wheel',
    (event) => {
      const box = boxOf()
      // Elsewhere the page scrolls.
      if (box === undefined || (!event.ctrlKey && !event.shiftKey && !isOnAxis(event, box))) return
      event.preventDefault()
      zoom(wheelFactor(event), (event.clientX - box.left) / box.width)
    },
    { passive: false },
  )
  // Dragging the time axis pans. In the plot, dragging zooms; with Shift it selects a span.
  host.addEventListener('pointerdown', (event) => {
    const box = boxOf()
    if (box === undefined || event.button !== 0) return
    const frame = frameOf()
    if (startsSpan(event) && isOver(event, box)) dragSpan(event, host, box, frame)
    if (isOnAxis(event, box)) startPan(host, event, { frame, width: box.width, show })
  })
  host.addEventListener('dblclick', ({ clientX }) => {
    const box = boxOf()
    if (box !== undefined && clientX >= box.left && clientX <= box.right)
      zoom(2, (clientX - box.left) / box.width)
  })
}

/** Is the pointer below the plot, where the times are? */
function isOnAxis({ clientX, clientY }: MouseEvent, plot: DOMRect): boolean {
  return clientY >= plot.bottom && clientX >= plot.left && clientX <= plot.right
}
