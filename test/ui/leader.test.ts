/** Messages about the page's time to programs that follow it. */
import { type Signal, signal } from '@preact/signals'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connection, type FollowedClock } from '../../src/ui/data/live.ts'
import { TimeControl } from '../../src/ui/time/control.ts'
import { TimeLeader } from '../../src/ui/time/leader.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 })
  connection.value = 'open'
})
afterEach(() => {
  vi.useRealTimers()
})

/** A page that shows an archive, and the messages it has sent since the last check. */
function newPage(): {
  time: TimeControl
  kind: Signal<'host' | 'archive'>
  hear: (clock: Partial<FollowedClock>) => void
  sent: () => unknown[]
} {
  const time = new TimeControl()
  time.reset({ start: 1000, end: 1600 })
  const kind = signal<'host' | 'archive'>('archive')
  const messages: unknown[] = []
  let last = 0
  const stream = {
    onTime: (_: FollowedClock) => {},
    sendTime: ({ source, id, do: what, ...rest }: Readonly<Record<string, unknown>>) => {
      last = Number(id)
      messages.push([source, what, ...Object.values(rest)])
    },
  }
  new TimeLeader(stream, time, () => kind.value)
  return {
    time,
    kind,
    hear: (clock) =>
      stream.onTime({
        port: 1,
        source: 'archive',
        state: 'stop',
        position: 1600,
        interval: 1,
        followers: 1,
        after: last,
        ...clock,
      }),
    sent: () => messages.splice(0),
  }
}

test('without followers nothing is sent', () => {
  const { time, hear, sent } = newPage()
  hear({ followers: 0 })
  time.play('backward')
  vi.advanceTimersByTime(1000)
  expect(sent()).toEqual([])
})

test('a resting position is sent once, and playback starts there', () => {
  const { time, hear, sent } = newPage()
  hear({})
  time.step(-1)
  time.step(-1)
  vi.advanceTimersByTime(1000)
  expect(sent()).toEqual([
    ['archive', 'stop'],
    ['archive', 'seek', 1480],
  ])
  time.step(-1)
  time.play('forward')
  expect(sent()).toEqual([
    ['archive', 'interval', 10],
    ['archive', 'speed', 1],
    ['archive', 'seek', 1420],
    ['archive', 'play'],
  ])
  vi.advanceTimersByTime(1000)
  expect(time.frame.value.to).toBe(1420) // moved by the shared clock
  hear({ state: 'stop', position: 1480, after: 0 }) // from before the server received this
  hear({ state: 'forward', position: 1430 })
  expect(time.frame.value.to).toBe(1430)
  time.speed.value = 10
  expect(sent()).toEqual([['archive', 'speed', 10]])
  time.play('backward')
  expect(sent()).toEqual([
    ['archive', 'seek', 1430],
    ['archive', 'reverse'],
  ])
  hear({ state: 'stop', position: 1060 })
  expect([time.mode.value, time.frame.value.to]).toEqual(['paused', 1060])
})

test('a pending position of an archive is dropped when the page switches to a host', () => {
  const { time, kind, hear, sent } = newPage()
  hear({})
  hear({ source: 'host' })
  sent()
  time.step(-1)
  kind.value = 'host'
  time.reset({})
  vi.advanceTimersByTime(1000)
  expect(sent().filter((message) => (message as string[])[0] === 'archive')).toEqual([])
  time.pause()
  expect(sent()).toEqual([['host', 'stop']])
})

test('a selected zone is sent, and so is the return to the local one', () => {
  const { time, hear, sent } = newPage()
  hear({})
  time.zone.value = 'Asia/Kolkata'
  time.zone.value = ''
  expect(sent()).toEqual([
    ['archive', 'zone', 'Asia/Kolkata'],
    ['archive', 'zone', Intl.DateTimeFormat().resolvedOptions().timeZone],
  ])
})

test('all state is sent again after a reconnect', () => {
  const { time, hear, sent } = newPage()
  hear({})
  time.play('backward')
  const told = sent()
  connection.value = 'lost'
  connection.value = 'open'
  expect(sent()).toEqual(told)
})
