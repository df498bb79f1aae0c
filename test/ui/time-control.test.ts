/** The page's control of time. */
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

test('live follows the present, and pausing stays', () => {
  const time = new TimeControl()
  vi.advanceTimersByTime(5000)
  expect(time.frame.value.to).toBe(NOW + 5)
  time.pause()
  vi.advanceTimersByTime(5000)
  expect(time.frame.value.to).toBe(NOW + 5)
})

test('the present is that of the host, whatever time the reader has', () => {
  const time = new TimeControl()
  time.hear(NOW - 3600)
  expect(time.frame.value.to).toBe(NOW - 3600)
  vi.advanceTimersByTime(2000)
  time.hear(NOW - 3600 + 1) // a second on the way
  expect(time.frame.value.to).toBe(NOW - 3600 + 2)
  time.step(-1)
  time.goLive()
  expect(time.frame.value.to).toBe(NOW - 3600 + 2)
  time.hear(NOW + 1.5)
  expect(time.frame.value.to).toBe(NOW + 2)
  time.hear(NOW - 3600)
  time.reset({}) // another host
  expect(time.frame.value.to).toBe(NOW + 2)
})

test('plays at its speed, and what catches up with the present is live', () => {
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

test('an archive shows all it has, and is played backwards and from its start', () => {
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

test('zooming keeps the moment under the pointer, and a typed window is what is shown', () => {
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
])('whatever an address or a file asks for, a width is one that can be shown: %d', (wanted, width) => {
  const time = new TimeControl()
  time.setWidth(wanted)
  expect(time.width.value).toBe(width)
  time.pause()
})
