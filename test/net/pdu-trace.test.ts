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

test('is off by default', () => {
  const watch = tracePdus('pmcd at db1', 7)
  expect(watch.isOn).toBe(false)
  setDebug('pdu')
  expect(watch.isOn).toBe(true)
})

test('names each PDU, its direction and its subject', () => {
  traceTo((line) => lines.push(line))
  setDebug('pdu')
  tracePdus('pmcd at db1', 7).sent(encodeDescReq(pmid(60, 0, 3)))
  tracePdus('pmcd at db1', 7).received(encodeDescReq(pmid(60, 0, 3), 2))
  expect(lines).toEqual([
    `[${process.pid}]pmXmitPDU: DESC_REQ fd=7 len=16, pmcd at db1, pmid=60.0.3`,
    `[${process.pid}]pmGetPDU: DESC_REQ fd=7 len=16 from=2, pmcd at db1, pmid=60.0.3`,
  ])
})

test('dumps PDUs, except those that may contain a password', () => {
  traceTo((line) => lines.push(line))
  setDebug('pdubuf')
  tracePdus('pmcd at db1', 7).received(encodeDescReq(pmid(60, 0, 3)))
  tracePdus('pmcd at db1', 7).sent(encodeAttr(1, 'secret'))
  expect(lines).toEqual(['pdubuf: 000:       10     7004        0  f000003'])
})
