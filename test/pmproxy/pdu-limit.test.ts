import { expect, test } from 'vitest'
import { PduLimit } from '../../src/pmproxy/pdu-limit.ts'

const pdu = (length: number): Uint8Array => {
  const bytes = new Uint8Array(Math.max(4, length))
  new DataView(bytes.buffer).setUint32(0, length)
  return bytes
}

/** Sends the stream in chunks of `size`; returns whether all of them passed. */
function passes(stream: Uint8Array, size: number): boolean {
  const limit = new PduLimit(100)
  for (let at = 0; at < stream.length; at += size)
    if (!limit.passes(stream.subarray(at, at + size))) return false
  return true
}

test.each([1, 3, 4, 12, 1000])(
  'PDUs up to the limit pass in chunks of %i bytes, longer ones do not',
  (size) => {
    expect(passes(Buffer.concat([pdu(12), pdu(100), pdu(20)]), size)).toBe(true)
    expect(passes(Buffer.concat([pdu(12), pdu(101)]), size)).toBe(false)
    expect(passes(Buffer.concat([pdu(12), pdu(11)]), size)).toBe(false)
    expect(passes(Buffer.concat([pdu(12), Buffer.from('ffffffff', 'hex')]), size)).toBe(false)
  },
)

test('encrypted data is not checked', () => {
  expect(passes(Buffer.concat([pdu(12), Buffer.from('16030100', 'hex'), pdu(5000)]), 7)).toBe(true)
})
