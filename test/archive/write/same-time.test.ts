/** Several states of an instance domain, or several labels of an object, at one time. */
import { describe, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import { type MemoryOutput, memoryOutput } from '../../../src/archive/write/memory-output.ts'
import { ArchiveWriter } from '../../../src/archive/write/writer.ts'
import { indom, pmid } from '../../../src/model/ids.ts'
import { makeLabelSet } from '../../../src/model/label-set.ts'
import { LABEL_CONTEXT } from '../../../src/model/labels.ts'
import { PM_TYPE_U32 } from '../../../src/model/types.ts'
import { makeSet } from '../../../src/model/value-writer.ts'
import { generator } from '../../lib/generator.ts'
import { memoryFiles } from '../build.ts'
import { decreasingRecords, misplacedRecords, stampedRecords } from '../stamped-records.ts'

const INDOM = indom(60, 1)
const METRIC = pmid(60, 0, 1)
const names = (ids: readonly number[]): string[] => ids.map((id) => `i${id}`)
const meta = (output: MemoryOutput): Uint8Array => output.contents().get('meta')!

function newWriter(version: 2 | 3): { writer: ArchiveWriter; output: MemoryOutput } {
  const output = memoryOutput('a')
  const writer = ArchiveWriter.create(output, { version, hostname: 'h', timezone: 'UTC', pid: 7 })
  writer.desc({ pmid: METRIC, type: PM_TYPE_U32, indom: INDOM, sem: 3, units: 0 }, ['m'])
  return { writer, output }
}

function write(writer: ArchiveWriter, sec: number, nsec: number, ids: readonly number[]): void {
  writer.instances({ sec, nsec }, INDOM, ids, names(ids))
  writer.result({ sec, nsec }, [makeSet(METRIC, PM_TYPE_U32, ids, ids)])
}

const read = (output: MemoryOutput): Archive =>
  Archive.open(
    'a',
    memoryFiles(Object.fromEntries([...output.contents()].map(([part, bytes]) => [`a.${part}`, bytes]))),
  )
const namesAt = (archive: Archive, sec: number, nsec: number): readonly string[] =>
  archive.metadata.instances(INDOM, undefined, { sec, nsec }).names

/** Kind and time of each record. */
const kinds = (output: MemoryOutput): string[] =>
  stampedRecords(meta(output)).map(({ kind, at: [sec, nsec] }) => `${kind} ${sec} ${nsec}`)

describe('instances of version 3', () => {
  test('after a full record of the same time are written in full', () => {
    const { writer, output } = newWriter(3)
    for (const ids of [
      [1, 2, 3],
      [1, 2, 3, 4],
      [1, 2, 3, 5],
    ])
      write(writer, 10, 0, ids)
    write(writer, 11, 0, [1, 2, 3, 6])
    write(writer, 12, 0, [1, 2, 3, 7])
    writer.close()
    // The record after a shared time is full, for others that may follow with its time.
    expect(kinds(output)).toEqual(['full 10 0', 'full 10 0', 'full 10 0', 'full 11 0', 'delta 12 0'])
    expect(namesAt(read(output), 10, 0)).toEqual(names([1, 2, 3, 5]))
  })

  test('after changes of the same time have the next nanosecond', () => {
    const { writer, output } = newWriter(3)
    write(writer, 9, 0, [1, 2, 3])
    for (const ids of [
      [1, 2, 3, 4],
      [1, 2, 3, 5],
      [1, 2, 3, 6],
    ])
      write(writer, 10, 999_999_999, ids)
    write(writer, 12, 0, [1, 2, 3, 7])
    write(writer, 13, 0, [1, 2, 3, 8])
    writer.close()
    expect(kinds(output)).toEqual([
      'full 9 0',
      'delta 10 999999999',
      'full 11 0',
      'full 11 0',
      'full 12 0',
      'delta 13 0',
    ])
    const archive = read(output)
    // The last state of a time applies at that time, as among full records.
    expect(namesAt(archive, 10, 999_999_999)).toEqual(names([1, 2, 3, 6]))
    expect(namesAt(archive, 13, 0)).toEqual(names([1, 2, 3, 8]))
  })

  test('of an earlier time apply from the latest record on', () => {
    const { writer, output } = newWriter(3)
    write(writer, 10, 0, [1, 2, 3])
    write(writer, 20, 0, [1, 2, 3, 4])
    write(writer, 15, 0, [1, 2, 3, 5])
    write(writer, 30, 0, [1, 2, 3, 6])
    writer.close()
    expect(kinds(output)).toEqual(['full 10 0', 'delta 20 0', 'full 20 1', 'full 30 0'])
    expect(namesAt(read(output), 25, 0)).toEqual(names([1, 2, 3, 5]))
  })

  test('are not repeated at the time of changes', () => {
    const { writer, output } = newWriter(3)
    const repeat = (sec: number, ids: readonly number[]): boolean =>
      writer.instances({ sec, nsec: 0 }, INDOM, ids, names(ids), true)
    expect([repeat(1, [1, 2]), repeat(2, [1, 2, 3]), repeat(2, [1, 2, 3]), repeat(3, [1, 2, 3])]).toEqual([
      true,
      true,
      false,
      true,
    ])
    expect(kinds(output)).toEqual(['full 1 0', 'delta 2 0', 'full 3 0'])
  })

  test('in a new volume continue the changes of the previous one', () => {
    const { writer, output } = newWriter(3)
    write(writer, 10, 0, [1, 2, 3])
    writer.switchVolume({ sec: 20, nsec: 0 })
    write(writer, 20, 0, [1, 2, 3, 4])
    writer.switchVolume({ sec: 20, nsec: 0 })
    write(writer, 20, 0, [1, 2, 3, 4, 5])
    writer.close()
    expect(kinds(output)).toEqual(['full 10 0', 'delta 20 0', 'full 20 1'])
  })

  test('can be read by PCP whatever their times', () => {
    const random = generator(1)
    for (let round = 0; round < 50; round++) {
      const { writer, output } = newWriter(3)
      let ids: number[] = []
      let sec = 100
      for (let r = 0; r < 20; r++) {
        ids = Array.from({ length: 12 }, (_, i) => i).filter(() => random(6) > 0)
        sec += random(4) - 1
        if (ids.length > 0)
          writer.instances({ sec, nsec: random(3) }, INDOM, ids, names(ids), random(2) === 0)
        writer.result({ sec, nsec: 0 }, [makeSet(METRIC, PM_TYPE_U32, ids, ids)])
      }
      writer.close()
      expect(misplacedRecords(meta(output))).toEqual([])
      expect(decreasingRecords(meta(output))).toEqual([])
      if (ids.length > 0) expect(namesAt(read(output), 1000, 0)).toEqual(names(ids))
    }
  })
})

test('instances of version 2 keep a time they share', () => {
  const { writer, output } = newWriter(2)
  write(writer, 9, 0, [1])
  write(writer, 10, 0, [1, 2])
  write(writer, 10, 0, [1, 3])
  writer.close()
  expect(kinds(output)).toEqual(['full 9 0', 'full 10 0', 'full 10 0'])
  expect(namesAt(read(output), 10, 0)).toEqual(names([1, 3]))
})

test.each([
  [2, 500, 1000],
  [3, 0, 1],
] as const)('labels of version %i that change within one time apply after it', (version, nsec, later) => {
  const { writer, output } = newWriter(version)
  for (const [i, site] of ['a', 'b', 'c'].entries()) {
    writer.labels({ sec: 10, nsec: i * nsec }, LABEL_CONTEXT, 0xffffffff, [
      makeLabelSet({ site }, LABEL_CONTEXT),
    ])
    write(writer, 10, 0, [1])
  }
  write(writer, 20, 0, [1])
  writer.close()
  const archive = read(output)
  const site = (sec: number, nsec: number) =>
    archive.metadata.labels({ level: LABEL_CONTEXT, id: 0xffffffff }, { sec, nsec })[0]?.json
  expect([site(10, 0), site(10, later), site(10, 2 * later), site(20, 0)]).toEqual([
    '{"site":"a"}',
    '{"site":"b"}',
    '{"site":"c"}',
    '{"site":"c"}',
  ])
})

test('an import may add instances and labels to records of one time', () => {
  const output = memoryOutput('a')
  const archive = new ArchiveImport(output, { hostname: 'h', timezone: 'UTC', pid: 7 })
  archive.addMetric('m', { pmid: METRIC, type: PM_TYPE_U32, indom: INDOM })
  for (let i = 0; i < 12; i++) {
    archive.addLabels({ step: i })
    archive.put('m', i, `i${i}`)
    archive.write({ sec: 10 + (i >> 2), nsec: 0 })
  }
  archive.close()
  expect(misplacedRecords(meta(output))).toEqual([])
  const { metadata } = read(output)
  expect(metadata.instances(INDOM, undefined, { sec: 13, nsec: 0 }).names).toHaveLength(12)
  expect(metadata.labels({ level: LABEL_CONTEXT, id: 0xffffffff }, { sec: 13, nsec: 0 })[0]?.json).toContain(
    '"step":11',
  )
})
