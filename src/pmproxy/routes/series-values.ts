/** Values of series as JSON, written in pieces: a long text is several times slower to build, and needs twice the memory. */
import type { Value } from '../../model/values.ts'
import { type SeriesResult, valueText } from '../../series/query/result.ts'
import { jsonText } from '../describe.ts'

/** Characters of a piece, about. */
const PIECE = 1 << 14
const OPENING_BRACKET = 91

/** Returns the array of all values, between two other texts. */
export function valuesJson(before: string, series: readonly SeriesResult[], after: string): Buffer {
  const pieces = [Buffer.from(before)]
  let text = ''
  for (const result of series) {
    /** Starts of objects, one for each of these instances. */
    let known: readonly string[] = []
    let starts: readonly string[] = []
    for (const { sec, nsec, ids, values } of result.samples) {
      if (ids !== known) {
        known = ids
        starts = ids.map((id) => startOf(result, id))
      }
      const micros = String(Math.floor(nsec / 1000) % 1000).padStart(3, '0')
      const time = `${sec * 1000 + Math.floor(nsec / 1e6)}.${micros},"value":`
      for (let i = 0; i < ids.length; i++) {
        const value = values[i]!
        const shown = valueText(value, result)
        text += starts[i]! + time + (isNumber(value) ? `"${shown}"}` : `${jsonText(shown)}}`)
      }
      if (text.length >= PIECE) {
        pieces.push(Buffer.from(text))
        text = ''
      }
    }
  }
  pieces.push(Buffer.from(text))
  const first = pieces[1]!
  // Each object follows a comma, of which the first becomes the bracket.
  if (first.length === 0) pieces.push(Buffer.from('['))
  else first[0] = OPENING_BRACKET
  pieces.push(Buffer.from(`]${after}`))
  return Buffer.concat(pieces)
}

/** Returns the JSON of a value up to its time. */
function startOf({ id: series, isComputed }: SeriesResult, id: string): string {
  const instance = id === '' && !isComputed ? '' : `"instance":"${id}",`
  return `,{"series":"${series}",${instance}"timestamp":`
}

/** The text of a number needs no escapes. */
function isNumber(value: Value): boolean {
  return typeof value === 'number' || typeof value === 'bigint'
}
