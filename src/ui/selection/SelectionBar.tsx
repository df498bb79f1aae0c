/** Commands for the selected span. Takes the focus, so that the keyboard moves the span. */
import type { ComponentChild } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { selectedSpan, stepped } from '../chart/selected-span.ts'
import { canSaveIncident, savedText, saveIncident } from '../incident/save-incident.ts'
import { borrowFocus, hasModifier } from '../keyboard.ts'
import { currentSource, panel, screen, showError, showNotice } from '../page.ts'
import { type Frame, time } from '../time/control.ts'
import { formatDuration, formatSpan } from '../time/format.ts'

const DIRECTIONS: Readonly<Record<string, 1 | -1>> = { ArrowLeft: -1, ArrowRight: 1 }

/** Renders the bar; nothing without a span. */
export function SelectionBar(): ComponentChild {
  const span = selectedSpan.value
  if (span === undefined || screen.value !== 'charts') return null
  return <Bar span={span} />
}

const clear = (): void => {
  selectedSpan.value = undefined
}

function zoom({ from, to }: Frame): void {
  time.show(from, to)
  clear()
}

async function save(span: Frame): Promise<void> {
  try {
    showNotice(savedText(await saveIncident('', span)))
  } catch (error) {
    showError(error)
  }
}

function Bar({ span }: { readonly span: Frame }): ComponentChild {
  const bar = useRef<HTMLDivElement>(null)
  useEffect(() => borrowFocus(bar.current!), [])
  const move = (event: KeyboardEvent): void => {
    if (hasModifier(event)) return
    const direction = DIRECTIONS[event.key]
    if (direction !== undefined)
      selectedSpan.value = stepped(span, time.frame.peek(), direction, event.shiftKey ? 'end' : 'span')
    else if (event.key === 'Escape') clear()
    else if (event.key === 'Enter' && event.target === bar.current) zoom(span)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const zone = time.zone.value
  return (
    <div
      class="selection-bar"
      role="toolbar"
      aria-label="Selected span"
      aria-describedby="selected-span"
      tabIndex={-1}
      ref={bar}
      onKeyDown={move}
    >
      <span id="selected-span" role="status">
        {formatSpan(span.from, span.to, zone)} <small>{formatDuration(span.to - span.from)}</small>
      </span>
      {currentSource.value?.changes !== undefined && (
        <button type="button" onClick={() => (panel.value = 'changes')}>
          What changed
        </button>
      )}
      <button type="button" onClick={() => zoom(span)}>
        Zoom
      </button>
      {canSaveIncident() && (
        <button type="button" onClick={() => void save(span)}>
          Save incident
        </button>
      )}
      <button type="button" onClick={clear}>
        Clear
      </button>
    </div>
  )
}
