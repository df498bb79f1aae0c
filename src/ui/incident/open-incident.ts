/** Opens incidents: that of this file, or of a file dropped on the page. */
import { type Signal, signal } from '@preact/signals'
import { fromBase64 } from '../data/base64.ts'
import { openArchiveFiles } from '../data/local-files.ts'
import type { Source } from '../data/source.ts'
import { currentSource, view } from '../page.ts'
import { time } from '../time/control.ts'
import { isZone } from '../time/format.ts'
import { readShared } from '../view/received.ts'
import { INCIDENT_ID, type Incident, incidentIn } from './incident.ts'

/** Is this document an incident, without a server? */
export const isIncidentFile = (): boolean => document.getElementById(INCIDENT_ID) !== null

/** The note of an incident and its source. */
export const incidentNote: Signal<
  { readonly source: Source | undefined; readonly text: string } | undefined
> = signal(undefined)

/** Opens the incident in this document. Throws an Error for the user if it is damaged. */
export async function openEmbeddedIncident(): Promise<void> {
  const text = document.getElementById(INCIDENT_ID)?.textContent ?? ''
  const found = incidentIn(`<script type="application/json" id="${INCIDENT_ID}">${text}</script>`)
  if (found !== undefined) await openIncident(found)
}

/** Opens the incident of a file; returns whether it is one. Throws an Error for the user if it is damaged. */
export async function openIncidentFile(file: File): Promise<boolean> {
  if (!/\.html?$/i.test(file.name)) return false
  const found = incidentIn(await file.text())
  if (found !== undefined) await openIncident(found)
  return found !== undefined
}

async function openIncident({ base, note, shown, files }: Incident): Promise<void> {
  await openArchiveFiles(
    base,
    files.map(([name, content]) => new File([fromBase64(content)], name)),
  )
  incidentNote.value = note === '' ? undefined : { source: currentSource.peek(), text: note }
  const received = readShared(shown)
  if (received === undefined) return
  const { shared } = received
  if (shared.view.charts.length > 0) view.value = shared.view
  if (shared.zone !== undefined && isZone(shared.zone)) time.zone.value = shared.zone
  if (shared.end !== undefined && shared.width !== undefined) time.show(shared.end - shared.width, shared.end)
}
