import { expect, test } from 'vitest'
import {
  discoveryValue,
  itemKey,
  refusedItems,
  senderRequest,
} from '../../../src/tools/pcp2zabbix/protocol.ts'

/** Frames an answer like a server. */
function answer(text: string): Uint8Array {
  const header = Buffer.from('ZBXD\x01\0\0\0\0\0\0\0\0', 'latin1')
  header.writeUInt32LE(Buffer.byteLength(text), 5)
  return Buffer.concat([header, Buffer.from(text)])
}

test('a request has the length of its JSON in bytes', () => {
  const bytes = Buffer.from(senderRequest([{ host: 'h', key: 'pcp.ü', value: '1', clock: 2 }]))
  const json = '{"request":"sender data","data":[{"host":"h","key":"pcp.ü","value":"1","clock":2}]}'
  expect(bytes.equals(Buffer.from(answer(json)))).toBe(true)
})

test('the number of refused values is read from the answer', () => {
  const info = 'processed: 1; failed: 2; total: 3; seconds spent: 0.1'
  expect(refusedItems(answer(JSON.stringify({ response: 'success', info })))).toBe(2)
  expect(refusedItems(answer('{"response":"success"}'))).toBe(0)
})

test.each([
  ['{"response":"failed","info":"no proxy"}', 'the Zabbix server refused the values: no proxy'],
  ['[]', 'the Zabbix server refused the values: []'],
  ['not JSON', 'the Zabbix server refused the values: not JSON'],
])('%s is an error', (text, message) => {
  expect(() => refusedItems(answer(text))).toThrow(message)
})

test('another protocol is an error', () => {
  expect(() => refusedItems(Buffer.from('HTTP/1.1 400 Bad Request\r\n'))).toThrow(
    'did not answer as Zabbix does',
  )
  expect(() => refusedItems(new Uint8Array())).toThrow('did not answer as Zabbix does')
})

test('instances are parameters of keys, in quotes where they must be', () => {
  expect(itemKey('pcp.a')).toBe('pcp.a')
  expect(itemKey('pcp.a', '1 minute')).toBe('pcp.a[1 minute]')
  expect(itemKey('pcp.a', 'x,y')).toBe('pcp.a["x,y"]')
  expect(itemKey('pcp.a', 'say "x]"')).toBe('pcp.a["say \\"x]\\""]')
  expect(discoveryValue('pcp.a', ['b', 'a'])).toBe('{"data":[{"{#PCP.A}":"a"},{"{#PCP.A}":"b"}]}')
})
