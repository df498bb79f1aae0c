/** Upgrades of state directories: every step survives a kill and a power cut at every point. docs/reference/state.md */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeText } from '../../src/base/text.ts'
import { MIGRATIONS } from '../../src/start/state-migrations.ts'
import {
  type Migrations,
  readStateVersion,
  refuseNewerState,
  type StateRoots,
  upgradeFile,
  upgradeState,
  withStateLock,
} from '../../src/start/state-version.ts'
import type { Disk } from '../../src/sys/disk.ts'
import { takeLock } from '../../src/sys/file-lock.ts'
import { allCrashStates, crashStates } from '../lib/crash-states.ts'
import { generator } from '../lib/generator.ts'
import { MemoryDisk } from '../lib/memory-disk.ts'
import { readFile, writeFile } from '../lib/memory-files.ts'

const NOW = Date.UTC(2026, 0, 2)
const ROOTS: StateRoots = { settings: '/etc', data: '/lib', archives: '/archives' }

/** A later program: a file gets another name and form, then another form under the same name, while other directories wait. */
const LATER: Migrations = {
  settings: [
    { what: 'add the version file', apply: () => {} },
    {
      what: 'agents.conf becomes agents.json',
      apply: (root, disk) =>
        upgradeFile(disk, root, { from: 'agents.conf', to: 'agents.json' }, (text) =>
          JSON.stringify(text.trim().split('\n')),
        ),
    },
    {
      what: 'agents have settings',
      apply: (root, disk) =>
        upgradeFile(disk, root, { from: 'agents.json', to: 'agents.json' }, (text) => {
          const agents = JSON.parse(text) as unknown
          return Array.isArray(agents) ? JSON.stringify({ agents }) : text
        }),
    },
  ],
  data: [
    { what: 'add the version file', apply: () => {} },
    {
      what: 'numbers becomes numbers.2',
      apply: (root, disk) =>
        upgradeFile(disk, root, { from: 'numbers', to: 'numbers.2' }, (text) => `2 ${text}`),
    },
  ],
  archives: [{ what: 'add the version file', apply: () => {} }],
}

function oldDisk(): MemoryDisk {
  const disk = new MemoryDisk({})
  for (const dir of Object.values(ROOTS)) disk.mkdir(dir)
  writeFile(disk, '/etc/agents.conf', encodeText('disk\nnet\n'))
  writeFile(disk, '/lib/numbers', encodeText('1 red'))
  writeFile(disk, '/lib/other', encodeText('kept'))
  return new MemoryDisk({ image: disk.checkpoint() })
}

function contents(disk: Disk): Record<string, string> {
  const found: Record<string, string> = {}
  for (const dir of Object.values(ROOTS))
    for (const name of disk.list(dir))
      found[`${dir}/${name}`] = new TextDecoder().decode(readFile(disk, `${dir}/${name}`))
  return found
}

const state = (kind: string, version: number): unknown =>
  expect.stringMatching(new RegExp(`^{"kind":"${kind}","version":${version},"writtenBy":"pcp-ts `))

const UPGRADED = {
  '/etc/agents.json': '{"agents":["disk","net"]}',
  '/etc/state.json': state('settings', 3),
  '/lib/numbers.2': '2 1 red',
  '/lib/other': 'kept',
  '/lib/state.json': state('data', 2),
  '/archives/state.json': state('archives', 1),
}

test('steps run in order, each once, and are reported', () => {
  const disk = oldDisk()
  expect(
    upgradeState(ROOTS, LATER, NOW, disk).map(({ kind, from, what }) => `${kind} ${from}: ${what}`),
  ).toEqual([
    'settings 0: add the version file',
    'settings 1: agents.conf becomes agents.json',
    'settings 2: agents have settings',
    'data 0: add the version file',
    'data 1: numbers becomes numbers.2',
    'archives 0: add the version file',
  ])
  expect(contents(disk)).toEqual(UPGRADED)
  expect(upgradeState(ROOTS, LATER, NOW, disk)).toEqual([])
})

test('an upgrade continues after a kill or a power cut at any point, and loses nothing', () => {
  const disk = oldDisk()
  const base = disk.checkpoint()
  upgradeState(ROOTS, LATER, NOW, disk)
  const next = generator(1)
  let states = 0
  for (const { name, image } of allCrashStates(base, disk.journal, { seed: 1, random: 8 })) {
    states++
    const again = new MemoryDisk({ image })
    upgradeState(ROOTS, LATER, NOW, again)
    expect(contents(again), name).toEqual(UPGRADED)
    // A second cut, anywhere in the repetition.
    const second = new MemoryDisk({ image })
    const from = second.checkpoint()
    upgradeState(ROOTS, LATER, NOW, second)
    if (second.journal.length === 0) continue
    const point = 1 + next(second.journal.length)
    for (const twice of crashStates(from, second.journal, point, { seed: 2, random: 1 })) {
      const last = new MemoryDisk({ image: twice.image })
      upgradeState(ROOTS, LATER, NOW, last)
      expect(contents(last), `${name}, then ${twice.name}`).toEqual(UPGRADED)
    }
  }
  expect(states).toBeGreaterThan(100)
})

test('a full disk leaves the old files, and the upgrade continues later', () => {
  let left = 0
  for (let failing = 0; ; failing++) {
    const image = oldDisk().checkpoint()
    let isFull = true
    const disk = new MemoryDisk({
      image,
      fault: ({ name, change }) => (isFull && name === 'write' && change === failing ? 'ENOSPC' : undefined),
    })
    let failed = false
    try {
      upgradeState(ROOTS, LATER, NOW, disk)
    } catch (error) {
      failed = true
      expect(error).toMatchObject({ code: 'ENOSPC' })
    }
    isFull = false
    if (failed) left++
    upgradeState(ROOTS, LATER, NOW, disk)
    expect(contents(disk)).toEqual(UPGRADED)
    if (failing > disk.journal.length) break
  }
  // Six version files and three converted files are written.
  expect(left).toBe(9)
})

test('an older program refuses what a newer one upgraded, also if only one directory is newer', () => {
  const disk = oldDisk()
  upgradeState(ROOTS, LATER, NOW, disk)
  const before = contents(disk)
  expect(() => upgradeState(ROOTS, MIGRATIONS, NOW, disk)).toThrow(/settings have format 3 of pcp-ts /)
  disk.unlink('/etc/state.json')
  expect(() => refuseNewerState(ROOTS, MIGRATIONS, disk)).toThrow(/the data have format 2 .* up to 1/)
  expect(contents(disk)).toEqual({ ...before, '/etc/state.json': undefined })
})

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-state-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

function realRoots(): StateRoots & { readonly settings: string } {
  const roots = { settings: join(dir, 'etc'), data: join(dir, 'lib'), archives: join(dir, 'archives') }
  for (const root of Object.values(roots)) mkdirSync(root)
  return roots
}

test('two starts at once upgrade one after the other', async () => {
  const roots = realRoots()
  const upgrades = await Promise.all(
    [1, 2, 3].map(() => withStateLock(roots, () => upgradeState(roots, LATER, NOW))),
  )
  expect(upgrades.map((applied) => applied.length).sort()).toEqual([0, 0, 6])
  expect(readStateVersion(roots.settings, 'settings')).toBe(3)
  expect(readdirSync(roots.settings)).toEqual(['state.json'])
})

test('a start that waits too long names the process that upgrades', async () => {
  const roots = realRoots()
  const lock = await takeLock(join(roots.settings, '.state.lock'), { limitMs: 0 })
  await expect(withStateLock(roots, () => 'ran', 0)).rejects.toThrow(
    new RegExp(`^${roots.settings} is being upgraded by process .*:${process.pid}: wait for it`),
  )
  lock!.release()
  expect(await withStateLock(roots, () => 'ran', 0)).toBe('ran')
})
