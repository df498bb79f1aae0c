/** Vectors: format/print_value.json, format/atom_str.json, format/print_desc.json, format/strings.json. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { indomStr, pmidStr } from '../../src/model/ids.ts'
import { atomStr, eventFlagsStr, numberStr, printDesc, printValue } from '../../src/model/print.ts'
import { PM_TYPE_AGGREGATE, PM_TYPE_EVENT, PM_TYPE_STRING, semStr, typeStr } from '../../src/model/types.ts'
import { packUnits } from '../../src/model/units.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import type { Value, ValueSet } from '../../src/model/values.ts'
import { bytesOf, fromHex, readVectors, typeCode } from '../vectors.ts'

const FORMATS: { readonly [name: string]: number } = { INSITU: 0, DPTR: 1, SPTR: 2 }

interface PrintCase {
  valfmt: string | number
  type: string | number
  width: number
  /** Type byte of the block where it is not `type`. */
  vtype?: number
  value?: string
  bytes?: string
  /** Events: seconds, sub-seconds, flags and number of parameters or of missed records. */
  records?: [number, number, number, number][]
  text: string
}

/** Encodes an event array; the bytes of parameters are zero, as printing ignores them. */
function eventBytes(records: [number, number, number, number][], isHighRes: boolean): Uint8Array {
  const params = ([, , flags, count]: [number, number, number, number]): number =>
    flags >= 2 ** 31 ? 0 : count
  const header = isHighRes ? 24 : 16
  const view = new DataView(new ArrayBuffer(4 + records.reduce((sum, r) => sum + header + 12 * params(r), 0)))
  view.setInt32(0, records.length)
  let at = 4
  for (const record of records) {
    const [sec, fraction, flags, count] = record
    if (isHighRes) view.setBigInt64(at, BigInt(sec))
    else view.setInt32(at, sec)
    if (isHighRes) view.setBigInt64(at + 8, BigInt(fraction))
    else view.setInt32(at + 4, fraction)
    view.setUint32(at + header - 8, flags)
    view.setUint32(at + header - 4, count)
    at += header
    for (let p = 0; p < params(record); p++, at += 12) view.setUint32(at + 4, (1 << 24) | 8)
  }
  return new Uint8Array(view.buffer)
}

function dataOf({ type, value, bytes, records, vtype }: PrintCase): Uint8Array {
  if (records !== undefined) return eventBytes(records, type === 'HIGHRES_EVENT')
  // Vectors contain the memory of a little-endian machine; numbers in blocks have the opposite byte order.
  if (bytes !== undefined) return vtype === undefined ? fromHex(bytes) : fromHex(bytes).reverse()
  if (type === 'STRING') return new TextEncoder().encode(`${value}\0`)
  return bytesOf(value!, String(type))
}

function setOf(vector: PrintCase): ValueSet {
  const format = typeof vector.valfmt === 'number' ? vector.valfmt : FORMATS[vector.valfmt]!
  const common = { pmid: 1, status: 1, format, inst: Int32Array.of(-1) }
  if (format === 0 || format === 3) {
    const data = bytesOf(vector.value!, vector.type === 'FLOAT' ? 'FLOAT' : '32')
    return { ...common, word: Int32Array.of(new DataView(data.buffer).getInt32(0)), bytes: new Uint8Array(0) }
  }
  return {
    ...common,
    word: Int32Array.of(0),
    bytes: block(dataOf(vector), vector.vtype ?? typeCode(vector.type)),
  }
}

function block(data: Uint8Array, type: number): Uint8Array {
  const bytes = new Uint8Array(4 + data.length)
  new DataView(bytes.buffer).setUint32(0, (type << 24) | bytes.length)
  bytes.set(data, 4)
  return bytes
}

test('prints values as pmPrintValue does', () => {
  const { cases } = readVectors<PrintCase>('format/print_value.json')
  for (const vector of cases) {
    const text = printValue(setOf(vector), 0, typeCode(vector.type), vector.width)
    expect(text, JSON.stringify(vector)).toBe(vector.text)
  }
  console.info(`format/print_value.json: ${cases.length} cases`)
})

test('prints what PCP 6.0.3 prints for values the vectors leave out', () => {
  const inSitu = (word: number, type: string): string =>
    printValue(
      {
        pmid: 1,
        status: 1,
        format: 0,
        inst: Int32Array.of(-1),
        word: Int32Array.of(word),
        bytes: new Uint8Array(0),
      },
      0,
      typeCode(type),
      1,
    )
  const inBlock = (data: Uint8Array, type: string): string =>
    printValue(
      {
        pmid: 1,
        status: 1,
        format: 1,
        inst: Int32Array.of(-1),
        word: Int32Array.of(0),
        bytes: block(data, typeCode(type)),
      },
      0,
      typeCode(type),
      1,
    )
  expect(inSitu(0x7f800000, 'UNKNOWN')).toBe('2139095040 inf 0x7f800000')
  expect(inSitu(7, 'EVENT')).toBe('[pmlc control mand on nl 0]')
  expect(inSitu(8, 'EVENT')).toBe('[pmlc control adv off na 0]')
  expect(inSitu((60000 << 4) | 15, 'EVENT')).toBe('[pmlc control mand on  60000]')
  expect(inBlock(fromHex('61626364'), 'U64')).toBe('1.6777999e+22 "abcd" [61626364]')
  expect(inBlock(fromHex('61626300'), 'AGGREGATE')).toBe('9.1270058e-39 [61626300]')
  const M = 0x80000000
  const missed = eventBytes(
    [
      [86400, 0, 1, 0],
      [86401, 0, M, 5],
      [86402, 0, M, 7],
      [86403, 0, 1, 0],
    ],
    false,
  )
  expect(inBlock(missed, 'EVENT')).toBe(
    '[4 event records (10 missed) timestamps 00:00:00.000...00:00:01.000]',
  )
  const last = eventBytes(
    [
      [86400, 0, 1, 0],
      [86402, 0, M, 7],
    ],
    true,
  )
  expect(inBlock(last, 'HIGHRES_EVENT')).toBe(
    '[2 event records timestamps 00:00:00.000000000...00:00:02.000000000]',
  )
})

test('prints times with the given clock, and blanks for white space on request', () => {
  const events = makeSingular(1, PM_TYPE_EVENT, eventBytes([[5, 0, 0, 0]], false))
  expect(printValue(events, 0, PM_TYPE_EVENT, 1, { clock: (time) => `<${time.sec}>` })).toBe(
    '[1 event record timestamp <5>]',
  )
  const text = makeSingular(1, PM_TYPE_STRING, 'a\tb\nc')
  expect(printValue(text, 0, PM_TYPE_STRING, 1, { squashSpace: true })).toBe('"a b c"')
})

interface AtomCase {
  type?: string
  typeCode?: number
  value?: string | null
  vtype?: number
  bytes?: string
  nrecords?: number
  text: string
}

function atomOf({ type, value, bytes, nrecords }: AtomCase): Value | undefined {
  if (nrecords !== undefined) return bytesOf(String(nrecords), '32')
  if (bytes !== undefined) return fromHex(bytes)
  if (value === undefined || value === null) return undefined
  if (type === 'STRING') return value
  return type?.endsWith('64') ? BigInt(value) : Number(value)
}

test('prints atoms as pmAtomStr does', () => {
  const { cases } = readVectors<AtomCase>('format/atom_str.json')
  for (const vector of cases) {
    const type = vector.typeCode ?? typeCode(vector.type!)
    expect(atomStr(atomOf(vector), type, vector.vtype), JSON.stringify(vector)).toBe(vector.text)
  }
  console.info(`format/atom_str.json: ${cases.length} cases`)
})

interface DescCase {
  pmid: number
  type: number
  indom: number
  sem: number
  units: number[]
  text: string
}

test('prints descriptors as pmPrintDesc does', () => {
  const { cases } = readVectors<DescCase>('format/print_desc.json')
  for (const { pmid, type, indom, sem, units, text } of cases) {
    const [dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount, extraUnit, extraScale] = units as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    const word = packUnits({
      dimSpace,
      dimTime,
      dimCount,
      scaleSpace,
      scaleTime,
      scaleCount,
      extraUnit,
      extraScale,
    })
    // Recorded from 7.2.1; printed text is that of 6.0.3, which leaves out 'count' without a dimension.
    const expected = text.replace('Units: count x 10^3', 'Units: x 10^3')
    expect(printDesc({ pmid, type, indom, sem, units: word })).toBe(expected)
  }
  console.info(`format/print_desc.json: ${cases.length} cases`)
})

interface StringCase {
  fn: string
  arg: number | string
  text: string
}

const FUNCTIONS: { readonly [name: string]: (arg: number) => string } = {
  pmTypeStr: typeStr,
  pmSemStr: semStr,
  pmIDStr: pmidStr,
  pmInDomStr: indomStr,
  pmEventFlagsStr: eventFlagsStr,
  pmNumberStr: numberStr,
}

test('prints small things as PCP does', () => {
  const { cases } = readVectors<StringCase>('format/strings.json')
  for (const { fn, arg, text } of cases) expect(FUNCTIONS[fn]!(Number(arg)), `${fn}(${arg})`).toBe(text)
  console.info(`format/strings.json: ${cases.length} cases`)
})

test('prints any value of any type without throwing', () => {
  const anyType = fc.integer({ min: -2, max: 12 })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), anyType, fc.nat(30), (data, type, width) => {
      const set = makeSingular(1, PM_TYPE_AGGREGATE, data)
      expect(printValue(set, 0, type, width)).not.toBe('')
      expect(printValue({ ...set, format: 0 }, 0, type, width)).not.toBe('')
    }),
  )
})

test('refuses a block outside the bytes', () => {
  const set = { ...makeSingular(1, PM_TYPE_AGGREGATE, new Uint8Array(4)), word: Int32Array.of(6) }
  expect(() => printValue(set, 0, PM_TYPE_AGGREGATE, 1)).toThrow(PcpError)
  expect(() => printValue(set, 1, PM_TYPE_AGGREGATE, 1)).toThrow(
    expect.objectContaining({ code: 'PM_ERR_VALUE' }),
  )
})

test('an event atom too short for a record count is shown as bytes', () => {
  expect(atomStr(Uint8Array.of(1, 2), PM_TYPE_EVENT)).toBe('[type=EVENT len=2] 0102')
})
