import { expect, test } from 'vitest'
import { ucum } from '../../src/model/otlp.ts'
import { packUnits } from '../../src/model/units.ts'

test.each([
  ['1', {}],
  ['By', { dimSpace: 1 }],
  ['KiBy.s-1', { dimSpace: 1, scaleSpace: 1, dimTime: -1, scaleTime: 3 }],
  ['ms', { dimTime: 1, scaleTime: 2 }],
  ['{count}', { dimCount: 1 }],
  ['By.h-1', { dimSpace: 1, dimTime: -1, scaleTime: 5 }],
])('units are %s', (text, units) => {
  expect(ucum(packUnits(units))).toBe(text)
})
