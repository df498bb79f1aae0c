import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addBucketCounts, bucketCountsOf, cumulated } from '../../../src/agents/otel/exponential.ts'
import type { OtlpPoint } from '../../../src/agents/otel/otlp.ts'

/** The histogram of some values at a scale, by the definition: bucket i holds values in (b^i, b^(i+1)]. */
function histogramOf(values: readonly number[], scale: number): OtlpPoint {
  const index = (value: number): number => Math.ceil(Math.log2(value) * 2 ** scale) - 1
  const used = values.map(index)
  const offset = Math.min(0, ...used)
  const counts = new Array<number>(Math.max(0, ...used) - offset + 1).fill(0)
  for (const i of used) counts[i - offset]!++
  return {
    scale,
    zeroCount: 0,
    positive: { offset, counts },
    negative: { offset: 0, counts: [2] },
  } as unknown as OtlpPoint
}

// Powers of two are left out: logarithms are not exact there.
const values = fc.array(
  fc.integer({ min: 1, max: 10_000 }).map((n) => n + 0.3),
  { maxLength: 50 },
)

test('counts up to each end are those of the values, whatever the scale', () => {
  fc.assert(
    fc.property(values, fc.integer({ min: -3, max: 6 }), (list, scale) => {
      for (const [end, count] of cumulated(bucketCountsOf(histogramOf(list, scale)))) {
        expect(count).toBe(2 + (end === 0 ? 0 : list.filter((value) => value <= end).length))
      }
    }),
  )
})

test('two histograms together are that of all values, at the coarser scale', () => {
  const scale = fc.integer({ min: -2, max: 5 })
  fc.assert(
    fc.property(values, values, scale, scale, (a, b, scaleA, scaleB) => {
      const sum = addBucketCounts(
        bucketCountsOf(histogramOf(a, scaleA)),
        bucketCountsOf(histogramOf(b, scaleB)),
      )
      expect(sum.scale).toBe(Math.min(scaleA, scaleB, 2))
      for (const [end, count] of cumulated(sum))
        expect(count).toBe(4 + (end === 0 ? 0 : [...a, ...b].filter((value) => value <= end).length))
    }),
  )
})
