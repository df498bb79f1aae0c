import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EngineFiles, jsonObject, MAX_CONTAINERS } from '../../../src/sys/containers/engine-files.ts'
import { ContainerNames } from '../../../src/sys/containers/named.ts'
import { ContainerTree, dockerConfig, podmanEntry } from '../../lib/container-tree.ts'

let tree: ContainerTree
let files: EngineFiles
let logged: string[]
/** Long after every file of a tree was written. */
const LATER = Date.now() + 3_600_000

beforeEach(() => {
  tree = new ContainerTree()
  logged = []
  files = new EngineFiles(
    tree.root,
    () => LATER,
    (text) => logged.push(text),
  )
})
afterEach(() => tree.close())

const parsed = (path: string, parse: (text: string) => unknown = jsonObject): unknown =>
  files.inPass(() => files.parsed(path, 100, parse))

test('parses a file again only after it changed', () => {
  let count = 0
  const parse = (text: string): string => {
    count++
    return text
  }
  tree.write('a', 'one')
  expect(parsed('/a', parse)).toBe('one')
  expect(parsed('/a', parse)).toBe('one')
  expect(count).toBe(1)
  appendFileSync(join(tree.root, 'a'), ' two')
  expect(parsed('/a', parse)).toBe('one two')
  tree.remove('a')
  expect(parsed('/a', parse)).toBeUndefined()
  expect(logged).toEqual([])
})

test('a file that may still be changing is not kept', () => {
  files = new EngineFiles(
    tree.root,
    () => Date.now(),
    () => undefined,
  )
  let count = 0
  tree.write('a', 'one')
  const parse = (text: string): string => `${text}${++count}`
  const first = parsed('/a', parse)
  // whether it is parsed again depends on the time since it was written, its value does not
  expect(String(first)).toBe('one1')
  const changing = new EngineFiles(
    tree.root,
    () => Date.parse('2000-01-01'),
    () => undefined,
  )
  utimesSync(join(tree.root, 'a'), 0, 0)
  expect(changing.inPass(() => changing.parsed('/a', 100, (text) => text))).toBe('one')
})

test('skips what is no good, and logs it once', () => {
  tree.write('invalid', '{"State":{"Running":tr')
  tree.write('large', 'x'.repeat(101))
  tree.write('open', '{}')
  chmodSync(join(tree.root, 'open'), 0o666)
  mkdirSync(join(tree.root, 'directory'))
  symlinkSync('open', join(tree.root, 'link'))
  execFileSync('mkfifo', [join(tree.root, 'pipe')])
  for (let turn = 0; turn < 2; turn++)
    for (const path of ['/invalid', '/large', '/open', '/directory', '/link', '/pipe', '/missing'])
      expect(parsed(path)).toBeUndefined()
  expect(logged).toEqual([
    '/invalid: skipped: its content is invalid',
    '/large: skipped: it is larger than 100 bytes',
    '/open: skipped: it is writable by everybody',
    '/directory: skipped: it is not a regular file',
    '/link: skipped: ELOOP',
    '/pipe: skipped: it is not a regular file',
  ])
})

test('uses so many entries of a directory and no more', () => {
  for (let at = 0; at <= MAX_CONTAINERS; at++) mkdirSync(join(tree.root, `many/${at}`), { recursive: true })
  expect(files.inPass(() => files.names('/many', () => true)).length).toBe(MAX_CONTAINERS)
  expect(logged).toEqual(['/many: only 4096 of its 4097 entries are used'])
})

test('one broken file hides no other container', () => {
  const id = (digit: string): string => digit.repeat(64)
  tree.useUnified()
  tree.write(`var/lib/docker/containers/${id('1')}/config.v2.json`, '{"State":')
  tree.write(`var/lib/docker/containers/${id('2')}/config.v2.json`, dockerConfig('web', 0))
  tree.write('var/lib/containers/storage/overlay-containers/containers.json', '[{')
  tree.write('var/lib/containers/storage/vfs-containers/containers.json', [podmanEntry(id('3'), 'db')])
  const names = new ContainerNames(
    tree.root,
    {},
    () => LATER,
    (text) => logged.push(text),
  )
  const seen = (): string[] => names.look().containers.map(({ name }) => name)
  expect(seen()).toEqual(['111111111111', 'web', 'db'])
  expect(seen()).toEqual(['111111111111', 'web', 'db'])
  expect(logged.length).toBe(2)
})
