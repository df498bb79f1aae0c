import { expect, test } from 'vitest'
import { UnreadLimit } from '../../../src/pmproxy/http/unread.ts'

test('large responses count until they have been read, small ones never', () => {
  const unread = new UnreadLimit(200_000)
  const read = unread.admit(150_000)
  expect(unread.admit(100_000)).toBeUndefined()
  expect(unread.admit(1000)).toBeDefined()
  read!()
  expect(unread.admit(100_000)).toBeDefined()
})
