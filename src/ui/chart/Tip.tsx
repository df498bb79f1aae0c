/** What the lines of a chart read under the pointer, beside it. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild, ComponentChildren } from 'preact'
import type { ChartData } from '../data/chart-data.ts'
import { time } from '../time/control.ts'
import { momentText } from '../time/words.ts'
import { type ChartStyle, isStacked } from '../view/view.ts'
import { lineColor, readingOf, valueAt } from './line-look.ts'
import { Name } from './Name.tsx'

/** Lines that are listed: a longer list would hide the chart. */
const MOST = 12

interface Props {
  readonly style: ChartStyle
  readonly data: ChartData
  readonly hidden: ReadonlySet<string>
  /** Index of the sample under the pointer. */
  readonly cursor: Signal<number | undefined>
}

interface Place {
  readonly x: number
  readonly y: number
  readonly width: number
}

/** Its children, and over them the values while the pointer is there. */
export function Tip({ children, ...rest }: Props & { readonly children: ComponentChildren }): ComponentChild {
  const place = useSignal<Place | undefined>(undefined)
  const move = (event: PointerEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    place.value = { x: event.clientX - box.left, y: event.clientY - box.top, width: box.width }
  }
  return (
    <div
      class="drawing"
      onPointerMove={move}
      onPointerDown={move}
      onPointerLeave={() => (place.value = undefined)}
    >
      {children}
      <Readings {...rest} place={place} />
    </div>
  )
}

/** A part of its own: the pointer moves often, and the chart stays. */
function Readings({
  style,
  data,
  hidden,
  cursor,
  place,
}: Props & { readonly place: Signal<Place | undefined> }): ComponentChild {
  const at = place.value
  const index = cursor.value
  const moment = index === undefined ? undefined : data.times[index]
  if (at === undefined || index === undefined || moment === undefined) return null
  const lines = data.lines
    .map((line, i) => ({ line, i, value: valueAt(line.values, index) }))
    .filter(({ line, value }) => value != null && !hidden.has(line.key))
  // As they are seen from top to bottom.
  if (isStacked(style)) lines.reverse()
  else lines.sort((a, b) => b.value! - a.value!)
  const isRight = at.x > at.width / 2
  return (
    <TipBox
      left={isRight ? undefined : at.x + 16}
      right={isRight ? at.width - at.x + 16 : undefined}
      top={at.y + 12}
    >
      <p class="tip-time">{momentText(moment, time.zone.value)}</p>
      <ul>
        {lines.slice(0, MOST).map(({ line, i }) => (
          <li key={line.key}>
            <span class="chip" style={{ background: lineColor(data, i) }} />
            <Name text={line.label} />
            <span class="value">{readingOf(data, style, i, index, hidden)}</span>
          </li>
        ))}
      </ul>
      {lines.length > MOST && <p class="tip-more">and {lines.length - MOST} more</p>}
    </TipBox>
  )
}

interface BoxProps {
  /** Pixels from the edge of what it stands over. */
  readonly left: number | undefined
  readonly right: number | undefined
  readonly top: number
  readonly children: ComponentChildren
}

/** The box that stands beside the pointer; those who do not see it have the legend and the text of the chart. */
export function TipBox({ left, right, top, children }: BoxProps): ComponentChild {
  return (
    <div class="tip" aria-hidden="true" style={{ left, right, top }}>
      {children}
    </div>
  )
}
