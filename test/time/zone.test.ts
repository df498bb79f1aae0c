/** Zones against 65 recorded pmNewZone and pmCtime calls, and against the runtime's own zone data. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ctime } from '../../src/time/stamp.ts'
import { localTime, makeZone, newZone, type Zone } from '../../src/time/zone.ts'
import { readVectors } from '../vectors.ts'
import { tzif } from './tzif-writer.ts'

interface Case {
  readonly tz: string
  readonly clock: number
  readonly which?: string
  readonly ctime?: string
  readonly error?: string
  readonly lib603?: { which: string; ctime: string }
}

/** The parts of zone files that the recorded cases need, so that the test does not depend on installed files. */
const HOUR = 3600
const FILES: Readonly<Record<string, Uint8Array>> = {
  'Australia/Melbourne': tzif(
    [
      [57_686_400, 11 * HOUR],
      [67_968_000, 10 * HOUR],
    ],
    10 * HOUR,
    'AEST-10AEDT,M10.1.0,M4.1.0/3',
  ),
  'America/New_York': tzif(
    [
      [9_961_200, -4 * HOUR],
      [25_682_400, -5 * HOUR],
    ],
    -5 * HOUR,
    'EST5EDT,M3.2.0,M11.1.0',
  ),
  'Asia/Kolkata': tzif([], 5.5 * HOUR, 'IST-5:30'),
}

const zoneOf = (text: string): Zone | undefined => newZone(text, (name) => FILES[name])

const { cases } = readVectors<Case>('time/zones.json')

test.each(cases.map((testCase) => [testCase.tz, testCase.clock, testCase] as const))(
  'zone "%s" at %i',
  (tz, clock, testCase) => {
    const zone = zoneOf(tz)
    // Angle brackets are refused by 7.2.1 only, where no zone without letters in its name can be written.
    const want = testCase.error !== undefined && tz.startsWith('<') ? testCase.lib603! : testCase
    if (want.which === undefined) expect(zone).toBeUndefined()
    else {
      expect(zone?.name).toBe(want.which)
      expect(`${ctime(clock, zone!)}\n`).toBe(want.ctime)
    }
  },
)

test('covers every recorded case', () => {
  expect(cases.length).toBe(65)
  console.log(`time/zones: ${cases.length} cases`)
})

test('converts a time to local date and time', () => {
  expect(localTime(1_709_210_096, makeZone('AEST-10AEDT,M10.1.0,M4.1.0/3'))).toMatchObject({
    year: 2024,
    month: 2,
    day: 29,
    hour: 23,
    minute: 34,
    second: 56,
    weekday: 4,
    yearday: 59,
    zone: { offset: 39_600, isDst: true, abbreviation: 'AEDT' },
  })
})

test.each([
  // Julian days without and with 29 February, negative and long change times, minutes and seconds in offsets
  ['AAA0BBB,J60,J300', 1_709_251_200, 0, 'AAA'],
  ['AAA0BBB,J60/0,J300', 1_709_251_200, 3600, 'BBB'],
  ['AAA0BBB,59/0,300', 1_709_164_800, 3600, 'BBB'],
  ['<-02>2<-01>,M3.5.0/-1,M10.5.0/0', 1_711_846_799, -7200, '-02'],
  ['<-02>2<-01>,M3.5.0/-1,M10.5.0/0', 1_711_846_800, -3600, '-01'],
  ['IST-2IDT,M3.4.4/26,M10.5.0', 1_711_670_399, 7200, 'IST'],
  ['IST-2IDT,M3.4.4/26,M10.5.0', 1_711_670_400, 10_800, 'IDT'],
  ['XXX-1:02:03', 0, 3723, 'XXX'],
  ['AAA3BBB1,M1.1.1,M12.5.5', 1_720_000_000, -3600, 'BBB'],
])('%s at %i', (text, sec, offset, abbreviation) => {
  expect(makeZone(text).at(sec)).toMatchObject({ offset, abbreviation })
})

test.each(['', 'AB3', 'AAA', 'AAA3BBB,M13.1.1,M1.1.1', 'AAA3BBB,M1.1.1', 'AAA3 ', '<AA>3', ':AAA3'])(
  'an invalid rule is UTC: "%s"',
  (text) => {
    expect(makeZone(text).at(0).offset).toBe(0)
  },
)

test('broken zone files are ignored', () => {
  const good = FILES['Australia/Melbourne']!
  for (let length = 0; length < good.length; length++) {
    const zone = makeZone('AAA-1', good.subarray(0, length))
    const { offset } = zone.at(1_720_000_000)
    expect([36_000, 3600]).toContain(offset)
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const file = Uint8Array.from([...good.subarray(0, 44), ...bytes])
      expect(Number.isFinite(makeZone('AAA-1', file).at(0).offset)).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('caches a period, not a time', () => {
  const zone = makeZone('EST5EDT,M3.2.0,M11.1.0')
  const { from, until } = zone.at(1_720_000_000)
  expect(zone.at(from).offset).toBe(-4 * HOUR)
  expect(zone.at(from - 1).offset).toBe(-5 * HOUR)
  expect(zone.at(until - 1).offset).toBe(-4 * HOUR)
  expect(zone.at(until).offset).toBe(-5 * HOUR)
})

test('agrees with the runtime on dates', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e11, max: 1e11 }), (sec) => {
      const date = new Date(sec * 1000)
      const local = localTime(sec, makeZone('UTC0'))
      expect([
        local.year,
        local.month,
        local.day,
        local.hour,
        local.minute,
        local.second,
        local.weekday,
      ]).toEqual([
        date.getUTCFullYear(),
        date.getUTCMonth() + 1,
        date.getUTCDate(),
        date.getUTCHours(),
        date.getUTCMinutes(),
        date.getUTCSeconds(),
        date.getUTCDay(),
      ])
    }),
    { numRuns: 1000 },
  )
})
