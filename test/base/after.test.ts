import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MAX_DELAY_MS, setLongTimeout } from '../../src/base/after.ts'
import { every } from '../../src/base/every.ts'

const DAY_MS = 86_400_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test.each([1, MAX_DELAY_MS, MAX_DELAY_MS + 1, 30 * DAY_MS, 365 * DAY_MS])(
  'waits %d ms, no more and no less',
  (ms) => {
    const act = vi.fn()
    setLongTimeout(ms, act)
    vi.advanceTimersByTime(ms - 1)
    expect(act).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(act).toHaveBeenCalledOnce()
    expect(vi.getTimerCount()).toBe(0)
  },
)

test('a wait that is cancelled leaves no timer, however far it is', () => {
  const act = vi.fn()
  const cancel = setLongTimeout(Number.POSITIVE_INFINITY, act)
  vi.advanceTimersByTime(400 * DAY_MS)
  expect(vi.getTimerCount()).toBe(1)
  cancel()
  expect(vi.getTimerCount()).toBe(0)
  expect(act).not.toHaveBeenCalled()
})

test('work with a long interval does not run immediately', () => {
  const work = vi.fn()
  const timer = every(40 * DAY_MS, work, () => {})
  vi.advanceTimersByTime(20 * DAY_MS)
  expect(work).not.toHaveBeenCalled()
  clearInterval(timer)
})

/** Non-constant delays, and why they are bounded. */
const BOUNDED: Readonly<Record<string, string>> = {
  'base/after.ts': 'this is its purpose',
  'base/every.ts': 'at most the longest delay',
  'base/retry.ts': 'a back-off that ends at a minute',
  'net/connection.ts': 'called with a constant',
  'net/listen.ts': 'an option that only tests set',
  'net/request-queue.ts': 'at most the longest delay',
  'series/keys/client.ts': 'a back-off',
  'series/keys/link.ts': 'seconds, and at least a millisecond',
  'series/discover/discovery.ts': 'at most 21 s',
  'agents/sample/readiness.ts': 'at most an hour',
  'start/supervisor.ts': 'an option that only tests set',
  'pmproxy/archive-threads.ts': 'limits that only tests set',
  'pmproxy/hosts.ts': 'one of two constants',
  'pmproxy/keys/discovery-host.ts': 'a back-off that ends at a minute',
  'pmproxy/http/handler.ts': 'a limit that only tests set',
  'pmproxy/http/server.ts': 'limits that only tests set',
  'pmproxy/server.ts': 'limits that only tests set',
  'pmproxy/live/page-stream.ts': 'a back-off',
  'pmda/background-reading.ts': 'longer intervals are refused',
  'pmcd/agents.ts': 'an option of npm start in this package',
  'ui/fleet/state.ts': 'one of two constants',
  'ui/data/live.ts': 'a back-off',
  'ui/time/control.ts': 'one of two constants',
  'ui/view/address-entries.ts': 'at most WRITE_MS, as the clock never goes back',
}

test('no timer has a delay that may be too long', () => {
  const src = join(import.meta.dirname, '../../src')
  const found: string[] = []
  for (const path of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(path) || path in BOUNDED) continue
    for (const delay of delaysIn(readFileSync(join(src, path), 'utf8')))
      if (!/^(?:[A-Z][A-Z_]*|\d[\d_]*|)$/.test(delay)) found.push(`${path}: ${delay}`)
  }
  expect(found, 'use after() of base/after.ts').toEqual([])
})

// Obsolete entries would hide the next mistake.
test('all listed files have such delays', () => {
  const src = join(import.meta.dirname, '../../src')
  for (const path of Object.keys(BOUNDED))
    expect(delaysIn(readFileSync(join(src, path), 'utf8')).length, path).toBeGreaterThan(0)
})

/** Returns the second arguments of setTimeout and setInterval, '' if missing. */
function delaysIn(text: string): string[] {
  return [...text.matchAll(/(?<![.#\w])set(?:Timeout|Interval)\(/g)].map((match) => {
    let depth = 0
    let start: number | undefined
    let at = match.index + match[0].length
    for (; depth > 0 || text[at] !== ')'; at++) {
      const char = text[at]!
      if ('([{'.includes(char)) depth++
      else if (')]}'.includes(char)) depth--
      else if (char === ',' && depth === 0) start ??= at + 1
    }
    return start === undefined ? '' : text.slice(start, at).replace(/,\s*$/, '').trim()
  })
}
