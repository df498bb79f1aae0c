/** A note above the charts if the window ends before the recording begins. */
import type { ComponentChild } from 'preact'
import { spanOfHistory } from '../minimap/recorded.ts'
import { archives, config, currentSource, screen } from '../page.ts'
import { time } from '../time/control.ts'

/** Renders the text with the next step; nothing if there may be values. */
export function Unrecorded(): ComponentChild {
  const history = config.value?.history
  const source = currentSource.value
  // Of the other hosts nothing is recorded here.
  if (screen.value === 'fleet' || history == null || source?.span !== undefined) return null
  if (source?.range === undefined) return null
  const span = spanOfHistory(archives.value, history)
  const window = time.frame.value
  // Not just before it: the note would move charts under the pointer that drags one there.
  if (span === undefined || window.to > span.from - (window.to - window.from)) return null
  const { from, to } = span
  return (
    <p class="troubles">
      Nothing was recorded in this time range.{' '}
      <button type="button" class="link" onClick={() => time.show(from, to)}>
        Show all that is recorded
      </button>{' '}
      <button type="button" class="link" onClick={() => time.goLive()}>
        Show live values
      </button>
    </p>
  )
}
