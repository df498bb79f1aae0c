/** Vectors: units/units_str.json, units/parse_units.json. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { parseUnits, unitsFromText } from '../../src/model/parse-units.ts'
import { packUnits, type Units, unitsStr, unpackUnits } from '../../src/model/units.ts'
import { readVectors } from '../vectors.ts'

const signed = (bits: number): fc.Arbitrary<number> =>
  fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 })
const anyUnits: fc.Arbitrary<Units> = fc.record({
  dimSpace: signed(4),
  dimTime: signed(4),
  dimCount: signed(4),
  scaleSpace: fc.nat(15),
  scaleTime: fc.nat(15),
  scaleCount: signed(4),
  extraUnit: signed(5),
  extraScale: fc.nat(7),
})

interface UnitsStrCase {
  units: Partial<Units>
  text: string
  /** Text of PCP 6.0.3 if 7.2.1 differs. */
  text603?: string
}

test('prints units as PCP 6 does', () => {
  const { cases } = readVectors<UnitsStrCase>('units/units_str.json')
  for (const { units, text, text603 } of cases) expect(unitsStr(packUnits(units))).toBe(text603 ?? text)
  console.info(`units/units_str.json: ${cases.length} cases`)
})

interface ParseCase {
  text: string
  ok?: boolean
  units?: Partial<Units>
  multiplier?: string
  message?: string
  /** The reference aborts or loops forever: PM_ERR_CONV is right. */
  crash?: boolean
  hang?: boolean
}

test('reads units as PCP 7.2 does', () => {
  const { cases } = readVectors<ParseCase>('units/parse_units.json')
  for (const { text, ok, units, multiplier, message } of cases) {
    if (ok) {
      const parsed = parseUnits(text)
      expect(parsed.units, text).toBe(packUnits(units!))
      expect(parsed.multiplier, text).toBe(Number(multiplier))
    } else {
      expect(() => parseUnits(text), text).toThrow(
        expect.objectContaining({ code: 'PM_ERR_CONV', message: expect.stringContaining(message ?? text) }),
      )
    }
  }
  console.info(`units/parse_units.json: ${cases.length} cases`)
})

test('packs and unpacks every field', () => {
  fc.assert(
    fc.property(anyUnits, (units) => {
      expect(unpackUnits(packUnits(units))).toEqual(units)
    }),
  )
  expect(packUnits({ dimSpace: -8 })).toBe(0x80000000)
  expect(packUnits({ dimTime: 1, scaleTime: 3 })).toBe(0x01003000)
})

test('reads back what it prints, dimension by dimension', () => {
  const printable = fc.record({ dimSpace: signed(4), dimTime: signed(4), dimCount: signed(4) })
  fc.assert(
    fc.property(
      printable,
      fc.nat(8),
      fc.nat(5),
      fc.integer({ min: -8, max: 7 }),
      (dims, space, time, count) => {
        // 'count x 10^2' is one count in hundreds, never tens of counts squared.
        fc.pre(count !== 1 || Math.abs(dims.dimCount) < 2)
        // A scale is printed only where there is a dimension to carry it.
        const word = packUnits({
          ...dims,
          scaleSpace: dims.dimSpace === 0 ? 0 : space,
          scaleTime: dims.dimTime === 0 ? 0 : time,
          scaleCount: dims.dimCount === 0 ? 0 : count,
        })
        expect(parseUnits(unitsStr(word))).toEqual({ units: word, multiplier: 1 })
      },
    ),
  )
})

test('throws nothing but PcpError on any text', () => {
  const words = fc.constantFrom(
    'byte',
    'count x 10',
    '^',
    '2',
    '-1',
    '/',
    ' ',
    'sec',
    'temperature (C)',
    'time-9',
    '.',
    'x',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(words).map((parts) => parts.join('')),
      ),
      (text) => {
        try {
          parseUnits(text)
        } catch (error) {
          expect(error).toBeInstanceOf(PcpError)
        }
      },
    ),
  )
})

test('units of a metric may be none, but have no factors', () => {
  expect(unitsFromText('none')).toBe(0)
  expect(unitsFromText('')).toBe(0)
  expect(unitsStr(unitsFromText('Kbyte / sec'))).toBe('Kbyte / sec')
  expect(() => unitsFromText('2 byte')).toThrow('"2 byte"')
})
