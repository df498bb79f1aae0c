import { afterEach, expect, test } from 'vitest'
import { clearDebug, debugList, replaceDebug, traceTo } from '../../src/model/debug.ts'
import { PcpError } from '../../src/model/errors.ts'
import { pmid } from '../../src/model/ids.ts'
import { ConnectionTracer, EventTrace } from '../../src/pmcd/event-trace.ts'
import { encodeCreds } from '../../src/wire/creds.ts'
import { encodeDescReq } from '../../src/wire/desc.ts'
import { encodeError } from '../../src/wire/error.ts'
import { encodeFetch } from '../../src/wire/fetch.ts'
import { encodePmnsIds } from '../../src/wire/pmns.ts'

afterEach(() => {
  clearDebug('all')
  traceTo()
})

const BOTH = 3
const UNBUFFERED = 256

function newTrace(mask: number): { trace: EventTrace; lines: string[]; at: (ms: number) => void } {
  const lines: string[] = []
  let now = Date.parse('2026-11-20T09:22:49.100')
  const trace = new EventTrace(
    (line) => lines.push(line),
    () => now,
    mask,
  )
  return {
    trace,
    lines,
    at: (ms) => {
      now += ms
    },
  }
}

test('events are written with a heading, and the time only when the second changes', () => {
  const { trace, lines, at } = newTrace(BOTH)
  const connection = new ConnectionTracer(trace, 'client 0', 7)
  trace.clientAdded(0, '/run/pcp/pmcd.socket', 7, 1)
  trace.received(connection, encodeCreds(0))
  at(1000)
  trace.sent(connection, encodePmnsIds([1, 2, 3], 3))
  trace.sent(connection, encodeDescReq(pmid(60, 2, 0)))
  at(59_000)
  trace.sent(connection, encodeError(-12391))
  trace.sent(connection, encodeError(0))
  trace.clientEnded(0, 7, undefined)
  trace.clientEnded(1, 8, new PcpError('PM_ERR_IPC'))
  trace.agent('Add', 30, undefined)
  trace.agent('Drop', 200, [15, 16])
  expect(lines).toEqual([])
  trace.dump()
  expect(lines).toEqual([
    '\n->PMCD event trace: starting at Fri Nov 20 09:22:49 2026',
    '->         New client: [0] addr=/run/pcp/pmcd.socket, fd=7, seq=1',
    '->         Recv: CREDS PDU, fd=7, pdubuf=0x...1',
    '->09:22:50 Xmit: PMNS_IDS PDU, fd=7, numpmid=3',
    '->         Xmit: DESC_REQ PDU, fd=7, pmid=60.2.0',
    '->09:23:49 Xmit: ERROR PDU, fd=7, err=-12391: Not Connected',
    '->         Xmit: ERROR PDU, fd=7, err=0: No error',
    '->         End client: [0] fd=7',
    '->         End client: [1] fd=8, err=-12366: IPC protocol failure',
    '->         Add PMDA: domain=30, DSO',
    '->         Drop PMDA: domain=200, infd=15, outfd=16',
    '',
  ])
  trace.dump()
  expect(lines).toHaveLength(12)
})

test('the oldest event is dropped when full, and changing the size empties the ring', () => {
  const { trace, lines } = newTrace(1)
  trace.size = 2
  for (const seq of [1, 2, 3]) trace.clientAdded(0, 'a', 5, seq)
  trace.dump()
  expect(lines.slice(1, -1).map((line) => line.slice(-5))).toEqual(['seq=2', 'seq=3'])
  trace.clientAdded(0, 'a', 5, 4)
  trace.size = 0
  trace.clientAdded(0, 'a', 5, 5)
  trace.dump()
  expect(lines).toHaveLength(4)
})

test('without buffer each event is written as it happens, without heading', () => {
  const { trace, lines } = newTrace(BOTH + UNBUFFERED)
  trace.clientAdded(0, 'a', 5, 1)
  trace.clientEnded(0, 5, undefined)
  expect(lines).toEqual(['->09:22:49 New client: [0] addr=a, fd=5, seq=1', '->         End client: [0] fd=5'])
})

test.each([
  ['PM_ERR_EOF', 'Premature EOF: expecting RESULT PDU, fd=8'],
  ['PM_ERR_TIMEOUT', 'Recv timeout: expecting RESULT PDU, fd=8'],
  ['EPIPE', 'Send FETCH PDU failed: fd=7, err=-32: Broken pipe'],
  ['PM_ERR_IPC', 'Recv error: expecting RESULT PDU, fd=8, err=-12366: IPC protocol failure'],
] as const)('losing an agent by %s is recorded', (code, text) => {
  const { trace, lines } = newTrace(BOTH + UNBUFFERED)
  const connection = new ConnectionTracer(trace, 'agent', 7, 8)
  trace.sent(connection, encodeFetch(0, [1, 2]))
  trace.failed(connection, new PcpError(code))
  expect(lines.map((line) => line.slice(11))).toEqual(['Xmit: FETCH PDU, fd=7, numpmid=2', text])
})

test('disabled events are neither recorded nor traced, and can be enabled', () => {
  const lines: string[] = []
  const trace = new EventTrace((line) => lines.push(line))
  const watch = new ConnectionTracer(trace, 'client 4', 9)
  expect(watch.isOn).toBe(false)
  trace.clientAdded(0, 'a', 5, 1)
  trace.failed(watch, new PcpError('PM_ERR_EOF'))
  trace.dump()
  expect(lines).toEqual([])
  replaceDebug(new Set(['pdu', 'interp']), (line) => lines.push(line))
  expect(watch.isOn).toBe(true)
  watch.received(encodeError(-12357))
  expect(lines).toEqual([
    expect.stringMatching(/^\[\d+\]pmGetPDU: ERROR fd=9 len=16 from=0, client 4, err=-12357: /),
  ])
  expect(debugList()).toBe('pdu,interp')
})
