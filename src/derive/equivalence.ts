/** Instance domains that are declared to be the same. indom.conf, docs/derived.md */
import { DOMAIN_RESERVED, domainOf, type Indom, serialOf } from '../model/ids.ts'
import type { SameIndom } from './meta.ts'

const WORD = /^(\d+)\.(\d+|\*)$/
const MAX_SERIAL = 0x3fffff

/**
 * Reads lines of `DOMAIN.SERIAL` or `DOMAIN.*`, where the star stands for every serial; what is on one line is the same.
 * `#` begins a comment. `report` hears of words that are neither; they are left out.
 */
export function parseEquivalences(text: string, report?: (what: string) => void): SameIndom {
  /** For each line the words on it, `undefined` for any serial. */
  const lines: (readonly (readonly [number, number | undefined])[])[] = []
  for (const [i, line] of text.split('\n').entries()) {
    const members: (readonly [number, number | undefined])[] = []
    for (const word of line.replace(/#.*/, '').split(/\s+/)) {
      if (word === '') continue
      const [, domain, serial] = WORD.exec(word) ?? []
      if (Number(domain) < DOMAIN_RESERVED && (serial === '*' || Number(serial) <= MAX_SERIAL))
        members.push([Number(domain), serial === '*' ? undefined : Number(serial)])
      else report?.(`line ${i + 1}: "${word}" is no instance domain`)
    }
    if (members.length > 0) lines.push(members)
  }
  const isOn = (line: (typeof lines)[number], indom: Indom): boolean =>
    line.some(
      ([domain, serial]) =>
        domain === domainOf(indom) && (serial === undefined || serial === serialOf(indom)),
    )
  return (a, b) => a === b || lines.some((line) => isOn(line, a) && isOn(line, b))
}
