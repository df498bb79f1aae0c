import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ParsedFile, ProcFile, readAttribute, readSmallFile, rooted } from '../../src/sys/proc.ts'

let root: string
let file: ProcFile

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'proc-'))
  mkdirSync(join(root, 'proc'))
  file = new ProcFile(root, '/proc/x')
})

afterEach(() => {
  file.close()
  rmSync(root, { recursive: true })
})

const write = (text: string | Uint8Array): void => writeFileSync(join(root, 'proc/x'), text)

test('a file opened in advance stays open; otherwise the first read opens it', () => {
  file.prepare()
  expect(() => file.text()).toThrow('ENOENT')
  write('first')
  file.prepare()
  renameSync(join(root, 'proc/x'), join(root, 'proc/y'))
  write('second')
  expect(file.text()).toBe('first')
})

test('each read returns the present content', () => {
  write('one\n')
  expect(file.text()).toBe('one\n')
  write('number two\n')
  expect(file.latin1()).toBe('number two\n')
  write('3')
  expect([...file.read()]).toEqual([0x33])
  expect(file.scan().uint()).toBe(3)
})

test('reads files larger than its first buffer', () => {
  const text = 'x'.repeat(100_000)
  write(text)
  expect(file.text() === text).toBe(true)
  write('short')
  expect(file.text()).toBe('short')
})

test('tables of sockets and files in one piece are read to their end', () => {
  mkdirSync(join(root, 'proc/net'))
  for (const path of ['/proc/net/tcp', '/proc/net/snmp'])
    for (const length of [0, 100, 3900, 4000, 4096, 4097, 30_000]) {
      writeFileSync(join(root, path), 'x'.repeat(length))
      const each = new ProcFile(root, path)
      expect([path, each.read().length]).toEqual([path, length])
      expect([path, each.read().length]).toEqual([path, length])
      each.close()
    }
})

test('names a missing file, and reads it once it exists', () => {
  expect(() => file.read()).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  expect(() => file.read()).toThrow(join(root, 'proc/x'))
  write('here')
  expect(file.text()).toBe('here')
})

test('notices that a file was replaced or removed', () => {
  write('old')
  expect(file.text()).toBe('old')
  writeFileSync(join(root, 'new'), 'new')
  renameSync(join(root, 'new'), join(root, 'proc/x'))
  expect(file.text()).toBe('new')
  rmSync(join(root, 'proc/x'))
  expect(() => file.read()).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})

test('a directory is an error that names it', () => {
  const dir = new ProcFile(root, '/proc')
  expect(() => dir.read()).toThrow(expect.objectContaining({ code: 'EISDIR' }))
  expect(() => dir.read()).toThrow(join(root, 'proc'))
})

test('can be read again after it was closed', () => {
  write('a')
  expect(file.text()).toBe('a')
  file.close()
  file.close()
  expect(file.text()).toBe('a')
})

test.runIf(process.platform === 'linux')('reads files of the real /proc, whose size is unknown', () => {
  const stat = new ProcFile('/', '/proc/self/stat')
  expect(stat.scan().uint()).toBe(process.pid)
  const maps = new ProcFile('/', '/proc/self/maps')
  expect(maps.text().trimEnd().split('\n').length).toBeGreaterThan(20)
  stat.close()
  maps.close()
})

test('readSmallFile reads text of any size and names a missing file', () => {
  const text = 'ü'.repeat(150_000)
  write(text)
  expect(readSmallFile(root, '/proc/x') === text).toBe(true)
  expect(() => readSmallFile(root, '/proc/y')).toThrow(join(root, 'proc/y'))
})

test('readAttribute trims, and returns undefined for an unreadable file', () => {
  write(' 1000\n')
  expect(readAttribute(root, '/proc/x')).toBe('1000')
  expect(readAttribute(root, '/proc/y')).toBeUndefined()
  expect(readAttribute(root, '/proc')).toBeUndefined()
})

test('rooted puts a path below a root', () => {
  expect(rooted('/', '/proc/stat')).toBe('/proc/stat')
  expect(rooted('', '/proc/stat')).toBe('/proc/stat')
  expect(rooted('/tmp/x', '/proc/stat')).toBe('/tmp/x/proc/stat')
  expect(rooted('/tmp/x/', '/proc/stat')).toBe('/tmp/x/proc/stat')
})

test('a file is parsed again only when it changes', () => {
  const root = mkdtempSync(join(tmpdir(), 'parsed-'))
  const file = new ProcFile(root, '/x')
  const parsed = new ParsedFile(file, (text) => {
    if (text === 'bad') throw new Error('bad')
    return { text }
  })
  const write = (text: string): void => writeFileSync(join(root, 'x'), text)
  expect(() => parsed.read()).toThrow('ENOENT')
  write('one')
  const first = parsed.read()
  expect([first.text, parsed.read() === first]).toEqual(['one', true])
  write('two')
  expect(parsed.read().text).toBe('two')
  write('bad')
  expect(() => parsed.read()).toThrow('bad')
  expect(() => parsed.read()).toThrow('bad')
  write('two, again')
  expect(parsed.read().text).toBe('two, again')
  file.close()
  rmSync(root, { recursive: true })
})
