/** Ages of files, as options give them: `DD[:HH[:MM]]`, `never`, `forever`. */

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** An age that no file reaches. */
export const NEVER: number = Number.POSITIVE_INFINITY

/** Parses an age to milliseconds or `NEVER`; returns undefined for other text. */
export function parseAge(text: string): number | undefined {
  if (text === 'never' || text === 'forever') return NEVER
  const match = /^(\d+)(?::(\d{1,2})(?::(\d{1,2}))?)?$/.exec(text)
  if (match === null) return undefined
  const [, days, hours = '0', minutes = '0'] = match
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  return Number(days) * DAY_MS + Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS
}

/** Returns the words after `older than` in reports: `14 days`, or the text unchanged if it is not whole days. */
export function formatAge(text: string): string {
  if (!/^\d+$/.test(text)) return text
  return text === '1' ? '1 day' : `${text} days`
}

/** Formats names in lines of at most 79 characters, indented by four. */
export function wrapNames(names: readonly string[]): string[] {
  const lines: string[] = []
  let line = ''
  for (const name of names) {
    if (line !== '' && line.length + 1 + name.length > LINE) {
      lines.push(`    ${line}`)
      line = ''
    }
    line = line === '' ? name : `${line} ${name}`
  }
  if (line !== '') lines.push(`    ${line}`)
  return lines
}

const LINE = 75
