/** Text to units word. pmParseUnitsStr(3) */
import { PcpError } from './errors.ts'
import { type ParsedUnits, readUnits, UnitsFault } from './units-grammar.ts'

export type { ParsedUnits } from './units-grammar.ts'

/**
 * Reads units such as `Kbyte / sec`, `100 MB / 8 hour` or `count x 10^3`. Spaces separate terms, each dimension may occur
 * once a side. PM_ERR_CONV with a message that says what is wrong. @see pmParseUnitsStr(3)
 */
export function parseUnits(text: string): ParsedUnits {
  try {
    return readUnits(text)
  } catch (error) {
    throw error instanceof UnitsFault ? new PcpError('PM_ERR_CONV', error.message) : error
  }
}

/** The units word of an agent's table entry; '' and 'none' are no units. PM_ERR_CONV, also for numbers such as `2 byte`. */
export function unitsFromText(text: string): number {
  if (text === '' || text === 'none') return 0
  const { units, multiplier } = parseUnits(text)
  if (multiplier !== 1) {
    const { message } = new UnitsFault(text, 'a metric has no factor but its scale')
    throw new PcpError('PM_ERR_CONV', message)
  }
  return units
}
