/** The shade of the selected span over a chart. */
import type { Frame } from '../time/control.ts'

/** Returns where a window shows a span, in percent from its left; undefined if it does not. */
export function shadeOf(
  span: Frame | undefined,
  { from, to }: Frame,
): { readonly left: string; readonly width: string } | undefined {
  if (span === undefined || span.to <= from || span.from >= to) return undefined
  const percent = (at: number): number => (100 * (Math.min(to, Math.max(from, at)) - from)) / (to - from)
  return { left: `${percent(span.from)}%`, width: `${percent(span.to) - percent(span.from)}%` }
}

/** Shades a span in the element over a plot. An element, so that dragging does not redraw all charts. */
export function placeShade(over: HTMLElement, span: Frame | undefined, frame: Frame): void {
  const shade = shadeOf(span, frame)
  let element = over.querySelector<HTMLElement>('.span-shade')
  if (shade === undefined) {
    element?.remove()
    return
  }
  element ??= over.appendChild(document.createElement('div'))
  element.className = 'span-shade'
  Object.assign(element.style, shade)
}

/** Is the pointer over the plot? */
export function isOver({ clientX, clientY }: MouseEvent, plot: DOMRect): boolean {
  return clientX >= plot.left && clientX <= plot.right && clientY >= plot.top && clientY <= plot.bottom
}
