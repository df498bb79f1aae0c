/** The note of the sender of an incident. */
import type { ComponentChild } from 'preact'
import { incidentNote } from './open-incident.ts'

/** Renders the note; nothing without one. */
export function IncidentNote(): ComponentChild {
  const text = incidentNote.value
  if (text === '') return null
  return (
    <aside class="incident-note" aria-label="Note">
      <p>{text}</p>
      <button type="button" class="link" onClick={() => (incidentNote.value = '')}>
        Hide
      </button>
    </aside>
  )
}
