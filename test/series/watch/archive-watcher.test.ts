import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ArchiveWatcher, type ArchiveWatcherOptions } from '../../../src/series/watch/archive-watcher.ts'

const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp()
})

/** Notifications that a test sends. */
function manualWatch() {
  const listeners = new Map<string, (name: string) => void>()
  return {
    listeners,
    watch(directory: string, changed: (name: string) => void) {
      listeners.set(directory, changed)
      return () => void listeners.delete(directory)
    },
  }
}

function setUp(options: Partial<ArchiveWatcherOptions> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'watch-'))
  const events: string[] = []
  const warnings: string[] = []
  const manual = manualWatch()
  const watcher = new ArchiveWatcher([root], {
    onEvent: (event, base) => events.push(`${event} ${base.slice(root.length + 1)}`),
    onWarning: ({ message }) => warnings.push(message.replaceAll(root, 'ROOT')),
    watch: manual.watch,
    ...options,
  })
  cleanUps.push(
    () => rmSync(root, { recursive: true, force: true }),
    () => watcher.close(),
  )
  const put = (name: string, text = 'x'): void => appendFileSync(join(root, name), text)
  const taken = (): string[] => events.splice(0)
  return { root, watcher, manual, put, taken, warnings }
}

test('searches find archives that appear, grow and end, in new directories as well', () => {
  const { root, watcher, put, taken } = setUp()
  watcher.search()
  expect(taken()).toEqual([])
  mkdirSync(join(root, 'host'))
  put('host/a.meta')
  put('host/a.0')
  put('b.0')
  put('c.meta.xz')
  watcher.search()
  watcher.search()
  expect(taken()).toEqual(['found host/a'])
  put('host/a.0')
  watcher.search()
  expect(taken()).toEqual(['grew host/a'])
  renameSync(join(root, 'host/a.meta'), join(root, 'host/a.meta.xz'))
  watcher.search()
  expect(taken()).toEqual(['ended host/a'])
  put('host/d.meta')
  watcher.search()
  rmSync(join(root, 'host'), { recursive: true })
  watcher.search()
  expect(taken()).toEqual(['found host/d', 'ended host/d'])
  expect(watcher.count).toBe(0)
  expect(watcher.directories.all).toBe(1)
})

test('notifications report growth and new archives without a search of everything', () => {
  const { root, watcher, manual, put, taken } = setUp()
  put('a.meta')
  put('a.0')
  watcher.search()
  taken()
  const changed = (name: string): void => manual.listeners.get(root)!(name)
  put('a.0')
  changed('a.0')
  expect(taken()).toEqual(['grew a'])
  watcher.search()
  expect(taken()).toEqual([])
  put('b.meta')
  changed('b.meta')
  changed('lock')
  put('b.1.xz')
  changed('b.1.xz')
  expect(taken()).toEqual(['found b', 'grew b'])
  mkdirSync(join(root, 'new'))
  put('new/c.meta')
  changed('new')
  expect(taken()).toEqual(['found new/c'])
  expect(manual.listeners.size).toBe(2)
  rmSync(join(root, 'a.meta'))
  changed('a.meta')
  expect(taken()).toEqual(['ended a'])
})

test('numbers of archives and directories are limited, with one warning each', () => {
  const { root, watcher, put, taken, warnings } = setUp({ maxArchives: 2, maxDirectories: 2 })
  for (const name of ['a', 'b', 'c', 'd']) put(`${name}.meta`)
  for (const name of ['1', '2', '3']) mkdirSync(join(root, name))
  watcher.search()
  watcher.search()
  expect(taken()).toHaveLength(2)
  expect(warnings).toEqual([
    expect.stringMatching(/^more than 2 archives: ROOT\/. and others are ignored$/),
    expect.stringMatching(/^more than 2 directories of archives: ROOT\/. and others are ignored$/),
  ])
})

test('without notifications, searches do the work', () => {
  const { watcher, put, taken, warnings } = setUp({
    watch: () => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
    },
  })
  put('a.meta')
  watcher.search()
  expect(taken()).toEqual(['found a'])
  expect(watcher.directories).toEqual({ all: 1, notified: 0 })
  expect(warnings).toEqual([expect.stringMatching(/its archives are searched instead of watched$/)])
})

test('a missing directory is watched when it appears', () => {
  const { root, taken } = setUp()
  const late = join(root, 'late')
  const events: string[] = []
  const watcher = new ArchiveWatcher([late], { onEvent: (event) => events.push(event) })
  cleanUps.push(() => watcher.close())
  watcher.search()
  mkdirSync(late)
  writeFileSync(join(late, 'a.meta'), '')
  watcher.search()
  expect(events).toEqual(['found'])
  expect(taken()).toEqual([])
})

test('notifications of the system arrive', async () => {
  const root = mkdtempSync(join(tmpdir(), 'watch-'))
  writeFileSync(join(root, 'a.meta'), '')
  const grown = new Promise<string>((resolve) => {
    const watcher = new ArchiveWatcher([root], {
      searchMs: 3_600_000,
      onEvent: (event, base) => {
        if (event === 'grew') resolve(base)
      },
    })
    cleanUps.push(
      () => rmSync(root, { recursive: true, force: true }),
      () => watcher.close(),
    )
    watcher.start()
  })
  appendFileSync(join(root, 'a.0'), 'x')
  expect(await grown).toBe(join(root, 'a'))
})
