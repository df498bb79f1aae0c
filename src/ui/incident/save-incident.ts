/** Saves what the page shows as an incident: a file that opens anywhere. */
import { notesOf, notesText } from '../annotations/notes.ts'
import { notes } from '../annotations/state.ts'
import { download } from '../chart/export.ts'
import { RequestError } from '../data/responses.ts'
import { currentSource, view } from '../page.ts'
import { time } from '../time/control.ts'
import { incidentHtml, LONGEST_NOTE } from './incident.ts'
import { isIncidentFile } from './open-incident.ts'

/** Can the current source be saved here? An incident file has no template of itself. */
export const canSaveIncident = (): boolean => currentSource.value?.excerpt !== undefined && !isIncidentFile()

/** Downloads the records of the shown window with the view and a note; returns the size of the file in bytes. Throws RequestError. */
export async function saveIncident(note: string): Promise<number> {
  const { from, to } = time.frame.peek()
  const found = await currentSource.peek()?.excerpt?.(from, to)
  if (found === undefined)
    throw new RequestError('Nothing of this source is recorded; incidents need an archive')
  const own = notesOf(notes.all.peek(), currentSource.peek()?.host)
  const zone = time.zone.peek()
  const template = await fetch('/ui/incident.html')
  if (!template.ok) throw new RequestError('The server has no template of incident files; build it again')
  const html = incidentHtml(await template.text(), {
    ...found,
    note: [note, notesText(own, { from, to })].filter(Boolean).join('\n').slice(0, LONGEST_NOTE),
    shown: { view: view.peek(), width: to - from, end: to, ...(zone === '' ? {} : { zone }) },
  })
  const file = new Blob([html], { type: 'text/html' })
  download(`${found.base}.html`, file)
  return file.size
}
