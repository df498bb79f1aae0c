import { expect, test } from 'vitest'
import { Listings, parseFileName } from '../../src/archive/file-names.ts'
import { memoryFiles } from './build.ts'

test.each([
  ['a.meta', 'a', 'meta', ''],
  ['dir/a.b.index', 'dir/a.b', 'index', ''],
  ['20150105.17.57.0', '20150105.17.57', '0', ''],
  ['20150105.17.57', '20150105.17', '57', ''],
  ['a.12.xz', 'a', '12', '.xz'],
  ['a.meta.zst', 'a', 'meta', '.zst'],
  ['a.0.Z', 'a', '0', '.Z'],
])('%s belongs to %s', (name, base, part, suffix) => {
  expect(parseFileName(name)).toEqual({ base, part, suffix })
})

test.each(['a', 'meta', 'a.log', 'a.0x', 'a.0.xz.gz', 'a.', 'a.Latest', '.xz'])(
  '%s belongs to no archive',
  (name) => {
    expect(parseFileName(name)).toBeUndefined()
  },
)

const listing = (...names: string[]): Listings =>
  new Listings(memoryFiles(Object.fromEntries(names.map((name) => [name, new Uint8Array(0)]))))

test('a file name means its archive, any other name is a base name', () => {
  const listings = listing('d/20150105.17.57.meta', 'd/20150105.17.57.0.xz')
  expect(listings.bases('d/20150105.17.57')).toEqual(['d/20150105.17.57'])
  expect(listings.bases('d/20150105.17.57.meta')).toEqual(['d/20150105.17.57'])
  expect(listings.bases('d/20150105.17.57.0')).toEqual(['d/20150105.17.57'])
  expect(listings.bases('d')).toEqual(['d/20150105.17.57'])
  expect(() => listings.bases('')).toThrow(expect.objectContaining({ code: 'PM_ERR_LOGFILE' }))
})

test('an uncompressed file is preferred, then compressed ones in a fixed order', () => {
  const names = [
    'a.meta',
    'a.meta.xz',
    'a.0.gz',
    'a.0.xz',
    'a.1.zst',
    'a.10',
    'a.2',
    'a.index.bz2',
    'ab.meta',
    'a.b.meta',
  ]
  expect(listing(...names).member('a')).toEqual({
    base: 'a',
    meta: 'a.meta',
    index: 'a.index.bz2',
    volumes: [
      { number: 0, path: 'a.0.xz' },
      { number: 1, path: 'a.1.zst' },
      { number: 2, path: 'a.2' },
      { number: 10, path: 'a.10' },
    ],
  })
})

test('the error depends on the missing file', () => {
  expect(() => listing('a.meta').member('b')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  expect(() => listing('a.meta').member('a')).toThrow(expect.objectContaining({ code: 'PM_ERR_LOGFILE' }))
  expect(() => listing('a.0', 'a.index').member('a')).toThrow(
    expect.objectContaining({ code: 'PM_ERR_LOGFILE' }),
  )
  expect(() => listing('a.0').bases('nowhere/a')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})

test('only canonical volume numbers count, so that no volume is read twice', () => {
  const found = listing('a.meta', 'a.0', 'a.00', 'a.01', 'a.2', 'a.99999999999999999999').member('a')
  expect(found.volumes).toEqual([
    { number: 0, path: 'a.0' },
    { number: 2, path: 'a.2' },
  ])
  expect(() => listing('a.meta', 'a.00').member('a')).toThrow(
    expect.objectContaining({ code: 'PM_ERR_LOGFILE' }),
  )
})

test('an archive of a directory counts once, even with several metadata files', () => {
  expect(listing('d/a.meta', 'd/a.meta.xz', 'd/b.meta', 'd/a.0').bases('d')).toEqual(['d/a', 'd/b'])
})
