/** Values of string metrics that name instances, from pmproxy and from an archive opened in the browser. */
import { expect, test } from 'vitest'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { MOST_RECORDS } from '../../src/archive/newest-texts.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { bytesSource } from '../../src/base/byte-source.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_TYPE_STRING, PM_TYPE_U32 } from '../../src/model/types.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { instanceTexts } from '../../src/pmproxy/instance-texts.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'

const START = 1_700_000_000

/** Mount points of two devices, of which one is mounted elsewhere later, and sizes until ten seconds after. */
function recorded(): ReadonlyMap<string, Uint8Array> {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('made.dir', { type: PM_TYPE_STRING, indom: 'made.devices' })
  made.addMetric('made.size', { type: PM_TYPE_U32, indom: 'made.devices' })
  made.addMetric('proc.psinfo.psargs', { type: PM_TYPE_STRING, indom: indom(3, 9), pmid: pmid(3, 8, 2) })
  for (const [after, dir] of [
    [0, '/a'],
    [10, '/b'],
    [20, undefined],
  ] as const) {
    if (dir !== undefined) {
      made.put('made.dir', dir, 'sda')
      made.put('made.dir', '/home', 'sdb')
      made.put('proc.psinfo.psargs', 'mysqld --password=x', '000007 mysqld')
    }
    made.put('made.size', after, 'sda')
    made.put('made.size', after, 'sdb')
    made.write({ sec: START + after, nsec: 0 })
    if (after === 10) made.mark()
  }
  made.close()
  return new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
}

const filesOf = (files: ReadonlyMap<string, Uint8Array>) => ({
  isDirectory: (path: string) => path === '.',
  list: () => [...files.keys()],
  open: (path: string) => bytesSource(files.get(path.replace(/^\.\//, ''))!),
})

test('pmproxy returns the last recorded values of a string metric, but none of processes', async () => {
  const context = await openArchive('made', { files: filesOf(recorded()), env: {} })
  const texts = async (name: string) => [...(await instanceTexts(context, name, {})).values()]
  expect(await texts('made.dir')).toEqual(['/b', '/home'])
  expect(await texts('made.size')).toEqual([])
  expect(await texts('made.nothing')).toEqual([])
  expect(await texts('proc.psinfo.psargs')).toEqual([])
  await context.close()
})

test('values are found at the end and at the start of a long archive', async () => {
  const texts = async (at: number, records: number): Promise<string[]> => {
    const output = memoryOutput('made')
    const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
    made.addMetric('made.dir', { type: PM_TYPE_STRING, indom: 'made.devices' })
    made.addMetric('made.size', { type: PM_TYPE_U32 })
    for (let n = 0; n < records; n++) {
      if (n === at) made.put('made.dir', '/a', 'sda')
      else made.put('made.size', n)
      made.write({ sec: START + n, nsec: 0 })
    }
    made.close()
    const files = new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
    const context = await openArchive('made', { files: filesOf(files), env: {} })
    const found = await instanceTexts(context, 'made.dir', {})
    await context.close()
    return [...found.values()]
  }
  expect(await texts(0, MOST_RECORDS + 200)).toEqual(['/a'])
  expect(await texts(99, MOST_RECORDS + 200)).toEqual(['/a'])
  expect(await texts(100, MOST_RECORDS + 200)).toEqual([])
  expect(await texts(200, MOST_RECORDS + 200)).toEqual(['/a'])
})

test('an archive in the browser has the same values; read in parts, only those recorded once', async () => {
  const archive = new LocalArchive('made', recorded())
  const named = async (from: LocalArchive, name: string, values?: boolean) =>
    (await from.instances(name, values)).map((each) => [each.name, each.value])
  const without = [
    ['sda', undefined],
    ['sdb', undefined],
  ]
  expect(await named(archive, 'made.dir', true)).toEqual([
    ['sda', '/b'],
    ['sdb', '/home'],
  ])
  expect(await named(archive, 'made.dir')).toEqual(without)
  expect(await named(archive, 'made.size', true)).toEqual(without)
  const parts = new LocalArchive('made', filesOf(recorded()), true)
  expect(await named(parts, 'made.dir', true)).toEqual(without)
})
