/** Archives from local files, as the worker reads them. */
import { expect, test } from 'vitest'
import { decodeChartRange } from '../../src/archive/chart-bytes.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_TYPE_STRING, PM_TYPE_U32 } from '../../src/model/types.ts'
import { type ChartBytes, LocalArchive } from '../../src/ui/data/local-archive.ts'

const START = 1_700_000_000

/** A hundred seconds of a counter that grows by 10 and 20 a second, and of a size that is recorded once. */
function opened(): LocalArchive {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('made.count', {
    type: PM_TYPE_U32,
    sem: PM_SEM_COUNTER,
    units: 'count',
    indom: 'made.things',
  })
  made.addMetric('made.size', { type: PM_TYPE_U32, sem: PM_SEM_DISCRETE })
  made.addMetric('made.name', { type: PM_TYPE_STRING })
  made.put('made.size', 7)
  made.put('made.name', 'x')
  for (let i = 0; i <= 100; i++) {
    made.put('made.count', 10 * i, 'a')
    made.put('made.count', 20 * i, 'b')
    made.write({ sec: START + i, nsec: 0 })
  }
  made.close()
  const files = [...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes] as const)
  return new LocalArchive('made', new Map(files))
}

const asked = {
  names: ['made.count', 'made.size', 'page.twice', 'made.name', 'made.nothing', 'page.wrong'],
  derive: { 'page.twice': 'rate(made.count) * 2', 'page.wrong': 'made.count +' },
  start: START - 50,
  finish: START + 100,
  points: 151,
}

test('a response has rates, derived and held values, and errors', async () => {
  const { metrics, lists } = decodeChartRange(await opened().range(asked))
  const byName = new Map(metrics.map((metric) => [metric.name, metric]))
  const columns = (name: string) => {
    const metric = byName.get(name)!
    const found = 'columns' in metric ? metric.columns : []
    return found.map((column) => ({
      name: column.name,
      values: [...lists[column.values]!],
      times: [...lists[column.times]!],
    }))
  }
  const ends = (name: string): unknown =>
    columns(name).map(({ name: instance, values, times }) => [instance, values.at(-1), times.at(-1)! - START])
  expect(ends('made.count')).toEqual([
    ['a', 10, 100],
    ['b', 20, 100],
  ])
  expect(ends('page.twice')).toEqual([
    ['a', 20, 100],
    ['b', 40, 100],
  ])
  expect(columns('made.size').map(({ values }) => values)).toEqual([[7, 7]])
  expect(ends('made.size')).toEqual([['', 7, 100]])
  expect(byName.get('made.name')).toMatchObject({ code: 'PM_ERR_TYPE' })
  expect(byName.get('made.nothing')).toMatchObject({ code: 'PM_ERR_NAME' })
  expect(byName.get('page.wrong')).toHaveProperty('code')
})

test('a value recorded once holds in a later window', async () => {
  const window = { names: ['made.size'], start: START + 40, finish: START + 60 }
  const { metrics, lists } = decodeChartRange(await opened().range({ ...asked, ...window }))
  expect(metrics).toMatchObject([{ columns: [{ values: 1 }] }])
  expect([...lists[1]!]).toEqual([7, 7])
})

test('interruptions stay gaps, also in expressions', async () => {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('made.level', { type: PM_TYPE_U32 })
  for (let i = 0; i <= 100; i++) {
    if (i === 40) made.mark()
    if (i >= 40 && i < 60) continue
    made.put('made.level', i)
    made.write({ sec: START + i, nsec: 0 })
  }
  made.close()
  const files = [...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes] as const)
  const names = ['made.level', 'page.twice']
  const query = {
    names,
    derive: { 'page.twice': 'made.level * 2' },
    start: START,
    finish: START + 100,
    points: 101,
  }
  const { metrics, lists } = decodeChartRange(await new LocalArchive('made', new Map(files)).range(query))
  const gaps = metrics.map((metric) => {
    const [column] = 'columns' in metric ? metric.columns : []
    const values = [...lists[column!.values]!]
    const at = values.findIndex(Number.isNaN)
    const times = lists[column!.times]!
    return [times[at - 1]! - START, times[at + 1]! - START, values.filter(Number.isNaN).length]
  })
  expect(gaps).toEqual([
    [39, 60, 1],
    [39, 60, 1],
  ])
})

test('the first and last values are included, whatever their nanoseconds', async () => {
  for (const nsec of [100, 499_999_900, 123_456_100, 999_999_900]) {
    const output = memoryOutput('made')
    const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1, version: 3 })
    made.addMetric('made.level', { type: PM_TYPE_U32 })
    for (let i = 0; i <= 10; i++) {
      made.put('made.level', i)
      made.write({ sec: START + i, nsec })
    }
    made.close()
    const files = [...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes] as const)
    const archive = new LocalArchive('made', new Map(files))
    const { start, end: finish } = archive.span
    const derive = { 'page.twice': 'made.level * 2' }
    const query = { names: ['made.level', 'page.twice'], derive, start, finish, points: 11 }
    const { metrics, lists } = decodeChartRange(await archive.range(query))
    const values = metrics.map((metric) => {
      const [column] = 'columns' in metric ? metric.columns : []
      return [...lists[column!.values]!]
    })
    const levels = Array.from({ length: 11 }, (_, i) => i)
    expect(values).toEqual([levels, levels.map((level) => 2 * level)])
  }
})

test('partial results are sent while reading, with the same values as the final one', async () => {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('made.level', { type: PM_TYPE_U32 })
  // Ten hours: one hour is read first, then twice as much each time.
  for (let i = 0; i <= 600; i++) {
    made.put('made.level', i % 7)
    made.write({ sec: START + 60 * i, nsec: 0 })
  }
  made.close()
  const files = [...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes] as const)
  const archive = new LocalArchive('made', new Map(files))
  const query = { names: ['made.level'], derive: {}, start: START, finish: START + 36_000, points: 1000 }
  const valuesOf = (bytes: ChartBytes): number[] => {
    const { metrics, lists } = decodeChartRange(bytes)
    const [column] = 'columns' in metrics[0]! ? metrics[0].columns : []
    return [...lists[column!.values]!]
  }
  const parts: number[][] = []
  let now = 0
  const whole = valuesOf(
    await archive.range(
      query,
      (soFar) => parts.push(valuesOf(soFar)),
      () => (now += 1000),
    ),
  )
  expect(whole).toHaveLength(601)
  expect(parts.map(({ length }) => length)).toEqual([61, 181, 421])
  for (const part of parts) expect(part).toEqual(whole.slice(0, part.length))
  // Fast reading sends nothing before its end.
  await archive.range(
    query,
    () => expect.unreachable(),
    () => 0,
  )
})

test('what changed in a span is ranked, with help and units', async () => {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('made.level', { units: 'Kbyte', indom: 'made.things' })
  made.addText('made.level', 'oneline', 'Level of things')
  for (let i = 0; i <= 120; i++) {
    made.put('made.level', 5e5 + 1000 * (i % 3), 'steady')
    made.put('made.level', (i > 80 ? 9e5 : 2e5) + 1000 * (i % 3), 'rising')
    made.write({ sec: START + 10 * i, nsec: 0 })
  }
  made.close()
  const files = [...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes] as const)
  const archive = new LocalArchive('made', new Map(files))
  const { changes } = await archive.changes({ span: { start: START + 600, finish: START + 1200 } })
  expect(changes).toMatchObject([
    { metric: 'made.level', instance: 'rising', direction: 'up', units: 'Kbyte', help: 'Level of things' },
  ])
})
