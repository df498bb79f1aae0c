/** Saves what the page shows as an incident: a file that opens anywhere. */
import { notesOf, notesText } from '../annotations/notes.ts'
import { notes } from '../annotations/state.ts'
import { download } from '../chart/export.ts'
import { selectedSpan } from '../chart/selected-span.ts'
import { RequestError } from '../data/responses.ts'
import { currentSource, view } from '../page.ts'
import { type Frame, time } from '../time/control.ts'
import { INCIDENT_ID, incidentHtml, LONGEST_NOTE } from './incident.ts'
import { isIncidentFile } from './open-incident.ts'

/** Can the current source be saved? */
export const canSaveIncident = (): boolean => currentSource.value?.excerpt !== undefined

/** Returns the notice on a saved file of so many bytes. */
export const savedText = (bytes: number): string =>
  `Saved the incident: ${Math.ceil(bytes / 1024)} KiB. It opens in any browser, without network.`

/**
 * Downloads the records of a window, by default the selected span or the shown window, with the view and a note; returns the size of the file in
 * bytes. Throws RequestError.
 */
export async function saveIncident(
  note: string,
  { from, to }: Frame = selectedSpan.peek() ?? time.frame.peek(),
): Promise<number> {
  // Read before the first await: the user may show another source meanwhile.
  const source = currentSource.peek()
  const own = notesOf(notes.all.peek(), source?.host)
  const zone = time.zone.peek()
  const shown = { view: view.peek(), width: to - from, end: to, ...(zone === '' ? {} : { zone }) }
  const found = await source?.excerpt?.(from, to)
  if (found === undefined)
    throw new RequestError('Nothing of this source is recorded; incidents need an archive')
  const html = incidentHtml(isIncidentFile() ? ownTemplate() : await serverTemplate(), {
    ...found,
    note: [note, notesText(own, { from, to })].filter(Boolean).join('\n').slice(0, LONGEST_NOTE),
    shown,
  })
  const file = new Blob([html], { type: 'text/html' })
  download(`${found.base}.html`, file)
  return file.size
}

/** Nodes of the template; the two without the attribute are found by their exact text. */
const OF_TEMPLATE = `[data-template], head > title, #${INCIDENT_ID}`
const isOfTemplate = (node: Node): boolean => node instanceof Element && node.matches(OF_TEMPLATE)

async function serverTemplate(): Promise<string> {
  const template = await fetch('/ui/incident.html')
  if (!template.ok) throw new RequestError('The server has no template of incident files; build it again')
  return template.text()
}

/**
 * Returns this incident file without its incident, without what the page has drawn and without what browser extensions have added: a file
 * cannot read itself.
 */
function ownTemplate(): string {
  const root = document.documentElement.cloneNode(true) as HTMLElement
  for (const { name } of [...root.attributes]) if (name !== 'lang') root.removeAttribute(name)
  const body = root.querySelector('body')!
  for (const { name } of [...body.attributes]) body.removeAttribute(name)
  // Not the unpacked script either: the file unpacks it again when it is opened.
  const head = root.querySelector('head')!
  for (const node of [head, body].flatMap(({ childNodes }) => [...childNodes]))
    if (!isOfTemplate(node)) node.remove()
  root.replaceChildren(head, body)
  root.querySelector('#page')!.replaceChildren()
  root.querySelector('meta[name=archive-worker]')!.setAttribute('content', '')
  root.querySelector(`#${INCIDENT_ID}`)!.textContent = ''
  return `<!doctype html>\n${root.outerHTML}\n`
}
