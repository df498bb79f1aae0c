/** The sampling window of a command line. */
import { expect, test } from 'vitest'
import { FOREVER } from '../../../src/time/arithmetic.ts'
import { UTC } from '../../../src/time/zone.ts'
import {
  type ArchiveBounds,
  openWindow,
  orderedWindow,
  samplingWindow,
} from '../../../src/tools/lib/window.ts'

const at = (sec: number, nsec = 0) => ({ sec, nsec })
const archive: ArchiveBounds = { start: at(1000), end: at(5000) }
const io = { now: () => 1_700_000_000_500 }
const options = (window: object, rest: object = {}) => ({
  window,
  interval: undefined,
  samples: undefined,
  ...rest,
})

test('without options the window is the whole archive', () => {
  expect(samplingWindow(options({}), archive, UTC, io)).toEqual({
    start: at(1000),
    finish: at(5000),
    origin: at(1000),
    interval: undefined,
    samples: undefined,
    isGiven: false,
  })
})

test('without an archive it starts now and has no end', () => {
  const { start, finish } = samplingWindow(options({}), undefined, UTC, io)
  expect([start, finish.sec]).toEqual([at(1_700_000_000, 500_000_000), Number.POSITIVE_INFINITY])
})

test('start, finish, origin, interval and samples are as given', () => {
  const asked = options({ start: '10min', finish: '-10min', origin: '+60' }, { interval: at(2), samples: 3 })
  expect(samplingWindow(asked, archive, UTC, io)).toEqual({
    start: at(1600),
    finish: at(4400),
    origin: at(1660),
    interval: at(2),
    samples: 3,
    isGiven: true,
  })
})

test('an impossible alignment is ignored, an invalid one is an error', () => {
  expect(samplingWindow(options({ align: '2h' }), archive, UTC, io).origin).toEqual(at(1000))
  expect(() => samplingWindow(options({ align: 'x' }), archive, UTC, io)).toThrow(
    'invalid time window.\nx\n^ -- unexpected value\n',
  )
})

test.each([
  [
    { start: '@00:30', finish: '@00:20' },
    'the start, -S, (Thu Jan  1 00:30:00 1970) is after the end, -T (Thu Jan  1 00:20:00 1970)',
  ],
  [
    { start: '@02:00' },
    'the start, -S, (Thu Jan  1 02:00:00 1970) is after the end of the archive (Thu Jan  1 01:23:20 1970)',
  ],
  [
    { start: '@00:00', finish: '@00:01' },
    'the start of the archive (Thu Jan  1 00:16:40 1970) is after the end, -T (Thu Jan  1 00:01:00 1970)',
  ],
])('%j is a window without time, whose ends are named', (window, message) => {
  expect(samplingWindow(options(window), archive, UTC, io)).toMatchObject({ isGiven: true })
  expect(() => orderedWindow(options(window), archive, UTC, io)).toThrow(message)
})

test('a window of one moment, or without an end, is in order', () => {
  const moment = options({ start: '@00:30', finish: '@00:30' })
  expect(orderedWindow(moment, archive, UTC, io)).toMatchObject({ start: at(1800), finish: at(1800) })
  const { finish } = orderedWindow(options({ start: '@2030-01-01' }), { ...archive, end: FOREVER }, UTC, io)
  expect(finish.sec).toBe(Number.POSITIVE_INFINITY)
})

test.each([
  [{ start: '@2030-01-01' }, { start: at(1_893_456_000) }],
  [{ finish: '@2030-01-01' }, { finish: at(1_893_456_000) }],
  [
    { start: '-10min', finish: '1hour' },
    { start: at(1_699_999_400, 500_000_000), finish: at(1_700_003_000, 500_000_000) },
  ],
  [{ start: '@00:30' }, { start: at(1_700_008_200) }],
  [{}, {}],
])('of archives that are still written, %j counts from now, and no end is limited', (texts, expected) => {
  expect(openWindow(texts, UTC, io)).toEqual(expected)
})

test('of archives that are still written, both ends are in order', () => {
  expect(() => openWindow({ start: '@00:30', finish: '@00:20' }, UTC, io)).toThrow(
    'the start, -S, (Wed Nov 15 00:30:00 2023) is after the end, -T (Wed Nov 15 00:20:00 2023)',
  )
  expect(() => openWindow({ start: '-nonsense' }, UTC, io)).toThrow('invalid time window.\n')
})
