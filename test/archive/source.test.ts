/** An archive as a metric source: modes, positions, and the history of metadata. */
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { scan } from '../../src/archive/scan.ts'
import { ArchiveSource } from '../../src/archive/source.ts'
import { PcpError } from '../../src/model/errors.ts'
import { LABEL_CONTEXT } from '../../src/model/labels.ts'
import { ALL_INSTANCES, exclude } from '../../src/model/profile.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { archive, desc, indom, labels, mark, memoryFiles, result, text } from './build.ts'

const INDOM = 7
const ASK = { requester: ANONYMOUS }

const FILES = archive('a', {
  start: 0,
  meta: [
    desc({ pmid: 1, indom: INDOM, type: 5 }, 'load', 'also.load'),
    desc({ pmid: 2, type: 3, sem: 1 }, 'count'),
    desc({ pmid: 3, type: 6 }, 'words'),
    indom(3, 0, INDOM, [
      [1, 'one'],
      [2, 'two'],
    ]),
    indom(3, 25, INDOM, [
      [1, 'uno'],
      [3, 'three'],
    ]),
    labels(3, 20, LABEL_CONTEXT, 0xffffffff, [[-1, { hostname: 'there' }]]),
    text(1 | 4, 2, 'How many'),
  ],
  volumes: [
    [
      result(3, 0, { pmid: 3, type: 6, values: [[-1, 'begin']] }),
      result(
        3,
        10,
        {
          pmid: 1,
          type: 5,
          values: [
            [1, 0.5],
            [2, 1.5],
          ],
        },
        { pmid: 2, type: 3, values: [[-1, 2n ** 60n]] },
      ),
      mark(3, 10.001),
      result(3, 20, {
        pmid: 1,
        type: 5,
        values: [
          [2, 2.5],
          [1, 0.25],
        ],
      }),
      result(3, 30, { pmid: 1, type: 5, values: -12386 }, { pmid: 2, type: 3, values: [[-1, 7n]] }),
    ],
  ],
})

const source = (): ArchiveSource => new ArchiveSource(Archive.open('a', memoryFiles(FILES)))
const at = (sec: number): { sec: number; nsec: number } => ({ sec, nsec: 0 })
const code = (call: () => unknown): string | undefined => {
  try {
    call()
    return undefined
  } catch (error) {
    return PcpError.from(error).code
  }
}

test('forwards it returns the next record with any of the metrics, then EOL repeatedly', () => {
  const one = source()
  expect(one.fetchNow([2, 9])).toMatchObject({
    timestamp: at(10),
    sets: [{ status: 1 }, { pmid: 9, status: 0 }],
  })
  expect(one.origin).toEqual(at(10))
  expect(one.fetchNow([2]).timestamp).toEqual(at(30))
  expect(code(() => one.fetchNow([2]))).toBe('PM_ERR_EOL')
  expect(code(() => one.fetchNow([2]))).toBe('PM_ERR_EOL')
  expect(one.origin).toEqual(at(30))
})

test('backwards it returns the previous record, and an error counts as found', () => {
  const one = source()
  one.setMode('backward', at(99))
  expect(one.fetchNow([1])).toMatchObject({ timestamp: at(30), sets: [{ status: -12386 }] })
  expect(one.fetchNow([1]).timestamp).toEqual(at(20))
  one.setMode('backward', at(15))
  expect(one.fetchNow([1]).timestamp).toEqual(at(10))
})

test('instances are selected by the profile', () => {
  const { sets } = source().fetchNow([1], exclude(ALL_INSTANCES, INDOM, [1]))
  expect(valuesOf(sets[0]!, 5)).toEqual([{ inst: 2, value: 1.5 }])
})

test('records are returned singly with marks, or only those of some metrics', () => {
  const one = source()
  const times = Array.from({ length: 5 }, () => one.fetchRecord()).map(({ timestamp, sets }) => [
    timestamp.sec,
    sets.length,
  ])
  expect(times).toEqual([
    [0, 1],
    [10, 2],
    [10, 0],
    [20, 1],
    [30, 2],
  ])
  one.setMode('forward', at(0))
  expect(one.fetchRecord([2])).toMatchObject({ timestamp: at(10), sets: [{ pmid: 2 }] })
  expect(one.fetchRecord([2]).sets).toEqual([])
  expect(one.fetchRecord([2]).timestamp).toEqual(at(30))
  one.setMode('interpolate')
  expect(code(() => one.fetchRecord())).toBe('PM_ERR_MODE')
})

test('instances and labels are those at the origin, or at a given time', async () => {
  const one = source()
  expect((await one.instances(INDOM, undefined, ASK)).names).toEqual(['one', 'two'])
  expect(await one.instances(INDOM, undefined, { ...ASK, at: at(26) })).toMatchObject({
    ids: [1, 3],
    names: ['uno', 'three'],
  })
  expect((await one.labels({ level: LABEL_CONTEXT, id: 0 }, ASK))[0]!.json).toBe('{"hostname":"here"}')
  one.fetchNow([2])
  one.fetchNow([2])
  expect((await one.instances(INDOM, { id: 1 }, ASK)).names).toEqual(['uno'])
  expect((await one.labels({ level: LABEL_CONTEXT, id: 0 }, ASK))[0]!.json).toBe('{"hostname":"there"}')
})

test('unknown items have the error codes of archives', async () => {
  const one = source()
  expect(await one.descs([99])).toMatchObject([{ code: 'PM_ERR_PMID_LOG' }])
  await expect(one.instances(8, undefined, ASK)).rejects.toMatchObject({ code: 'PM_ERR_INDOM_LOG' })
  await expect(one.text({ kind: 'metric', id: 1, level: 'oneline' })).rejects.toMatchObject({
    code: 'PM_ERR_TEXT',
  })
  await expect(one.text({ kind: 'indom', id: 1, level: 'help' })).rejects.toMatchObject({
    code: 'PM_ERR_NOTHOST',
  })
  await expect(one.store()).rejects.toMatchObject({ code: 'PM_ERR_NOTHOST' })
})

test('a context over it has texts, both directions, and copies at the same place', async () => {
  const context = await openArchive('a', { files: memoryFiles(FILES), env: {} })
  expect(await context.text(2)).toBe('How many')
  expect(await context.hostname()).toBe('here')
  const control = context.archive!
  expect([...control.records({ backward: true, to: at(10) })].map(({ timestamp }) => timestamp.sec)).toEqual([
    30, 20, 10, 10,
  ])
  expect(
    [...control.samples([2], 10)].map(({ timestamp, sets }) => [timestamp.sec, sets[0]!.status]),
  ).toEqual([
    [0, 0],
    [10, 1],
    [20, 0],
    [30, 1],
  ])
  expect(control.instances(INDOM)).toMatchObject({ ids: [1, 3, 2], names: ['uno', 'three', 'two'] })
  expect(control.instanceId(INDOM, 'two')).toBe(2)
  expect(control.instanceName(INDOM, 1)).toBe('uno')
  await context.fetch([2])
  const copy = await context.dup()
  expect((await copy.fetch([2])).timestamp).toEqual(at(30))
  expect((await context.fetch([2])).timestamp).toEqual(at(30))
  await context.close()
  copy.archive!.setMode('forward', at(0))
  expect(copy.archive!.fetchRecord().timestamp).toEqual(at(0))
  await copy.close()
})

test('a scan returns columns of times and numbers', () => {
  const { columns, marks, records } = scan(Archive.open('a', memoryFiles(FILES)), [1, 2])
  expect(records).toBe(5)
  expect([...marks]).toEqual([10.001])
  expect(
    columns.map(({ pmid, inst, times, values }) => ({ pmid, inst, times: [...times], values: [...values] })),
  ).toEqual([
    { pmid: 1, inst: 1, times: [10, 20], values: [0.5, 0.25] },
    { pmid: 1, inst: 2, times: [10, 20], values: [1.5, 2.5] },
    { pmid: 2, inst: -1, times: [10, 30], values: [2 ** 60, 7] },
  ])
  const part = scan(Archive.open('a', memoryFiles(FILES)), [1], { from: at(15), to: at(25), instances: [2] })
  expect(part.columns).toMatchObject([{ inst: 2, values: Float64Array.of(2.5) }])
  expect(code(() => scan(Archive.open('a', memoryFiles(FILES)), [3]))).toBe('PM_ERR_TYPE')
  expect(code(() => scan(Archive.open('a', memoryFiles(FILES)), [99]))).toBe('PM_ERR_PMID_LOG')
})
