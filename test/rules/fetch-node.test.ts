import { expect, test } from 'vitest'
import { PM_IN_NULL, PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_U32, PM_TYPE_U64 } from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { fetchNode } from '../../src/rules/fetch-node.ts'
import type { MetricFeed } from '../../src/rules/host.ts'

const EXPR = { kind: 'fetch', metric: 'm', hosts: [], instances: [], from: 0, to: 0 } as const

/** Returns the rates of a counter with values ten seconds apart. */
function rates(type: number, wraps: boolean, values: readonly (number | bigint)[]): number[] {
  const id = pmid(60, 0, 0)
  const desc = { pmid: id, type, indom: PM_INDOM_NULL, sem: PM_SEM_COUNTER, units: 0 as never }
  const host = { name: 'h', connection: 'h', isArchive: true, context: undefined }
  const feed: MetricFeed = {
    host,
    metric: 'm',
    known: { desc, size: 1, names: new Map() },
    set: undefined,
    sec: 0,
  }
  const node = fetchNode([feed], EXPR, { isInstant: false, wraps })
  return values.map((value, i) => {
    feed.set = makeSet(id, type, [PM_IN_NULL], [value])
    feed.sec = 10 * i
    node.update()
    return node.valid > 0 ? node.values[0]! : Number.NaN
  })
}

test('64-bit counters give exact rates', () => {
  const at = 2n ** 63n + 1n
  expect(rates(PM_TYPE_U64, false, [at, at + 100n, at + 101n, at + 101n, at])).toEqual([
    Number.NaN,
    10,
    0.1,
    0,
    Number.NaN,
  ])
})

test('decreasing counters are unknown, or have wrapped once', () => {
  const values = [2 ** 32 - 10, 5, 25]
  expect(rates(PM_TYPE_U32, false, values)).toEqual([Number.NaN, Number.NaN, 2])
  expect(rates(PM_TYPE_U32, true, values)).toEqual([Number.NaN, 1.5, 2])
  expect(rates(PM_TYPE_U64, true, [2n ** 64n - 10n, 5])).toEqual([Number.NaN, 1.5])
})
