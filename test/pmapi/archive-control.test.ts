/** Archive-only operations of a context, on an archive made in memory. */
import { beforeAll, expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import type { ArchiveLabel } from '../../src/archive/label.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { type ArchiveFiles, bytesSource } from '../../src/base/byte-source.ts'
import { PM_SEM_COUNTER, PM_TYPE_U32 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { ArchiveControl } from '../../src/pmapi/archive-control.ts'
import type { Context } from '../../src/pmapi/context.ts'

let files: ArchiveFiles

beforeAll(() => {
  const output = memoryOutput('day')
  const made = new ArchiveImport(output, { hostname: 'db1', timezone: 'UTC', pid: 7 })
  made.addMetric('web.hits', { type: PM_TYPE_U32, sem: PM_SEM_COUNTER, units: 'count', indom: 'sites' })
  for (let i = 0; i <= 4; i++) {
    made.put('web.hits', 100 * i, 'north')
    if (i >= 2) made.put('web.hits', i, 'south pole')
    made.write({ sec: 1000 + 10 * i, nsec: 0 })
  }
  made.close()
  const contents = output.contents()
  files = {
    isDirectory: (path) => path === '.',
    list: () => [...contents.keys()].map((part) => `day.${part}`),
    open: (path) => {
      const bytes = contents.get(path.replace(/^(\.\/)?day\./, ''))
      if (bytes === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
      return bytesSource(bytes)
    },
  }
})

async function open(): Promise<{ context: Context; archive: ArchiveControl; id: number }> {
  const context = await openArchive('day', { files, env: {} })
  return { context, archive: context.archive!, id: await context.lookupName('web.hits') }
}

test('label, start and end', async () => {
  const { archive } = await open()
  const label: ArchiveLabel = archive.label
  expect(label).toMatchObject({ hostname: 'db1', timezone: 'UTC', pid: 7 })
  expect([archive.start.sec, archive.end().sec]).toEqual([1000, 1040])
})

test('setMode forward, backward and in between', async () => {
  const { context, archive, id } = await open()
  const seconds = async (): Promise<number> => (await context.fetch([id])).timestamp.sec
  archive.setMode('forward', { sec: 1005, nsec: 0 })
  expect([await seconds(), await seconds()]).toEqual([1010, 1020])
  archive.setMode('backward', { sec: 1035, nsec: 0 })
  expect([await seconds(), await seconds()]).toEqual([1030, 1020])
  archive.setMode('interpolate', { sec: 1005, nsec: 0 }, 10)
  const { timestamp, sets } = await context.fetch([id])
  expect(timestamp).toEqual({ sec: 1005, nsec: 0 })
  expect(valuesOf(sets[0]!, PM_TYPE_U32)).toMatchObject([{ value: 50 }])
  expect(await seconds()).toBe(1015)
  archive.setMode('forward', { sec: 1040, nsec: 1 })
  await expect(context.fetch([id])).rejects.toMatchObject({ code: 'PM_ERR_EOL' })
})

test('fetchRecord returns unchanged records, and fails while interpolating', async () => {
  const { archive } = await open()
  archive.setMode('forward', archive.start)
  expect(archive.fetchRecord().timestamp.sec).toBe(1000)
  expect(archive.fetchRecord().sets.map(({ status }) => status)).toEqual([1])
  archive.setMode('interpolate', archive.start, 1)
  expect(() => archive.fetchRecord()).toThrow(expect.objectContaining({ code: 'PM_ERR_MODE' }))
})

test('instances of the whole life of the archive', async () => {
  const { context, archive, id } = await open()
  const { indom } = await context.desc(id)
  const names = [...archive.instances(indom).names].sort()
  expect(names).toEqual(['north', 'south pole'])
  const south = archive.instanceId(indom, 'south')
  expect(archive.instanceName(indom, south)).toBe('south pole')
  expect(() => archive.instanceId(indom, 'east')).toThrow(
    expect.objectContaining({ code: 'PM_ERR_INST_LOG' }),
  )
  expect(() => archive.instanceName(indom, 99)).toThrow(expect.objectContaining({ code: 'PM_ERR_INST_LOG' }))
})

test('rates over an archive, through the same API as live ones', async () => {
  const { context } = await open()
  const rates: unknown[] = []
  for await (const row of context.sample(['web.hits'], { rates: true, every: 10 }))
    rates.push(row.value('web.hits', 'north'))
  expect(rates).toEqual([10, 10, 10, 10])
})

test('derived metrics are not recorded: scans and samples refuse them, the context has their values', async () => {
  const { context, archive } = await open()
  const twice = await context.addDerived('web.twice', '2 * web.hits')
  const refusal = expect.objectContaining({
    code: 'PM_ERR_PMID_LOG',
    message: expect.stringContaining('table'),
  })
  expect(() => archive.scan([twice])).toThrow(refusal)
  expect(() => archive.samples([twice], 10)).toThrow(refusal)
  for await (const row of context.sample(['web.twice'], {
    every: 10,
    count: 2,
    from: { sec: 1010, nsec: 0 },
  }))
    expect(row.value('web.twice', 'north')).toBe((row.time.sec - 1000) * 20)
})

test('fetchNow is synchronous for recorded metrics, with the results of fetch', async () => {
  const { context, archive, id } = await open()
  const derived = await context.addDerived('web.half', 'web.hits / 2')
  archive.setMode('interpolate', { sec: 1005, nsec: 0 }, 10)
  const now = context.fetchNow([id])
  expect(now).not.toBeInstanceOf(Promise)
  archive.setMode('interpolate', { sec: 1005, nsec: 0 }, 10)
  expect(now).toEqual(await context.fetch([id]))
  expect(context.fetchNow([derived])).toBeInstanceOf(Promise)
  await context.close()
  expect(() => context.fetchNow([id])).toThrow(expect.objectContaining({ code: 'PM_ERR_NOCONTEXT' }))
})

test('results are not changed by later ones, and share instances while these are the same', async () => {
  const { context, archive, id } = await open()
  archive.setMode('interpolate', { sec: 1000, nsec: 0 }, 5)
  const results = await Promise.all(Array.from({ length: 9 }, () => context.fetch([id])))
  const sets = results.map(({ sets }) => sets[0]!)
  const north = sets.map((set) =>
    valuesOf(set, PM_TYPE_U32).find(({ value }) => Number(value) >= 10 || set.status === 1),
  )
  expect(north.map((each) => each?.value)).toEqual([0, 50, 100, 150, 200, 250, 300, 350, 400])
  expect(sets.map(({ status }) => status)).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 2])
  expect(sets[1]!.inst).toBe(sets[0]!.inst)
  expect(sets[5]!.inst).toBe(sets[4]!.inst)
  expect(sets[4]!.inst).not.toBe(sets[0]!.inst)
})
