import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import type { LabelSet } from '../../src/model/labels.ts'
import { decodeLabels, encodeLabels } from '../../src/wire/label.ts'

function set(json: string, names: Record<string, string>, inst = -1): LabelSet {
  const labels = Object.entries(names).map(([name, value]) => ({ name, value, flags: 2 }))
  return { inst, status: 0, json, labels }
}

test('finds names and values in JSON with blanks, nesting, escapes and text beyond ASCII', () => {
  const json = '{ "a":1, "größe" : "ä\\",:}" ,"c":[1,{"d":2}],"e.f":{"g":"h,}"}}'
  const sets = [set(json, { c: '[1,{"d":2}]', a: '1', größe: '"ä\\",:}"', 'e.f': '{"g":"h,}"}' })]
  const again = decodeLabels(encodeLabels(5, 2, sets))
  expect(again).toEqual({ ident: 5, level: 2, sets })
})

test('several sets, empty ones among them, keep their instances', () => {
  const sets = [set('', {}, 0), set('{"a":1}', { a: '1' }, 1), set('', {}, 2), set('{"b":2}', { b: '2' }, 7)]
  expect(decodeLabels(encodeLabels(9, 32, sets)).sets).toEqual(sets)
})

test('an error instead of a set is preserved', () => {
  const sets: LabelSet[] = [{ inst: -1, status: -12358, json: '', labels: [] }]
  expect(decodeLabels(encodeLabels(9, 16, sets)).sets).toEqual(sets)
})

test('refuses labels that are not in their JSON, and sets that are too large', () => {
  expect(() => encodeLabels(1, 2, [set('{"a":1}', { b: '1' })])).toThrowError(/"b" is not in/)
  const many = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`n${i}`, '1']))
  for (const big of [set(`{"a":"${'x'.repeat(65535)}"}`, {}), set(JSON.stringify(many), many)])
    expect(() => encodeLabels(1, 2, [big])).toThrowError(expect.objectContaining({ code: 'PM_ERR_TOOBIG' }))
})

test('unterminated JSON is refused, not looped over', () => {
  for (const json of ['{"a', '{"a"', '{"a":', '{"a":"', '{"a":[', '{', '', '   ', '{"a":1,,,'])
    expect(() => encodeLabels(1, 2, [set(json, { z: '1' })])).toThrowError(PcpError)
})

test('bytes after the last JSON text are rejected', () => {
  const pdu = encodeLabels(1, 2, [set('{"a":1}', { a: '1' })])
  const longer = new Uint8Array(pdu.length + 1)
  longer.set(pdu)
  new DataView(longer.buffer).setInt32(0, longer.length)
  expect(() => decodeLabels(longer)).toThrowError(/after the last/)
})

test('texts that overlap are refused: a short PDU must not become long lists of long strings', () => {
  const text = `"${'x'.repeat(100)}"`
  const pdu = encodeLabels(1, 32, [set(`{"a":${text}}`, { a: text }), set('', {}), set('', {})]).slice()
  const view = new DataView(pdu.buffer)
  for (const other of [52, 68]) {
    view.setInt32(other + 8, view.getInt32(28 + 8))
    view.setInt32(other + 12, view.getInt32(28 + 12))
  }
  expect(() => decodeLabels(pdu)).toThrowError(/overlap/)
  const names = { a: '1', b: '2', c: '3' }
  const labels = encodeLabels(1, 2, [set(JSON.stringify(names), { a: '"1"', b: '"2"', c: '"3"' })]).slice()
  for (let l = 0; l < 3; l++) new DataView(labels.buffer).setUint32(44 + 8 * l + 4, 15)
  expect(() => decodeLabels(labels)).toThrowError(/overlap/)
})
