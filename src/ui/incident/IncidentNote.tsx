/** The note of the sender of an incident. */
import type { ComponentChild } from 'preact'
import { currentSource, screen } from '../page.ts'
import { incidentNote } from './open-incident.ts'

/** Renders the note; nothing without one. */
export function IncidentNote(): ComponentChild {
  const note = incidentNote.value
  if (note === undefined || note.source !== currentSource.value || screen.value !== 'charts') return null
  return (
    <aside class="incident-note" aria-label="Note">
      <p>{note.text}</p>
      <button type="button" class="link" onClick={() => (incidentNote.value = undefined)}>
        Hide
      </button>
    </aside>
  )
}
