import { constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Disk, nodeDisk } from '../../src/sys/disk.ts'
import { generator } from './generator.ts'
import { MemoryDisk, ProcessStopped } from './memory-disk.ts'
import { readFile, writeFile } from './memory-files.ts'

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } = constants
const FLAGS = [
  O_RDONLY,
  O_RDWR,
  O_WRONLY,
  O_RDONLY | O_CREAT,
  O_WRONLY | O_CREAT,
  O_RDWR | O_CREAT | O_EXCL,
  O_WRONLY | O_CREAT | O_TRUNC,
  O_WRONLY | O_APPEND | O_CREAT,
  O_RDWR | O_TRUNC,
]
const NAMES = ['a', 'b', 'c', 'd', 'd/x', 'd/y', 'd/e', 'd/e/z', 'a/x', 'f', 'f/q']

/** Runs random operations and returns the result or error of each. */
function randomOperations(disk: Disk, top: string, seed: number, count: number): string[] {
  const next = generator(seed)
  const fds: number[] = []
  const path = (): string => join(top, NAMES[next(NAMES.length)]!)
  const fd = (): number => fds[next(fds.length)] ?? 99_999
  const bytes = (): Uint8Array => new Uint8Array(next(40)).fill(next(256))
  const operations: (() => unknown)[] = [
    () => {
      const at = path()
      fds.push(disk.open(at, FLAGS[next(FLAGS.length)]!, [0o666, 0o600][next(2)]!))
    },
    () => {
      const target = new Uint8Array(next(50))
      const at = fd()
      return [disk.read(at, target, next(30)), ...target]
    },
    () => disk.write(fd(), bytes()),
    () => disk.write(fd(), bytes()),
    () => disk.truncate(fd(), next(50)),
    () => disk.sync(fd()),
    () => disk.syncDirectory(path()),
    () => fds.length > 0 && disk.close(fds.splice(next(fds.length), 1)[0]!),
    () => disk.mkdir(path()),
    () => disk.rmdir(path()),
    () => disk.link(path(), path()),
    () => disk.rename(path(), path()),
    () => disk.rename(path(), path()),
    () => disk.unlink(path()),
    () => disk.list(path()).sort(),
    () => {
      const { size, mode, isDirectory } = disk.stat(path()) ?? {}
      return [isDirectory ? 0 : size, mode, isDirectory]
    },
    () => disk.setMode(fd(), [0o644, 0o755][next(2)]!),
    () => {
      const at = fd()
      disk.setTimes(at, 1000, 1_000_000 + next(1000))
      return undefined
    },
  ]
  const results = Array.from({ length: count }, (_, i) => {
    const operation = operations[next(operations.length)]!
    try {
      return `${i} ${operation}: ${JSON.stringify(operation())}`
    } catch (error) {
      const { message, code, errno, syscall } = error as NodeJS.ErrnoException
      return `${i} ${operation}: ${message.replaceAll(top, '')} ${code} ${errno} ${syscall}`
    }
  })
  for (const each of fds) disk.close(each)
  return results
}

test('random operations return the results and errors of a real disk', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const top = mkdtempSync(join(tmpdir(), 'memory-disk-'))
    try {
      const memory = new MemoryDisk()
      const parts = top.split('/')
      for (let i = 2; i <= parts.length; i++) memory.mkdir(parts.slice(0, i).join('/'))
      const expected = randomOperations(nodeDisk, top, seed, 150)
      expect([seed, ...randomOperations(memory, top, seed, 150)]).toEqual([seed, ...expected])
    } finally {
      rmSync(top, { recursive: true })
    }
  }
})

test('a hard-linked file lives until its last name and descriptor are gone', () => {
  const disk = new MemoryDisk({ nowMs: () => 5 })
  writeFile(disk, '/a', new Uint8Array([1, 2]))
  disk.link('/a', '/b')
  expect(disk.stat('/a')).toEqual(disk.stat('/b'))
  const fd = disk.open('/a', O_RDWR)
  disk.unlink('/a')
  disk.unlink('/b')
  expect(disk.write(fd, new Uint8Array(10))).toBe(10)
  const used = disk.used
  disk.close(fd)
  expect(disk.used).toBe(used - 10 - 64)
})

test('modification times use the injected clock', () => {
  let now = 1000
  const disk = new MemoryDisk({ nowMs: () => now })
  writeFile(disk, '/a', new Uint8Array(1))
  now = 2000
  const fd = disk.open('/a', O_WRONLY)
  expect(disk.stat('/a')?.mtimeMs).toBe(1000)
  disk.write(fd, new Uint8Array(1))
  expect(disk.stat('/a')?.mtimeMs).toBe(2000)
  disk.setTimes(fd, 0, 1500)
  expect(disk.stat('/a')?.mtimeMs).toBe(1500)
})

test('a full disk writes partially, then fails, and recovers when files are removed', () => {
  const disk = new MemoryDisk()
  writeFile(disk, '/old', new Uint8Array(100))
  const fd = disk.open('/new', O_WRONLY | O_CREAT)
  disk.setCapacity(disk.used + 30)
  expect(disk.write(fd, new Uint8Array(50))).toBe(30)
  expect(() => disk.write(fd, new Uint8Array(1))).toThrow('ENOSPC: no space left on device, write')
  expect(() => disk.mkdir('/dir')).toThrow("ENOSPC: no space left on device, mkdir '/dir'")
  expect(() => disk.open('/more', O_WRONLY | O_CREAT)).toThrow('ENOSPC')
  disk.unlink('/old')
  expect(disk.write(fd, new Uint8Array(50))).toBe(50)
})

test('faults inject errors and short writes', () => {
  const disk = new MemoryDisk({
    fault: ({ change, name }) =>
      change === 1 ? { short: 3 } : change === 2 ? 'ENOSPC' : name === 'sync' ? 'EIO' : undefined,
  })
  const fd = disk.open('/a', O_RDWR | O_CREAT)
  expect(disk.write(fd, new Uint8Array(9))).toBe(3)
  expect(() => disk.write(fd, new Uint8Array(6))).toThrow(expect.objectContaining({ code: 'ENOSPC' }))
  expect(disk.stat('/a')?.size).toBe(3)
  expect(() => disk.sync(fd)).toThrow('EIO: i/o error, fdatasync')
  expect(disk.journal.map(({ kind }) => kind)).toEqual(['create', 'write', 'syncFailed'])
})

test('a stopped process cannot continue; another process on the same disk can', () => {
  const seen: string[] = []
  const disk = new MemoryDisk()
  const first = disk.process({
    before({ name, path, change }) {
      seen.push(`${name} ${path} ${change}`)
      if (change === 2) first.stop()
    },
  })
  const fd = first.open('/a', O_RDWR | O_CREAT)
  first.stat('/a')
  first.write(fd, new Uint8Array([7]))
  expect(() => first.write(fd, new Uint8Array([8]))).toThrow(ProcessStopped)
  expect(() => first.unlink('/a')).toThrow(ProcessStopped)
  expect(first.isStopped).toBe(true)
  expect(seen).toEqual(['open /a 0', 'stat /a undefined', 'write /a 1', 'write /a 2'])
  expect([...readFile(disk.process(), '/a')]).toEqual([7])
})

test('an image is a snapshot, and a disk made from it has the same content', () => {
  const disk = new MemoryDisk()
  disk.mkdir('/d')
  writeFile(disk, '/d/a', new Uint8Array([1, 2, 3]))
  disk.link('/d/a', '/b')
  const image = disk.image()
  const fd = disk.open('/b', O_WRONLY)
  disk.write(fd, new Uint8Array([9]))
  const other = new MemoryDisk({ image })
  expect([...readFile(other, '/d/a')]).toEqual([1, 2, 3])
  expect(other.stat('/b')?.ino).toBe(other.stat('/d/a')?.ino)
  expect(other.used).toBe(disk.used)
  expect([...readFile(disk, '/d/a')]).toEqual([9, 2, 3])
})
