/** What the lines of a chart read under the pointer, beside it. */
import { useSignal } from '@preact/signals'
import type { ComponentChild, ComponentChildren } from 'preact'
import { rest } from '../later.tsx'
import type { TipPlace, TipProps } from './Readings.tsx'

/** Its children, and over them the values while the pointer is there. */
export function Tip({
  children,
  ...props
}: TipProps & { readonly children: ComponentChildren }): ComponentChild {
  const place = useSignal<TipPlace | undefined>(undefined)
  const move = (event: PointerEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    place.value = { x: event.clientX - box.left, y: event.clientY - box.top }
  }
  const parts = rest.value
  return (
    <div
      class="drawing"
      onPointerMove={move}
      onPointerDown={move}
      onPointerLeave={() => (place.value = undefined)}
    >
      {children}
      {parts !== undefined && <parts.Readings {...props} place={place} />}
    </div>
  )
}
