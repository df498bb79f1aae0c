import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BusyPoll } from '../../src/net/busy-poll.ts'

let now = 0
let turns: (() => void)[] = []

beforeEach(() => {
  now = 1000
  turns = []
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  vi.spyOn(globalThis, 'setImmediate').mockImplementation(((call: (arg: unknown) => void, arg: unknown) => {
    turns.push(() => call(arg))
  }) as unknown as typeof setImmediate)
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** Counts turns of the event loop, each 20 µs, until the poll ends. */
function turnsUntilAsleep(): number {
  let count = 0
  for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
    now += 0.02
    turn()
    count++
  }
  return count
}

test('a single answer, or answers far apart, let the process sleep immediately', () => {
  const busyPoll = new BusyPoll({ closeMs: 0.5, awakeMs: 0.1 })
  for (let i = 0; i < 5; i++) {
    busyPoll.touch()
    expect(turnsUntilAsleep()).toBe(0)
    now += 1
  }
})

test('answers close together keep it awake for a tenth of a millisecond after the last', () => {
  const busyPoll = new BusyPoll({ closeMs: 0.5, awakeMs: 0.1 })
  busyPoll.touch()
  now += 0.2
  busyPoll.touch()
  now += 0.05
  busyPoll.touch()
  expect(turns).toHaveLength(1)
  const turned = turnsUntilAsleep()
  expect(turned).toBeGreaterThanOrEqual(5)
  expect(turned).toBeLessThanOrEqual(6)
  busyPoll.touch()
  expect(turnsUntilAsleep()).toBeGreaterThan(0)
})
