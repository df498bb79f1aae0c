/** Descriptors in words. */
import type { MetricDesc } from '../../model/desc.ts'
import { type Indom, indomStr } from '../../model/ids.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_AGGREGATE,
  PM_TYPE_AGGREGATE_STATIC,
  PM_TYPE_DOUBLE,
  PM_TYPE_EVENT,
  PM_TYPE_FLOAT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_NOSUPPORT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  semStr,
} from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'

const TYPE_WORDS: ReadonlyMap<number, string> = new Map([
  [PM_TYPE_32, '32-bit int'],
  [PM_TYPE_U32, '32-bit unsigned int'],
  [PM_TYPE_64, '64-bit int'],
  [PM_TYPE_U64, '64-bit unsigned int'],
  [PM_TYPE_FLOAT, 'float'],
  [PM_TYPE_DOUBLE, 'double'],
  [PM_TYPE_STRING, 'string'],
  [PM_TYPE_AGGREGATE, 'aggregate'],
  [PM_TYPE_AGGREGATE_STATIC, 'static aggregate'],
  [PM_TYPE_EVENT, 'event record array'],
  [PM_TYPE_HIGHRES_EVENT, 'highres event record array'],
  [PM_TYPE_NOSUPPORT, 'Not Supported'],
])

const typeWords = (type: number): string => TYPE_WORDS.get(type) ?? `??? (${type})`
const semWords = (sem: number): string => (semStr(sem) === '???' ? `??? (${sem})` : semStr(sem))
const unitsWords = (units: number): string => unitsStr(units) || 'none'
const hex = (id: number): string => `0x${id.toString(16)}`

/** An identifier as a number: `121634818 = 0x7400002`. */
export function decimalAndHex(id: number): string {
  return `${id} = ${hex(id)}`
}

/** An instance domain: `29.2 0x7400002`, or `29.2 = 121634818 = 0x7400002` in full. */
export function indomWords(indom: Indom, full: boolean): string {
  return full ? `${indomStr(indom)} = ${decimalAndHex(indom)}` : `${indomStr(indom)} ${hex(indom)}`
}

/** A descriptor, in the two lines of -d. */
export function descLines({ type, indom, sem, units }: MetricDesc, fullIndom: boolean): string {
  return (
    `    Data Type: ${typeWords(type)}  InDom: ${indomWords(indom, fullIndom)}\n` +
    `    Semantics: ${semWords(sem)}  Units: ${unitsWords(units)}\n`
  )
}

/** A descriptor in one line, by tabs. */
export function descLine(name: string, { type, indom, sem, units }: MetricDesc): string {
  return `${name}\t${typeWords(type)}\t${indomWords(indom, false)}\t${semWords(sem)}\t${unitsWords(units)}\n`
}
