/** Text of times and intervals against recorded calls. */
import { expect, test } from 'vitest'
import { clockStamp, clockStampNanos, ctime, fromSeconds, intervalStr } from '../../src/time/stamp.ts'
import { UTC } from '../../src/time/zone.ts'
import { readVectors } from '../vectors.ts'

interface StampCase {
  readonly sec: number
  readonly nsec: number
  readonly timespec: string
  readonly timeval: string
  readonly interval: string
}

interface RealCase {
  readonly seconds: string
  readonly timespec: readonly [number, number]
}

test.each(readVectors<StampCase>('format/timestamps.json').cases)(
  '$sec s $nsec ns',
  ({ sec, nsec, timespec, timeval, interval }) => {
    expect(clockStampNanos({ sec, nsec }, UTC)).toBe(timespec)
    expect(clockStamp({ sec, nsec }, UTC)).toBe(timeval)
    expect(intervalStr({ sec, nsec })).toBe(interval)
  },
)

/** The C library leaves these not normal, and a nanosecond off below zero. */
const MENDED: Readonly<Record<string, readonly [number, number]>> = {
  '0.9999999999': [1, 0],
  '-1.5': [-2, 500_000_000],
  '-0.25': [-1, 750_000_000],
}

test.each(readVectors<RealCase>('time/real.json').cases)('$seconds seconds', ({ seconds, timespec }) => {
  const [sec, nsec] = MENDED[seconds] ?? timespec
  expect(fromSeconds(Number(seconds))).toEqual({ sec, nsec })
})

test.each([
  [1373074501.874, 'Sat Jul  6 01:35:01 2013'],
  [59.999_999, 'Thu Jan  1 00:00:59 1970'],
  [-0.25, 'Wed Dec 31 23:59:59 1969'],
])('ctime shows the whole second of %d', (seconds, text) => {
  expect(ctime(seconds, UTC)).toBe(text)
})
