/** Unpacking the files of the single executable. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Packed, type Unpacker, unpack } from '../../../src/tools/executable/unpack.ts'

const DAY_MS = 86_400_000
const PROGRAM = '#!/usr/bin/env node\nrun()\n'
let root: string
let unpacked: number

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pcp-ts-unpack-'))
  unpacked = 0
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function packed(hash = 'a'.repeat(64)): Packed {
  const files = [
    ['bin/pminfo', 0o755, PROGRAM],
    ['share/web/index.html', 0o644, '<html>'],
    ['empty', 0o644, ''],
  ] as const
  return {
    hash,
    files: files.map(([path, mode, text]) => [path, mode, text.length] as const),
    contents: () => {
      unpacked++
      return Buffer.from(files.map(([, , text]) => text).join(''))
    },
  }
}

function who(env: Unpacker['env'] = { HOME: root }, more: Partial<Unpacker> = {}): Unpacker {
  const uid = process.geteuid!()
  return { env, uid, pid: 1, execPath: '/opt/pcp-ts', now: () => Date.now(), ...more }
}
const system = (): string => join(root, 'system')
/** An account other than root, so that no directory of the system is used. */
const plain = (env: Unpacker['env'], more: Partial<Unpacker> = {}): Unpacker =>
  who({ ...env, PCP_TS_UNPACK_DIR: env['PCP_TS_UNPACK_DIR'] ?? join(root, 'own') }, more)

test('writes all files once, and programs that this executable runs', () => {
  const dir = unpack(packed(), plain({}), system())
  expect(readFileSync(join(dir, 'bin/pminfo'), 'utf8')).toBe('#!/opt/pcp-ts\nrun()\n')
  expect(statSync(join(dir, 'bin/pminfo')).mode & 0o777).toBe(0o755)
  expect(readFileSync(join(dir, 'share/web/index.html'), 'utf8')).toBe('<html>')
  expect(readFileSync(join(dir, 'empty'), 'utf8')).toBe('')
  expect(statSync(join(root, 'own')).mode & 0o777).toBe(0o700)
  expect(unpack(packed(), plain({}), system())).toBe(dir)
  expect(unpacked).toBe(1)
})

test('keeps the first line of programs if Linux could not run this executable by it', () => {
  const dir = unpack(packed(), plain({}, { execPath: '/opt/my tools/pcp-ts' }), system())
  expect(readFileSync(join(dir, 'bin/pminfo'), 'utf8')).toBe(PROGRAM)
})

test('replaces a directory with a missing or shortened file', () => {
  const dir = unpack(packed(), plain({}), system())
  rmSync(join(dir, 'empty'))
  expect(unpack(packed(), plain({}), system())).toBe(dir)
  expect(existsSync(join(dir, 'empty'))).toBe(true)
  writeFileSync(join(dir, 'share/web/index.html'), '<')
  unpack(packed(), plain({}), system())
  expect(readFileSync(join(dir, 'share/web/index.html'), 'utf8')).toBe('<html>')
  expect(unpacked).toBe(3)
  expect(readdirSync(join(root, 'own'))).toHaveLength(1)
})

test('has separate directories for other builds and other executables', () => {
  const dirs = [
    unpack(packed(), plain({}), system()),
    unpack(packed('b'.repeat(64)), plain({}), system()),
    unpack(packed(), plain({}, { execPath: '/home/me/pcp-ts' }), system()),
  ]
  expect(new Set(dirs).size).toBe(3)
})

test('refuses a directory that others can write to, and takes the next', () => {
  const open = join(root, 'open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  expect(() => unpack(packed(), plain({ PCP_TS_UNPACK_DIR: open }), system())).toThrow(
    /writable by everybody.*PCP_TS_UNPACK_DIR/,
  )
  const home = join(root, 'home')
  mkdirSync(home)
  const env = { XDG_CACHE_HOME: open, HOME: home }
  expect(unpack(packed(), who(env, { uid: process.geteuid!() || 1 }), system())).toContain(home)
  expect(readdirSync(open)).toEqual([])
})

test('takes the directory of a service before that of a home', () => {
  const cache = join(root, 'service')
  const env = { CACHE_DIRECTORY: `${cache}:/other`, HOME: root }
  mkdirSync(cache)
  expect(unpack(packed(), who(env, { uid: process.geteuid!() || 1 }), system())).toContain(cache)
})

test('for root, unpacks where other accounts can read, and they use it', () => {
  const dir = unpack(packed(), who({ HOME: join(root, 'missing') }, { uid: 0 }), system())
  expect(dir.startsWith(`${system()}/`)).toBe(true)
  for (const path of [system(), dir, join(dir, 'share'), join(dir, 'share/web')])
    expect(statSync(path).mode & 0o777).toBe(0o755)
  expect(unpack(packed(), plain({}), system())).toBe(dir)
  expect(unpacked).toBe(1)
})

test('keeps the builds used last, and removes what killed processes left', () => {
  const own = join(root, 'own')
  const names = [...'bcdefgh'].map((letter) => letter.repeat(16).replaceAll(/[gh]/g, '1'))
  let age = names.length
  for (const name of new Set(names)) {
    mkdirSync(join(own, `${name}-00000000`), { recursive: true, mode: 0o700 })
    const time = Date.now() / 1000 - age-- * 3600
    utimesSync(join(own, `${name}-00000000`), time, time)
  }
  chmodSync(own, 0o700)
  const left = join(own, `${'a'.repeat(16)}-00000000.77`)
  mkdirSync(left)
  utimesSync(left, 1, 1)
  const foreign = join(own, 'notes')
  mkdirSync(foreign)
  utimesSync(foreign, 1, 1)
  const now = Date.now() + DAY_MS
  const dir = unpack(packed(), plain({}, { now: () => now }), system())
  const kept = readdirSync(own).filter((name) => name !== 'notes')
  expect(kept).toHaveLength(5)
  expect(kept).toContain(dir.slice(own.length + 1))
  expect(kept.some((name) => name.startsWith('b'))).toBe(false)
  expect(existsSync(left)).toBe(false)
  expect(existsSync(foreign)).toBe(true)
})
