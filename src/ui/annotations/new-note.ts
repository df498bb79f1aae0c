/** Begins a note on the pinned instant, on that under the pointer, or on the shown window. */
import { instant } from '../chart/instant.ts'
import { currentSource, panel } from '../page.ts'
import { time } from '../time/control.ts'
import { newId } from '../view/view.ts'
import { draft } from './state.ts'

/** Opens the form in the panel. */
export function newNote(): void {
  const source = currentSource.peek()
  if (source === undefined) return
  const at = instant.peek()
  const { from, to } = time.frame.peek()
  const when = at === undefined ? { at: from, until: to } : { at }
  draft.value = { id: newId(), host: source.host, ...when, text: '' }
  panel.value = 'alerts'
}
