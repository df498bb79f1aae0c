/** Instances whose names differ only behind their first blank: no copy of an archive merges or loses them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { decodeChartRange } from '../../src/archive/chart-bytes.ts'
import { excerpt } from '../../src/archive/excerpt.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { scan } from '../../src/archive/scan.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { type ArchiveFiles, bytesSource } from '../../src/base/byte-source.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_U64 } from '../../src/model/types.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { tool as pmlogextract } from '../../src/tools/pmlogextract/index.ts'
import { tool as pmlogreduce } from '../../src/tools/pmlogreduce/index.ts'
import { tool as pmlogrewrite } from '../../src/tools/pmlogrewrite/index.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'
import { testIo } from '../tools/run-tool.ts'

const START = 1_700_000_000
const MOUNTS = indom(60, 5)
const FREE = pmid(60, 5, 3)
const NAMES = ['/mnt/my disk', '/mnt/my other', '/mnt/my', '/mnt/mine']

function made(): ReadonlyMap<string, Uint8Array> {
  const output = memoryOutput('a')
  const archive = new ArchiveImport(output, {
    hostname: 'h',
    timezone: 'UTC',
    pid: 1,
    sharesFirstWords: true,
  })
  archive.addMetric('free', { pmid: FREE, type: PM_TYPE_U64, sem: PM_SEM_INSTANT, indom: MOUNTS })
  for (let sec = 0; sec < 30; sec++) {
    for (const [i, name] of NAMES.entries()) archive.put('free', 100 * i + sec, name)
    archive.write({ sec: START + sec, nsec: 0 })
  }
  archive.close()
  return output.contents()
}

const filesOf = (parts: ReadonlyMap<string, Uint8Array>): ArchiveFiles => ({
  isDirectory: (path) => path === '.' || path === '',
  list: () => [...parts.keys()].map((part) => `a.${part}`),
  open: (path) => bytesSource(parts.get(path.replace(/^(?:\.\/)?a\./, ''))!),
})

/** Returns the first value by name of an instance. */
function values(archive: Archive): unknown {
  const { ids, names } = archive.metadata.instances(MOUNTS, undefined, undefined)
  const { columns } = scan(archive, [FREE])
  return columns.map(({ inst, values }) => [names[[...ids].indexOf(inst)], values[0]])
}

const ALL = NAMES.map((name, i) => [name, 100 * i])

test('an import keeps all of them, and readers find each by its whole name', () => {
  const archive = Archive.open('a', filesOf(made()))
  expect(values(archive)).toEqual(ALL)
  const found = NAMES.map((name) => archive.metadata.instances(MOUNTS, { name }, undefined).ids[0])
  expect(found).toEqual([0, 1, 2, 3])
})

test('an excerpt keeps all of them', async () => {
  const window = { from: { sec: START, nsec: 0 }, to: { sec: START + 10, nsec: 0 } }
  const parts = await excerpt(Archive.open('a', filesOf(made())), { ...window, pid: 1, maxBytes: 1e6 })
  expect(values(Archive.open('a', filesOf(parts)))).toEqual(ALL)
})

test('the page shows all of them', async () => {
  const local = new LocalArchive('a', filesOf(made()))
  const query = { names: ['free'], derive: {}, start: START, finish: START + 30, points: 100 }
  const { metrics, lists } = decodeChartRange(await local.range(query))
  const columns = metrics.flatMap((metric) => ('columns' in metric ? metric.columns : []))
  expect(columns.map(({ name, values }) => [name, lists[values]![0]])).toEqual(ALL)
})

test.each([
  ['pmlogextract', pmlogextract, []],
  ['pmlogreduce', pmlogreduce, ['-t', '5']],
  ['pmlogrewrite', pmlogrewrite, []],
] as const)('%s keeps all of them', async (name, tool, options) => {
  const dir = mkdtempSync(join(tmpdir(), 'first-words-'))
  try {
    for (const [part, bytes] of made()) writeFileSync(join(dir, `a.${part}`), bytes)
    const io = testIo(name, [...options, join(dir, 'a'), join(dir, 'out')])
    expect([await tool.run(io), io.printed.stderr]).toEqual([0, ''])
    expect(values(Archive.open(join(dir, 'out'), archiveFiles()))).toEqual(ALL)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
