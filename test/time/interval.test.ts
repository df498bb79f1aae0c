/** Intervals as pmParseInterval reads them: 186 recorded texts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseInterval } from '../../src/time/interval.ts'
import { readVectors } from '../vectors.ts'

interface Case {
  readonly text: string
  readonly ok: boolean
  readonly sec?: string
  readonly nsec?: number
  readonly message?: string
  /** Result of 6.0.3 if 7.2.1 differs. */
  readonly lib603?: { ok: boolean; sec: string; nsec: number }
}

/** Accepted by the C library with a meaningless result. */
const MENDED = new Set(['nan', '9223372036854775807'])

const { cases } = readVectors<Case>('time/interval.json')

test.each(cases.map((testCase) => [testCase.text, testCase] as const))('"%s"', (text, testCase) => {
  const { ok, message } = testCase
  if (MENDED.has(text)) {
    expect(() => parseInterval(text)).toThrow(`${text}\n^ -- unexpected value`)
  } else if (ok) {
    const { sec, nsec } = testCase.lib603 ?? testCase
    expect(parseInterval(text)).toEqual({ sec: Number(sec), nsec })
  } else {
    expect(() => parseInterval(text)).toThrow(new SyntaxError(message!.trimEnd()))
  }
})

test('covers every recorded case', () => {
  expect(cases.length).toBe(186)
  console.log(`time/interval: ${cases.length} cases, ${MENDED.size} of them with a defect mended`)
})

test.each([
  ['0x1d', 29],
  ['0x.8', 0.5],
  ['1.5.5', 2],
  ['1 +2', 3],
  ['1 -0', 1],
])('reads "%s" as strtod does', (text, want) => {
  const { sec, nsec } = parseInterval(text)
  expect(sec + nsec / 1e9).toBe(want)
})

test.each([
  ['5 -3', 2],
  ['0x', 1],
  ['0xp1', 1],
  ['5e+', 1],
  ['++5', 0],
  ['\t5 x', 3],
])('refuses "%s" at %i', (text, at) => {
  expect(() => parseInterval(text)).toThrow(`${text}\n${' '.repeat(at)}^ -- unexpected value`)
})

test('gives a normal timestamp or a SyntaxError', () => {
  const piece = fc.constantFrom('1', '2.5', 'e', ' ', 'm', 'sec', 'ns', '-', '0x', '.', '999999999', 'days')
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 2 })), { maxLength: 8 }), (pieces) => {
      try {
        const { sec, nsec } = parseInterval(pieces.join(''))
        expect(Number.isInteger(sec) && sec >= 0).toBe(true)
        expect(Number.isInteger(nsec) && nsec >= 0 && nsec < 1e9).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError)
      }
    }),
    { numRuns: 500 },
  )
})
