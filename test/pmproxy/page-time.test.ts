/** Messages between a page and the clocks that programs follow. */
import { expect, test } from 'vitest'
import { type Clock, newClock } from '../../src/pmproxy/time/clock.ts'
import { PageTime } from '../../src/pmproxy/time/page-time.ts'
import type { TimeControlServer, TimeListener } from '../../src/pmproxy/time/server.ts'
import { TIME_ARCHIVE, TIME_HOST } from '../../src/wire/time-control.ts'

/** A time control that records its actions. */
function fakeControl(): {
  control: TimeControlServer
  done: unknown[]
  tell: TimeListener
  listeners: number
} {
  const listeners = new Set<TimeListener>()
  const done: unknown[] = []
  const control: TimeControlServer = {
    port: 43_334,
    act: (source, action) => void done.push([source, action]),
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => Promise.resolve(),
  }
  return {
    control,
    done,
    tell: (clock, followers) => {
      for (const listener of listeners) listener(clock, followers)
    },
    get listeners() {
      return listeners.size
    },
  }
}

const at = (source: Clock['source'], sec: number): Clock => ({
  ...newClock(source, { sec: 1, nsec: 0 }),
  position: { sec, nsec: 0 },
})

test('a slow page only gets the newest time, of hosts and of archives', () => {
  const fake = fakeControl()
  const sent: { position: number; done: () => void }[] = []
  const page = new PageTime(fake.control, (text, done) => {
    sent.push({ position: (JSON.parse(text) as { position: number }).position, done })
  })
  page.receive('{"time":{"do":"watch"}}')
  for (let sec = 10; sec < 1000; sec++) fake.tell(at(TIME_ARCHIVE, sec), 1)
  fake.tell(at(TIME_HOST, 5), 1)
  expect(sent.map(({ position }) => position)).toEqual([10, 5])
  sent[0]!.done()
  sent[2]!.done()
  expect(sent.map(({ position }) => position)).toEqual([10, 5, 999])
  fake.tell(at(TIME_ARCHIVE, 1000), 1)
  fake.tell(at(TIME_ARCHIVE, 1001), 1)
  page.leave()
  sent[3]!.done()
  expect([sent.length, fake.listeners]).toEqual([4, 0])
})

test('actions of a page apply to the clock of its source; invalid ones are rejected', () => {
  const { control, done } = fakeControl()
  const page = new PageTime(control, () => {})
  const ask = (message: unknown): boolean => page.receive(JSON.stringify({ time: message }))
  expect(ask({ source: 'archive', do: 'seek', position: 7 })).toBe(true)
  expect(ask({ do: 'zone', name: 'America/Port-au-Prince' })).toBe(true)
  expect(done).toEqual([
    [TIME_ARCHIVE, { do: 'seek', position: 7 }],
    [TIME_HOST, { do: 'zone', name: 'America/Port-au-Prince', label: 'America/Port-au-Prince' }],
  ])
  for (const wrong of [
    null,
    1,
    {},
    { do: 'jump' },
    { do: 'seek' },
    { do: 'seek', position: 1e12 },
    { do: 'interval', seconds: 0 },
    { do: 'speed', speed: -1 },
    { do: 'zone', name: 'a b' },
    { do: 'zone', name: 7 },
  ])
    expect(ask(wrong)).toBe(false)
  expect(page.receive('{"time":')).toBe(false)
  expect(done).toHaveLength(2)
})
