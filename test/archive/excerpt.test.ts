/** Excerpts: the records of a window with their metadata, and nothing else. */
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { excerpt } from '../../src/archive/excerpt.ts'
import { excerptName } from '../../src/archive/excerpt-name.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { scan } from '../../src/archive/scan.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { type ArchiveFiles, bytesSource } from '../../src/base/byte-source.ts'
import { decodeText } from '../../src/base/text.ts'
import { domainOf, indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_STRING, PM_TYPE_U32 } from '../../src/model/types.ts'

const START = 1_700_000_000
const CLICKS = pmid(200, 0, 1)
const SECRET = 'known-to-its-user'
const limits = { pid: 1, maxBytes: 1e6 }
const at = (second: number): { sec: number; nsec: number } => ({ sec: START + second, nsec: 0 })

/** Returns an archive with a record a second: a counter, and a secret of a process; recording was interrupted after second 30. */
function recorded(seconds = 60): ReadonlyMap<string, Uint8Array> {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'db 1', timezone: 'UTC', pid: 1 })
  made.addMetric('page.clicks', {
    pmid: CLICKS,
    type: PM_TYPE_U32,
    sem: PM_SEM_COUNTER,
    indom: indom(200, 1),
  })
  made.addMetric('proc.psinfo.environ', {
    ...{ pmid: pmid(3, 8, 43), type: PM_TYPE_STRING, sem: PM_SEM_INSTANT },
    indom: indom(3, 9),
  })
  made.addText('page.clicks', 'oneline', 'Clicks')
  for (let i = 0; i < seconds; i++) {
    made.put('page.clicks', 10 * i, 'left')
    made.put('proc.psinfo.environ', SECRET, `000012 ${SECRET}`)
    made.write(at(i))
    if (i === 30) made.mark()
  }
  made.close()
  return output.contents()
}

function filesOf(parts: ReadonlyMap<string, Uint8Array>): ArchiveFiles {
  return {
    isDirectory: (path) => path === '.' || path === '',
    list: () => [...parts.keys()].map((part) => `a.${part}`),
    open: (path) => bytesSource(parts.get(path.replace(/^(?:\.\/)?a\./, ''))!),
  }
}

const open = (parts: ReadonlyMap<string, Uint8Array>, ignores?: (id: number) => boolean): Archive =>
  Archive.open('a', filesOf(parts), ignores === undefined ? {} : { ignores })

const clicksOf = (archive: Archive, from: number, to: number) => {
  const { columns, marks } = scan(archive, [CLICKS], { from: at(from), to: at(to) })
  return { times: [...columns[0]!.times], values: [...columns[0]!.values], marks: marks.length }
}

test('an excerpt has the same values in its window, and none outside', async () => {
  const archive = open(recorded())
  const part = open(await excerpt(archive, { from: at(10), to: at(40), ...limits }))
  expect(clicksOf(part, 0, 100)).toEqual(clicksOf(archive, 10, 40))
  expect(clicksOf(part, 0, 100)).toMatchObject({ marks: 1 })
  expect(part.label).toMatchObject({ hostname: 'db 1', timezone: 'UTC' })
  expect(part.metadata.text({ kind: 'metric', id: CLICKS, level: 'oneline' })).toBe('Clicks')
  expect(part.metadata.names.idOf('page.clicks')).toBe(CLICKS)
})

test('metrics that the archive was opened without are in no file of an excerpt', async () => {
  const archive = open(recorded(), (id) => domainOf(id) === 3)
  const files = await excerpt(archive, { from: at(0), to: at(60), ...limits })
  for (const bytes of files.values()) expect(decodeText(bytes)).not.toMatch(/known-to|environ/)
  expect(clicksOf(open(files), 0, 100).times).toHaveLength(60)
})

test('only the wanted metrics are kept', async () => {
  const files = await excerpt(open(recorded()), {
    from: at(0),
    to: at(60),
    wants: (id) => id === CLICKS,
    ...limits,
  })
  for (const bytes of files.values()) expect(decodeText(bytes)).not.toMatch(/known-to|environ/)
})

test('a window without records, and one with too many, are errors', async () => {
  const archive = open(recorded())
  await expect(excerpt(archive, { from: at(100), to: at(200), ...limits })).rejects.toThrow(
    expect.objectContaining({ code: 'PM_ERR_NODATA' }),
  )
  await expect(excerpt(archive, { from: at(0), to: at(60), pid: 1, maxBytes: 1000 })).rejects.toThrow(
    expect.objectContaining({ code: 'PM_ERR_TOOBIG' }),
  )
})

test('names have the host and the time', async () => {
  expect(excerptName('db 1/x', START)).toBe('db-1-x-20231114.2213')
})

test('copying is interrupted between parts', async () => {
  const archive = open(recorded())
  const gone = new Error('gone')
  let turns = 0
  const turn = async (): Promise<void> => {
    if (++turns === 2) throw gone
  }
  await expect(excerpt(archive, { from: at(0), to: at(60), ...limits, turn, partBytes: 1 })).rejects.toBe(
    gone,
  )
  expect(turns).toBe(2)
})
