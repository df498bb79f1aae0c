/** Rates of a report's metrics from one sample to the next. */
import { expect, test } from 'vitest'
import type { MetricDesc } from '../../../../src/model/desc.ts'
import { indom, PM_INDOM_NULL, pmid } from '../../../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_U32 } from '../../../../src/model/types.ts'
import { ValueColumns } from '../../../../src/model/value-columns.ts'
import { makeSet } from '../../../../src/model/value-writer.ts'
import { planConversion } from '../../../../src/pmapi/conversion.ts'
import { MetricReader } from '../../../../src/tools/lib/report/values.ts'

const ID = pmid(1, 10, 1)

function rates(domain: number, samples: readonly (readonly (readonly [inst: number, value: number])[])[]) {
  const desc: MetricDesc = { pmid: ID, type: PM_TYPE_U32, indom: domain, sem: PM_SEM_COUNTER, units: 0 }
  const columns = new ValueColumns(desc)
  const reader = new MetricReader({ desc, units: { conversion: planConversion(desc, {}) } }, false)
  return samples.map((cells) => {
    const set = makeSet(
      ID,
      PM_TYPE_U32,
      cells.map(([inst]) => inst),
      cells.map(([, value]) => value),
    )
    columns.fillFrom(set)
    const read = reader.read(columns, 2)
    return cells.map((_, i) => read.at(i))
  })
}

test('a singular metric has a rate even if its instance number varies in the archive', () => {
  expect(rates(PM_INDOM_NULL, [[[0, 10]], [[131_076, 14]], [[131_075, 20]], [[-1, 20]]])).toEqual([
    [undefined],
    [2],
    [3],
    [0],
  ])
})

test('rates are matched by instance number, in any order', () => {
  const samples = [
    [
      [1, 10],
      [2, 100],
    ],
    [
      [2, 140],
      [1, 12],
      [3, 7],
    ],
  ] as const
  expect(rates(indom(1, 1), samples)).toEqual([
    [undefined, undefined],
    [20, 1, undefined],
  ])
})
