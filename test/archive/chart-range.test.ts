/** Reading of archives for charts; test/pmproxy/routes/range.test.ts checks the answers. */
import { expect, test } from 'vitest'
import type { ChartArchive } from '../../src/archive/chart-metric.ts'
import { chartRange } from '../../src/archive/chart-range.ts'
import { toSeconds } from '../../src/base/timestamp.ts'
import { PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_DOUBLE } from '../../src/model/types.ts'

const DAY = 24 * 3600
const END = 30 * DAY
const desc = {
  pmid: pmid(1, 0, 1),
  type: PM_TYPE_DOUBLE,
  indom: PM_INDOM_NULL,
  sem: PM_SEM_INSTANT,
  units: 0,
}
const wanted = [{ name: 'a', outcome: { desc, help: '' } }]
const query = { start: 0, finish: END, points: 10, raw: false }

/** An archive of thirty days whose records come from `scan`. */
function archive(scan: ChartArchive['scan']): { archive: ChartArchive; turns: () => number } {
  let turns = 0
  const nothing = (): never => {
    throw new Error('not expected')
  }
  return {
    archive: {
      start: { sec: 0, nsec: 0 },
      end: () => ({ sec: END, nsec: 0 }),
      scan,
      instances: nothing,
      setMode: nothing,
      moveTo: nothing,
      fetch: nothing,
      yield: async () => void turns++,
    },
    turns: () => turns,
  }
}

const found = { start: { sec: 0, nsec: 0 }, marks: new Float64Array(), descs: [], columns: [] }

test('with few records larger parts are read, but the loop yields every few days', async () => {
  const parts: (readonly [from: number, to: number])[] = []
  const { archive: sparse, turns } = archive((_, { from, to }) => {
    parts.push([toSeconds(from!), toSeconds(to!)])
    return { ...found, records: 1 }
  })
  await chartRange(sparse, wanted, query)
  expect(turns()).toBe(parts.length - 1)
  expect([parts[0]![0], parts.at(-1)![1]]).toEqual([0, END])
  for (const [i, [from]] of parts.slice(1).entries()) expect(from).toBe(parts[i]![1])
  const lengths = parts.map(([from, to]) => to - from)
  expect(lengths.slice(0, 3)).toEqual([3600, 7200, 14_400])
  expect(Math.max(...lengths)).toBe(3 * DAY)
})

test('a metric of event records is an error, and the other metrics still have values', async () => {
  const missed = { ...desc, pmid: pmid(511, 0, 2) }
  const scanned: number[] = []
  const { archive: mixed } = archive((ids, { into }) => {
    scanned.push(...ids)
    into?.columnOf(desc.pmid, -1)?.add(1, 5)
    return { ...found, records: 1 }
  })
  const all = [{ name: 'event.missed', outcome: { desc: missed, help: '' } }, ...wanted]
  for (const aligned of [false, true]) {
    const { metrics } = await chartRange(mixed, all, { ...query, aligned })
    expect(metrics[0]).toMatchObject({ name: 'event.missed', code: 'PM_ERR_PMID_LOG' })
    expect(metrics[1]).toMatchObject({ name: 'a', columns: [{ inst: -1 }] })
  }
  expect(new Set(scanned)).toEqual(new Set([desc.pmid]))
})
