import { constants } from 'node:fs'
import { expect, test } from 'vitest'
import { allCrashStates, type CrashOptions, type CrashState, crashStates } from './crash-states.ts'
import type { DiskImage } from './disk-volume.ts'
import { MemoryDisk } from './memory-disk.ts'
import { readFile, writeFile } from './memory-files.ts'

const { O_APPEND, O_CREAT, O_WRONLY } = constants
const PAGE = 4096

/** Returns file contents by path, as runs of bytes: `9x4`. */
function contentOf(image: DiskImage, directory = '/'): Record<string, string> {
  const disk = new MemoryDisk({ image })
  return Object.fromEntries(
    disk
      .list(directory)
      .sort()
      .flatMap((name) => {
        const path = `${directory === '/' ? '' : directory}/${name}`
        if (disk.stat(path)?.isDirectory === true)
          return [[path, 'directory'], ...Object.entries(contentOf(image, path))]
        return [[path, runsOf(readFile(disk, path))]]
      }),
  )
}

function runsOf(bytes: Uint8Array): string {
  const runs: string[] = []
  for (let i = 0; i < bytes.length; ) {
    let end = i
    while (end < bytes.length && bytes[end] === bytes[i]) end++
    runs.push(`${bytes[i]}x${end - i}`)
    i = end
  }
  return runs.join(' ')
}

/** Returns the distinct states after an action on a disk with the file `/old` of five bytes. */
function statesAfter(
  action: (disk: MemoryDisk) => void,
  options: Partial<CrashOptions> = {},
): Record<string, string>[] {
  const disk = new MemoryDisk()
  writeFile(disk, '/old', new Uint8Array(5).fill(1))
  const base = disk.checkpoint()
  action(disk)
  const states = crashStates(base, disk.journal, disk.journal.length, { seed: 1, random: 300, ...options })
  return distinct([...states])
}

function distinct(states: readonly CrashState[]): Record<string, string>[] {
  return [...new Set(states.map(({ image }) => JSON.stringify(contentOf(image))))].map((text) =>
    JSON.parse(text),
  )
}

function append(disk: MemoryDisk, path: string, value: number, length: number, isSynced = false): void {
  const fd = disk.open(path, O_WRONLY | O_CREAT | O_APPEND)
  disk.write(fd, new Uint8Array(length).fill(value))
  if (isSynced) disk.sync(fd)
  disk.close(fd)
}

test('an unchanged disk has one state', () => {
  expect(statesAfter(() => {})).toEqual([{ '/old': '1x5' }])
})

test('synced content with a synced name is in every state', () => {
  const states = statesAfter((disk) => {
    append(disk, '/new', 2, 10, true)
    disk.syncDirectory('/')
    disk.rename('/new', '/newer')
    disk.syncDirectory('/')
  })
  expect(states).toEqual([{ '/newer': '2x10', '/old': '1x5' }])
})

test('syncing a file does not make its name durable, syncing a directory no content', () => {
  const lost = { '/old': '1x5' }
  const whole = { '/new': '2x10', '/old': '1x5' }
  expect(statesAfter((disk) => append(disk, '/new', 2, 10, true))).toEqual(
    expect.arrayContaining([lost, whole]),
  )
  expect(statesAfter((disk) => append(disk, '/new', 2, 10, true))).toHaveLength(2)
  const states = statesAfter((disk) => {
    append(disk, '/new', 2, 10)
    disk.syncDirectory('/')
  })
  expect(states).toHaveLength(3)
  expect(states).toEqual(
    expect.arrayContaining([whole, { ...whole, '/new': '' }, { ...whole, '/new': '0x10' }]),
  )
})

test('pages and sizes of unsynced content survive independently', () => {
  const found = statesAfter((disk) => {
    append(disk, '/old', 2, 3 * PAGE - 5)
    append(disk, '/old', 3, 10)
  }).map((state) => state['/old'])
  expect(found).toEqual(
    expect.arrayContaining([
      '1x5',
      `1x5 2x${3 * PAGE - 5}`,
      `1x5 2x${3 * PAGE - 5} 3x10`,
      `1x5 0x${3 * PAGE + 5}`,
      `1x5 2x${PAGE - 5} 0x${PAGE} 2x${PAGE} 3x10`,
      `1x5 0x${2 * PAGE - 5} 2x${PAGE}`,
    ]),
  )
  for (const each of found) expect(each?.startsWith('1x5')).toBe(true)
})

test('an unsynced truncation may be lost', () => {
  const found = statesAfter((disk) => {
    const fd = disk.open('/old', O_WRONLY)
    disk.truncate(fd, 2)
    disk.write(fd, new Uint8Array(1).fill(4))
  }).map((state) => state['/old'])
  expect(found.sort()).toEqual(['1x2', '1x2 0x3', '1x5', '4x1 1x1', '4x1 1x1 0x3'].sort())
})

test('any subset of name changes survives, in ordered mode a prefix', () => {
  const action = (disk: MemoryDisk): void => {
    disk.link('/old', '/x')
    disk.rename('/x', '/y')
    disk.unlink('/old')
  }
  expect(new Set(statesAfter(action).map((state) => Object.keys(state).join()))).toEqual(
    new Set(['/old', '/old,/x', '/old,/y', '/y', '/x', '']),
  )
  expect(
    new Set(statesAfter(action, { names: 'ordered' }).map((state) => Object.keys(state).join())),
  ).toEqual(new Set(['/old', '/old,/x', '/old,/y', '/y']))
})

test('a rename across directories is whole once either directory is synced', () => {
  for (const synced of ['/', '/d']) {
    const states = statesAfter((disk) => {
      disk.mkdir('/d')
      disk.syncDirectory('/')
      disk.link('/old', '/x')
      disk.rename('/x', '/d/x')
      disk.syncDirectory(synced)
    })
    expect(states).toEqual([{ '/d': 'directory', '/d/x': '1x5', '/old': '1x5' }])
  }
})

test('a removal applies only to the file it removed', () => {
  const names = statesAfter((disk) => {
    append(disk, '/new', 2, 3, true)
    disk.rename('/new', '/old')
    disk.unlink('/old')
  })
  expect(names).toEqual(expect.arrayContaining([{ '/old': '1x5' }, { '/old': '2x3' }, {}]))
})

test('content of a failed sync stays at risk after later syncs', () => {
  let isBroken = true
  const disk = new MemoryDisk({ fault: ({ name }) => (name === 'sync' && isBroken ? 'EIO' : undefined) })
  writeFile(disk, '/a', new Uint8Array(PAGE).fill(1))
  const base = disk.checkpoint()
  const fd = disk.open('/a', O_WRONLY | O_APPEND)
  disk.write(fd, new Uint8Array(PAGE).fill(2))
  expect(() => disk.sync(fd)).toThrow('EIO')
  isBroken = false
  disk.write(fd, new Uint8Array(PAGE).fill(3))
  disk.sync(fd)
  const states = crashStates(base, disk.journal, disk.journal.length, { seed: 1, random: 30 })
  const found = distinct([...states]).map((state) => state['/a'])
  expect(found.sort()).toEqual([`1x${PAGE} 0x${PAGE} 3x${PAGE}`, `1x${PAGE} 2x${PAGE} 3x${PAGE}`])
})

test('attributes become durable with the next sync', () => {
  const disk = new MemoryDisk({ nowMs: () => 1 })
  writeFile(disk, '/a', new Uint8Array(1))
  const base = disk.checkpoint()
  const fd = disk.open('/a', O_WRONLY)
  disk.setTimes(fd, 0, 7)
  const times = (): number[] => {
    const states = [...crashStates(base, disk.journal, disk.journal.length, { seed: 1 })]
    return states.map(({ image }) => new MemoryDisk({ image }).stat('/a')!.mtimeMs)
  }
  expect(new Set(times())).toEqual(new Set([1, 7]))
  disk.sync(fd)
  expect(times()).toEqual([7])
})

test('states of all points equal those of each point and depend only on the seed', () => {
  const disk = new MemoryDisk()
  const base = disk.checkpoint()
  disk.mkdir('/d')
  append(disk, '/d/a', 2, 2 * PAGE, true)
  disk.syncDirectory('/d')
  append(disk, '/d/a', 3, 2 * PAGE)
  disk.rename('/d/a', '/b')
  const options = { seed: 5, random: 3 }
  const all = [...allCrashStates(base, disk.journal, options)]
  const each = Array.from({ length: disk.journal.length + 1 }, (_, point) => [
    ...crashStates(base, disk.journal, point, options),
  ]).flat()
  expect(all).toEqual(each)
  expect(all.length).toBeGreaterThan(disk.journal.length)
  expect([...allCrashStates(base, disk.journal, { ...options, seed: 6 })]).not.toEqual(all)
  for (const { image } of all) expect(() => new MemoryDisk({ image })).not.toThrow()
})
