/** Reconnecting to a lost server. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LiveStream } from '../../src/ui/data/live.ts'

class FakeSocket {
  static readonly OPEN = 1
  static readonly all: FakeSocket[] = []
  onopen: () => void = () => {}
  onclose: () => void = () => {}
  readyState = 0

  constructor() {
    FakeSocket.all.push(this)
  }

  send(): void {}
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('WebSocket', FakeSocket)
  FakeSocket.all.length = 0
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Drops the newest connection; returns the milliseconds until the next one. */
function comesBackAfter(): number {
  const { length } = FakeSocket.all
  FakeSocket.all.at(-1)!.onclose()
  const start = performance.now()
  while (FakeSocket.all.length === length) vi.advanceTimersToNextTimer()
  return performance.now() - start
}

test.each([
  [0, [500, 1000, 2000, 4000, 8000, 15_000, 15_000]],
  [0.5, [625, 1250, 2500, 5000, 10_000, 18_750, 18_750]],
])('chance of %d: delays of %j ms', (chance, delays) => {
  const stream = new LiveStream('ws://host', () => chance)
  const listener = { topic: () => {}, instances: () => {}, row: () => {}, trouble: () => {} }
  stream.subscribe('a', { host: 'h', every: 1, metrics: [], derive: {} }, listener)
  expect(delays.map(() => comesBackAfter())).toEqual(delays)
})

test('only a lasting connection resets the delays', () => {
  const stream = new LiveStream('ws://host', () => 0)
  const listener = { topic: () => {}, instances: () => {}, row: () => {}, trouble: () => {} }
  stream.subscribe('a', { host: 'h', every: 1, metrics: [], derive: {} }, listener)
  expect(comesBackAfter()).toBe(500)
  FakeSocket.all.at(-1)!.onopen()
  expect(comesBackAfter()).toBe(1000)
  FakeSocket.all.at(-1)!.onopen()
  vi.advanceTimersByTime(60_000)
  expect(comesBackAfter()).toBe(500)
})
