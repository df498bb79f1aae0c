/** The sampling window of a command line. */
import { expect, test } from 'vitest'
import { UTC } from '../../../src/time/zone.ts'
import { type ArchiveBounds, samplingWindow } from '../../../src/tools/lib/window.ts'

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
