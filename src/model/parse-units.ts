/** Parsing units. pmParseUnitsStr(3) */
import { PcpError } from './errors.ts'
import { type ParsedUnits, parseUnitsOrThrow, UnitsError } from './units-grammar.ts'

export type { ParsedUnits } from './units-grammar.ts'

/**
 * Parses units such as `Kbyte / sec`, `100 MB / 8 hour` or `count x 10^3`. Terms are separated by spaces; each dimension may occur
 * once per side. PM_ERR_CONV with the reason as message. @see pmParseUnitsStr(3)
 */
export function parseUnits(text: string): ParsedUnits {
  try {
    return parseUnitsOrThrow(text)
  } catch (error) {
    throw error instanceof UnitsError ? new PcpError('PM_ERR_CONV', error.message) : error
  }
}

/** Parses the units of a metric definition; '' and 'none' mean no units. PM_ERR_CONV, also for factors such as `2 byte`. */
export function unitsFromText(text: string): number {
  if (text === '' || text === 'none') return 0
  const { units, multiplier } = parseUnits(text)
  if (multiplier !== 1) {
    const { message } = new UnitsError(text, 'the units of a metric cannot have a factor besides the scale')
    throw new PcpError('PM_ERR_CONV', message)
  }
  return units
}
