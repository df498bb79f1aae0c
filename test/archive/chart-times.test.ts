import { expect, test } from 'vitest'
import { MetricRecordingTimes } from '../../src/archive/chart-times.ts'
import type { MetricDesc } from '../../src/model/desc.ts'
import { PM_SEM_COUNTER, PM_TYPE_U64 } from '../../src/model/types.ts'

const DESC: MetricDesc = { pmid: 1, type: PM_TYPE_U64, indom: 7, sem: PM_SEM_COUNTER, units: 0 }

test('gaps are tracked for each instance up to a limit, beyond it for the metric', () => {
  const samples = new MetricRecordingTimes(DESC, [], () => {})
  for (let inst = 0; inst < 5001; inst++)
    for (const time of [0, 10, 20]) samples.sinkOf(inst).add(time + inst / 1e6, 0)
  expect(samples.of(4999)).not.toBe(samples.whole)
  expect(samples.of(5000)).toBe(samples.whole)
  expect(samples.of(5000).covers(15)).toBe(true)
})
