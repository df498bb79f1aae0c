/** Converts OpenTelemetry's units (UCUM) to PCP's. https://opentelemetry.io/docs/specs/semconv/general/metrics */
import {
  PM_SPACE_GBYTE,
  PM_SPACE_KBYTE,
  PM_SPACE_MBYTE,
  PM_SPACE_TBYTE,
  PM_TIME_HOUR,
  PM_TIME_MIN,
  PM_TIME_MSEC,
  PM_TIME_NSEC,
  PM_TIME_SEC,
  PM_TIME_USEC,
  packUnits,
  type Units,
} from '../../model/units.ts'

/** Encoded units of a count. */
export const COUNT: number = packUnits({ dimCount: 1 })

const ATOMS: ReadonlyMap<string, Partial<Units>> = new Map<string, Partial<Units>>([
  ['ns', { dimTime: 1, scaleTime: PM_TIME_NSEC }],
  ['us', { dimTime: 1, scaleTime: PM_TIME_USEC }],
  ['ms', { dimTime: 1, scaleTime: PM_TIME_MSEC }],
  ['s', { dimTime: 1, scaleTime: PM_TIME_SEC }],
  ['min', { dimTime: 1, scaleTime: PM_TIME_MIN }],
  ['h', { dimTime: 1, scaleTime: PM_TIME_HOUR }],
  ['By', { dimSpace: 1 }],
  ['KiBy', { dimSpace: 1, scaleSpace: PM_SPACE_KBYTE }],
  ['MiBy', { dimSpace: 1, scaleSpace: PM_SPACE_MBYTE }],
  ['GiBy', { dimSpace: 1, scaleSpace: PM_SPACE_GBYTE }],
  ['TiBy', { dimSpace: 1, scaleSpace: PM_SPACE_TBYTE }],
])

/** Returns the encoded units of a text such as `By`, `{request}/s`; 0 for units unknown to PCP, such as `1` and `%`. */
export function unitsOf(text: string): number {
  const [over = '', under, ...more] = text.split('/')
  if (more.length > 0) return 0
  const top = atom(over)
  if (top === undefined) return 0
  if (under === undefined) return packUnits(top)
  const bottom = atom(under)
  if (bottom === undefined || (top.dimTime !== undefined && bottom.dimTime !== undefined)) return 0
  return packUnits({
    ...top,
    ...bottom,
    dimSpace: (top.dimSpace ?? 0) - (bottom.dimSpace ?? 0),
    dimTime: (top.dimTime ?? 0) - (bottom.dimTime ?? 0),
    dimCount: (top.dimCount ?? 0) - (bottom.dimCount ?? 0),
  })
}

function atom(text: string): Partial<Units> | undefined {
  // Braces name the counted thing.
  return /^\{[^}]*\}$/.test(text) ? { dimCount: 1 } : ATOMS.get(text)
}
