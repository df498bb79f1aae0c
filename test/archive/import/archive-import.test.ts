import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ArchiveImport, IMPORT_DOMAIN } from '../../../src/archive/import/archive-import.ts'
import { type MemoryOutput, memoryOutput } from '../../../src/archive/write/memory-output.ts'
import { indom, pmid } from '../../../src/model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_TYPE_32,
  PM_TYPE_EVENT,
  PM_TYPE_STRING,
  PM_TYPE_U64,
} from '../../../src/model/types.ts'
import { makeSingular } from '../../../src/model/value-writer.ts'

const at = (sec: number): { sec: number; nsec: number } => ({ sec, nsec: 0 })

function newImport(): { archive: ArchiveImport; output: MemoryOutput; records(part: string): Uint8Array[] } {
  const output = memoryOutput('t')
  const archive = new ArchiveImport(output, { hostname: 'h', timezone: 'UTC', pid: 7 })
  return { archive, output, records: (part) => recordsOf(output.contents().get(part)!) }
}

/** Returns the records of a file after its label. */
function recordsOf(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const records: Uint8Array[] = []
  for (let from = 808; from < bytes.length; from += view.getInt32(from))
    records.push(bytes.subarray(from, from + view.getInt32(from)))
  return records
}

/** Returns the types of metadata records. */
const types = (records: readonly Uint8Array[]): number[] => records.map((record) => record[7]!)
/** Returns a word of a record at a byte offset. */
const word = (record: Uint8Array, offset: number): number =>
  new DataView(record.buffer, record.byteOffset).getInt32(offset)
const code = (name: string): unknown => expect.objectContaining({ code: name })

describe('adding metrics', () => {
  test('assigns unused identifiers in its own domain', () => {
    const { archive } = newImport()
    archive.addMetric('a', { pmid: pmid(IMPORT_DOMAIN, 0, 2) })
    const ids = ['b', 'c'].map((name) => archive.addMetric(name, { indom: 'one' }).desc)
    expect(ids.map((desc) => desc.pmid)).toEqual([pmid(245, 0, 3), pmid(245, 0, 4)])
    expect(ids.map((desc) => desc.indom)).toEqual([indom(245, 1), indom(245, 1)])
    expect(archive.addMetric('d', { indom: 'two' }).desc.indom).toBe(indom(245, 2))
  })

  test('rejects existing and invalid names and identifiers', () => {
    const { archive } = newImport()
    archive.addMetric('a.b', { pmid: 1 })
    expect(() => archive.addMetric('a.b')).toThrow(code('EEXIST'))
    expect(() => archive.addMetric('c', { pmid: 1 })).toThrow(code('EEXIST'))
    for (const name of ['', '.a', 'a.', 'a..b', '1a', 'a.1', 'a-b', '_a', 'ä'])
      expect(() => archive.addMetric(name), name).toThrow(code('EINVAL'))
    expect(() => archive.addMetric('e', { type: PM_TYPE_EVENT })).toThrow(code('PM_ERR_TYPE'))
    expect(() => archive.addMetric('u', { units: 'parsecs' })).toThrow(code('PM_ERR_CONV'))
    expect(() => archive.addMetric('v', { units: '10 byte' })).toThrow(code('PM_ERR_CONV'))
  })

  test('takes units as text', () => {
    expect(newImport().archive.addMetric('a', { units: 'Kbyte / sec' }).desc.units).toBe(0x1f013000)
  })
})

describe('instances', () => {
  test('have unused numbers, or given ones', () => {
    const { archive } = newImport()
    expect(['x', 'y'].map((name) => archive.addInstance('d', name))).toEqual([0, 1])
    expect(archive.addInstance('d', 'z', 3)).toBe(3)
    expect([archive.addInstance('d', 'p'), archive.addInstance('d', 'q')]).toEqual([2, 4])
  })

  test('are distinct in number, and in name up to the first blank', () => {
    const { archive } = newImport()
    archive.addInstance('d', 'press 1')
    expect(archive.addInstance('d', 'press')).toBe(1)
    expect(() => archive.addInstance('d', 'press 2')).toThrow(code('EEXIST'))
    expect(() => archive.addInstance('d', 'press 2')).toThrow('set sharesFirstWords to keep both')
    expect(() => archive.addInstance('d', 'oven', 0)).toThrow(code('EEXIST'))
    expect(() => archive.addInstance('d', '')).toThrow(code('EINVAL'))
    expect(() => archive.addInstance('d', 'oven', -1)).toThrow(code('EINVAL'))
  })
})

describe('values', () => {
  test('are rejected for metrics without instance domain', () => {
    const { archive } = newImport()
    const metric = archive.addMetric('n', { type: PM_TYPE_32 })
    archive.addMetric('s', { type: PM_TYPE_STRING })
    archive.addMetric('i', { indom: 'd' })
    expect(() => archive.put('nosuch', 1)).toThrow(code('PM_ERR_NAME'))
    expect(() => archive.put('n', 1, 'x')).toThrow(code('PM_ERR_INST'))
    expect(() => archive.put('i', 1)).toThrow(code('PM_ERR_INST'))
    expect(() => archive.put('i', 1, 7)).toThrow(code('PM_ERR_INST'))
    expect(() => archive.put('n', 'text')).toThrow(code('PM_ERR_TYPE'))
    expect(() => archive.put('s', 1)).toThrow(code('PM_ERR_TYPE'))
    expect(() => archive.put('s', 1n)).toThrow(code('PM_ERR_TYPE'))
    expect(() => archive.put('n', Number.NaN)).toThrow(code('PM_ERR_CONV'))
    archive.put(metric, 1)
    expect(() => archive.put('n', 2)).toThrow(code('EEXIST'))
  })

  test('are in the record in order of instance number', () => {
    const { archive, records } = newImport()
    archive.addMetric('i', { indom: 'd', type: PM_TYPE_32 })
    for (const [name, id] of [
      ['b', 5],
      ['a', 2],
    ] as const)
      archive.addInstance('d', name, id)
    archive.put('i', 50, 'b')
    archive.put('i', 20, 2)
    archive.write(at(1))
    const record = records('0')[0]!
    expect([32, 36, 40, 44].map((offset) => word(record, offset))).toEqual([2, 20, 5, 50])
  })
})

describe('writing', () => {
  test('creates the files with the first record, with only the metadata that records need', () => {
    const { archive, output, records } = newImport()
    archive.addMetric('used', { indom: 'd' })
    archive.addMetric('unused', { indom: 'e' })
    archive.addText('used', 'oneline', 'A text')
    archive.addText('unused', 'oneline', 'No text')
    archive.addText({ indom: 'd' }, 'help', 'Of the domain')
    archive.addLabels({ site: 'roof' })
    archive.addInstance('d', 'x')
    archive.addLabels({ height: 3 }, { indom: 'd', instance: 'x' })
    archive.addLabels({ a: 1 }, { metric: 'unused' })
    expect(archive.write(at(1))).toBe(false)
    expect(output.contents().size).toBe(0)
    archive.put('used', 1, 'x')
    expect(archive.write(at(1))).toBe(true)
    expect(types(records('meta'))).toEqual([1, 5, 4, 4, 7, 7])
    archive.put('used', 2, 'x')
    archive.write(at(2))
    archive.put('used', 3, 'y')
    archive.put('unused', 3, 'y')
    archive.write(at(3))
    expect(types(records('meta')).slice(6)).toEqual([6, 1, 5, 4, 7])
    archive.close()
    expect(records('0').length).toBe(3)
  })

  test('rejects earlier times, and discards those values', () => {
    const { archive, records } = newImport()
    archive.addMetric('a')
    for (const sec of [5, 5]) {
      archive.put('a', 1)
      archive.write(at(sec))
    }
    archive.put('a', 1)
    expect(() => archive.write(at(4))).toThrow(code('EINVAL'))
    archive.put('a', 2)
    archive.write(new Date(6000))
    expect(records('0').map((record) => word(record, 4))).toEqual([5, 5, 6])
  })

  test('takes ready-made sets and marks', () => {
    const { archive, records } = newImport()
    const { desc } = archive.addMetric('a', { type: PM_TYPE_U64, sem: PM_SEM_COUNTER })
    archive.mark()
    archive.writeSets(at(1), [makeSingular(desc.pmid, PM_TYPE_U64, 2n ** 63n)])
    archive.mark()
    expect(records('0').map(({ length }) => length)).toEqual([56, 24])
    expect(archive.lastTime).toEqual({ sec: 1, nsec: 1_000_000 })
    expect(() => archive.writeSets(at(2), [makeSingular(99, PM_TYPE_U64, 1)])).toThrow(code('PM_ERR_PMID'))
  })

  test('ends with close, which leaves no files if nothing was written', () => {
    const { archive, output } = newImport()
    archive.addMetric('a')
    archive.close()
    archive.close()
    expect(output.contents().size).toBe(0)
    archive.put('a', 1)
    expect(() => archive.write(at(1))).toThrow(code('EBADF'))
  })
})

test('the example of the documents works', () => {
  const text = readFileSync(new URL('../../../docs/reference/archive-library.md', import.meta.url), 'utf8')
  const example = /```ts\nimport .*\n([\s\S]*?)```/.exec(text)![1]!
  const { archive, records } = newImport()
  const names = ['createArchive', 'PM_SEM_COUNTER', 'PM_TYPE_U64']
  new Function(...names, example)(() => archive, PM_SEM_COUNTER, PM_TYPE_U64)
  expect(records('0').length).toBe(60)
  expect(types(records('meta'))).toEqual([1, 5, 1])
})
