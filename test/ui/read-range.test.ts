/** Whole windows typed into one field, with an injected clock and zone. */
import { describe, expect, test } from 'vitest'
import { formatTime } from '../../src/ui/time/format.ts'
import { isRange, readRange } from '../../src/ui/time/read-range.ts'
import type { WindowBase } from '../../src/ui/time/read-window.ts'

const at = (text: string): number => Date.parse(text) / 1000

function base(now: string, zone = 'UTC', more: Partial<WindowBase> = {}): WindowBase {
  return {
    frame: { from: at(now) - 600, to: at(now) },
    isLive: true,
    bounds: {},
    now: at(now),
    zone,
    ...more,
  }
}

function shown(text: string, from: WindowBase): string {
  const window = readRange(text, from)
  const end = window.isLive ? 'now' : formatTime(window.to, from.zone)
  return `${formatTime(window.from, from.zone)} to ${end}`
}

const NOON = base('2026-11-28T12:00:00Z')

test.each([
  ['02:45', '2026-11-28 02:40:00 to 2026-11-28 02:50:00'],
  ['23:00', '2026-11-27 22:55:00 to 2026-11-27 23:05:00'],
  ['11:58', '2026-11-28 11:50:00 to 2026-11-28 12:00:00'],
  ['yesterday 14:00', '2026-11-27 13:55:00 to 2026-11-27 14:05:00'],
  ['2026-11-28 03:10', '2026-11-28 03:05:00 to 2026-11-28 03:15:00'],
  ['last monday', '2026-11-22 23:55:00 to 2026-11-23 00:05:00'],
  ['10 minutes ago', '2026-11-28 11:45:00 to 2026-11-28 11:55:00'],
  ['-10min', '2026-11-28 11:50:00 to now'],
  ['last hour', '2026-11-28 11:00:00 to now'],
  ['the last 3 hours', '2026-11-28 09:00:00 to now'],
  ['past 90 min', '2026-11-28 10:30:00 to now'],
  ['last 2 weeks', '2026-11-14 12:00:00 to now'],
  ['now', '2026-11-28 11:50:00 to now'],
  ['today', '2026-11-28 00:00:00 to now'],
  ['Yesterday', '2026-11-27 00:00:00 to 2026-11-28 00:00:00'],
  ['2026-11-20', '2026-11-20 00:00:00 to 2026-11-21 00:00:00'],
  ['03:00 to 04:00', '2026-11-28 03:00:00 to 2026-11-28 04:00:00'],
  ['23:00 – 01:00', '2026-11-27 23:00:00 to 2026-11-28 01:00:00'],
  ['yesterday 14:00 until 15:00', '2026-11-27 14:00:00 to 2026-11-27 15:00:00'],
  ['2026-11-27 10:00 to now', '2026-11-27 10:00:00 to now'],
  ['11:30 to 12:30', '2026-11-28 11:30:00 to 2026-11-28 12:00:00'],
  // A hyphen separates times only between blanks: zones and dates have hyphens too.
  ['03:00 - 04:00', '2026-11-28 03:00:00 to 2026-11-28 04:00:00'],
  ['yesterday 14:00 - 15:00', '2026-11-27 14:00:00 to 2026-11-27 15:00:00'],
  ['2026-11-27 10:00 - 2026-11-27 11:00', '2026-11-27 10:00:00 to 2026-11-27 11:00:00'],
  ['2026-11-28 03:10 -0100', '2026-11-28 04:05:00 to 2026-11-28 04:15:00'],
  ['last friday 14:00', '2026-11-27 13:55:00 to 2026-11-27 14:05:00'],
  ['last mon', '2026-11-22 23:55:00 to 2026-11-23 00:05:00'],
  // NOON is a Saturday.
  ['monday 10:00', '2026-11-23 09:55:00 to 2026-11-23 10:05:00'],
  ['10:00 Mon', '2026-11-23 09:55:00 to 2026-11-23 10:05:00'],
  ['saturday 11:00', '2026-11-28 10:55:00 to 2026-11-28 11:05:00'],
  ['saturday 13:00', '2026-11-21 12:55:00 to 2026-11-21 13:05:00'],
  ['24 december', '2025-12-23 23:55:00 to 2025-12-24 00:05:00'],
  ['Dec 24 10pm', '2025-12-24 21:55:00 to 2025-12-24 22:05:00'],
  ['mon 10:00 to tue 11:00', '2026-11-23 10:00:00 to 2026-11-24 11:00:00'],
  // Words that PCP's syntax lacks.
  ['Midnight', '2026-11-27 23:55:00 to 2026-11-28 00:05:00'],
  ['yesterday noon', '2026-11-27 11:55:00 to 2026-11-27 12:05:00'],
  ['noon monday', '2026-11-23 11:55:00 to 2026-11-23 12:05:00'],
  ['yesterday noon to midnight', '2026-11-27 12:00:00 to 2026-11-28 00:00:00'],
  ['midnight to noon', '2026-11-28 00:00:00 to 2026-11-28 12:00:00'],
  ['an hour ago', '2026-11-28 10:55:00 to 2026-11-28 11:05:00'],
  ['half an hour ago', '2026-11-28 11:25:00 to 2026-11-28 11:35:00'],
  ['a day ago', '2026-11-27 11:55:00 to 2026-11-27 12:05:00'],
  ['one week ago', '2026-11-21 11:55:00 to 2026-11-21 12:05:00'],
  ['2 hours ago', '2026-11-28 09:55:00 to 2026-11-28 10:05:00'],
  ['2h ago', '2026-11-28 09:55:00 to 2026-11-28 10:05:00'],
  ['2h30m ago', '2026-11-28 09:25:00 to 2026-11-28 09:35:00'],
  ['1.5 hours ago', '2026-11-28 10:25:00 to 2026-11-28 10:35:00'],
  ['an hour ago to now', '2026-11-28 11:00:00 to now'],
  ['2h ago to an hour ago', '2026-11-28 10:00:00 to 2026-11-28 11:00:00'],
])('%s', (text, expected) => {
  expect(shown(text, NOON)).toBe(expected)
})

test.each([
  ['02:45', '2026-11-28 02:45:00 to 2026-11-28 02:55:00'],
  ['yesterday 14:00', '2026-11-27 14:00:00 to 2026-11-27 14:10:00'],
  ['11:58', '2026-11-28 11:58:00 to 2026-11-28 12:00:00'],
  ['03:00 to 04:00', '2026-11-28 03:00:00 to 2026-11-28 04:00:00'],
  ['-10min', '2026-11-28 11:50:00 to now'],
])('%s where the start alone is edited', (text, expected) => {
  const { from, to, isLive } = readRange(text, NOON, true)
  expect(`${formatTime(from, 'UTC')} to ${isLive ? 'now' : formatTime(to, 'UTC')}`).toBe(expected)
})

test.each([
  ['', /Enter a time\nAccepted: /],
  ['nonsense', /nonsense\n\^ -- unexpected value\nAccepted: 02:45 · .* · 03:00 to 04:00$/],
  ['last foo', /last foo: not a duration; use seconds.*\nAccepted: /],
  ['last 0 hours', /not a duration/],
  ['tomorrow', /That is in the future\nAccepted: /],
  ['2026-12-01', /That is in the future/],
  ['04:00 to nonsense', /nonsense\n\^/],
  ['11:33 to 11:29', /To \(2026-11-28 11:29:00\) must be after From \(2026-11-28 11:33:00\)/],
  ['11:33 to 11:33', /To \(2026-11-28 11:33:00\) must be after From/],
  ['2026-11-27 10:00 to 2026-11-27 09:00', /To \(2026-11-27 09:00:00\) must be after From/],
  ['sat 11:00 to mon 10:00', /To \(2026-11-23 10:00:00\) must be after From/],
  ['2026-13-45', /2026-13-45 is not a date\nAccepted: /],
  ['2026-13-05', /is not a date/],
  ['2026-02-29', /is not a date/],
  ['next monday', /That is in the future/],
  ['2019-01-01 to now', /That is 2888 d 12 h; at most 366 d can be shown/],
  ['last 400 days', /at most 366 d/],
  ['1'.repeat(1000), /Enter a time/],
  [' \t', /Enter a time/],
  ['9999-12-31', /That is in the future/],
  ['9999-12-31 12:00', /That is in the future/],
  ['@275760-09-14', /That is in the future|unexpected value/],
  ['@1700000000', /That is in the future/],
  [`@${'9'.repeat(190)}`, /That is in the future/],
  ['9999-12-31 to now', /From \(9999-12-31 00:00:00\) must be before the present/],
  ['99999999999 days ago to now', /at most 366 d/],
  ['-99999999 days', /at most 366 d/],
  ['-9999999999 years', /unexpected value/],
  ['0000-01-01', /0000-01-01 is before 1970/],
  ['1969-12-31', /1969-12-31 is before 1970/],
  ['24:00', /24:00\n\^ -- hours are 0 to 23/],
  ['25:00', /hours are 0 to 23/],
  ['yesterday 25:00', /unexpected value/],
  ['10:75', /unexpected value/],
  ['soon ago', /soon ago\n\^ -- unexpected value/],
])('refuses %j and lists what is accepted', (text, message) => {
  expect(() => readRange(text, NOON)).toThrow(message)
})

test('noon is the last one', () => {
  expect(shown('noon', base('2026-11-28T13:00:00Z'))).toBe('2026-11-28 11:55:00 to 2026-11-28 12:05:00')
  expect(shown('noon', base('2026-11-28T11:00:00Z'))).toBe('2026-11-27 11:55:00 to 2026-11-27 12:05:00')
})

test('each text has a window or an error with the accepted forms, in any zone', () => {
  const years = ['0000', '0001', '1000', '1969', '1970', '9998', '9999', '10000', '275760', '9'.repeat(150)]
  const dates = years.flatMap((year) => [`${year}-01-01`, `${year}-12-31`, `31 dec ${year}`, year])
  const numbers = ['0', '1e15', '8640000000000', '9007199254740991', '9'.repeat(150)]
  const spans = numbers.flatMap((n) => [
    `-${n}`,
    `${n} days ago`,
    `${n} years ago`,
    `-${n} weeks`,
    `last ${n} days`,
  ])
  const zones = ['UTC', 'Pacific/Kiritimati', 'America/New_York']
  for (const text of [...dates, ...dates.map((date) => `@${date} 23:59`), ...spans, ...numbers])
    for (const zone of zones)
      for (const ends of [text, `${text} to now`, `yesterday to ${text}`]) {
        let end: unknown
        try {
          end = shown(ends, { ...NOON, zone })
        } catch (error) {
          end = (error as Error).message
        }
        expect(end, ends).toMatch(/^\d{4}-.* to (now|\d{4}-)|\nAccepted: /)
        expect(end, ends).not.toMatch(/Invalid|NaN/)
      }
})

test('a live window that was chosen by its start keeps it, others follow the present', () => {
  const since = (text: string) => readRange(text, NOON).since
  expect(since('today')).toBe(at('2026-11-28T00:00:00Z'))
  expect(since('2026-11-27 10:00 to now')).toBe(at('2026-11-27T10:00:00Z'))
  for (const text of ['last hour', '-10min', 'now', 'yesterday', '2 hours ago to now', '03:00 to 04:00'])
    expect(since(text)).toBeUndefined()
})

describe('in a zone with daylight saving', () => {
  const berlin = (now: string): WindowBase => base(now, 'Europe/Berlin')
  const hours = (text: string, from: WindowBase): number => {
    const window = readRange(text, from)
    return (window.to - window.from) / 3600
  }

  test('a day has 23, 24 or 25 hours', () => {
    expect(hours('yesterday', berlin('2026-03-30T12:00:00Z'))).toBe(23)
    expect(hours('yesterday', berlin('2026-10-26T12:00:00Z'))).toBe(25)
    expect(hours('2026-10-25', berlin('2026-11-26T12:00:00Z'))).toBe(25)
    expect(hours('yesterday', berlin('2026-11-28T12:00:00Z'))).toBe(24)
    expect(hours('today', berlin('2026-03-29T10:00:00Z'))).toBe(11)
  })

  test('the night of a change is as long as it was', () => {
    expect(hours('01:00 to 04:00', berlin('2026-03-29T12:00:00Z'))).toBe(2)
    expect(hours('01:00 to 04:00', berlin('2026-10-25T12:00:00Z'))).toBe(4)
    expect(hours('01:00 to 04:00', berlin('2026-10-26T12:00:00Z'))).toBe(3)
  })

  test('a time of day is the same on either side of a change', () => {
    expect(shown('yesterday 14:00', berlin('2026-03-29T12:00:00Z'))).toBe(
      '2026-03-28 13:55:00 to 2026-03-28 14:05:00',
    )
    expect(shown('yesterday 14:00', berlin('2026-10-25T20:00:00Z'))).toBe(
      '2026-10-24 13:55:00 to 2026-10-24 14:05:00',
    )
  })

  test('a time that occurs twice is the later one, and a skipped one the hour after it', () => {
    expect(readRange('02:30', berlin('2026-10-25T12:00:00Z')).to).toBe(at('2026-10-25T01:35:00Z'))
    expect(readRange('02:30', berlin('2026-03-29T12:00:00Z')).to).toBe(at('2026-03-29T01:35:00Z'))
  })
})

describe('of an archive', () => {
  const [start, end] = [at('2026-11-14T22:00:00Z'), at('2026-11-16T04:00:00Z')]
  const archive = base('2026-11-28T12:00:00Z', 'UTC', {
    frame: { from: end - 3600, to: end },
    isLive: false,
    bounds: { start, end },
  })

  test.each([
    ['last hour', '2026-11-16 03:00:00 to 2026-11-16 04:00:00'],
    ['last week', '2026-11-14 22:00:00 to 2026-11-16 04:00:00'],
    ['2026-11-15', '2026-11-15 00:00:00 to 2026-11-16 00:00:00'],
    ['2026-11-16', '2026-11-16 00:00:00 to 2026-11-16 04:00:00'],
    ['02:45', '2026-11-15 02:15:00 to 2026-11-15 03:15:00'],
    ['03:00 to 04:00', '2026-11-15 03:00:00 to 2026-11-15 04:00:00'],
  ])('%s', (text, expected) => {
    expect(shown(text, archive)).toBe(expected)
  })

  test('days without data are refused', () => {
    expect(() => readRange('2026-11-10', archive)).toThrow('That is before the start of the archive')
    expect(() => readRange('yesterday', archive)).toThrow('That is after the end of the archive')
  })
})

test('From takes over texts that have both ends', () => {
  expect(['03:00 to 04:00', 'last hour', 'past day', '1 – 2'].map(isRange)).toEqual([true, true, true, true])
  expect(['02:45', 'yesterday', '-10min', 'october 3', '', 'last'].map(isRange)).toEqual(Array(6).fill(false))
})
