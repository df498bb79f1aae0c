/** Files after power cuts: truncated, or with pages that never reached the disk. */
import { describe, expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { isError, PcpError } from '../../src/model/errors.ts'
import { archive, concat, desc, entry, memoryFiles, result, type Version } from './build.ts'

const PAGE = 4096
const RECORDS = 400

const point = (version: Version, sec: number): Uint8Array =>
  result(version, sec, { pmid: 1, values: [[-1, sec]] })

function drain(step: () => { readonly sec: number } | undefined): (number | string)[] {
  const found: (number | string)[] = []
  try {
    for (let one = step(); one !== undefined; one = step()) found.push(one.sec)
  } catch (error) {
    found.push(PcpError.from(error).code)
  }
  return found
}

describe.each([2, 3] as const)('version %i', (version) => {
  const records = Array.from({ length: RECORDS }, (_, i) => point(version, i + 1))
  const metas = Array.from({ length: 300 }, (_, i) => desc({ pmid: i + 1 }, `metric.number${i}`))
  const files = archive('a', { version, volumes: [records], meta: metas })
  const sizeOf = (part: string): number => files[`a.${part}`]!.length

  /** Files of which one was changed. */
  const changed = (
    part: string,
    change: (bytes: Uint8Array) => Uint8Array | undefined,
  ): ReturnType<typeof memoryFiles> => {
    const bytes = files[`a.${part}`]!.slice()
    return memoryFiles({ ...files, [`a.${part}`]: change(bytes) ?? bytes })
  }
  const zeroed = (from: number, to: number) => (bytes: Uint8Array) => {
    bytes.fill(0, from, to)
    return undefined
  }
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

  test('a volume with zeros instead of any page, or from any page on, is read up to there, in both directions', () => {
    const size = point(version, 1).length
    const start = sizeOf('0') - RECORDS * size
    for (let page = PAGE; page < sizeOf('0'); page += PAGE)
      for (const to of [page + PAGE, sizeOf('0')]) {
        const opened = Archive.open('a', changed('0', zeroed(page, to)))
        const good = numbers(Math.floor((page - start) / size))
        const reader = new RecordReader(opened)
        expect(drain(() => reader.next())).toEqual(good)
        const strict = new RecordReader(opened, { reportsTears: true })
        expect(drain(() => strict.next())).toEqual([...good, 'PM_ERR_LOGREC'])
        reader.toEnd()
        const back = drain(() => reader.previous())
        expect(back.slice(-good.length)).toEqual([...good].reverse())
        expect(back).not.toContain('PM_ERR_LOGREC')
        const end = opened.end()
        expect(isError(end)).toBe(false)
      }
  })

  test('metadata with zeros instead of any page, or truncated anywhere, is read up to there', () => {
    const start = sizeOf('meta') - concat(...metas).length
    const ends = metas.map((_, i) => start + concat(...metas.slice(0, i + 1)).length)
    const countUpTo = (size: number): number => ends.filter((end) => end <= size).length
    for (let page = PAGE; page < sizeOf('meta'); page += PAGE)
      expect(Archive.open('a', changed('meta', zeroed(page, page + PAGE))).metadata.descs.size).toBe(
        countUpTo(page),
      )
    for (let size = ends[0]!; size < ends[4]!; size++)
      expect(
        Archive.open(
          'a',
          changed('meta', (bytes) => bytes.subarray(0, size)),
        ).metadata.descs.size,
      ).toBe(countUpTo(size))
  })

  test('an impossible length is damage if the index has later records', () => {
    const size = point(version, 1).length
    const start = sizeOf('0') - RECORDS * size
    const spoil = (bytes: Uint8Array): undefined => {
      new DataView(bytes.buffer).setInt32(start + 10 * size, 0x0100_0000)
    }
    const read = (opened: Archive): (number | string)[] => {
      const reader = new RecordReader(opened)
      return drain(() => reader.next())
    }
    expect(read(Archive.open('a', changed('0', spoil)))).toEqual(numbers(10))
    const index = archive('a', {
      version,
      volumes: [records],
      index: [entry(version, 300, 0, 0, start + 299 * size)],
    })['a.index']!
    const bytes = files['a.0']!.slice()
    spoil(bytes)
    const opened = Archive.open('a', memoryFiles({ ...files, 'a.0': bytes, 'a.index': index }))
    expect(read(opened)).toEqual([...numbers(10), 'PM_ERR_LOGREC'])
  })
})
