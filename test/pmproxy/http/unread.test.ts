import { expect, test } from 'vitest'
import { Unread } from '../../../src/pmproxy/http/unread.ts'

test('large answers count until they have been read, small ones never', () => {
  const unread = new Unread(200_000)
  const read = unread.admit(150_000)
  expect(unread.admit(100_000)).toBeUndefined()
  expect(unread.admit(1000)).toBeDefined()
  read!()
  expect(unread.admit(100_000)).toBeDefined()
})
