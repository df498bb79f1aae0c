import { expect, test } from 'vitest'
import { emptySet, type ValueSet } from '../../src/model/values.ts'
import { encodeDescs, UNAVAILABLE_DESC } from '../../src/wire/desc.ts'
import { encodeInstances } from '../../src/wire/instance.ts'
import { encodeLabels } from '../../src/wire/label.ts'
import { encodePmnsIds, encodePmnsNames } from '../../src/wire/pmns.ts'
import { listLength, REPLY_LIMITS, replyLimits, replyProblem } from '../../src/wire/reply-limits.ts'
import { encodeHighResResult, encodeResult } from '../../src/wire/result.ts'
import { encodeTextReply } from '../../src/wire/text.ts'

const two: ValueSet = {
  pmid: 1,
  status: 2,
  format: 0,
  inst: Int32Array.of(0, 1),
  word: Int32Array.of(5, 6),
  bytes: new Uint8Array(0),
}
const sets = [two, emptySet(2, -12357), emptySet(3), two]
const now = { sec: 1, nsec: 0 }
const label = { name: 'a', value: '1', flags: 1 }
const labels = { inst: -1, status: 0, json: '{"a":1}', labels: [label] }

/** PDUs, with the length of their list and the number of all items. */
const PDUS: readonly (readonly [string, Uint8Array, number, number])[] = [
  ['RESULT', encodeResult(now, sets), 4, 8],
  ['HIGHRES_RESULT', encodeHighResResult(now, sets), 4, 8],
  ['DESCS', encodeDescs([UNAVAILABLE_DESC, UNAVAILABLE_DESC]), 2, 2],
  ['INSTANCE', encodeInstances({ indom: 1, ids: [1, 2, 3], names: ['a', 'b', 'c'] }), 3, 3],
  ['PMNS_IDS', encodePmnsIds([1, 2]), 2, 2],
  ['PMNS_NAMES', encodePmnsNames(['a', 'b', 'c']), 3, 3],
  ['LABEL', encodeLabels(0, 1, [labels, { ...labels, labels: [] }, labels]), 3, 5],
]

test.each(PDUS)('items of %s are counted', (_, pdu, length, items) => {
  expect(listLength(pdu)).toBe(length)
  expect(replyProblem(pdu, { ...REPLY_LIMITS, items })).toBeUndefined()
  expect(replyProblem(pdu, { ...REPLY_LIMITS, items: items - 1 })).toContain(`${items} items in one reply`)
})

test.each(PDUS)('items of a truncated %s are counted up to its end', (_, pdu) => {
  for (let length = 12; length < pdu.length; length++)
    expect(() => replyProblem(pdu.subarray(0, length), { ...REPLY_LIMITS, items: 1 })).not.toThrow()
})

test('texts are limited by their length', () => {
  const pdu = encodeTextReply(1, 'some text')
  expect(replyProblem(pdu, { ...REPLY_LIMITS, items: 0, textBytes: 9 })).toBeUndefined()
  expect(replyProblem(pdu, { ...REPLY_LIMITS, textBytes: 8 })).toMatch(/a text of 9 bytes.*PCP_REPLY_MB/)
})

test('the environment sets limits; invalid values are ignored', () => {
  expect(replyLimits({ PCP_REPLY_MB: '2', PCP_REPLY_ITEMS: '7' })).toEqual({
    pduBytes: 2 ** 21,
    textBytes: 2 ** 21,
    items: 7,
  })
  expect(replyLimits({ PCP_REPLY_MB: '99999' }).pduBytes).toBe(2047 * 2 ** 20)
  for (const text of ['', '0', '-1', 'many'])
    expect(replyLimits({ PCP_REPLY_MB: text, PCP_REPLY_ITEMS: text })).toEqual(REPLY_LIMITS)
})
