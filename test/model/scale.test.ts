/** Vectors: convert/scale.json. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { convScale } from '../../src/model/scale.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { packUnits } from '../../src/model/units.ts'
import { readVectors, typeCode } from '../vectors.ts'

interface ScaleCase {
  /** A name, or a number for types without one. */
  type: string | number
  in: string
  iunits: number[]
  ounits: number[]
  out?: string
  exact?: string
  error?: string
  crash?: string
}

const isInteger = (type: string): boolean => /^U?(?:32|64)$/.test(type)
const parse = (text: string, type: string): number | bigint =>
  isInteger(type) && !Number.isSafeInteger(Number(text)) ? BigInt(text) : Number(text)
const word = ([
  dimSpace,
  dimTime,
  dimCount,
  scaleSpace,
  scaleTime,
  scaleCount,
  extraUnit,
  extraScale,
]: number[]): number =>
  packUnits({
    dimSpace,
    dimTime,
    dimCount,
    scaleSpace,
    scaleTime,
    scaleCount,
    extraUnit: extraUnit ?? 0,
    extraScale: extraScale ?? 0,
  } as Parameters<typeof packUnits>[0])

function fits(value: bigint, type: string): boolean {
  const bits = Number(type.replace('U', ''))
  return (type.startsWith('U') ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value)) === value
}

test('converts between scales as pmConvScale does, exactly where it overflows', () => {
  const { cases } = readVectors<ScaleCase>('convert/scale.json')
  let mended = 0
  for (const vector of cases) {
    const type = String(vector.type)
    const run = (): number | bigint =>
      convScale(typeCode(vector.type), parse(vector.in, type), word(vector.iunits), word(vector.ounits))
    const name = JSON.stringify(vector)
    // kW to uW of an integer is the one overflow that the vectors do not mark.
    const overflows =
      type.endsWith('32') && vector.iunits[6] === 4 && vector.iunits[7] === 1 && vector.ounits[7] === 4
    if (vector.crash !== undefined) {
      expect(run, name).toThrow(expect.objectContaining({ code: 'PM_ERR_CONV' }))
      mended++
    } else if (overflows || (vector.exact !== undefined && !fits(BigInt(vector.exact), type))) {
      expect(run, name).toThrow(expect.objectContaining({ code: 'PM_ERR_TRUNC' }))
      mended++
    } else if (vector.out === '0.0' && Number(vector.in) !== 0) {
      // The factor 2^120 overflows to 0 in the reference; a double holds the result.
      expect(run(), name).toBe(Number(vector.in) * 2 ** 120)
      mended++
    } else if (vector.error !== undefined) {
      expect(run, name).toThrow(expect.objectContaining({ code: vector.error }))
    } else {
      expect(run(), name).toBe(parse(vector.exact ?? vector.out!, type))
    }
  }
  console.info(`convert/scale.json: ${cases.length} cases, ${mended} of them mended defects`)
})

test('there and back gives the value back', () => {
  const time = (scaleTime: number): number => packUnits({ dimTime: 1, scaleTime })
  const space = (scaleSpace: number): number => packUnits({ dimSpace: 1, scaleSpace })
  fc.assert(
    fc.property(fc.integer(), fc.nat(4), fc.nat(5), (value, fine, coarse) => {
      fc.pre(fine <= coarse)
      for (const units of [time, space]) {
        const scaled = convScale(PM_TYPE_DOUBLE, value, units(fine), units(coarse))
        expect(convScale(PM_TYPE_DOUBLE, scaled, units(coarse), units(fine))).toBeCloseTo(value, 3)
      }
    }),
  )
})

test('a fraction or NaN is rejected for an integer type', () => {
  for (const value of [1.5, Number.NaN, Infinity])
    expect(() => convScale(PM_TYPE_32, value, 0, 0)).toThrow(expect.objectContaining({ code: 'PM_ERR_CONV' }))
})
