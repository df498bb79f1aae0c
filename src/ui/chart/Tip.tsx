/** The tooltip of a chart over time. */
import { useSignal } from '@preact/signals'
import type { ComponentChild, ComponentChildren } from 'preact'
import { lazyPart } from '../lazy.tsx'
import type { TipPlace, TipProps } from './Readings.tsx'

/** Renders its children and, while the pointer is over them, the tooltip. */
export function Tip({
  children,
  ...props
}: TipProps & { readonly children: ComponentChildren }): ComponentChild {
  const place = useSignal<TipPlace | undefined>(undefined)
  const move = (event: PointerEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    place.value = { x: event.clientX - box.left, y: event.clientY - box.top }
  }
  const parts = lazyPart.value
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
