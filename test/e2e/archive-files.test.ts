import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { type ByteSource, readBytes } from '../../src/base/byte-source.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { archive, concat, desc, entry, label, result } from '../archive/build.ts'

let top: string
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'pcp-archive-files-'))
})
afterAll(() => rmSync(top, { recursive: true }))

const point = (time: number): Uint8Array => result(3, time, { pmid: 1, values: [[-1, time]] })
const files = archiveFiles()

/** Writes files to a new directory; returns it. */
function write(directory: string, contents: Record<string, Uint8Array>): string {
  const path = join(top, directory)
  mkdirSync(path, { recursive: true })
  for (const [name, bytes] of Object.entries(contents)) writeFileSync(join(path, name), bytes)
  return path
}

function times(name: string): number[] {
  const opened = Archive.open(name, files)
  const reader = new RecordReader(opened)
  const seen: number[] = []
  for (let record = reader.next(); record !== undefined; record = reader.next()) seen.push(record.sec)
  opened.close()
  return seen
}

test('a file is read at any position, while it grows', () => {
  const path = write('grow', { file: new Uint8Array([1, 2, 3]) })
  const source = files.open(join(path, 'file'))
  expect([source.size, [...readBytes(source, 1, 10)], source.bytes]).toEqual([3, [2, 3], undefined])
  appendFileSync(join(path, 'file'), new Uint8Array([4]))
  expect([source.size, [...readBytes(source, 2, 10)], [...readBytes(source, 9, 1)]]).toEqual([4, [3, 4], []])
  source.close()
  source.close()
})

test('missing files are reported with their errno', () => {
  expect(files.isDirectory(top)).toBe(true)
  expect(files.isDirectory(join(top, 'nothing'))).toBe(false)
  expect(() => Archive.open(join(top, 'nothing', 'a'), files)).toThrow(
    expect.objectContaining({ code: 'ENOENT' }),
  )
  expect(() => Archive.open(join(top, 'a'), files)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})

/** Archives compressed by xz, lzma, bzip2, gzip, zstd and compress: test/base/decode/decoder.test.ts. */
const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../fixtures/compressed/${name}`, import.meta.url))

describe('compressed archives', () => {
  const parts = { 'a.meta.gz': fixture('a.meta.gz'), 'a.index.gz': fixture('a.index.gz') }
  const expected = Array.from({ length: 400 }, (_, i) => 1_700_000_000 + i * 10)

  test.each(['.xz', '.lzma', '.bz2', '.gz', '.zst', '.Z'])('ending in %s are read', (suffix) => {
    const directory = write(`good${suffix}`, { ...parts, [`a.0${suffix}`]: fixture(`a.0${suffix}`) })
    expect(times(join(directory, 'a'))).toEqual(expected)
    expect(times(join(directory, `a.0${suffix}`))).toEqual(expected)
  })

  test('with several gzip members are read', () => {
    expect(times(join(write('pieces', { ...parts, 'a.0.gz': fixture('streams.gz') }), 'a'))).toEqual(expected)
  })

  const refusal = (suffix: string): unknown =>
    expect.objectContaining({
      code: 'PM_ERR_LOGREC',
      message: expect.stringContaining(`a.0${suffix}: cannot be decompressed: `),
    })

  test.each(['.xz', '.lzma', '.bz2', '.gz', '.zst', '.Z'])(
    'that have the suffix %s but other content are damaged',
    (suffix) => {
      const directory = write(`bad${suffix}`, { ...parts, [`a.0${suffix}`]: new Uint8Array(50).fill(7) })
      expect(() => Archive.open(join(directory, 'a'), files)).toThrow(refusal(suffix))
    },
  )

  test.each(['.xz', '.lzma', '.bz2', '.gz', '.zst'])(
    'ending in %s that are truncated are damaged',
    (suffix) => {
      const cut = fixture(`a.0${suffix}`).subarray(0, -9)
      const directory = write(`cut${suffix}`, { ...parts, [`a.0${suffix}`]: cut })
      expect(() => Archive.open(join(directory, 'a'), files)).toThrow(refusal(suffix))
    },
  )

  test.each(['.xz', '.bz2', '.gz', '.zst'])('ending in %s with a wrong byte are damaged', (suffix) => {
    const bytes = Uint8Array.from(fixture(`a.0${suffix}`))
    bytes[bytes.length >> 1]! ^= 1
    const directory = write(`flip${suffix}`, { ...parts, [`a.0${suffix}`]: bytes })
    expect(() => Archive.open(join(directory, 'a'), files)).toThrow(refusal(suffix))
  })

  test('that are unreadable are reported with the errno', () => {
    const directory = write('directory', { ...parts })
    mkdirSync(join(directory, 'a.0.xz'))
    expect(() => Archive.open(join(directory, 'a'), files)).toThrow(
      expect.objectContaining({ code: 'EISDIR' }),
    )
  })

  const packed = archive('a', { volumes: [[point(1), point(2)], [point(3)]] })

  test('that do not fit into memory are read', () => {
    const records = Array.from({ length: 1000 }, (_, i) => point(i + 2))
    const big = gzipSync(concat(label({}), ...records, new Uint8Array(70 << 20)))
    const opened = Archive.open(
      join(write('big', { 'a.meta': packed['a.meta']!, 'a.0.gz': big }), 'a'),
      files,
    )
    expect(opened.end()).toEqual({ sec: 1001, nsec: 0 })
    opened.close()
  })

  test('use no more memory together than one alone, until they are closed', () => {
    const part = gzipSync(new Uint8Array(40 << 20))
    const directory = write('many', { 'a.0.gz': part, 'a.1.gz': part, 'a.2.gz': part })
    const all = archiveFiles()
    const [first, second] = [0, 1].map((i) => all.open(join(directory, `a.${i}.gz`)))
    expect([first?.bytes?.length, second?.bytes, second?.size]).toEqual([40 << 20, undefined, 40 << 20])
    first?.close()
    first?.close()
    const third = all.open(join(directory, 'a.2.gz'))
    expect(third.bytes?.length).toBe(40 << 20)
    for (const source of [second, third]) source?.close()
  })

  test('use little memory, and leave no temporary files', () => {
    const mine = (): string[] =>
      readdirSync(tmpdir()).filter((name) => /^pcp-archive-[A-Za-z0-9]{6}$/.test(name))
    const before = mine()
    const long = files.open(fileURLToPath(new URL('../fixtures/compressed/long.xz', import.meta.url)))
    expect([long.size, long.bytes]).toEqual([70_000_000, undefined])
    expect(readBytes(long, 69_999_990, 20)).toEqual(new Uint8Array(10))
    expect(mine()).toEqual(before)
    long.close()
  })
})

test('opening an archive of 10 GB with 10 MB of metadata and finding its end reads little', () => {
  const size = 10 * 2 ** 30
  const descs = Array.from({ length: 40_000 }, (_, i) =>
    desc({ pmid: i + 1 }, `group${i % 500}.with.a.rather.long.path.to.metric${i}`.padEnd(210, 'x')),
  )
  const meta = concat(label({ volume: -1 }), ...descs)
  const last = point(1_000_000)
  const directory = write('huge', {
    'a.meta': meta,
    'a.index': concat(label({ volume: -2 }), entry(3, 1, 0, 0, 808)),
  })
  const fd = openSync(join(directory, 'a.0'), 'w')
  writeSync(fd, concat(label({ volume: 0 }), point(1)))
  ftruncateSync(fd, size)
  writeSync(fd, last, 0, last.length, size)
  closeSync(fd)
  expect(meta.length).toBeGreaterThan(10_000_000)
  let read = 0
  const counting = {
    ...files,
    open: (path: string): ByteSource => {
      const source = files.open(path)
      return {
        get size() {
          return source.size
        },
        bytes: source.bytes,
        readInto: (target, offset) => {
          const got = source.readInto(target, offset)
          read += got
          return got
        },
        close: () => source.close(),
      }
    },
  }
  const opened = Archive.open(join(directory, 'a'), counting)
  expect(opened.end()).toEqual({ sec: 1_000_000, nsec: 0 })
  expect(opened.metadata.descs.size).toBe(40_000)
  opened.close()
  console.log(`${read} bytes read of ${size + meta.length}`)
  // The metadata once, and of the volume only the surroundings of its end.
  expect(read).toBeLessThan(meta.length + 1_000_000)
})
