import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteText } from '../../src/base/byte-text.ts'
import { formatF, formatG } from '../../src/base/printf.ts'
import { decodeText } from '../../src/base/text.ts'

function written(write: (text: ByteText) => void): string {
  const text = new ByteText(1)
  write(text)
  return decodeText(text.written())
}

const general = (value: number, digits: number): string => written((text) => text.general(value, digits))
const fixed = (value: number, places: number): string => written((text) => text.fixed(value, places))

/** Numbers as in metrics: short decimals, quotients, and arbitrary doubles. */
const numbers = fc.oneof(
  fc.double(),
  fc.double({ min: 1e-5, max: 1e17 }),
  fc.tuple(fc.integer(), fc.integer({ min: 1, max: 1_000_000 })).map(([a, b]) => a / b),
  fc.tuple(fc.integer(), fc.integer({ min: 0, max: 12 })).map(([a, b]) => Number(`${a}e-${b}`)),
  // Ties: halves, quarters and so on of integers.
  fc.tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 60 })).map(([a, b]) => a / 2 ** b),
)

describe('ByteText', () => {
  it('writes integers', () => {
    for (const value of [0, 7, 10, 99, 100, 9999, 10_000, 12_345_678, 99_999_999, 100_000_000, 2 ** 53 - 1]) {
      expect(written((text) => text.int(value))).toBe(String(value))
      if (value !== 0) expect(written((text) => text.int(-value))).toBe(String(-value))
    }
    fc.assert(fc.property(fc.maxSafeInteger(), (n) => written((text) => text.int(n)) === String(n)))
  })

  it('writes 64-bit integers of both kinds', () => {
    expect(written((text) => text.int64(-1, 0xffffffff))).toBe('-1')
    expect(written((text) => text.int64(0xffffffff, 0xffffffff))).toBe('18446744073709551615')
    expect(written((text) => text.int64(-0x80000000, 0))).toBe('-9223372036854775808')
    expect(written((text) => text.int64(0x200000, 1))).toBe('9007199254740993')
  })

  it('pads with zeros', () => {
    expect(written((text) => text.padded(7, 2))).toBe('07')
    expect(written((text) => text.padded(123456, 9))).toBe('000123456')
    expect(written((text) => text.padded(0, 6))).toBe('000000')
  })

  it('writes text beyond ASCII and single bytes that are not text', () => {
    expect(written((text) => text.text('a°\udc80z'))).toBe('a°\udc80z')
  })

  it('rounds as printf does: 9.95 has its error in the sixteenth digit, ties go to even', () => {
    expect(general(9.95, 16)).toBe('9.949999999999999')
    expect(general(8.41, 16)).toBe('8.41')
    expect(general(0.1, 16)).toBe('0.1')
    expect(general(1e-5, 16)).toBe('1e-05')
    expect(general(99_999_999.7, 8)).toBe('1e+08')
    expect(general(0.999999999, 8)).toBe('1')
    expect(fixed(0.5, 0)).toBe('0')
    expect(fixed(1.5, 0)).toBe('2')
    expect(fixed(0.0625, 3)).toBe('0.062')
    expect(fixed(999.9995, 3)).toBe(formatF(999.9995, 3))
    expect(fixed(-0, 3)).toBe('-0.000')
  })

  it('writes any double as formatG and formatF do', () => {
    const check = fc.property(
      numbers,
      fc.constantFrom(16, 8, 6),
      fc.integer({ min: 0, max: 9 }),
      (n, g, f) => {
        expect(general(n, g)).toBe(formatG(n, g))
        expect(fixed(n, f)).toBe(formatF(n, f))
      },
    )
    fc.assert(check, { numRuns: 20_000 })
  })

  it('right-justifies numbers in a column, and writes nothing if they do not fit', () => {
    const right = (value: number, places: number, width: number): string =>
      written((text) => {
        text.byte(0x7c)
        text.fixedRight(value, places, width)
      })
    expect(right(-1.25, 1, 6)).toBe('|  -1.2')
    expect(right(12_345_678_901, 0, 11)).toBe('|12345678901')
    expect(right(100_000_000_007, 0, 11)).toBe('|')
    const check = fc.property(
      numbers,
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 1, max: 20 }),
      (n, f, w) => {
        const text = formatF(n, f)
        expect(right(n, f, w)).toBe(text.length > w ? '|' : `|${text.padStart(w)}`)
      },
    )
    fc.assert(check, { numRuns: 2000 })
  })
})
