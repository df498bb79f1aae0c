/** The note in the form. There is one form, and text typed in it is only dropped by its buttons. */
import { type Signal, signal } from '@preact/signals'
import type { Note } from './notes.ts'

/** A new or edited note, with the text typed so far. */
export interface Draft {
  /** The note as it was. */
  readonly note: Note
  readonly text: string
}

/** The draft in the form; undefined without a form. It outlives the panel. */
export const draft: Signal<Draft | undefined> = signal(undefined)

/** Opens the form with a note. Returns false, and keeps the form, if it has unsaved text. */
export function beginDraft(note: Note): boolean {
  const open = draft.peek()
  if (open !== undefined && open.text.trim() !== open.note.text) return false
  draft.value = { note, text: note.text }
  return true
}

/** Stores the typed text. */
export function typeDraft(text: string): void {
  const open = draft.peek()
  if (open !== undefined) draft.value = { ...open, text }
}

/** Closes the form and returns the typed note; undefined without text. */
export function takeDraft(): Note | undefined {
  const open = draft.peek()
  draft.value = undefined
  const text = open?.text.trim() ?? ''
  return open === undefined || text === '' ? undefined : { ...open.note, text }
}
