import { afterEach, expect, test } from 'vitest'
import {
  clearDebug,
  debug,
  debugBits,
  debugList,
  debugNamesOfBits,
  isDebug,
  parseDebug,
  setDebug,
  trace,
  traceTo,
} from '../../src/model/debug.ts'
import { readVectors } from '../vectors.ts'

interface DebugCase {
  readonly set: string
  readonly setStatus: number | string
  readonly get: string
  readonly clear: string
  readonly clearStatus: number | string
  readonly getAfter: string
}

afterEach(() => {
  clearDebug('all')
  traceTo()
})

const { cases } = readVectors<DebugCase>('format/debug_spec.json')

test.each(cases)('reads "$set" as the reference does', ({ set, setStatus, get }) => {
  const names = parseDebug(set)
  expect(names !== undefined).toBe(setStatus === 0)
  if (names === undefined) return
  if (get === 'all') expect(names.size).toBe(56)
  else expect([...names].sort()).toEqual(get.split(',').filter(Boolean).sort())
})

test('numbers of older releases are converted to names', () => {
  expect(debugNamesOfBits(3)).toEqual(new Set(['pdu', 'fetch']))
  // As pmdbg 6.0.3 explains these numbers.
  const known = {
    pdubuf: 64,
    appl0: 2048,
    pmns: 16384,
    config: 2097152,
    pmapi: 4194304,
    attr: 67108864,
    http: 134217728,
  }
  for (const [name, bit] of Object.entries(known)) {
    expect(debugBits(new Set([name]))).toBe(bit)
    expect([...debugNamesOfBits(bit)]).toEqual([name])
  }
  expect(debugBits(new Set(['desperate', 'pdu', 'access']))).toBe(2 ** 30 + 1)
  expect(debugNamesOfBits(2 ** 30)).toEqual(new Set(['desperate']))
})

/** Returns 0, or the code of the error thrown. */
function outcome(call: () => void): number | string {
  try {
    call()
    return 0
  } catch (error) {
    return (error as { code: string }).code
  }
}

test.each(cases)('"$set" on, then "$clear" off, as with the reference', (each) => {
  expect(outcome(() => setDebug(each.set))).toBe(each.setStatus)
  expect(debugList()).toBe(each.get)
  expect(outcome(() => clearDebug(each.clear))).toBe(each.clearStatus)
  expect(debugList()).toBe(each.getAfter)
})

test('checks whether any of several options is on, or all of them', () => {
  setDebug('fetch,PDU')
  expect(debug.fetch && debug.pdu).toBe(true)
  expect([isDebug('indom,pdu'), isDebug('indom'), isDebug('all'), isDebug('nosuch')]).toEqual([
    true,
    false,
    false,
    false,
  ])
  setDebug('all')
  expect(isDebug('all')).toBe(true)
})

test('a line of diagnostics stays one line', () => {
  const lines: string[] = []
  traceTo((line) => lines.push(line))
  trace('pmns', 'name "a\nb"')
  expect(lines).toEqual(['pmns: name "a\\x0ab"'])
})

test('copies of the module in one process share options and writer', async () => {
  const copy = (await import(
    /* @vite-ignore */ `${'../../src/model/debug.ts'}?copy`
  )) as typeof import('../../src/model/debug.ts')
  expect(copy.setDebug).not.toBe(setDebug)
  const lines: string[] = []
  traceTo((line) => lines.push(line))
  setDebug('fetch')
  expect(copy.debug.fetch).toBe(true)
  copy.trace('fetch', 'here')
  expect(lines).toEqual(['fetch: here'])
})
