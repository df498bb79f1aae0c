/** Equivalent instance domains. indom.conf, docs/reference/derived-metrics.md */
import { DOMAIN_RESERVED, domainOf, type Indom, serialOf } from '../model/ids.ts'
import type { SameIndom } from './meta.ts'

const WORD = /^(\d+)\.(\d+|\*)$/
const MAX_SERIAL = 0x3fffff

/**
 * Parses lines of `DOMAIN.SERIAL` or `DOMAIN.*`, where the star matches every serial; all domains on one line are equivalent.
 * `#` starts a comment. `report` is called with invalid words, which are skipped.
 */
export function parseEquivalences(text: string, report?: (what: string) => void): SameIndom {
  /** Words of each line; `undefined` matches any serial. */
  const lines: (readonly (readonly [number, number | undefined])[])[] = []
  for (const [i, line] of text.split('\n').entries()) {
    const members: (readonly [number, number | undefined])[] = []
    for (const word of line.replace(/#.*/, '').split(/\s+/)) {
      if (word === '') continue
      const [, domain, serial] = WORD.exec(word) ?? []
      if (Number(domain) < DOMAIN_RESERVED && (serial === '*' || Number(serial) <= MAX_SERIAL))
        members.push([Number(domain), serial === '*' ? undefined : Number(serial)])
      else report?.(`line ${i + 1}: "${word}" is not an instance domain`)
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
