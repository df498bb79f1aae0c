import { expect, test } from 'vitest'
import { didYouMean, nearNames } from '../../../src/tools/lib/near-names.ts'

const NAMES = [
  'kernel.all.load',
  'kernel.all.cpu.user',
  'disk.dev',
  'disk.dev.read',
  'disk.all.read',
  'mem.util.free',
]

test('slips of the pen are few', () => {
  expect(nearNames('kernel.all.laod', NAMES)).toEqual(['kernel.all.load'])
  expect(nearNames('disk.dev.raed', NAMES)[0]).toBe('disk.dev.read')
  expect(nearNames('Mem.util.fre', NAMES)).toEqual(['mem.util.free'])
})

test('the end of a name is near it', () => {
  expect(nearNames('all.load', NAMES)).toEqual(['kernel.all.load'])
})

test('what is far from everything is near nothing', () => {
  expect(nearNames('bogus', NAMES)).toEqual([])
  expect(nearNames('yes', NAMES)).toEqual([])
})

test('the question names one or several', () => {
  expect(didYouMean([])).toBe('')
  expect(didYouMean(['a'])).toBe(' Did you mean a?')
  expect(didYouMean(['a', 'b', 'c'])).toBe(' Did you mean a, b or c?')
})
