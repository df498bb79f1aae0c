import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { cacheDir } from '../../../src/pmda/cache/directory.ts'
import { InstanceCache } from '../../../src/pmda/cache/instance-cache.ts'

const top = mkdtempSync(join(tmpdir(), 'instance-cache-'))
afterAll(() => rmSync(top, { recursive: true }))

let dir = ''
let now = 1_700_000_000
let number = 0
beforeEach(() => {
  dir = join(top, String(number++))
  now = 1_700_000_000
})

function open<T = undefined>(options: { isDictionary?: boolean; said?: string[] } = {}): InstanceCache<T> {
  const { isDictionary = false, said = [] } = options
  return new InstanceCache<T>({
    domain: 481,
    serial: 7,
    dir,
    isDictionary,
    clock: () => now * 1000,
    log: (_, text) => said.push(text),
  })
}
const saved = (): string => readFileSync(join(dir, '481.7'), 'utf8')
const save = (text: string): void => {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, '481.7'), text)
}

test('instances keep their identifiers while they are inactive', () => {
  const cache = open<string>()
  expect([cache.add('red', 'r'), cache.add('green'), cache.add('blue')]).toEqual([0, 1, 2])
  expect(cache.hide('green')).toBe(1)
  expect(cache.list()).toEqual({ ids: [0, 2], names: ['red', 'blue'] })
  expect(cache.find('green')).toMatchObject({ id: 1, isActive: false })
  expect(cache.add('green', 'g')).toBe(1)
  expect(cache.get(1)).toMatchObject({ name: 'green', isActive: true, data: 'g' })
  expect(cache.list().ids).toEqual([0, 1, 2])
  expect(cache.sizes).toEqual({ active: 3, inactive: 0, culled: 0 })
})

test('the listing is the same object, and the version the same, until instances come or go', () => {
  const cache = open()
  cache.add('a')
  const { version } = cache
  const listing = cache.list()
  cache.add('a')
  expect(cache.list()).toBe(listing)
  expect(cache.version).toBe(version)
  cache.hide('a')
  expect(cache.version).not.toBe(version)
  expect(cache.list().ids).toEqual([])
})

test('a name is identified by its part before the first space', () => {
  const cache = open()
  cache.add('foo bar')
  expect(cache.find('foo')?.id).toBe(0)
  expect(cache.find('foo bar')?.id).toBe(0)
  expect(cache.find('food')).toBeUndefined()
  for (const ask of [() => cache.find('foo x'), () => cache.add('foo x'), () => cache.hide('foo x')])
    expect(ask).toThrow('"foo x" and "foo bar" do not differ before the first space')
})

test('invalid names are refused', () => {
  expect(() => open().add('')).toThrow('cannot be the name of an instance')
  expect(() => open().add('a\nb')).toThrow('cannot be the name of an instance')
  expect(() => open().hide('a')).toThrow('no instance "a"')
  expect(() => open().cull('a')).toThrow('no instance "a"')
})

test('a dictionary takes any text', () => {
  const cache = open({ isDictionary: true })
  expect(['one two', 'one three', '', 'one two'].map((name) => cache.add(name))).toEqual([0, 1, 2, 0])
  expect(cache.find('one')).toBeUndefined()
})

test('identifiers of culled instances are not reused before reorganize', () => {
  const cache = open()
  cache.reuseIds()
  cache.add('a')
  cache.add('b')
  expect(cache.cull('a')).toBe(0)
  expect(cache.find('a')).toBeUndefined()
  expect(cache.add('c')).toBe(2)
  expect(cache.sizes).toEqual({ active: 2, inactive: 0, culled: 1 })
  cache.reorganize()
  expect(cache.sizes.culled).toBe(0)
  expect(cache.add('d')).toBe(0)
  expect(cache.add('e')).toBe(3)
})

test('identifiers go up to a maximum, then fill gaps, then none is left', () => {
  const cache = open()
  cache.resize(2)
  for (const name of ['a', 'b', 'c']) cache.add(name)
  expect(() => cache.add('d')).toThrow('all numbers up to 2 are taken')
  cache.cull('b')
  cache.reorganize()
  expect(cache.add('d')).toBe(1)
  expect(() => cache.resize(1)).toThrow(expect.objectContaining({ code: 'PM_ERR_TOOBIG' }))
  expect(() => cache.resize(-1)).toThrow(expect.objectContaining({ code: 'PM_ERR_SIGN' }))
})

test('a key gives an instance the same identifier everywhere', () => {
  const cache = open<number>()
  const key = Uint8Array.of(1, 2, 3, 4)
  expect(cache.addKeyed('x', key, 5)).toBe(204815836)
  expect(cache.addKeyed('foo', undefined)).toBe(2143417350)
  expect(cache.addKeyed('x', key, 6)).toBe(204815836)
  expect(cache.findKey(key)).toMatchObject({ name: 'x', data: 6 })
  expect(() => cache.addKeyed('y', key)).toThrow('belong to different instances')
  expect(() => cache.addKeyed('x', Uint8Array.of(9))).toThrow('belong to different instances')
  expect(cache.add('plain')).toBe(0)
  expect(cache.cull('x')).toBe(204815836)
  expect(cache.addKeyed('z', key)).toBe(204815836)
})

test('if the identifier of a key is taken, the next of up to ten is used', () => {
  const cache = open()
  cache.resize(0)
  cache.addKeyed('a', Uint8Array.of(1))
  expect(() => cache.addKeyed('b', Uint8Array.of(2))).toThrow('the 10 numbers that follow from its key')
})

test('is saved as PCP saves it, and read again', () => {
  const cache = open()
  cache.add('red')
  cache.addKeyed('key held', Uint8Array.of(1, 0xa2, 0xff))
  expect(cache.addKeyed('key', Uint8Array.of(1, 0xa2, 0xff))).toBe(1481361143)
  expect(() => cache.addKeyed('key kept', Uint8Array.of(1, 0xa2, 0xff))).toThrow('before the first space')
  cache.hide('red')
  expect(cache.save()).toBe(2)
  expect(saved()).toBe('2 1 2147483647\n0 1700000000 red\n1481361143 1700000000 [01a2ff] key held\n')
  const other = open()
  expect(other.load()).toBe(2)
  expect(other.sizes).toEqual({ active: 0, inactive: 2, culled: 0 })
  expect(other.add('red')).toBe(0)
  expect(other.add('blue')).toBe(1)
  expect(other.addKeyed('key held', Uint8Array.of(1, 0xa2, 0xff))).toBe(1481361143)
})

test('save writes after instances were added or removed, sync also after they were used', () => {
  const cache = open()
  expect([cache.save(), cache.sync()]).toEqual([0, 0])
  cache.add('a')
  expect([cache.save(), cache.save(), cache.sync()]).toEqual([1, 0, 0])
  now += 100
  cache.add('a')
  expect([cache.save(), cache.sync(), cache.sync()]).toEqual([0, 1, 0])
  expect(saved()).toContain('0 1700000100 a\n')
  cache.hide('a')
  expect([cache.sync(), cache.write()]).toEqual([0, 1])
  cache.cull('a')
  expect(cache.save()).toBe(0)
  expect(saved()).toBe('2 0 2147483647\n')
})

test('purge forgets instances that were inactive for long', () => {
  save(`2 0 2147483647\n0 ${now - 50} old\n1 ${now - 10} young\n2 ${now - 50} active\n`)
  const cache = open<string>()
  cache.load()
  cache.add('active', 'data of active')
  cache.add('late', 'data of late')
  cache.hide('late')
  const culled: string[] = []
  expect(cache.purge(10, (data) => culled.push(data))).toBe(1)
  expect(cache.purge(10)).toBe(0)
  expect(cache.find('old')).toBeUndefined()
  cache.sync()
  now += 20
  expect(cache.purge(10, (data) => culled.push(data))).toBe(2)
  expect(culled).toEqual(['data of late'])
  expect(cache.list().names).toEqual(['active'])
})

test('memory wins if the file contradicts it', () => {
  save('2 0 2147483647\n0 1 a\n1 1 b\n2 1 c\n5 1 [01] k\n')
  const said: string[] = []
  const cache = open({ said })
  cache.add('a')
  cache.add('c')
  expect(cache.load()).toBe(4)
  expect(said.map((text) => text.replace(/.*: instance/, 'instance'))).toEqual([
    'instance 1 "b" contradicts those in memory: ignored',
    'instance 2 "c" contradicts those in memory: ignored',
  ])
  expect(cache.list()).toEqual({ ids: [0, 1], names: ['a', 'c'] })
  expect(cache.get(5)).toMatchObject({ name: 'k', isActive: false })
})

test('files of version 1 are read, invalid ones are errors', () => {
  save('1 1\n3 1700 with blanks in it\n')
  const cache = open()
  expect(cache.load()).toBe(1)
  expect(cache.get(3)?.name).toBe('with blanks in it')
  expect(cache.add('new')).toBe(0)
  for (const [text, line] of [
    ['', 1],
    ['3 0 5\n', 1],
    ['2 0 2147483647\nx\n', 2],
    ['2 0 2147483647\n0 1 a\n2147483648 1 b\n', 3],
  ] as const) {
    save(text)
    expect(() => open().load()).toThrow(`481.7:${line}: `)
  }
})

test('a name that looks like a key survives', () => {
  const cache = open()
  cache.add('[ab] name')
  cache.save()
  const other = open()
  other.load()
  expect(other.find('[ab] name')?.id).toBe(0)
})

test('without a file nothing is loaded, without a directory nothing can be', () => {
  expect(open().load()).toBe(0)
  const cache = new InstanceCache({ domain: 1, serial: 2 })
  cache.add('a')
  expect(() => cache.save()).toThrow('Instance domain 1.2 is not saved')
  expect(cacheDir({ PCP_VAR_DIR: '/x' })).toBe('/x/config/pmda')
})

test('all at once', () => {
  const cache = open()
  for (const name of ['a', 'b', 'c']) cache.add(name)
  cache.hide('b')
  expect([cache.setAll(false), cache.setAll(true), cache.setAll(true)]).toEqual([2, 3, 0])
  expect(cache.cullAll()).toBe(3)
  expect(cache.sizes).toEqual({ active: 0, inactive: 0, culled: 3 })
})

test('the error of a directory that cannot be used names it', () => {
  writeFileSync(dir, '')
  const cache = open()
  cache.add('a')
  expect(() => cache.save()).toThrow(
    expect.objectContaining({
      name: 'PcpError',
      message: expect.stringContaining(`cannot be saved in ${dir}: `),
    }),
  )
})
