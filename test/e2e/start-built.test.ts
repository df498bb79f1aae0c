/** `npm start` builds after changes alone. scripts/lib/built.mjs */
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
const BUILT = ['bin/pminfo', 'share/web/index.html', 'bin/parts/start.cjs']

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'start-built-'))
  for (const dir of ['src/a', 'scripts', 'bin/parts', 'share/web', 'dist'])
    mkdirSync(file(dir), { recursive: true })
  for (const name of [...FILES, ...BUILT]) writeFileSync(file(name), '')
})
afterEach(() => rmSync(top, { recursive: true }))

/** Builds, and puts that between the last change and the next: a file that was made in the same moment counts as changed. */
function built(what: 'bin' | 'all' = 'bin'): void {
  beginBuild(top, what)()
  const after = Math.ceil(Math.max(...[...FILES, ...DIRS].map((name) => statSync(file(name)).ctimeMs))) + 1
  do utimesSync(file('.built'), after / 1000, after / 1000)
  while (statSync(file('.built')).ctimeMs <= after)
}

test('what was built is built until something changes, also where a copy keeps its time', () => {
  expect(isBuilt(top)).toBe(false)
  for (const name of FILES) {
    built()
    expect(isBuilt(top), name).toBe(true)
    utimesSync(file(name), 0, 0)
    expect(isBuilt(top), name).toBe(false)
  }
})

test('a build of the commands is no build of the library', () => {
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

test('what is removed is a change', () => {
  built()
  expect(isBuilt(top)).toBe(true)
  rmSync(file('src/a/one.ts'))
  expect(isBuilt(top)).toBe(false)
})

test('a build of a time that is yet to come does not count: the clock was set back', () => {
  built()
  const later = Date.now() / 1000 + 60
  utimesSync(file('.built'), later, later)
  expect(isBuilt(top)).toBe(false)
})

test('a build that was broken off, or whose files are gone, does not count', () => {
  built()
  expect(isBuilt(top)).toBe(true)
  beginBuild(top)
  expect(isBuilt(top)).toBe(false)
  built()
  expect(isBuilt(top)).toBe(true)
  rmSync(file('bin/parts/start.cjs'))
  expect(isBuilt(top)).toBe(false)
})
