import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CgroupFiles, CgroupSnapshot } from '../../../src/agents/proc/cgroup-tree.ts'
import { ProcessFiles } from '../../../src/agents/proc/process-files.ts'

let root: string
let files: CgroupFiles
let now: number

const V1 = 'sys/fs/cgroup/memory'
const V2 = 'sys/fs/cgroup/unified'

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cgroup-'))
  for (const directory of ['proc', `${V1}/a/b`, `${V1}/c`, `${V2}/x`]) make(directory)
  write('proc/cgroups', '#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t4\t3\t1\n')
  write(
    'proc/mounts',
    `cgroup /${V1} cgroup rw,memory 0 0\ncgroup2 /${V2} cgroup2 rw,nsdelegate 0 0\nproc /proc proc rw 0 0\n`,
  )
  now = 1000
  files = new CgroupFiles(root, new ProcessFiles('/'), () => now)
})

afterEach(() => {
  files.close()
  rmSync(root, { recursive: true })
})

const make = (path: string): unknown => mkdirSync(join(root, path), { recursive: true })
const remove = (path: string): void => rmSync(join(root, path), { recursive: true })
const write = (path: string, text: string): void => writeFileSync(join(root, path), text)
const snapshot = (): CgroupSnapshot => new CgroupSnapshot(files)
const names = (): string[] =>
  snapshot()
    .withController('memory')
    .map(({ name }) => name)

test('groups come and go, also when as many are there as before', () => {
  expect(names()).toEqual(['/', '/a', '/a/b', '/c'])
  expect(names()).toEqual(['/', '/a', '/a/b', '/c'])
  make(`${V1}/a/d`)
  expect(names()).toEqual(['/', '/a', '/a/b', '/a/d', '/c'])
  remove(`${V1}/a/b`)
  make(`${V1}/a/e/f`)
  expect(names()).toEqual(['/', '/a', '/a/d', '/a/e', '/a/e/f', '/c'])
  remove(`${V1}/a`)
  make(`${V1}/z`)
  expect(names()).toEqual(['/', '/c', '/z'])
  remove(V1)
  expect(names()).toEqual([])
})

test('a group that was made anew under its name has the files it has now', () => {
  const text = (): string | undefined => {
    const all = snapshot()
    const group = all.withController('memory').find(({ name }) => name === '/c')!
    return all.text(group, 'memory.stat')
  }
  expect(text()).toBeUndefined()
  make(`${V1}/other`) // keeps the number of the directory from being used again
  remove(`${V1}/c`)
  make(`${V1}/fresh`)
  make(`${V1}/c`)
  write(`${V1}/c/memory.stat`, 'cache 7\n')
  now += 10_000
  expect(text()).toBe('\ncache 7\n')
  write(`${V1}/c/memory.stat`, 'cache 8\n')
  expect(text()).toBe('\ncache 8\n')
})

test('files of version 2 are there as soon as their controller is', () => {
  const text = (): string | undefined => {
    const all = snapshot()
    return all.text(all.unified.find(({ name }) => name === '/x')!, 'memory.current')
  }
  write(`${V2}/x/cgroup.controllers`, 'cpu\n')
  expect(text()).toBeUndefined()
  write(`${V2}/x/memory.current`, '5\n')
  write(`${V2}/x/cgroup.controllers`, 'cpu memory\n')
  expect(text()).toBe('\n5\n')
})

test('mounts are read again when the table changes', () => {
  expect(snapshot().mounts.map(({ controllers }) => controllers)).toEqual([['memory'], []])
  write('proc/mounts', `cgroup /${V1} cgroup rw,memory,cpu 0 0\n`)
  expect(snapshot().mounts.map(({ controllers }) => controllers)).toEqual([['memory']])
  write('proc/cgroups', 'memory 4 3 1\ncpu 4 3 1\n')
  expect(snapshot().mounts.map(({ controllers }) => controllers)).toEqual([['memory', 'cpu']])
})
