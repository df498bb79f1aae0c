import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PcpError } from '../../../src/model/errors.ts'
import { ArchiveSeries, type ArchiveSeriesOptions } from '../../../src/series/archives/store.ts'
import { evaluate } from '../../../src/series/query/evaluate.ts'
import { parseQuery } from '../../../src/series/query/parse.ts'
import { valueText } from '../../../src/series/query/result.ts'
import { ValueBudget } from '../../../src/series/value-budget.ts'
import { UTC } from '../../../src/time/zone.ts'
import { START, writeHost } from '../lib.ts'

let directory = ''
let stores: ArchiveSeries[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'series-'))
})

afterEach(async () => {
  for (const store of stores) await store.close()
  stores = []
  rmSync(directory, { recursive: true, force: true })
})

function open(options: ArchiveSeriesOptions = {}): ArchiveSeries {
  const store = new ArchiveSeries([directory], { freshMs: 0, ...options })
  stores.push(store)
  return store
}

/** Returns the values of a query as `seconds value`, seconds after the start. */
async function ask(store: ArchiveSeries, text: string): Promise<readonly string[]> {
  const answer = await evaluate(store, parseQuery(text), { now: () => (START + 60) * 1000, zone: UTC })
  if (answer.kind === 'ids') return answer.ids
  return answer.series.flatMap((result) =>
    result.samples.flatMap(({ sec, values }) =>
      values.map((value) => `${sec - START} ${valueText(value, result)}`),
    ),
  )
}

test('a metric of all hosts, and of some by label', async () => {
  for (const host of ['db1', 'db2', 'web1']) writeHost(directory, host)
  const store = open()
  expect(await ask(store, 'demo.count')).toHaveLength(3)
  expect(await ask(store, 'demo.count{hostname =~ "db.*"}')).toHaveLength(2)
  expect(await ask(store, 'demo.count{hostname != "db1"}')).toHaveLength(2)
  expect(await ask(store, 'demo.name[count:1]')).toEqual(['50 "db1"', '50 "db2"', '50 "web1"'])
})

test('archives of one host are one series, and rates do not span them', async () => {
  writeHost(directory, 'db1')
  writeHost(directory, 'db1', { start: START + 100, first: 1000, file: 'day2' })
  const store = open()
  const all = await ask(store, 'demo.count[start:"2023-11-14"]')
  expect(all).toHaveLength(12)
  expect(all.slice(5, 7)).toEqual(['50 250', '100 1000'])
  const rates = await ask(store, 'rate(demo.count[start:"2023-11-14"])')
  expect(rates).toHaveLength(10)
  expect(new Set(rates.map((each) => each.split(' ')[1]))).toEqual(new Set(['5.000000']))
  const newest = await ask(store, 'rate(demo.count[count:12])')
  expect(newest).toHaveLength(10)
})

test('a counter that was reset has no rate', async () => {
  writeHost(directory, 'db1', { samples: 2, first: 1e6 })
  const store = open()
  expect(await ask(store, 'rate(demo.count[count:2])')).toEqual(['0 5.000000'])
})

test('windows: range, interval, count with a start', async () => {
  writeHost(directory, 'db1')
  const store = open()
  expect(await ask(store, 'demo.count[25sec]')).toEqual(['40 200', '50 250'])
  expect(await ask(store, 'demo.count[interval:20]')).toEqual(['0 0', '20 100', '40 200', '50 250'])
  const first = `demo.count[start:${START + 10},count:2]`
  expect(await ask(store, first)).toEqual(['10 50', '20 100'])
})

test('operators join the series of each host', async () => {
  for (const host of ['db1', 'db2']) writeHost(directory, host, { samples: 1, first: host === 'db1' ? 3 : 5 })
  const store = open()
  expect(await ask(store, 'demo.count[count:1] + demo.count[count:1]')).toEqual(['0 6', '0 10'])
})

test('values combined across instances name the series of each host', async () => {
  for (const host of ['db1', 'db2']) writeHost(directory, host, { samples: 2 })
  const store = open()
  const answer = await evaluate(store, parseQuery('sum_sample(demo.load[count:1])'), {
    now: () => 0,
    zone: UTC,
  })
  if (answer.kind !== 'values') throw new Error('no values')
  const ids = answer.series.map(({ samples }) => samples[0]!.ids[0])
  expect(ids).toEqual(await ask(store, 'demo.load'))
})

test('archives that appear, grow and go away are seen', async () => {
  writeHost(directory, 'db1')
  const store = open()
  expect(await ask(store, 'demo.count')).toHaveLength(1)
  writeHost(directory, 'db2')
  expect(await ask(store, 'demo.count')).toHaveLength(2)
  rmSync(join(directory, 'db1'), { recursive: true })
  expect(await ask(store, 'demo.count')).toHaveLength(1)
})

test('an invalid archive is skipped with one warning', async () => {
  writeHost(directory, 'db1')
  for (const part of ['meta', 'index', '0']) writeFileSync(join(directory, `broken.${part}`), 'nothing')
  const warnings: PcpError[] = []
  const store = open({ onWarning: (warning) => warnings.push(warning) })
  expect(await ask(store, 'demo.count')).toHaveLength(1)
  expect(await ask(store, 'demo.count')).toHaveLength(1)
  expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('broken')])
})

test('a query cannot read more values than allowed, over all of its series', async () => {
  for (const host of ['db1', 'db2']) writeHost(directory, host)
  const store = open()
  const query = parseQuery('demo.count[count:6]')
  const clock = { now: () => 0, zone: UTC }
  await expect(evaluate(store, query, clock, new ValueBudget(11))).rejects.toMatchObject({ code: 'E2BIG' })
  expect((await evaluate(store, query, clock, new ValueBudget(12))).kind).toBe('values')
})

test('links to archives elsewhere are followed, or not', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'series-'))
  try {
    const base = writeHost(elsewhere, 'db1')
    for (const part of ['meta', 'index', '0'])
      symlinkSync(`${base}.${part}`, join(directory, `linked.${part}`))
    symlinkSync(elsewhere, join(directory, 'tree'))
    expect(await ask(open(), 'demo.count')).toHaveLength(1)
    expect(await ask(open({ ignoresLinks: true }), 'demo.count')).toHaveLength(0)
  } finally {
    rmSync(elsewhere, { recursive: true })
  }
})
