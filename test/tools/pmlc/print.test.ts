/** Output of pmlc, compared with texts recorded from PCP 6.0.3. */
import { expect, test } from 'vitest'
import { makeZone } from '../../../src/time/zone.ts'
import { queryText, statusText } from '../../../src/tools/pmlc/print.ts'

const STATUS = {
  start: { sec: 1795343607, nsec: 619348000 },
  last: { sec: 1795343609, nsec: 439213743 },
  now: { sec: 1795343609, nsec: 617041773 },
  state: 1,
  volume: 0,
  size: 1128,
  pmcdHost: 'vm',
  pmcdFqdn: 'vm',
}
const ZONE = { zone: makeZone('UTC'), zoneName: 'local' }

test('loggers are listed by PID, and the primary one as primary', () => {
  const text = statusText(STATUS, { pid: 11396, isPrimary: false, host: 'local:' }, ZONE)
  expect(text).toBe(`pmlogger [11396] on host local: is logging metrics from host vm
PMCD host        vm
log started      Sun Nov 22 10:33:27.619348000 2026 (times in local time)
last log entry   Sun Nov 22 10:33:29.439213743 2026
current time     Sun Nov 22 10:33:29.617041773 2026
log volume       0
log size         1128
`)
  expect(statusText({ ...STATUS, state: 0 }, { pid: 1, isPrimary: true, host: 'h' }, ZONE)).toBe(
    "pmlogger [primary] on host h is logging metrics from host vm\nPMCD host        vm\nlogging hasn't started yet\n",
  )
})

test('states of metrics, a line for each instance', () => {
  const set = (inst: number[], word: number[]) => ({
    pmid: 1,
    status: inst.length,
    format: 0,
    bytes: new Uint8Array(0),
    inst: Int32Array.from(inst),
    word: Int32Array.from(word),
  })
  const word = (ms: number, bits: number): number => (ms << 4) | bits
  expect(queryText('a', set([-1], [word(200, 0b1111)]), undefined)).toBe(
    'a\n    mand on         200 msec\n\n',
  )
  expect(queryText('a', set([-1], [word(0, 0b1111)]), undefined)).toBe('a\n    mand on             once\n\n')
  const names = new Map([
    [100, 'bin-100'],
    [200, 'bin-200'],
  ])
  expect(queryText('b', set([100, 200], [word(10_000, 0b0111), 0]), names)).toBe(
    'b\n    mand on  nl      10 sec  [100 or "bin-100"]\n    adv  off nl              [200 or "bin-200"]\n\n',
  )
  expect(queryText('c', set([], []), names)).toBe('c\n    (no instances)\n\n')
})
