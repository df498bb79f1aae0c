/** pmrep -o archive copies records, whatever the interval. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import { RecordReader } from '../../../src/archive/reader.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'
import { tool } from '../../../src/tools/pmrep/index.ts'
import { testIo } from '../run-tool.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmrep-archive-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

/** `often` every 3 seconds; `rare` twice, between samples of any whole interval. */
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
