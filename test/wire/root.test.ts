/** Protocol of the root agent's socket, as recorded from pmdaroot of PCP 6.0.3. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { decodeRootPdu, encodeRootInfo, encodeRootPdu, rootPduLength } from '../../src/wire/root.ts'

interface Recorded {
  readonly greeting: string
  readonly exchanges: readonly { readonly what: string; readonly request: string; readonly reply: string }[]
}

const recorded: Recorded = JSON.parse(
  readFileSync(new URL('../vectors/root/exchange.json', import.meta.url), 'utf8'),
)
const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'))
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const isLittle = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

test.skipIf(!isLittle)('greets as recorded', () => {
  expect(hexOf(encodeRootInfo(7))).toBe(recorded.greeting)
})

test.skipIf(!isLittle)('replies survive decoding and encoding', () => {
  for (const { reply } of recorded.exchanges)
    expect(hexOf(encodeRootPdu(decodeRootPdu(bytesOf(reply))))).toBe(reply)
})

test('messages survive encoding and decoding, and a part is never decoded', () => {
  const pdu = fc.record({
    type: fc.integer({ min: 0, max: 0x7fffffff }),
    status: fc.integer({ min: -20000, max: 0 }),
    pid: fc.nat(),
    name: fc.string({ maxLength: 100 }),
  })
  fc.assert(
    fc.property(pdu, (given) => {
      const bytes = encodeRootPdu(given)
      expect(decodeRootPdu(bytes)).toEqual(given)
      for (let length = 0; length < bytes.length; length++)
        expect(() => decodeRootPdu(bytes.subarray(0, length))).toThrow(PcpError)
    }),
    { numRuns: 30 },
  )
})

test('lengths are checked first', () => {
  const with_ = (at: number, value: number): Uint8Array => {
    const bytes = encodeRootPdu({ type: 0x9003, status: 0, pid: 0, name: 'name' })
    new Int32Array(bytes.buffer)[at] = value
    return bytes
  }
  for (const length of [-1, 0, 23, 5000, 0x7fffffff])
    expect(() => rootPduLength(with_(1, length))).toThrow(PcpError)
  expect(() => rootPduLength(with_(3, 1))).toThrow(PcpError)
  for (const size of [-1, 5, 0x7fffffff]) expect(() => decodeRootPdu(with_(5, size))).toThrow(PcpError)
  expect(rootPduLength(new Uint8Array(15))).toBeUndefined()
})
