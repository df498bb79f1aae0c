/** Saves the shown window as an incident. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { keepDraft, readDraft } from '../drafts.ts'
import { showError, showNotice } from '../page.ts'
import { LONGEST_NOTE } from './incident.ts'
import { canSaveIncident, savedText, saveIncident } from './save-incident.ts'

const DRAFT = 'incident'

/** Renders a field for a note, and the button. */
export function IncidentForm(): ComponentChild {
  const note = useSignal(readDraft(DRAFT))
  const isBusy = useSignal(false)
  if (!canSaveIncident()) return null
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    isBusy.value = true
    try {
      showNotice(savedText(await saveIncident(note.value)))
      keepDraft(DRAFT, '')
    } catch (error) {
      showError(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form class="incident-form" onSubmit={save}>
      <textarea
        aria-label="Note on the incident"
        placeholder="What happened? (note in the file)"
        rows={2}
        maxLength={LONGEST_NOTE}
        value={note.value}
        onInput={({ currentTarget: { value } }) => {
          note.value = value
          keepDraft(DRAFT, value)
        }}
      />
      <button
        type="submit"
        disabled={isBusy.value}
        title="One HTML file with the selected span or the shown window, the view and the note"
      >
        Save incident
      </button>
    </form>
  )
}
