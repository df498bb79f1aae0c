/** The time control. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TimeControl } from '../../src/ui/time/control.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

const NOW = 1_800_000_000
const archive = { start: 1000, end: 1600 }

test('live follows the present, pausing stops', () => {
  const time = new TimeControl()
  vi.advanceTimersByTime(5000)
  expect(time.frame.value.to).toBe(NOW + 5)
  time.pause()
  vi.advanceTimersByTime(5000)
  expect(time.frame.value.to).toBe(NOW + 5)
})

test('a live window keeps the start by which it was chosen, until it is changed', () => {
  const time = new TimeControl()
  const changes = [() => time.zoom(2), () => time.goLive(), () => time.showLatest(300), () => time.reset({})]
  for (const change of changes) {
    time.showLatest(600, NOW - 600)
    vi.advanceTimersByTime(2000)
    expect(time.since.value).toBe(NOW - 600)
    change()
    expect(time.since.value).toBeUndefined()
  }
})

test("the present follows the host's clock, not the browser's", () => {
  const time = new TimeControl()
  time.noteHostTime(NOW - 3600)
  expect(time.frame.value.to).toBe(NOW - 3600)
  vi.advanceTimersByTime(2000)
  time.noteHostTime(NOW - 3600 + 1) // a second on the way
  expect(time.frame.value.to).toBe(NOW - 3600 + 2)
  time.step(-1)
  time.goLive()
  expect(time.frame.value.to).toBe(NOW - 3600 + 2)
  time.noteHostTime(NOW + 1.5)
  expect(time.frame.value.to).toBe(NOW + 2)
  time.noteHostTime(NOW - 3600)
  time.reset({}) // another host
  expect(time.frame.value.to).toBe(NOW + 2)
})

test('the window moves with new values, without waiting for the next tick', () => {
  const time = new TimeControl()
  vi.advanceTimersByTime(1400)
  expect(time.frame.value.to).toBe(NOW + 1)
  time.noteHostTime(NOW + 0.9) // is in the window
  expect(time.frame.value.to).toBe(NOW + 1)
  time.noteHostTime(NOW + 1.3)
  expect(time.frame.value.to).toBe(NOW + 1.4)
  time.pause()
  vi.advanceTimersByTime(1000)
  time.noteHostTime(NOW + 2.3)
  expect(time.frame.value.to).toBe(NOW + 1.4)
})

test('plays at its speed, and becomes live when it reaches the present', () => {
  const time = new TimeControl()
  time.speed.value = 10
  time.step(-1)
  expect(time.frame.value.to).toBe(NOW - 30)
  time.play('forward')
  vi.advanceTimersByTime(1000)
  expect(time.frame.value.to).toBeCloseTo(NOW - 20)
  vi.advanceTimersByTime(5000)
  expect(time.mode.value).toBe('live')
})

test('an archive is shown whole, and plays backwards and from its start', () => {
  const time = new TimeControl()
  time.reset(archive)
  expect(time.frame.value).toEqual({ from: 1000, to: 1600 })
  time.play('backward')
  vi.advanceTimersByTime(2000)
  expect(time.frame.value.to).toBeCloseTo(1598)
  time.goLive()
  time.play('forward')
  vi.advanceTimersByTime(2000)
  expect(time.frame.value.to).toBeCloseTo(1062)
  time.speed.value = 900
  vi.advanceTimersByTime(2000)
  expect([time.mode.value, time.frame.value.to]).toEqual(['paused', 1600])
})

test('zooming keeps the time under the pointer, and an entered window is shown', () => {
  const time = new TimeControl()
  time.reset(archive)
  time.zoom(0.5, 0.5)
  expect(time.frame.value).toEqual({ from: 1150, to: 1450 })
  time.show(1100, 1200)
  expect(time.frame.value).toEqual({ from: 1100, to: 1200 })
})

test.each([
  [1e300, 366 * 86_400],
  [0, 1],
  [300, 300],
])('a width from a link or a file is limited to a valid one: %d', (wanted, width) => {
  const time = new TimeControl()
  time.setWidth(wanted)
  expect(time.width.value).toBe(width)
  time.pause()
})
