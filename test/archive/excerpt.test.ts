/** Excerpts: the records of a window with their metadata, and nothing else. */
import { describe, expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { excerpt } from '../../src/archive/excerpt.ts'
import { excerptName } from '../../src/archive/excerpt-name.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { OnceRecords } from '../../src/archive/once-records.ts'
import { scan } from '../../src/archive/scan.ts'
import { ArchiveSource } from '../../src/archive/source.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { type ArchiveFiles, bytesSource } from '../../src/base/byte-source.ts'
import { decodeText } from '../../src/base/text.ts'
import type { Timestamp } from '../../src/base/timestamp.ts'
import { domainOf, indom, PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import { LABEL_CONTEXT } from '../../src/model/labels.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
} from '../../src/model/types.ts'
import { extractNumber } from '../../src/model/value-set.ts'
import { memoryFiles } from './build.ts'
import { changingDisks, DISKS } from './changing-disks.ts'

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

/** Facts of the host recorded at the start, at 25 s and after an interruption, and a discrete metric that changes each 7 s. */
function describedHost(hasFactsAgain: boolean): Archive {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'h', timezone: 'UTC', pid: 1 })
  const fact = { type: PM_TYPE_U32, sem: PM_SEM_DISCRETE }
  made.addMetric('hinv.ncpu', fact)
  made.addMetric('hinv.speed', { ...fact, indom: 'cpus' })
  made.addMetric('filesys.blocksize', { ...fact, sem: PM_SEM_INSTANT })
  made.addMetric('agent.status', fact)
  made.addMetric('page.clicks', { type: PM_TYPE_U32, sem: PM_SEM_COUNTER })
  const facts = (cpus: number): void => {
    made.put('hinv.ncpu', cpus)
    for (let i = 0; i < cpus; i++) made.put('hinv.speed', 1000 + i, `cpu${i}`)
    made.put('filesys.blocksize', 4096)
  }
  for (let i = 0; i < 60; i++) {
    if (i === 0 || (i === 30 && hasFactsAgain)) {
      facts(i === 0 ? 4 : 2)
      made.write(at(i))
    }
    if (i % 7 === 0) made.put('agent.status', i)
    made.put('page.clicks', 10 * i)
    made.write({ sec: START + i, nsec: 5_000_000 })
    if (i === 29) made.mark()
  }
  made.close()
  return open(output.contents())
}

/** Returns the last value of a metric by name, and the time of its record; interpolated at a second. */
function valuesAt(archive: Archive, name: string, second: number): readonly (readonly [string, number])[] {
  const source = new ArchiveSource(archive)
  source.setMode('interpolate', at(second), 1)
  const id = archive.metadata.names.idOf(name)!
  const { indom: domain, type } = archive.metadata.descs.get(id)!
  const [set] = source.fetchNow([id]).sets
  const names =
    domain === PM_INDOM_NULL ? undefined : archive.metadata.instances(domain, undefined, at(second))
  return Array.from({ length: Math.max(0, set!.status) }, (_, i) => [
    names?.names[[...names.ids].indexOf(set!.inst[i]!)] ?? '',
    extractNumber(set!, i, type),
  ])
}

const FACTS = ['hinv.ncpu', 'hinv.speed', 'filesys.blocksize', 'agent.status']

test.each([
  ['read back', false],
  ['searched where reading is costly', true],
])('an excerpt starts with the values that were recorded once before it: %s', async (_, isCostly) => {
  const archive = describedHost(true)
  for (const [from, to] of [
    [10, 20],
    [40, 50],
  ] as const) {
    const once = isCostly ? { once: new OnceRecords(archive) } : {}
    const part = open(await excerpt(archive, { from: at(from), to: at(to), ...limits, ...once }))
    expect(part.start).toEqual(at(from))
    const facts = isCostly ? ['hinv.ncpu', 'hinv.speed'] : FACTS
    for (const name of facts)
      expect(valuesAt(part, name, from + 5), `${name} from ${from}`).toEqual(
        valuesAt(archive, name, from + 5),
      )
    expect(valuesAt(part, 'hinv.speed', from + 5)).toHaveLength(from === 10 ? 4 : 2)
  }
})

test('no value is carried across an interruption, nor into a window without records', async () => {
  const archive = describedHost(false)
  for (const from of [29.5, 40]) {
    const part = open(
      await excerpt(archive, {
        from: { sec: START + Math.floor(from), nsec: (from % 1) * 1e9 },
        to: at(50),
        ...limits,
      }),
    )
    expect(part.metadata.names.idOf('hinv.ncpu'), `from ${from}`).toBeUndefined()
  }
  await expect(excerpt(archive, { from: at(100), to: at(200), ...limits })).rejects.toThrow(
    expect.objectContaining({ code: 'PM_ERR_NODATA' }),
  )
})

test('values that are not wanted are not carried', async () => {
  const archive = describedHost(true)
  const clicks = archive.metadata.names.idOf('page.clicks')
  const part = open(
    await excerpt(archive, { from: at(40), to: at(50), wants: (id) => id === clicks, ...limits }),
  )
  expect(part.metadata.descs.size).toBe(1)
})

test.each([
  ['read back', false],
  ['searched where reading is costly', true],
])('a fact is carried into a window without records of it: %s', async (_, isCostly) => {
  const archive = describedHost(true)
  const fact = archive.metadata.names.idOf('hinv.ncpu')
  const once = isCostly ? { once: new OnceRecords(archive) } : {}
  const excerptOf = (from: Timestamp, to: Timestamp) =>
    excerpt(archive, { from, to, wants: (id) => id === fact, ...limits, ...once })
  for (const [from, to, cpus] of [
    [10, 20, 4],
    // Recording was interrupted after second 29.
    [10, 29.5, 4],
    [40, 50, 2],
  ] as const) {
    const part = open(await excerptOf(at(from), { sec: START + Math.floor(to), nsec: (to % 1) * 1e9 }))
    const end = Math.floor(to) - (to === 29.5 ? 0 : 1)
    expect([part.start, part.end()], `from ${from}`).toEqual([
      at(from),
      { sec: START + end, nsec: 5_000_000 },
    ])
    for (const second of [from, end])
      expect(valuesAt(part, 'hinv.ncpu', second), `at ${second}`).toEqual([['', cpus]])
  }
  // After the interruption, until it was recorded again, and outside of the recording.
  const unknown = describedHost(false)
  for (const [archive, from] of [
    [unknown, 29.5],
    [unknown, 40],
    [describedHost(true), 100],
  ] as const)
    await expect(
      excerpt(archive, {
        from: { sec: START + Math.floor(from), nsec: (from % 1) * 1e9 },
        to: at(200),
        wants: (id) => id === fact,
        ...limits,
      }),
    ).rejects.toThrow(expect.objectContaining({ code: 'PM_ERR_NODATA' }))
})

describe.each([2, 3] as const)('of version %i,', (version) => {
  test.each([
    [120, false],
    [120, true],
    [220, false],
    [220, true],
  ])(
    'carried values keep the names of their instances: from %i s, with a record there: %s',
    async (from, isAtStart) => {
      const archive = Archive.open('a', memoryFiles(changingDisks(version, from, isAtStart)))
      const part = open(await excerpt(archive, { from: at(from), to: at(from + 60), ...limits }))
      const namesAt = (second: number) => {
        const { ids, names } = part.metadata.instances(DISKS, undefined, at(second))
        return Object.fromEntries([...ids].map((id, i) => [id, names[i]]))
      }
      // Instances that are gone, until the next record of the domain.
      const sda = { 0: 'sda' }
      expect(namesAt(from)).toEqual(
        from === 120 ? { ...sda, 1: 'sdb', 2: 'sdc' } : { ...sda, 1: 'sdd', 2: 'sdc' },
      )
      expect(namesAt(from + 10)).toEqual(from === 120 ? { ...sda, 2: 'sdc' } : { ...sda, 1: 'sdd' })
      for (const name of ['disk.size', 'disk.model', 'disk.busy'])
        for (const [instance] of valuesAt(part, name, from)) expect(instance, name).not.toBe('')
      expect(part.metadata.labels({ level: LABEL_CONTEXT, id: 0 }, at(from))[0]!.json).toBe(
        archive.metadata.labels({ level: LABEL_CONTEXT, id: 0 }, at(from))[0]!.json,
      )
    },
  )
})
