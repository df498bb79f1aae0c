import { afterEach, expect, test } from 'vitest'
import { clearDebug, setDebug, traceTo } from '../../src/model/debug.ts'
import { pmid } from '../../src/model/ids.ts'
import { tracePdus } from '../../src/net/pdu-trace.ts'
import { encodeAttr } from '../../src/wire/attr.ts'
import { encodeDescReq } from '../../src/wire/desc.ts'

const lines: string[] = []

afterEach(() => {
  clearDebug('all')
  traceTo()
  lines.length = 0
})

test('is off until it is asked for', () => {
  const watch = tracePdus('pmcd at db1', 7)
  expect(watch.isOn).toBe(false)
  setDebug('pdu')
  expect(watch.isOn).toBe(true)
})

test('says which PDU went where, and what it is about', () => {
  traceTo((line) => lines.push(line))
  setDebug('pdu')
  tracePdus('pmcd at db1', 7).sent(encodeDescReq(pmid(60, 0, 3)))
  tracePdus('pmcd at db1', 7).received(encodeDescReq(pmid(60, 0, 3), 2))
  expect(lines).toEqual([
    `[${process.pid}]pmXmitPDU: DESC_REQ fd=7 len=16, pmcd at db1, pmid=60.0.3`,
    `[${process.pid}]pmGetPDU: DESC_REQ fd=7 len=16 from=2, pmcd at db1, pmid=60.0.3`,
  ])
})

test('shows the words of PDUs, but not those that may hold a password', () => {
  traceTo((line) => lines.push(line))
  setDebug('pdubuf')
  tracePdus('pmcd at db1', 7).received(encodeDescReq(pmid(60, 0, 3)))
  tracePdus('pmcd at db1', 7).sent(encodeAttr(1, 'secret'))
  expect(lines).toEqual(['pdubuf: 000:       10     7004        0  f000003'])
})
