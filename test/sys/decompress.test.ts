import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DECODE_LIMITS } from '../../src/base/decode/limits.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { decodeLimits, decompress, decompressFile } from '../../src/sys/decompress.ts'
import { gzipBomb, zstdBomb } from '../lib/bombs.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-decompress-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

const MIB = 1 << 20
const ROOM = { maxInMemory: MIB, maxOnDisk: 64 * MIB, limits: DECODE_LIMITS, freeBytes: () => 2 ** 40 }

function write(name: string, bytes: Uint8Array): string {
  const path = join(dir, name)
  writeFileSync(path, bytes)
  return path
}

/** File descriptors of unnamed files. */
function nameless(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8') !== '' && linkOf(fd).includes('pcp-archive-')
    } catch {
      return false
    }
  }).length
}

function linkOf(fd: string): string {
  return process.getBuiltinModule('node:fs').readlinkSync(`/proc/self/fd/${fd}`)
}

describe.each([
  ['gzip', 'a.0.gz', () => gzipBomb(8)],
  ['Zstandard', 'a.0.zst', () => zstdBomb(64)],
])('%s', (_, name, make) => {
  test('has content up to the limit in a file without a name, and none beyond', async () => {
    const path = write(name, await make())
    const fd = decompress(path, ROOM)
    expect(typeof fd === 'number' ? fstatSync(fd).size : fd.length).toBe(8 * MIB)
    closeSync(fd as number)
    const limits = { ...DECODE_LIMITS, maxBytes: 4 * MIB }
    expect(() => decompress(path, { ...ROOM, limits })).toThrow(/expand to more than 4096 KiB/)
    expect(() => decompress(path, { ...ROOM, maxInMemory: 64 * MIB, limits })).toThrow(/expand to more than/)
    expect(nameless()).toBe(0)
  })

  test('leaves some disk space free', async () => {
    const path = write(name, await make())
    const freeBytes = (): number => 256 * MIB + 1
    expect(() => decompress(path, { ...ROOM, freeBytes })).toThrow(/too little space|expand to more than/)
    expect(nameless()).toBe(0)
  })

  test('is decompressed into a file that is removed unless complete', async () => {
    const path = write(name, await make())
    const to = join(dir, 'to')
    const limits = { ...DECODE_LIMITS, maxBytes: 4 * MIB }
    await expect(decompressFile(path, to, limits)).rejects.toThrow(/expand to more than 4096 KiB/)
    expect(existsSync(to)).toBe(false)
    await decompressFile(path, to)
    expect(readFileSync(to).length).toBe(8 * MIB)
    await expect(decompressFile(path, to)).rejects.toThrow(expect.objectContaining({ code: 'EEXIST' }))
    expect(readFileSync(to).length).toBe(8 * MIB)
    rmSync(to)
  })
})

test('gzip content too large for memory is complete', () => {
  const content = Uint8Array.from({ length: 3 * MIB }, (_, i) => (i * 7919) >> 8)
  const fd = decompress(write('b.0.gz', gzipSync(content)), ROOM) as number
  expect(Buffer.compare(readFileSync(`/proc/self/fd/${fd}`), content)).toBe(0)
  closeSync(fd)
})

test('damaged or unreadable gzip files too large for memory are reported', () => {
  const bytes = gzipSync(Uint8Array.from({ length: 3 * MIB }, (_, i) => (i * 7919) >> 8))
  const cut = write('c.0.gz', bytes.subarray(0, bytes.length - 20))
  expect(() => decompress(cut, { ...ROOM, maxInMemory: 0 })).toThrow(
    /cannot be decompressed: unexpected end of file/,
  )
  expect(() => decompress(join(dir, 'none.gz'), ROOM)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})

test('decompressing gzip for too long is stopped, and nothing more is written', async () => {
  const path = write('slow.0.gz', await gzipBomb(64))
  const limits = { ...DECODE_LIMITS, maxMs: 1 }
  expect(() => decompress(path, { ...ROOM, maxInMemory: 0, limits })).toThrow(/takes longer than/)
  expect(nameless()).toBe(0)
})

test('PCP_DECOMPRESS_MB and PCP_DECOMPRESS_SEC are the limits, whatever content was compressed to', () => {
  expect(decodeLimits({ PCP_DECOMPRESS_MB: '3' })).toMatchObject({ maxBytes: 3 * MIB, floorBytes: 3 * MIB })
  for (const text of [undefined, '', '-1', 'much', '1e3'])
    expect(decodeLimits({ PCP_DECOMPRESS_MB: text, PCP_DECOMPRESS_SEC: text })).toEqual(DECODE_LIMITS)
  expect(decodeLimits({ PCP_DECOMPRESS_SEC: '7' })).toEqual({ ...DECODE_LIMITS, maxMs: 7000 })
})

test('opening a pipe among the files of an archive does not block', () => {
  for (const name of ['pipe.0', 'pipe.1.xz', 'pipe.2.gz']) {
    const path = join(dir, name)
    execFileSync('mkfifo', [path])
    expect(() => archiveFiles().open(path)).toThrow(/not a regular file/)
  }
})
