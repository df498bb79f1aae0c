/** Begins a note on the pinned instant, on that under the pointer, or on the shown window. */
import { instant } from '../chart/instant.ts'
import { currentSource, panel, showNotice } from '../page.ts'
import { time } from '../time/control.ts'
import { newId } from '../view/view.ts'
import { beginDraft } from './draft.ts'
import type { Note } from './notes.ts'

/** Opens the form in the panel. */
export function newNote(): void {
  const source = currentSource.peek()
  if (source === undefined) return
  const at = instant.peek()
  const { from, to } = time.frame.peek()
  const when = at === undefined ? { at: from, until: to } : { at }
  editNote({ id: newId(), host: source.host, ...when, text: '' })
  panel.value = 'alerts'
}

/** Opens the form with a note; if it has unsaved text, that stays, with a remark. */
export function editNote(note: Note): void {
  if (!beginDraft(note)) showNotice('First save or cancel the note that you have begun')
  // A form that is open already; a new one takes the focus itself.
  document.querySelector<HTMLElement>('.note-form textarea')?.focus()
}
