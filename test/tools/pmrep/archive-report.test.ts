/** pmrep -o archive copies records, independent of the interval, and instances by name. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import { RecordReader } from '../../../src/archive/reader.ts'
import { ArchiveWriter } from '../../../src/archive/write/writer.ts'
import { PM_SEM_INSTANT, PM_TYPE_32 } from '../../../src/model/types.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { makeSet } from '../../../src/model/value-writer.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'
import { tool } from '../../../src/tools/pmrep/index.ts'
import { testIo } from '../run-tool.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmrep-archive-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

/** Makes an archive with `often` every 3 seconds, and `rare` twice, between samples of any integer interval. */
function make(): string {
  const base = join(dir, 'in')
  const archive = new ArchiveImport(archiveOutput(base), { hostname: 'h', timezone: 'UTC', pid: 7 })
  for (const name of ['often', 'rare']) archive.addMetric(name, {})
  for (let sec = 0; sec <= 12; sec += 3) {
    archive.put('often', sec)
    archive.write({ sec: 1000 + sec, nsec: 0 })
    if (sec !== 3 && sec !== 9) continue
    archive.put('rare', 10 * sec)
    archive.write({ sec: 1000 + sec, nsec: 500_000_000 })
  }
  archive.close()
  return base
}

function records(base: string): string[] {
  const archive = Archive.open(base, archiveFiles())
  const reader = new RecordReader(archive)
  const lines: string[] = []
  for (let record = reader.next(); record !== undefined; record = reader.next())
    for (const set of record.toResult().sets) {
      const [name] = archive.metadata.names.namesOf(set.pmid)
      const { type } = archive.metadata.descs.get(set.pmid)!
      for (const { value } of valuesOf(set, type))
        lines.push(`${record.sec - 1000 + record.nsec / 1e9} ${name} ${value}`)
    }
  archive.close()
  return lines
}

test.each([[[]], [['-t', '10']], [['-t', '1min']], [['-t', '2', '-T', '1min']]])(
  'all records are copied (%j)',
  async (options) => {
    const input = make()
    const out = join(dir, 'out')
    const io = testIo('pmrep', ['-a', input, '-o', 'archive', '-F', out, ...options, 'often', 'rare'])
    expect(await tool.run(io)).toBe(0)
    expect(records(out)).toEqual(records(input))
  },
)

test('-s counts records', async () => {
  const out = join(dir, 'out')
  const io = testIo('pmrep', ['-a', make(), '-o', 'archive', '-F', out, '-s', '3', 'often', 'rare'])
  expect(await tool.run(io)).toBe(0)
  expect(records(out)).toEqual(['0 often 0', '3 often 3', '3.5 rare 30'])
})

test('an instance that came back under another number is one instance', async () => {
  const input = join(dir, 'in')
  const [pmid, indom] = [0x0a000401, 0x0a000007]
  const writer = ArchiveWriter.create(archiveOutput(input), { hostname: 'h', timezone: 'UTC', pid: 7 })
  writer.desc({ pmid, type: PM_TYPE_32, indom, sem: PM_SEM_INSTANT, units: 0 }, ['clients'])
  for (const [sec, insts] of [
    [1000, [1, 2]],
    [1001, [2, 3]],
    [1002, [1, 3]],
  ] as const) {
    writer.instances(
      { sec, nsec: 0 },
      indom,
      [...insts],
      insts.map((inst) => (inst === 2 ? 'two' : 'one')),
    )
    writer.result({ sec, nsec: 0 }, [
      makeSet(
        pmid,
        PM_TYPE_32,
        [...insts],
        insts.map((inst) => 10 * inst),
      ),
    ])
  }
  writer.close()
  const out = join(dir, 'out')
  const io = testIo('pmrep', ['-a', input, '-o', 'archive', '-F', out, 'clients'])
  expect(await tool.run(io)).toBe(0)
  // In the last record both are called "one": an archive by names has the first.
  expect(records(out)).toEqual([
    '0 clients 10',
    '0 clients 20',
    '1 clients 30',
    '1 clients 20',
    '2 clients 10',
  ])
})

test('instances whose names differ only behind the first blank are all written', async () => {
  const input = join(dir, 'in')
  const [pmid, indom] = [0x0a000402, 0x0a000008]
  const at = { sec: 1000, nsec: 0 }
  const writer = ArchiveWriter.create(archiveOutput(input), { hostname: 'h', timezone: 'UTC', pid: 7 })
  writer.desc({ pmid, type: PM_TYPE_32, indom, sem: PM_SEM_INSTANT, units: 0 }, ['free'])
  writer.instances(at, indom, [1, 2], ['/mnt/my disk', '/mnt/my other'])
  writer.result(at, [makeSet(pmid, PM_TYPE_32, [1, 2], [10, 20])])
  writer.close()
  const out = join(dir, 'out')
  expect(await tool.run(testIo('pmrep', ['-a', input, '-o', 'archive', '-F', out, 'free']))).toBe(0)
  expect(records(out)).toEqual(['0 free 10', '0 free 20'])
})
