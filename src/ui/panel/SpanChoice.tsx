/** The menu of window widths and quick ranges. */
import type { ComponentChild } from 'preact'
import { loadLazyPart } from '../lazy.tsx'
import { currentSource, showError } from '../page.ts'
import { time, WIDTHS } from '../time/control.ts'
import { formatDuration } from '../time/format.ts'
import { showWindow, windowBase } from '../time/window-base.ts'

const DAYS = ['today', 'yesterday']

/** Renders the menu, which shows the current width. Widths keep the end of the window, quick ranges do not. */
export function SpanChoice(): ComponentChild {
  const width = time.width.value
  const isRecorded = currentSource.value?.span !== undefined
  const choose = (value: string): void => {
    const seconds = Number(value)
    if (!Number.isNaN(seconds)) time.zoom(seconds / time.width.value)
    else if (value === 'all') showAll()
    else if (value.startsWith('last ')) time.showLatest(Number(value.slice(5)))
    else
      loadLazyPart()
        .then(({ readRange }) => showWindow(readRange(value, windowBase())))
        .catch(showError)
  }
  return (
    <label>
      <span class="label">Span</span>
      <select
        value={String(width)}
        onChange={({ currentTarget }) => {
          const { value } = currentTarget
          currentTarget.value = String(width) // until the window has changed
          choose(value)
        }}
      >
        <optgroup label="Width">
          {[...new Set([...WIDTHS, width])]
            .sort((a, b) => a - b)
            .map((seconds) => (
              <option key={seconds} value={String(seconds)}>
                {formatDuration(seconds)}
              </option>
            ))}
        </optgroup>
        <optgroup label={isRecorded ? 'Before the end' : 'Until now'}>
          {WIDTHS.map((seconds) => (
            <option key={seconds} value={`last ${seconds}`}>
              Last {formatDuration(seconds)}
            </option>
          ))}
        </optgroup>
        <optgroup label="Days">
          {isRecorded && <option value="all">All recorded</option>}
          {DAYS.map((day) => (
            <option key={day} value={day}>
              {day[0]!.toUpperCase() + day.slice(1)}
            </option>
          ))}
        </optgroup>
      </select>
    </label>
  )
}

function showAll(): void {
  const { start, end } = time.bounds.peek()
  if (start !== undefined && end !== undefined) time.show(start, end)
}
