import { expect, test } from 'vitest'
import { hashKey } from '../../../src/pmda/cache/hash.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test.each([
  [bytes('foo'), 2143417350],
  [bytes('bar baz'), 1462155290],
  [Uint8Array.of(1, 2, 3, 4), 204815836],
  [Uint8Array.of(0xff, 0x80), 1176257873],
  [bytes('a-much-longer-instance-name-0123456789'), 2036801957],
  [bytes('zz'), 2051650577],
])('%s', (key, id) => {
  expect(hashKey(key, 0) % 2 ** 31).toBe(id)
})
