/** `npm start` builds only after changes. scripts/lib/built.mjs */
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
// @ts-expect-error plain JavaScript, for before anything is installed
import { beginBuild, isBuilt } from '../../scripts/lib/built.mjs'

let top: string
const file = (name: string): string => join(top, name)
const FILES = [
  'src/a/one.ts',
  'src/two.ts',
  'scripts/three.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]
const DIRS = ['src', 'src/a', 'scripts']
const BUILT = ['bin/pminfo', 'share/web/index.html', 'bin/parts/start-collector.cjs']

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'start-built-'))
  for (const dir of ['src/a', 'scripts', 'bin/parts', 'share/web', 'dist'])
    mkdirSync(file(dir), { recursive: true })
  for (const name of [...FILES, ...BUILT]) writeFileSync(file(name), '')
})
afterEach(() => rmSync(top, { recursive: true }))

/** Builds with a time between the last change and the next: a file of the same time counts as changed. */
function built(what: 'bin' | 'all' = 'bin'): void {
  beginBuild(top, what)()
  const after = Math.ceil(Math.max(...[...FILES, ...DIRS].map((name) => statSync(file(name)).ctimeMs))) + 1
  do utimesSync(file('.built'), after / 1000, after / 1000)
  while (statSync(file('.built')).ctimeMs <= after)
}

test('a build is current until a file changes, even if a copy keeps its time', () => {
  expect(isBuilt(top)).toBe(false)
  for (const name of FILES) {
    built()
    expect(isBuilt(top), name).toBe(true)
    utimesSync(file(name), 0, 0)
    expect(isBuilt(top), name).toBe(false)
  }
})

test('a build of the commands does not include the library', () => {
  built()
  for (const folder of ['esm', 'cjs', 'types', 'types-cjs']) mkdirSync(file(`dist/${folder}`))
  for (const name of ['esm/index.js', 'cjs/index.js', 'types/index.d.ts', 'types-cjs/index.d.ts'])
    writeFileSync(file(`dist/${name}`), '')
  built()
  expect([isBuilt(top), isBuilt(top, 'all')]).toEqual([true, false])
  built('all')
  expect([isBuilt(top), isBuilt(top, 'all')]).toEqual([true, true])
  rmSync(file('dist/cjs/index.js'))
  expect([isBuilt(top), isBuilt(top, 'all')]).toEqual([true, false])
})

test('a removed file is a change', () => {
  built()
  expect(isBuilt(top)).toBe(true)
  rmSync(file('src/a/one.ts'))
  expect(isBuilt(top)).toBe(false)
})

test('a build with a future time does not count: the clock was set back', () => {
  built()
  const later = Date.now() / 1000 + 60
  utimesSync(file('.built'), later, later)
  expect(isBuilt(top)).toBe(false)
})

test('an interrupted build, or one with missing files, does not count', () => {
  built()
  expect(isBuilt(top)).toBe(true)
  beginBuild(top)
  expect(isBuilt(top)).toBe(false)
  built()
  expect(isBuilt(top)).toBe(true)
  rmSync(file('bin/parts/start-collector.cjs'))
  expect(isBuilt(top)).toBe(false)
})
