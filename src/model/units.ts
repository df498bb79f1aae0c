/** The units word: dimension and scale of values. pmUnitsStr(3), docs/formats/wire.md §6.3 */

/**
 * An unpacked units word. Dimensions are exponents, -8 to 7: bytes per second have `dimSpace` 1 and `dimTime` -1.
 * A scale is meaningful only if its dimension is not zero.
 */
export interface Units {
  readonly dimSpace: number
  readonly dimTime: number
  readonly dimCount: number
  /** PM_SPACE_*, 0 to 15. */
  readonly scaleSpace: number
  /** PM_TIME_*, 0 to 15. */
  readonly scaleTime: number
  /** Power of ten, -8 to 7. */
  readonly scaleCount: number
  /** 7.2 and later: PM_EXTRA_*, negative for 'per', 0 for none. */
  readonly extraUnit: number
  /** 7.2 and later: scale of the extra unit, 1 for its first name in `EXTRA_UNITS`. */
  readonly extraScale: number
}

/** Bytes. */
export const PM_SPACE_BYTE = 0
/** 1024 bytes. */
export const PM_SPACE_KBYTE = 1
/** 1024 Kbytes. */
export const PM_SPACE_MBYTE = 2
/** 1024 Mbytes. */
export const PM_SPACE_GBYTE = 3
/** 1024 Gbytes. */
export const PM_SPACE_TBYTE = 4
/** 1024 Tbytes. */
export const PM_SPACE_PBYTE = 5
/** 1024 Pbytes; larger scales print but do not convert. */
export const PM_SPACE_EBYTE = 6
/** Nanoseconds. */
export const PM_TIME_NSEC = 0
/** Microseconds. */
export const PM_TIME_USEC = 1
/** Milliseconds. */
export const PM_TIME_MSEC = 2
/** Seconds. */
export const PM_TIME_SEC = 3
/** Minutes. */
export const PM_TIME_MIN = 4
/** Hours. */
export const PM_TIME_HOUR = 5
/** Ones; other count scales are powers of ten. */
export const PM_COUNT_ONE = 0
/** Degrees, in the scales of `EXTRA_UNITS`. */
export const PM_EXTRA_TEMPERATURE = 1
/** Volts. */
export const PM_EXTRA_VOLTAGE = 2
/** Amperes. */
export const PM_EXTRA_CURRENT = 3
/** Watts. */
export const PM_EXTRA_POWER = 4

/** Extra units: entry `unit - 1` has the unit's name and the names of its scales, from 1 on. */
export const EXTRA_UNITS: readonly { readonly name: string; readonly scales: readonly string[] }[] = [
  { name: 'temperature', scales: ['C', 'F', 'K'] },
  { name: 'voltage', scales: ['V', 'mV', 'uV'] },
  { name: 'current', scales: ['A', 'mA', 'uA'] },
  { name: 'power', scales: ['kW', 'W', 'mW', 'uW'] },
]

const SPACE_NAMES: readonly string[] = [
  'byte',
  'Kbyte',
  'Mbyte',
  'Gbyte',
  'Tbyte',
  'Pbyte',
  'Ebyte',
  'Zbyte',
  'Ybyte',
]
const TIME_NAMES: readonly string[] = ['nanosec', 'microsec', 'millisec', 'sec', 'min', 'hour']

/** Unpacks a units word. */
export function unpackUnits(word: number): Units {
  return {
    dimSpace: word >> 28,
    dimTime: (word << 4) >> 28,
    dimCount: (word << 8) >> 28,
    scaleSpace: (word >>> 16) & 15,
    scaleTime: (word >>> 12) & 15,
    scaleCount: (word << 20) >> 28,
    extraUnit: (word << 24) >> 27,
    extraScale: word & 7,
  }
}

/** Packs a units word, an unsigned number; missing fields are 0, fields out of range are masked. */
export function packUnits(units: Partial<Units>): number {
  const field = (value: number | undefined, bits: number, shift: number): number =>
    ((value ?? 0) & ((1 << bits) - 1)) << shift
  const word =
    field(units.dimSpace, 4, 28) |
    field(units.dimTime, 4, 24) |
    field(units.dimCount, 4, 20) |
    field(units.scaleSpace, 4, 16) |
    field(units.scaleTime, 4, 12) |
    field(units.scaleCount, 4, 8) |
    field(units.extraUnit, 5, 3) |
    field(units.extraScale, 3, 0)
  return word >>> 0
}

/** Formats a units word as PCP 6 does: `Kbyte / sec`, `/ count^2`, '' for no units. @see pmUnitsStr(3) */
export function unitsStr(word: number): string {
  const { dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount, extraUnit, extraScale } =
    unpackUnits(word)
  const over: string[] = []
  const under: string[] = []
  const add = (dim: number, name: string): void => {
    if (dim === 0) return
    const size = Math.abs(dim)
    const terms = dim > 0 ? over : under
    terms.push(size === 1 ? name : `${name}^${size}`)
  }
  if (extraUnit !== 0) add(Math.sign(extraUnit), extraName(Math.abs(extraUnit), extraScale))
  add(dimSpace, SPACE_NAMES[scaleSpace] ?? `space-${scaleSpace}`)
  add(dimTime, TIME_NAMES[scaleTime] ?? `time-${scaleTime}`)
  add(dimCount, scaleCount === 0 ? 'count' : `count ${powerOfTen(scaleCount)}`)
  if (over.length + under.length === 0) return scaleCount === 0 ? '' : powerOfTen(scaleCount)
  const dividend = over.join(' ')
  return under.length === 0 ? dividend : `${dividend}${dividend === '' ? '' : ' '}/ ${under.join(' ')}`
}

function powerOfTen(scale: number): string {
  return scale === 1 ? 'x 10' : `x 10^${scale}`
}

function extraName(unit: number, scale: number): string {
  const extra = EXTRA_UNITS[unit - 1]
  if (extra === undefined) return `extra-${unit}`
  // The reference truncates unknown scales to 19 characters (vector units_str.json, temperature scale 4).
  return `${extra.name} (${extra.scales[scale - 1] ?? `scale-${scale}`})`.slice(0, 19)
}
