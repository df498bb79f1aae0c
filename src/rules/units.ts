/** Units of rules; everything is computed in bytes, seconds and counts. docs/reference/pmie.md */
import {
  PM_SPACE_BYTE,
  PM_TIME_HOUR,
  PM_TIME_MIN,
  PM_TIME_MSEC,
  PM_TIME_NSEC,
  PM_TIME_SEC,
  PM_TIME_USEC,
  unpackUnits,
} from '../model/units.ts'

/** A unit's factor, and whether it is a unit of time. */
export interface UnitWord {
  readonly factor: number
  readonly isTime: boolean
}

const KILO = 1024

const FACTORS: Readonly<Record<string, UnitWord>> = {
  byte: { factor: 1, isTime: false },
  Kbyte: { factor: KILO, isTime: false },
  Mbyte: { factor: KILO ** 2, isTime: false },
  Gbyte: { factor: KILO ** 3, isTime: false },
  Tbyte: { factor: KILO ** 4, isTime: false },
  nsec: { factor: 1e-9, isTime: true },
  nanosec: { factor: 1e-9, isTime: true },
  nanosecond: { factor: 1e-9, isTime: true },
  usec: { factor: 1e-6, isTime: true },
  microsec: { factor: 1e-6, isTime: true },
  microsecond: { factor: 1e-6, isTime: true },
  msec: { factor: 1e-3, isTime: true },
  millisec: { factor: 1e-3, isTime: true },
  millisecond: { factor: 1e-3, isTime: true },
  sec: { factor: 1, isTime: true },
  second: { factor: 1, isTime: true },
  min: { factor: 60, isTime: true },
  minute: { factor: 60, isTime: true },
  hour: { factor: 3600, isTime: true },
  count: { factor: 1, isTime: false },
  Kcount: { factor: 1000, isTime: false },
  Mcount: { factor: 1_000_000, isTime: false },
}

/** Returns the unit of a word, singular or with a final s; undefined for other words. */
export function unitWord(word: string): UnitWord | undefined {
  if (Object.hasOwn(FACTORS, word)) return FACTORS[word]
  const singular = word.endsWith('s') ? word.slice(0, -1) : ''
  return Object.hasOwn(FACTORS, singular) ? FACTORS[singular] : undefined
}

const TIME_FACTORS: Readonly<Record<number, number>> = {
  [PM_TIME_NSEC]: 1e-9,
  [PM_TIME_USEC]: 1e-6,
  [PM_TIME_MSEC]: 1e-3,
  [PM_TIME_SEC]: 1,
  [PM_TIME_MIN]: 60,
  [PM_TIME_HOUR]: 3600,
}

/** Returns the factor that converts values of a metric's units to bytes, seconds and counts. */
export function canonicalFactor(word: number): number {
  const { dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount } = unpackUnits(word)
  const space = dimSpace === 0 ? 1 : KILO ** (dimSpace * (scaleSpace - PM_SPACE_BYTE))
  const time = dimTime === 0 ? 1 : (TIME_FACTORS[scaleTime] ?? 1) ** dimTime
  const count = dimCount === 0 ? 1 : 10 ** (dimCount * scaleCount)
  return space * time * count
}
