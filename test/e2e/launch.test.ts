/** The launcher of commands, with a test piece that reports whether its code came from the cache. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

let home: string
let launcher: string

const PIECE = `
exports.tool = { answer: 'done' }
exports.main = async (tool) => {
  process.stdout.write(tool.answer + ' ' + require('more/b').more + ' ' + require('node:path').basename(__filename))
  process.exit(process.argv.includes('fail') ? 1 : 0)
}
`
const MORE = `exports.more = 'and more'`
const DONE = 'done and more x.pack.js'

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'pcp-launch-'))
  mkdirSync(join(home, 'parts'))
  const { outputFiles } = await build({
    entryPoints: ['src/tools/launch.ts'],
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'iife',
    globalName: 'start',
    write: false,
  })
  launcher = outputFiles[0]!.text
})
afterAll(() => rmSync(home, { recursive: true }))
beforeEach(() => {
  rmSync(join(home, 'cache'), { recursive: true, force: true })
  install(PIECE, 'one')
})

/** Installs a command like the build, with another that shares a pack. */
function install(piece: string, hash: string, more = MORE): void {
  const packs = { x: ['a', piece], y: ['a', piece], more: ['b', more] }
  for (const [pack, [name, text]] of Object.entries(packs))
    writeFileSync(
      join(home, 'parts', `${pack}.pack.js`),
      `"use strict";({${name}:function(exports,require,__filename,__dirname,__import){${text}}})`,
    )
  const hashes = JSON.stringify({ x: hash, y: hash, more: 'never' })
  for (const name of ['x', 'y'])
    writeFileSync(
      join(home, name),
      `${launcher}\nstart.launch('${name}/a', { folder: __dirname + '/parts', hashes: ${hashes}, require }, false)\n`,
    )
}

function run(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}, name = 'x'): string {
  const cache = { XDG_CACHE_HOME: join(home, 'cache'), NODE_EXTRA_CA_CERTS: '', NODE_OPTIONS: '' }
  const { stdout, stderr } = spawnSync(process.execPath, [join(home, name), ...args], {
    env: { ...process.env, ...cache, ...env },
    encoding: 'utf8',
  })
  return stdout + stderr
}

const cached = (): string[] => {
  try {
    return readdirSync(join(home, 'cache', 'pcp-ts')).sort()
  } catch {
    return []
  }
}
const inode = (name: string): string =>
  execFileSync('stat', ['-c', '%i %y', join(home, 'cache', 'pcp-ts', name)], { encoding: 'utf8' })

test('compiled code of a successful command is cached, that of a pack once for all commands', () => {
  expect(run()).toBe(DONE)
  expect(cached()).toEqual(['more', 'x'])
  const before = inode('more')
  expect(run([], {}, 'y')).toBe(DONE.replace('x.pack', 'y.pack'))
  expect(cached()).toEqual(['more', 'x', 'y'])
  // Code that the other command ran is added.
  expect(inode('more')).not.toBe(before)
  expect(programsOf('more')).toEqual(['x/a.live', 'y/a.live'])
})

test('commands on archives add the code they run', () => {
  run()
  run(['-a', 'archive'])
  expect(programsOf('x')).toEqual(['x/a.live', 'x/a.archive'])
})

test('cached code is used, and not written again', () => {
  run()
  const before = [inode('x'), inode('more')]
  expect(run()).toBe(DONE)
  expect([inode('x'), inode('more')]).toEqual(before)
})

/** Returns the commands whose functions are in a pack's cached code. */
function programsOf(pack: string): string[] {
  const bytes = readFileSync(join(home, 'cache', 'pcp-ts', pack))
  return bytes.toString('latin1', 128 + 2 * bytes.readUInt32LE(124)).split(' ')
}

test('code of a failing command is not cached', () => {
  run(['fail'])
  expect(cached()).toEqual([])
})

test('code of another build is replaced, even where its length is the same', () => {
  run()
  install(PIECE.replace("'done'", "'gone'"), 'two')
  expect(run()).toBe(DONE.replace('done', 'gone'))
  const before = inode('x')
  expect(run()).toBe(DONE.replace('done', 'gone'))
  expect(inode('x')).toBe(before)
})

test('damaged code is not run: it would crash the process', () => {
  run()
  const file = join(home, 'cache', 'pcp-ts', 'x')
  const bytes = readFileSync(file)
  for (const at of [130, bytes.length >> 1, bytes.length - 1]) {
    const damaged = Buffer.from(bytes)
    damaged[at]! ^= 0xff
    writeFileSync(file, damaged)
    expect(run()).toBe(DONE)
  }
  writeFileSync(file, bytes.subarray(0, 1000))
  expect(run()).toBe(DONE)
})

test('a file that is too large is not read, but replaced', () => {
  run()
  const file = join(home, 'cache', 'pcp-ts', 'x')
  truncateSync(file, 17 * 1024 * 1024)
  expect(run(['-a', 'archive'])).toBe(DONE)
  expect(statSync(file).size).toBeLessThan(1024 * 1024)
  expect(programsOf('x')).toEqual(['x/a.archive'])
})

test('a new build removes week-old files of older builds and killed processes', () => {
  run()
  const folder = join(home, 'cache', 'pcp-ts')
  const long = Date.now() / 1000 - 8 * 24 * 3600
  for (const name of ['tools-x.live', 'x.4711', 'x.4712', 'x']) writeFileSync(join(folder, name), '')
  for (const name of ['tools-x.live', 'x.4711', 'more']) utimesSync(join(folder, name), long, long)
  expect(run()).toBe(DONE)
  expect(cached()).toEqual(['more', 'x', 'x.4712'])
})

test('a piece imports modules without warnings from Node', () => {
  const url = 'data:text/javascript,export const answer = 42'
  install(
    `exports.main = async () => process.stdout.write(String((await __import('${url}')).answer))`,
    'four',
  )
  expect(run()).toBe('42')
  expect(run()).toBe('42')
})

test('a piece that throws is not returned half initialised by a later require', () => {
  const ask = `(() => { try { return String(require('more/b').more) } catch (error) { return error.message } })()`
  install(
    `exports.main = async () => process.stdout.write(${ask} + ', ' + ${ask})`,
    'three',
    `throw Error('no')`,
  )
  expect(run()).toBe('no, no')
})

test('code in places that others can write is neither run nor written', () => {
  run()
  const before = inode('x')
  install(PIECE.replace("'done'", "'gone'"), 'two')
  chmodSync(join(home, 'cache', 'pcp-ts'), 0o777)
  expect(run()).toBe(DONE.replace('done', 'gone'))
  expect(inode('x')).toBe(before)
})

test('without a home directory, on request, and without a writable cache commands still run', () => {
  expect(run([], { NODE_DISABLE_COMPILE_CACHE: '1' })).toBe(DONE)
  expect(run([], { XDG_CACHE_HOME: '', HOME: '' })).toBe(DONE)
  for (const nowhere of ['/proc', '/dev/null', '/nonexistent/cache'])
    expect(run([], { XDG_CACHE_HOME: nowhere })).toBe(DONE)
  expect(cached()).toEqual([])
})

test.skipIf(process.geteuid?.() !== 0)('nothing is created or run in the home of another user', () => {
  const theirs = join(home, 'theirs')
  mkdirSync(theirs)
  const [id, env] = [65_534, { XDG_CACHE_HOME: '', HOME: theirs }]
  chownSync(theirs, id, id)
  expect(run([], env)).toBe(DONE)
  expect(readdirSync(theirs)).toEqual([])
  chownSync(theirs, 0, 0)
  run([], env)
  const file = join(theirs, '.cache', 'pcp-ts', 'x')
  const before = statSync(file).ino
  chownSync(theirs, id, id)
  install(PIECE.replace("'done'", "'gone'"), 'two')
  expect(run([], env)).toBe(DONE.replace('done', 'gone'))
  expect(statSync(file).ino).toBe(before)
})
