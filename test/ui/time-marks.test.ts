/** Time labels below charts at round times of the zone, across daylight saving changes; texts of spans. */
import { expect, test } from 'vitest'
import { marksIn, timeMarks, withDates } from '../../src/ui/chart/time-marks.ts'
import { formatSpan } from '../../src/ui/time/format.ts'

const marks = (from: string, to: string, most: number, zone: string): string[] =>
  timeMarks({ from: Date.parse(from) / 1000, to: Date.parse(to) / 1000 }, most, zone).map(
    ({ at, label }) => `${new Date(1000 * at).toISOString().slice(8, 16)} ${label}`,
  )

test('are multiples of a step on the clocks of the zone', () => {
  expect(marks('2026-11-22T10:07:00Z', '2026-11-22T10:21:00Z', 4, 'Asia/Kolkata')).toEqual([
    '22T10:10 15:40',
    '22T10:15 15:45',
    '22T10:20 15:50',
  ])
})

test('when clocks are set back, each day begins once and the repeated hour is labelled twice', () => {
  expect(marks('2026-10-23T12:00:00Z', '2026-10-27T12:00:00Z', 6, 'Europe/Berlin')).toEqual([
    '23T22:00 10-24',
    '24T22:00 10-25',
    '25T23:00 10-26',
    '26T23:00 10-27',
  ])
  expect(marks('2026-10-24T22:30:00Z', '2026-10-25T02:30:00Z', 6, 'Europe/Berlin')).toEqual([
    '24T23:00 01:00',
    '25T00:00 02:00',
    '25T01:00 02:00',
    '25T02:00 03:00',
  ])
})

test('when clocks are set forward, no day and no existing hour is left out', () => {
  expect(marks('2026-03-28T12:00:00Z', '2026-03-31T12:00:00Z', 6, 'Europe/Berlin')).toEqual([
    '28T23:00 03-29',
    '29T10:00 12:00',
    '29T22:00 03-30',
    '30T10:00 12:00',
    '30T22:00 03-31',
    '31T10:00 12:00',
  ])
  expect(marks('2026-03-28T23:30:00Z', '2026-03-29T03:30:00Z', 6, 'Europe/Berlin')).toEqual([
    '29T00:00 01:00',
    '29T01:00 03:00',
    '29T02:00 04:00',
    '29T03:00 05:00',
  ])
})

test('over several days, midnight is labelled with the date', () => {
  expect(marks('2026-11-21T13:00:00Z', '2026-11-22T19:00:00Z', 6, 'UTC')).toEqual([
    '21T18:00 18:00',
    '22T00:00 11-22',
    '22T06:00 06:00',
    '22T12:00 12:00',
    '22T18:00 18:00',
  ])
})

test('windows below a second have milliseconds, and an empty one has a single label', () => {
  const labels = (from: number, to: number): string[] =>
    timeMarks({ from, to }, 4, 'UTC').map(({ label }) => label)
  expect(labels(1_700_000_000, 1_700_000_001)).toEqual(['13:20.000', '13:20.500', '13:21.000'])
  expect(labels(1_700_000_000, 1_700_000_000)).toEqual(['13:20.000'])
})

const axis = (from: string, to: string, width: number): string[] =>
  withDates(marksIn({ from: Date.parse(from) / 1000, to: Date.parse(to) / 1000 }, width, 'UTC'))

test.each([60, 100, 120, 300, 450, 600, 1000, 3600, 10_000, 86_400, 604_800])(
  'a window of %i s has several labels in the plot of a phone, which do not touch',
  (seconds) => {
    const frame = { from: 1_700_000_007, to: 1_700_000_007 + seconds }
    const width = 250
    const found = marksIn(frame, width, 'UTC').map(({ at, label }) => ({
      middle: ((at - frame.from) / seconds) * width,
      half: 3.5 * label.length,
    }))
    expect(found.filter(({ half }) => half > 0).length).toBeGreaterThan(1)
    for (const [i, { middle, half }] of found.entries()) {
      const next = found[i + 1]
      expect(middle + half).toBeLessThanOrEqual(next === undefined ? width + 18 : next.middle - next.half)
    }
  },
)

test('the date is below the first label, where a day begins, and nowhere that it would be cut off', () => {
  expect(axis('2026-11-21T22:50:00Z', '2026-11-22T02:00:00Z', 250)).toEqual([
    '23:00\n2026-11-21',
    '00:00\n2026-11-22',
    '01:00',
    '02:00',
  ])
  expect(axis('2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z', 250)).toEqual([
    '00:00\n2026-11-21',
    '06:00',
    '12:00',
    '18:00',
    '00:00',
  ])
  expect(axis('2026-12-30T12:00:00Z', '2027-01-03T12:00:00Z', 250)).toEqual([
    '12-31\n2026',
    '01-01\n2027',
    '01-02',
    '01-03',
  ])
})

test.each([1800, 3600, 14_400, 86_400])('dates in a window of %i s never touch', (seconds) => {
  const midnight = Date.parse('2026-11-22T00:00:00Z') / 1000
  for (const width of [250, 450, 600, 720, 1200])
    for (let from = midnight - seconds; from < midnight; from += 150) {
      const marks = marksIn({ from, to: from + seconds }, width, 'UTC')
      const dates = withDates(marks).flatMap((text, i) => {
        const length = text.split('\n')[1]?.length ?? 0
        const middle = ((marks[i]!.at - from) / seconds) * width
        return length === 0 ? [] : [{ middle, half: 3.5 * length }]
      })
      for (const [i, { middle, half }] of dates.slice(0, -1).entries())
        expect(middle + half, `${width} ${from}`).toBeLessThanOrEqual(
          dates[i + 1]!.middle - dates[i + 1]!.half,
        )
    }
})

test('a span has the date of its end only if that is another one', () => {
  const at = Date.parse('2026-11-19T14:00:00Z') / 1000
  expect(formatSpan(at, at + 3600, 'UTC')).toBe('2026-11-19 14:00:00 to 15:00:00')
  expect(formatSpan(at, at + 3600, 'Asia/Tokyo')).toBe('2026-11-19 23:00:00 to 2026-11-20 00:00:00')
})
