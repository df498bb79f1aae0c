/** The tooltip of a chart over time. */
import { useSignal } from '@preact/signals'
import type { ComponentChild, ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { lazyPart } from '../lazy.tsx'
import { reading } from './instant.ts'
import type { TipPlace, TipProps } from './Readings.tsx'

/** Renders its children and, while they are read with the pointer or with keys, the tooltip. */
export function Tip({
  children,
  ...props
}: TipProps & { readonly children: ComponentChildren }): ComponentChild {
  const host = useRef<HTMLElement>(null)
  const place = useSignal<TipPlace | undefined>(undefined)
  const put = ({ x, y, ...rest }: TipPlace): void => {
    const box = host.current!.getBoundingClientRect()
    place.value = { ...rest, x: x - box.left, y: y - box.top }
  }
  const parts = lazyPart.value
  const move = (event: PointerEvent): void => {
    parts?.readByPointer(event, props.data)
    put({ x: event.clientX, y: event.clientY, isRead: event.pointerType === 'touch' })
  }
  const leave = (): void => {
    place.value = undefined
  }
  const end = (): void => {
    reading.value = undefined
    leave()
  }
  return (
    <figure
      class="drawing"
      ref={host}
      onPointerMove={move}
      onPointerDown={move}
      // A finger leaves when it is lifted; what it has read stays.
      onPointerLeave={({ pointerType }) => {
        if (pointerType !== 'touch') leave()
      }}
      // The finger scrolls the page.
      onPointerCancel={end}
      onFocusOut={end}
      onKeyDown={(event) => parts?.readByKey(event, props, put)}
    >
      {children}
      {parts !== undefined && <parts.Readings {...props} place={place} />}
    </figure>
  )
}
