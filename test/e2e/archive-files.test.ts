import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { readBytes } from '../../src/base/byte-source.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { archive, concat, desc, entry, label, result } from '../archive/build.ts'

let top: string
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'pcp-archive-files-'))
})
afterAll(() => rmSync(top, { recursive: true }))

const point = (time: number): Uint8Array => result(3, time, { pmid: 1, values: [[-1, time]] })
const files = archiveFiles()

/** Writes files under their own directory; returns it. */
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

test('a file is read from any place, while it grows', () => {
  const path = write('grow', { file: new Uint8Array([1, 2, 3]) })
  const source = files.open(join(path, 'file'))
  expect([source.size, [...readBytes(source, 1, 10)], source.bytes]).toEqual([3, [2, 3], undefined])
  appendFileSync(join(path, 'file'), new Uint8Array([4]))
  expect([source.size, [...readBytes(source, 2, 10)], [...readBytes(source, 9, 1)]]).toEqual([4, [3, 4], []])
  source.close()
  source.close()
})

test('what is not there has its errno', () => {
  expect(files.isDirectory(top)).toBe(true)
  expect(files.isDirectory(join(top, 'nothing'))).toBe(false)
  expect(() => Archive.open(join(top, 'nothing', 'a'), files)).toThrow(
    expect.objectContaining({ code: 'ENOENT' }),
  )
  expect(() => Archive.open(join(top, 'a'), files)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})

describe('compressed archives', () => {
  const programs = [
    ['xz', '.xz'],
    ['lzma', '.lzma'],
    ['bzip2', '.bz2'],
    ['gzip', '.gz'],
    ['zstd', '.zst'],
    ['compress', '.Z'],
  ] as const
  const packed = archive('a', {
    volumes: [[point(1), point(2)], [point(3)]],
    index: [entry(3, 1, 0, 0, 808)],
  })

  test.each(programs)('by %s are read', (program, suffix) => {
    const compressed: Record<string, Uint8Array> = {}
    for (const [name, bytes] of Object.entries(packed)) {
      const { stdout, error } = spawnSync(program, ['-c'], { input: bytes })
      if (error !== undefined) return console.log(`skipped: there is no ${program}`)
      compressed[name + suffix] = stdout
    }
    const directory = write(program, compressed)
    expect(times(join(directory, 'a'))).toEqual([1, 2, 3])
    expect(times(join(directory, `a.0${suffix}`))).toEqual([1, 2, 3])
  })

  test.each(['.xz', '.bz2', '.gz', '.zst', '.Z'])('that only call themselves %s are damaged', (suffix) => {
    const contents = { 'a.0': packed['a.0']!, [`a.meta${suffix}`]: new Uint8Array(50).fill(7) }
    const directory = write(`bad${suffix}`, contents)
    expect(() => Archive.open(join(directory, 'a'), files)).toThrow(
      expect.objectContaining({
        code: 'PM_ERR_LOGREC',
        message: expect.stringContaining(`a.meta${suffix}: cannot be decompressed`),
      }),
    )
  })

  test.each(programs.slice(0, 5))('by %s that are cut short are damaged', (program, suffix) => {
    const { stdout, error } = spawnSync(program, ['-c'], { input: packed['a.meta'] })
    if (error !== undefined) return console.log(`skipped: there is no ${program}`)
    const cut = stdout.subarray(0, stdout.length - 9)
    const directory = write(`cut${suffix}`, { 'a.0': packed['a.0']!, [`a.meta${suffix}`]: cut })
    expect(() => Archive.open(join(directory, 'a'), files)).toThrow(
      expect.objectContaining({ code: 'PM_ERR_LOGREC' }),
    )
  })

  test.each([
    ['gzip', '.gz'],
    ['zstd', '.zst'],
  ] as const)('by %s with more than fits into memory are read', (program, suffix) => {
    const records = Array.from({ length: 1000 }, (_, i) => point(i + 2))
    const big = concat(label({}), ...records, new Uint8Array(70 << 20))
    const { stdout, error } = spawnSync(program, ['-c'], { input: big, maxBuffer: 1 << 28 })
    if (error !== undefined) return console.log(`skipped: there is no ${program}`)
    const directory = write(`big${suffix}`, { 'a.meta': packed['a.meta']!, [`a.0${suffix}`]: stdout })
    const opened = Archive.open(join(directory, 'a'), files)
    expect(opened.end()).toEqual({ sec: 1001, nsec: 0 })
    opened.close()
  })

  test('leave no temporary files', () => {
    const mine = (): string[] =>
      readdirSync(tmpdir()).filter((name) => /^pcp-archive-[A-Za-z0-9]{6}$/.test(name))
    const before = mine()
    const { stdout } = spawnSync('gzip', ['-c'], { input: packed['a.0'] })
    const directory = write('temporary', { ...packed, 'a.0.gz': stdout, 'a.1.Z': stdout })
    times(join(directory, 'a'))
    expect(mine()).toEqual(before)
  })
})

test('an archive of 10 GB with 10 MB of metadata opens quickly, and is read at its end', () => {
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
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 3; i++) {
    const before = process.cpuUsage()
    const opened = Archive.open(join(directory, 'a'), files)
    expect(opened.end()).toEqual({ sec: 1_000_000, nsec: 0 })
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
    expect(opened.metadata.descs.size).toBe(40_000)
    opened.close()
  }
  console.log(`opened in ${best.toFixed(0)} ms`)
  expect(best).toBeLessThan(100)
})
