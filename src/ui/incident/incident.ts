/** Incidents: part of an archive with what to look at, inside one HTML file that is this page. docs/how-to/hand-an-incident-on.md */
import type { SharedView } from '../view/share.ts'

/** What an incident file has. */
export interface Incident {
  /** Name of the archive: the base of its files. */
  readonly base: string
  /** The sender's note; '' without one. */
  readonly note: string
  /** What to show; default: the overview. */
  readonly shown?: SharedView
  /** The archive's files: name, with `.gz`, and content in base64. */
  readonly files: readonly (readonly [name: string, base64: string])[]
}

/** Longest text of a file, in characters, most files of an archive, longest note. */
const LONGEST = 300_000_000
const MOST_FILES = 1000
export const LONGEST_NOTE = 10_000

/** The element with the incident, in the file and in its template, where it is empty. */
export const INCIDENT_ID = 'incident'
const OPENING = `<script type="application/json" id="${INCIDENT_ID}">`
const CLOSING = '</script>'
const NOT_BASE64 = /[^a-z\d+/=]/i
const TITLE = /<title>[^<]*<\/title>/

/** Returns the HTML file of an incident. Throws an Error if the template is not one of this version. */
export function incidentHtml(template: string, incident: Incident): string {
  const at = template.indexOf(OPENING)
  if (at < 0) throw new Error('The template of incident files is damaged: build the package again')
  // No text in JSON can then end the element or begin a comment.
  const json = JSON.stringify(incident).replaceAll('<', '\\u003c')
  const from = at + OPENING.length
  const whole = `${template.slice(0, from)}${json}${template.slice(template.indexOf(CLOSING, from))}`
  const title = incident.base.replaceAll(/[<&]/g, ' ')
  return whole.replace(TITLE, () => `<title>${title}</title>`)
}

/** Extracts the incident from an untrusted HTML file, of which nothing is run; undefined for other files. Throws an Error if it is damaged. */
export function incidentIn(html: string): Incident | undefined {
  if (html.length > LONGEST) throw new Error('The incident file is too large for this page')
  const at = html.indexOf(OPENING)
  if (at < 0) return undefined
  const from = at + OPENING.length
  const end = html.indexOf(CLOSING, from)
  try {
    const incident = validIncident(JSON.parse(html.slice(from, end < 0 ? undefined : end)))
    if (incident?.files.some(([, content]) => NOT_BASE64.test(content)) === false) return incident
    if (incident !== undefined) throw new Error('not base64')
  } catch (cause) {
    throw new Error('The incident file is damaged; check that it was copied completely', { cause })
  }
  throw new Error('The incident file has no archive')
}

/** Checks an untrusted incident; `shown` is checked where it is used. */
function validIncident(from: unknown): Incident | undefined {
  const { base, note, shown, files } = (typeof from === 'object' && from !== null ? from : {}) as Record<
    string,
    unknown
  >
  if (typeof base !== 'string' || !isFileName(base) || !Array.isArray(files)) return undefined
  const valid = files
    .slice(0, MOST_FILES)
    .filter(
      (file): file is [string, string] =>
        Array.isArray(file) &&
        typeof file[0] === 'string' &&
        isFileName(file[0]) &&
        typeof file[1] === 'string',
    )
  if (valid.length === 0) return undefined
  return {
    base,
    note: typeof note === 'string' ? note.slice(0, LONGEST_NOTE) : '',
    files: valid,
    ...(typeof shown === 'object' && shown !== null ? { shown: shown as SharedView } : {}),
  }
}

const isFileName = (name: string): boolean => /^[\w][\w.@+-]{0,200}$/.test(name)
