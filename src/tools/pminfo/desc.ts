/** Descriptors in words. */
import type { MetricDesc } from '../../model/desc.ts'
import { type Indom, indomStr } from '../../model/ids.ts'
import { semWords, typeWords } from '../../model/print.ts'
import { PM_TYPE_NOSUPPORT } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'

const typeText = (type: number): string => (type === PM_TYPE_NOSUPPORT ? 'Not Supported' : typeWords(type))
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
    `    Data Type: ${typeText(type)}  InDom: ${indomWords(indom, fullIndom)}\n` +
    `    Semantics: ${semWords(sem)}  Units: ${unitsWords(units)}\n`
  )
}

/** A descriptor in one line, by tabs. */
export function descLine(name: string, { type, indom, sem, units }: MetricDesc): string {
  return `${name}\t${typeText(type)}\t${indomWords(indom, false)}\t${semWords(sem)}\t${unitsWords(units)}\n`
}
