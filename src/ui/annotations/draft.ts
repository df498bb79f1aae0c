/** The note in the form. There is one form, and text typed in it is only dropped by its buttons. */
import { type Signal, signal } from '@preact/signals'
import { type DraftStore, keepDraft, ofTab, readDraft } from '../drafts.ts'
import { type Note, validNote } from './notes.ts'

/** A new or edited note, with the text typed so far. */
export interface Draft {
  /** The note as it was. */
  readonly note: Note
  readonly text: string
}

const FIELD = 'note'

/** The draft in the form; undefined without a form. It outlives the panel, and with unsaved text a reload of the tab. */
export const draft: Signal<Draft | undefined> = signal(keptDraft())

/** Opens the form with a note. Returns false, and keeps the form, if it has unsaved text. */
export function beginDraft(note: Note): boolean {
  const open = draft.peek()
  if (open !== undefined && isUnsaved(open)) return false
  draft.value = { note, text: note.text }
  return true
}

/** Stores the typed text. */
export function typeDraft(text: string, store: DraftStore = ofTab): void {
  const open = draft.peek()
  if (open === undefined) return
  const typed = { ...open, text }
  draft.value = typed
  keepDraft(FIELD, isUnsaved(typed) ? JSON.stringify(typed) : '', store)
}

/** Closes the form and returns the typed note; undefined without text. */
export function takeDraft(store: DraftStore = ofTab): Note | undefined {
  const open = draft.peek()
  draft.value = undefined
  keepDraft(FIELD, '', store)
  const text = open?.text.trim() ?? ''
  return open === undefined || text === '' ? undefined : { ...open.note, text }
}

/** Returns the draft from before a reload. */
export function keptDraft(store: DraftStore = ofTab): Draft | undefined {
  try {
    const { note, text } = JSON.parse(readDraft(FIELD, store) || '{}') as Partial<Draft>
    const valid = validNote(note)
    return valid !== undefined && typeof text === 'string' ? { note: valid, text } : undefined
  } catch {
    return undefined // damaged
  }
}

function isUnsaved({ note, text }: Draft): boolean {
  return text.trim() !== note.text
}
