/** Draws marks over a chart: a line or a shaded span, and a flag that shows the text. */
import { useSignal } from '@preact/signals'
import type { ComponentChild, TargetedKeyboardEvent } from 'preact'
import { useRef } from 'preact/hooks'
import { hasModifier } from '../keyboard.ts'
import { type Frame, time } from '../time/control.ts'
import { linesOf, signOf } from './mark-text.ts'
import { groupMarks, type MarkGroup, marks } from './marks.ts'

/** Position of the plot of a chart within its positioned parent, in pixels. */
export interface PlotBox {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Props of the layer. */
export interface MarkLayerProps {
  readonly frame: Frame
  readonly box: PlotBox
}

/** Size of a target for fingers, px: nearer flags would cover each other. */
const TOUCH = 44

/** Renders the marks of the window. One flag is in the tab order; arrow keys move to the others. */
export function MarkLayer({ frame, box }: MarkLayerProps): ComponentChild {
  const layer = useRef<HTMLUListElement>(null)
  const current = useSignal(0)
  const isTouch = matchMedia('(pointer: coarse)').matches
  const groups = groupMarks(marks.value, frame, box.width, isTouch ? TOUCH : undefined)
  if (groups.length === 0 || box.width <= 0) return null
  const tabStop = Math.min(current.value, groups.length - 1)
  const share = (at: number): number =>
    Math.min(1, Math.max(0, (at - frame.from) / (frame.to - frame.from || 1)))
  const move = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const next = { ArrowLeft: tabStop - 1, ArrowRight: tabStop + 1, Home: 0, End: groups.length - 1 }[
      event.key
    ]
    if (next === undefined || hasModifier(event)) return
    event.preventDefault()
    event.stopPropagation() // the page pans by half a window
    layer.current!.querySelectorAll<HTMLElement>('.mark-flag')[next]?.focus()
  }
  return (
    <ul
      class="marks"
      aria-label="Marks"
      ref={layer}
      style={{
        left: `${box.left}px`,
        top: `${box.top}px`,
        width: `${box.width}px`,
        height: `${box.height}px`,
      }}
      onKeyDown={move}
    >
      {groups.map((group, i) => {
        const [start, end] = [share(group.at), share(group.until ?? group.at)]
        return (
          <li
            key={group.at}
            class={`mark-${group.kind}${group.until === undefined ? '' : ' lasting'}`}
            style={{ left: `${100 * start}%`, width: `${100 * (end - start)}%` }}
          >
            <Flag
              group={group}
              isTabStop={i === tabStop}
              onFocus={() => (current.value = i)}
              isRight={start > 0.5}
            />
          </li>
        )
      })}
    </ul>
  )
}

interface FlagProps {
  readonly group: MarkGroup
  readonly isTabStop: boolean
  /** Is it in the right half, where its text extends to the left? */
  readonly isRight: boolean
  readonly onFocus: () => void
}

function Flag({ group, isTabStop, isRight, onFocus }: FlagProps): ComponentChild {
  const zone = time.zone.value
  const lines = linesOf(group, zone)
  return (
    <button
      type="button"
      class="mark-flag"
      tabIndex={isTabStop ? 0 : -1}
      aria-label={lines.join('. ')}
      onFocus={onFocus}
      // Safari does not focus buttons on a tap.
      onClick={({ currentTarget }) => currentTarget.focus()}
    >
      <span class="mark-sign" aria-hidden="true">
        {signOf(group)}
      </span>
      <span class={`mark-text${isRight ? ' right' : ''}`} aria-hidden="true">
        {lines.map((line, i) => (
          <span key={i}>{line}</span>
        ))}
      </span>
    </button>
  )
}
