/** Values as JSON, in one piece or several. */
import { expect, it } from 'vitest'
import { PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_TYPE_STRING, PM_TYPE_U32 } from '../../../src/model/types.ts'
import type { Value } from '../../../src/model/values.ts'
import { valuesJson } from '../../../src/pmproxy/routes/series-values.ts'
import type { SeriesResult } from '../../../src/series/query/result.ts'

const ID = '1'.repeat(40)

function result(type: number, values: readonly Value[], more: Partial<SeriesResult> = {}): SeriesResult {
  const desc = { pmid: 1, type, indom: 0, sem: PM_SEM_INSTANT, units: 0, source: ID }
  const samples = values.map((value, i) => ({ sec: 1 + i, nsec: 5000, ids: [''], values: [value] }))
  return { id: ID, operand: ID, desc, format: 'recorded', isComputed: false, samples, ...more }
}

it('no values are an empty array, between the texts around it', () => {
  expect(valuesJson('', [], '').toString()).toBe('[]')
  const empty = { samples: [{ sec: 1, nsec: 0, ids: [], values: [] }] }
  expect(valuesJson('{"result":', [result(PM_TYPE_U32, [], empty)], '}').toString()).toBe('{"result":[]}')
})

it('texts are escaped, numbers are texts', () => {
  const series = [
    result(PM_TYPE_STRING, ['a"b\u{1f600}']),
    result(PM_TYPE_DOUBLE, [Number.NaN], { format: 'e', isComputed: true }),
    result(PM_TYPE_U32, [7n]),
  ]
  expect(valuesJson('', series, '\r\n').toString()).toBe(
    `[{"series":"${ID}","timestamp":1000.005,"value":"\\"a\\"b\u{1f600}\\""},` +
      `{"series":"${ID}","instance":"","timestamp":1000.005,"value":"-nan"},` +
      `{"series":"${ID}","timestamp":1000.005,"value":"7"}]\r\n`,
  )
})

it('a long array is whole', () => {
  const count = 5000
  const values = Array.from({ length: count }, (_, i) => i)
  const parsed = JSON.parse(valuesJson('', [result(PM_TYPE_U32, values)], '').toString())
  expect(parsed).toHaveLength(count)
  expect(parsed.at(-1)).toEqual({ series: ID, timestamp: 1000 * count + 0.005, value: String(count - 1) })
})
