import { expect, test } from 'vitest'
import { didYouMean, similarNames } from '../../../src/tools/lib/similar-names.ts'

const NAMES = [
  'kernel.all.load',
  'kernel.all.cpu.user',
  'disk.dev',
  'disk.dev.read',
  'disk.all.read',
  'mem.util.free',
]

test('finds names within a few edits', () => {
  expect(similarNames('kernel.all.laod', NAMES)).toEqual(['kernel.all.load'])
  expect(similarNames('disk.dev.raed', NAMES)[0]).toBe('disk.dev.read')
  expect(similarNames('Mem.util.fre', NAMES)).toEqual(['mem.util.free'])
})

test('finds a name by its end', () => {
  expect(similarNames('all.load', NAMES)).toEqual(['kernel.all.load'])
})

test('finds nothing for a name unlike all others', () => {
  expect(similarNames('bogus', NAMES)).toEqual([])
  expect(similarNames('yes', NAMES)).toEqual([])
})

test('suggests one or several names', () => {
  expect(didYouMean([])).toBe('')
  expect(didYouMean(['a'])).toBe(' Did you mean a?')
  expect(didYouMean(['a', 'b', 'c'])).toBe(' Did you mean a, b or c?')
})
