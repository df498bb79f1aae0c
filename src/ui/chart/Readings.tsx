/** The tooltip beside the pointer: a time and the values at that time. */
import type { Signal } from '@preact/signals'
import type { ComponentChild, ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { ChartData } from '../data/chart-data.ts'
import { time } from '../time/control.ts'
import { formatTime } from '../time/format.ts'
import { type Crosshair, sampleAt } from './crosshair.ts'
import { reading } from './instant.ts'
import { lineColor, readingOf } from './line-style.ts'
import { Name } from './Name.tsx'
import type { Stacking } from './stack.ts'

/** Props of the tooltip. */
export interface TipProps {
  readonly stacking: Stacking | undefined
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
  /** Position of the crosshair. */
  readonly cursor: Signal<Crosshair | undefined>
}

/** A position over a chart, in pixels from its left and top, or from those of the window. */
export interface TipPlace {
  readonly x: number
  readonly y: number
  /** Is it read with keys or a finger? Then it is announced, and gone when the reading has ended. */
  readonly isRead?: boolean
}

/** Lines listed at most; a longer list would hide the chart. */
const MOST = 12

/** Renders the values at the crosshair. A separate component, so that moving the pointer does not redraw the chart. */
export function Readings({
  stacking,
  data,
  hidden,
  cursor,
  place,
}: TipProps & { readonly place: Signal<TipPlace | undefined> }): ComponentChild {
  const under = place.value
  const pointed = cursor.value
  const isRead = under?.isRead === true
  if (under === undefined || pointed === undefined || (isRead && reading.value === undefined))
    return <Announced />
  const lines = data.lines.flatMap((line, i) => {
    const index = hidden.has(line.key) ? undefined : sampleAt(data.times, line.values, pointed)
    return index === undefined ? [] : [{ line, i, index, value: line.values[index]! }]
  })
  // In the order in which the lines appear from top to bottom.
  if (stacking !== undefined) lines.reverse()
  else lines.sort((a, b) => b.value - a.value)
  const when = formatTime(pointed.at, time.zone.value)
  const listed = lines
    .slice(0, MOST)
    .map(({ line, i, index }) => ({ line, i, value: readingOf(data, stacking, i, index, hidden) }))
  const more = lines.length > MOST ? `and ${lines.length - MOST} more` : lines.length > 0 ? '' : 'No data'
  return (
    <>
      <TipBox place={under}>
        <p class="tip-time">{when}</p>
        <ul>
          {listed.map(({ line, i, value }) => (
            <li key={line.key}>
              <span class="chip" style={{ background: lineColor(data, i) }} />
              <Name text={line.label} />
              <span class="value">{value}</span>
            </li>
          ))}
        </ul>
        {more !== '' && <p class="tip-more">{more}</p>}
      </TipBox>
      <Announced>
        {isRead &&
          [when, ...listed.map(({ line, value }) => `${line.label} ${value}`), more]
            .filter(Boolean)
            .join(', ')}
      </Announced>
    </>
  )
}

/** Renders what a screen reader announces when it changes. Always in the document, because a new one need not be announced. */
export function Announced({ children }: { readonly children?: ComponentChildren }): ComponentChild {
  return (
    <p class="unseen" role="status">
      {children}
    </p>
  )
}

interface BoxProps {
  readonly place: TipPlace
  readonly children: ComponentChildren
}

/** Renders a box beside the pointer, within the window. Screen readers use the legend and the label of the chart instead. */
export function TipBox({ place, children }: BoxProps): ComponentChild {
  const ref = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const box = ref.current!
    const under = box.offsetParent!.getBoundingClientRect()
    const { clientWidth, clientHeight } = document.documentElement
    box.style.left = `${tipOffset(under.left + place.x, 16, box.offsetWidth, clientWidth) - under.left}px`
    box.style.top = `${tipOffset(under.top + place.y, 12, box.offsetHeight, clientHeight) - under.top}px`
  })
  return (
    <div class="tip" aria-hidden="true" ref={ref}>
      {children}
    </div>
  )
}

/** Distance between a tooltip and the edges of the window, in pixels. */
const EDGE = 4

/** Returns the start of a box of `size` beside `at`: after it, before it if there is too little room, else at an edge of the window. */
export function tipOffset(at: number, gap: number, size: number, room: number): number {
  if (at + gap + size <= room - EDGE) return at + gap
  if (at - gap - size >= EDGE) return at - gap - size
  return Math.max(EDGE, room - EDGE - size)
}
