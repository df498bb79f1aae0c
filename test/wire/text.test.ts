import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeText } from '../../src/base/text.ts'
import { attrText, decodeAttr, encodeAgentAttr, encodeAttr } from '../../src/wire/attr.ts'
import { decodeCreds, encodeCredList, encodeCreds, versionOf } from '../../src/wire/creds.ts'
import { decodeInstances, encodeInstanceReply, encodeInstances } from '../../src/wire/instance.ts'
import { decodePmnsNames, encodePmnsNames } from '../../src/wire/pmns.ts'
import { decodeTextReply, encodeTextReply } from '../../src/wire/text.ts'
import { hexOf } from './vectors.ts'

/** Any text, and any bytes that are not text. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => decodeText(bytes)),
)

test('any text and any bytes survive, padded with ~', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const pdu = encodeTextReply(7, text)
      expect(pdu.length % 4).toBe(0)
      expect(decodeTextReply(pdu).text).toBe(text)
    }),
  )
  expect(hexOf(encodeTextReply(7, 'ä'))).toBe('0000001800007009000000000000000700000002c3a47e7e')
})

test('names and instances survive, whatever is in them', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 8 }), (names) => {
      expect(decodePmnsNames(encodePmnsNames(names)).names).toEqual(names)
      const statuses = names.map((_, i) => i & 1)
      expect(decodePmnsNames(encodePmnsNames(names, statuses))).toEqual(
        names.length === 0 ? { status: 0, names } : { status: 0, names, statuses },
      )
      const instances = { indom: 9, ids: names.map((_, i) => i - 1), names }
      expect(decodeInstances(encodeInstances(instances))).toEqual(instances)
    }),
  )
})

test('the reply to a query leaves out the id or name given in the query', () => {
  const one = { indom: 9, ids: [3], names: ['hour'] }
  expect(decodeInstances(encodeInstanceReply(one, { id: 3 }))).toEqual({
    indom: 9,
    ids: [-1],
    names: ['hour'],
  })
  expect(decodeInstances(encodeInstanceReply(one, { name: 'hour' }))).toEqual({
    indom: 9,
    ids: [3],
    names: [''],
  })
  expect(decodeInstances(encodeInstanceReply(one, undefined))).toEqual(one)
})

test('agents get attributes with a NUL, which is not part of the text', () => {
  const pdu = encodeAgentAttr(14, '11929', 1)
  expect(hexOf(pdu)).toBe('0000001600007011000000010000000e313139323900')
  expect(attrText(decodeAttr(pdu))).toBe('11929')
  expect(attrText(decodeAttr(encodeAttr(15, 'c')))).toBe('c')
  expect(attrText(decodeAttr(encodeAttr(0, '')))).toBe('')
  expect(() => decodeAttr(encodeAttr(0, 'x'.repeat(4096)))).toThrowError(/4096/)
})

test('the last version counts, and an unknown credential is refused', () => {
  expect(versionOf(decodeCreds(encodeCreds(0x40, 77)))).toEqual({ type: 1, version: 2, flags: 0x40 })
  const two = [
    { type: 1, version: 2, flags: 4 },
    { type: 1, version: 3, flags: 0 },
  ]
  expect(versionOf(decodeCreds(encodeCredList(two))).version).toBe(3)
  expect(() => versionOf([{ type: 9, version: 2, flags: 0 }])).toThrowError(/type 9/)
})
