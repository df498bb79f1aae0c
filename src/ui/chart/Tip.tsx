/** What the lines of a chart read under the pointer, beside it. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild, ComponentChildren } from 'preact'
import type { ChartData } from '../data/chart-data.ts'
import { rest } from '../later.tsx'
import type { ChartStyle } from '../view/view.ts'
import type { Pointed } from './pointed.ts'

export interface TipProps {
  readonly style: ChartStyle
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
  /** Position of the crosshair. */
  readonly cursor: Signal<Pointed | undefined>
}

/** A place over a chart, in pixels from its left and top. */
export interface TipPlace {
  readonly x: number
  readonly y: number
}

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
