/** The clocks that programs follow: actions and the messages they cause. docs/formats/time-control.md */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toSeconds } from '../../src/base/timestamp.ts'
import {
  act,
  type Clock,
  type ClockAction,
  joined,
  messageOf,
  newClock,
  tickMs,
} from '../../src/pmproxy/time/clock.ts'
import { fromSeconds } from '../../src/time/stamp.ts'
import {
  encodeTimeMessage,
  TIME_ARCHIVE,
  TIME_BACKWARD,
  TIME_BOUNDS,
  TIME_FORWARD,
  TIME_HOST,
  TIME_SET,
  TIME_STEP,
  TIME_STOP,
  TIME_TZ,
  TIME_VCRMODE,
  TIME_VCRMODE_DRAG,
  type TimeMessage,
  TimeMessages,
} from '../../src/wire/time-control.ts'

const NOW = fromSeconds(1000)
const hello = (source: number, delta: number, position: number, start: number, end: number): TimeMessage => ({
  command: TIME_SET,
  source,
  state: 0,
  mode: 0,
  delta: fromSeconds(delta),
  position: fromSeconds(position),
  start: fromSeconds(start),
  end: fromSeconds(end),
})
const archive = joined(newClock(TIME_ARCHIVE, NOW), hello(TIME_ARCHIVE, 5, 100, 0, 120), true).clock
const host = newClock(TIME_HOST, NOW)

/** Returns the effect of an action: state, position, and commands with their positions. */
function done(clock: Clock, action: ClockAction): unknown {
  const { clock: after, messages } = act(clock, action, NOW)
  return [
    after.state,
    toSeconds(after.position),
    messages.map(({ command, position }) => [command, toSeconds(position)]),
  ]
}

test('hosts are live at the start, archives stop where the first program is', () => {
  expect(host).toMatchObject({ state: TIME_FORWARD, delta: { sec: 2 } })
  expect(tickMs(host)).toBe(2000)
  expect(archive).toMatchObject({ state: TIME_STOP, position: { sec: 100 }, delta: { sec: 5 }, speed: 10 })
  expect(tickMs(archive)).toBeUndefined()
  expect(tickMs({ ...archive, state: TIME_FORWARD })).toBe(500)
})

test.each<[string, Clock, ClockAction, unknown]>([
  ['play', archive, { do: 'play' }, [TIME_FORWARD, 100, [[TIME_STEP, 100]]]],
  ['play live', { ...host, state: TIME_STOP }, { do: 'play' }, [TIME_FORWARD, 1000, [[TIME_VCRMODE, 1000]]]],
  ['reverse', archive, { do: 'reverse' }, [TIME_BACKWARD, 95, [[TIME_STEP, 95]]]],
  ['reverse live', host, { do: 'reverse' }, [TIME_FORWARD, 1000, []]],
  ['stop', { ...archive, state: TIME_FORWARD }, { do: 'stop' }, [TIME_STOP, 100, [[TIME_VCRMODE, 100]]]],
  ['tick', { ...archive, state: TIME_FORWARD }, { do: 'tick' }, [TIME_FORWARD, 105, [[TIME_STEP, 105]]]],
  ['tick live', host, { do: 'tick' }, [TIME_FORWARD, 1000, [[TIME_STEP, 1000]]]],
  ['tick while stopped', archive, { do: 'tick' }, [TIME_STOP, 100, []]],
  [
    'tick at the end',
    { ...archive, state: TIME_FORWARD, position: fromSeconds(118) },
    { do: 'tick' },
    [
      TIME_STOP,
      118,
      [
        [TIME_BOUNDS, 118],
        [TIME_VCRMODE, 118],
      ],
    ],
  ],
  ['drag', archive, { do: 'drag' }, [TIME_STOP, 100, [[TIME_VCRMODE_DRAG, 100]]]],
  ['step', archive, { do: 'step', direction: 1 }, [TIME_STOP, 105, [[TIME_STEP, 105]]]],
  ['step back', archive, { do: 'step', direction: -1 }, [TIME_STOP, 95, [[TIME_STEP, 95]]]],
  [
    'step over the end',
    { ...archive, position: fromSeconds(119) },
    { do: 'step', direction: 1 },
    [TIME_STOP, 119, [[TIME_BOUNDS, 119]]],
  ],
  ['seek', archive, { do: 'seek', position: 50.5 }, [TIME_STOP, 50.5, [[TIME_VCRMODE, 50.5]]]],
  ['seek beyond the end', archive, { do: 'seek', position: 500 }, [TIME_STOP, 120, [[TIME_VCRMODE, 120]]]],
  ['seek live', host, { do: 'seek', position: 5 }, [TIME_FORWARD, 1000, []]],
  ['interval', archive, { do: 'interval', seconds: 1 }, [TIME_STOP, 100, [[TIME_VCRMODE, 100]]]],
  ['speed', archive, { do: 'speed', speed: 3 }, [TIME_STOP, 100, []]],
  ['zone', archive, { do: 'zone', name: 'UTC', label: 'UTC' }, [TIME_STOP, 100, [[TIME_TZ, 100]]]],
])('%s', (_, clock, action, expected) => {
  expect(done(clock, action)).toEqual(expected)
})

test('a single step is announced in its direction, and then the clock stops', () => {
  const { clock, messages } = act(archive, { do: 'step', direction: -1 }, NOW)
  expect([clock.state, messages[0]!.state]).toEqual([TIME_STOP, TIME_BACKWARD])
})

test('speed has limits that depend on the interval', () => {
  const speedOf = (speed: number): number => act(archive, { do: 'speed', speed }, NOW).clock.speed
  expect([speedOf(0.01), speedOf(7), speedOf(1e9)]).toEqual([0.5, 7, 5000])
})

test('another archive extends the span, which is announced to the others', () => {
  const { clock, messages } = joined(archive, hello(TIME_ARCHIVE, 1, 7, -50, 60), false)
  expect(clock).toMatchObject({
    position: { sec: 100 },
    delta: { sec: 5 },
    bounds: { start: { sec: -50 }, end: { sec: 120 } },
  })
  expect(messages.map(({ command }) => command)).toEqual([TIME_VCRMODE])
  expect(joined(host, hello(TIME_HOST, 9, 0, 0, 0), true).clock.delta).toEqual({ sec: 9, nsec: 0 })
  expect(joined(host, hello(TIME_HOST, 9, 0, 0, 0), false).clock.delta).toEqual({ sec: 2, nsec: 0 })
})

test('the first archive after all others have left sets the time again', () => {
  const { clock } = joined(
    { ...archive, state: TIME_FORWARD },
    hello(TIME_ARCHIVE, 1, 7000, 6000, 8000),
    true,
  )
  expect(clock).toMatchObject({
    state: TIME_STOP,
    delta: { sec: 1 },
    position: { sec: 7000 },
    bounds: { start: { sec: 6000 }, end: { sec: 8000 } },
  })
})

test('after any messages, the time to the next tick is valid for a timer', () => {
  const moment = fc.record({
    sec: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(Number),
    nsec: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map((usec) => Number(usec) * 1000),
  })
  const times = { delta: moment, position: moment, start: moment, end: moment }
  const message = fc.record({
    ...times,
    command: fc.integer(),
    source: fc.nat(1),
    state: fc.nat(),
    mode: fc.nat(),
  })
  const number = fc.double({ noNaN: true, min: 0.001, max: 1e11 })
  const action: fc.Arbitrary<ClockAction> = fc.oneof(
    fc.constantFrom('play', 'reverse', 'stop', 'tick', 'drag').map((what) => ({ do: what }) as ClockAction),
    fc.constantFrom<1 | -1>(1, -1).map((direction) => ({ do: 'step', direction }) as const),
    number.map((position) => ({ do: 'seek', position }) as const),
    number.map((seconds) => ({ do: 'interval', seconds }) as const),
    number.map((speed) => ({ do: 'speed', speed }) as const),
  )
  const source = fc.constantFrom<0 | 1>(TIME_HOST, TIME_ARCHIVE)
  fc.assert(
    fc.property(source, fc.array(fc.oneof(message, action)), (of, events) => {
      let clock = newClock(of, NOW)
      for (const [i, event] of events.entries()) {
        const change = 'do' in event ? act(clock, event, NOW) : joined(clock, event, i % 2 === 0)
        clock = change.clock
        for (const each of [...change.messages, messageOf(clock, TIME_STEP)])
          expect(encodeTimeMessage(each).length).toBeGreaterThanOrEqual(88)
        const ms = tickMs(clock)
        expect(ms === undefined || ms >= 10).toBe(true)
      }
    }),
  )
})

describe('messages', () => {
  const message = { ...messageOf(archive, TIME_TZ), zone: { name: 'AEST-10', label: 'Melbourne' } }

  test('have the layout of 64-bit machines', () => {
    const bytes = encodeTimeMessage(message)
    const view = new DataView(bytes.buffer)
    expect(bytes.length).toBe(88 + 'AEST-10'.length + 'Melbourne'.length + 2)
    expect(view.getUint32(0, true)).toBe(0x54494d45)
    expect(view.getUint32(4, true)).toBe(bytes.length)
    expect([8, 12, 16, 20].map((at) => view.getInt32(at, true))).toEqual([
      TIME_TZ,
      TIME_ARCHIVE,
      TIME_STOP,
      1,
    ])
    expect([24, 40, 56, 72].map((at) => Number(view.getBigInt64(at, true)))).toEqual([5, 100, 0, 120])
  })

  test('are reassembled from any chunks', () => {
    const bytes = [message, messageOf(archive, TIME_STEP)].map(encodeTimeMessage)
    const all = Buffer.concat(bytes)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: all.length })), (cuts) => {
        const messages = new TimeMessages()
        const places = [0, ...cuts.sort((a, b) => a - b), all.length]
        const found = places.slice(1).flatMap((to, i) => messages.add(all.subarray(places[i], to)))
        expect(found).toEqual([message, messageOf(archive, TIME_STEP)])
      }),
    )
  })

  test.each([
    ['another magic', 0, 1],
    ['too short', 4, 87],
    ['too long', 4, 88 + 4097],
  ])('%s is rejected', (_, at, value) => {
    const bytes = encodeTimeMessage(message)
    new DataView(bytes.buffer).setUint32(at, value, true)
    expect(() => new TimeMessages().add(bytes)).toThrow(/Malformed time control message/)
  })
})
