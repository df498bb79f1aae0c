/** Time windows against 658 recorded pmParseTimeWindow calls, and general properties. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FOREVER } from '../../src/time/arithmetic.ts'
import { parseTimeArgument, parseTimeWindow, type TimeWindow } from '../../src/time/window.ts'
import { makeZone, type Zone } from '../../src/time/zone.ts'
import { readVectors } from '../vectors.ts'

type Moment = readonly [string, number]

interface Case {
  readonly tz: string
  readonly S?: string
  readonly T?: string
  readonly A?: string
  readonly O?: string
  readonly logStart?: Moment
  readonly logEnd?: Moment
  readonly status: number
  readonly start?: Moment
  readonly end?: Moment
  readonly offset?: Moment
  readonly message?: string
}

const vectors = readVectors<Case>('time/window.json') as unknown as {
  readonly now: number
  readonly logStart: Moment
  readonly logEnd: Moment
  readonly cases: readonly Case[]
}

/** The rules of the zones that the cases name by file, for the years they are about. */
const RULES: Readonly<Record<string, string>> = {
  'Australia/Melbourne': 'AEST-10AEDT,M10.1.0,M4.1.0/3',
  'America/New_York': 'EST5EDT,M3.2.0,M11.1.0',
  ':Europe/Paris': 'CET-1CEST,M3.5.0,M10.5.0/3',
  EST: 'EST+0',
  GMT: 'GMT+0',
}

/** Recorded as 13 January 10001, a defect; the test below has the date itself. */
const YEAR_10000 = '@Nov 14 10:30 10000'

const zoneOf = (name: string): Zone => makeZone(RULES[name] ?? name)
const MAX = '9223372036854775807'
const moment = ([sec, nsec]: Moment) => (sec === 'max' || sec === MAX ? FOREVER : { sec: Number(sec), nsec })

function windowOf({ tz, S, T, A, O, logStart, logEnd }: Case): TimeWindow {
  return parseTimeWindow(
    { start: S, finish: T, align: A, origin: O },
    {
      start: moment(logStart ?? vectors.logStart),
      end: moment(logEnd ?? vectors.logEnd),
      now: vectors.now,
      zone: zoneOf(tz),
    },
  )
}

function expected(recorded: Case): unknown {
  if (recorded.status < 0) return recorded.message!.trimEnd()
  return {
    start: moment(recorded.start!),
    finish: moment(recorded.end!),
    origin: moment(recorded.offset!),
    warning: recorded.message?.trimEnd(),
  }
}

test('windows are those recorded', () => {
  const differences: unknown[] = []
  for (const recorded of vectors.cases) {
    let got: unknown
    try {
      got = windowOf(recorded)
    } catch (error) {
      got = (error as Error).message
    }
    const want = expected(recorded)
    if (recorded.S === YEAR_10000) continue
    if (JSON.stringify(got) !== JSON.stringify(want))
      differences.push(JSON.stringify({ recorded, got, want }))
  }
  expect(differences).toEqual([])
  expect(vectors.cases).toHaveLength(658)
})

const UTC = makeZone('UTC0')
const now = { start: { sec: 1_700_000_000, nsec: 0 }, end: FOREVER, now: 1_700_000_000, zone: UTC }

test('the year 10000 is a year like others', () => {
  expect(parseTimeWindow({ start: YEAR_10000 }, now).start.sec).toBe(Date.UTC(10_000, 10, 14, 10, 30) / 1000)
})

test.each([
  ['a year beyond counting', { start: `@${'1'.repeat(17)}` }, `@${'1'.repeat(17)}\n^ -- unexpected value`],
  ['a year beyond numbers', { finish: `@${'1'.repeat(400)}` }, `@${'1'.repeat(400)}\n^ -- unexpected value`],
  ['an unknown word', { start: 'noon' }, 'noon\n^ -- unexpected value'],
  ['a day that no month has', { start: 'Feb 30' }, 'Feb 30\n^ -- unexpected value'],
  ['two times', { start: '10:30 10:40' }, '10:30 10:40\n  ^ -- unexpected value'],
  ['no step', { align: '0' }, '0\n^ -- alignment specified by -A switch could not be applied'],
])('refuses %s', (_what, texts, message) => {
  expect(() => parseTimeWindow(texts, now)).toThrow(new SyntaxError(message))
})

test('calendar units keep the local time when the clock changes', () => {
  const zone = makeZone('EST5EDT,M3.2.0,M11.1.0')
  const start = { sec: 1_710_003_600, nsec: 0 } // 9 March 2024 12:00 EST
  const { start: moved } = parseTimeWindow({ start: 'this day' }, { ...now, start, zone })
  expect(moved.sec - start.sec).toBe(23 * 3600)
})

test('any text gives a window or a SyntaxError, and origins lie inside', () => {
  const words = fc.constantFrom(
    ...'@ - + 10:30 : / , 14 Nov 2023 Tue am pm last next ago 2 hours day now today EST (x) . 5min'.split(
      ' ',
    ),
  )
  const text = fc.option(
    fc.oneof(
      fc.array(words).map((all) => all.join(' ')),
      fc.string(),
    ),
    { nil: undefined },
  )
  fc.assert(
    fc.property(text, text, text, text, (start, finish, align, origin) => {
      try {
        const window = parseTimeWindow({ start, finish, align, origin }, now)
        expect(window.start.sec).toBeGreaterThanOrEqual(now.start.sec)
        expect(Number.isNaN(window.origin.sec)).toBe(false)
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
      }
    }),
  )
})

// An archive of 1998 read on 20 November 2026; times according to PCP's library.
test.each([
  ['@12', '2026-11-20T12:00'],
  ['@00', '2026-11-20T00:00'],
  ['@2pm', '2026-11-20T14:00'],
  ['@Thu 12', '2026-11-26T12:00'],
  ['@Thu 6 12:00', '1998-08-06T12:00'],
  ['@12:00', '1998-08-07T12:00'],
  ['@12 1998', '1998-01-01T12:00'],
  ['@Aug 12:00', '1998-08-01T12:00'],
  ['@Aug 6 :30', '1998-08-01T06:30'],
  ['@Aug 0', '1998-07-31T00:00'],
])('%s is relative to the archive only as far as PCP takes it to be', (text, moment) => {
  const start = { sec: Date.UTC(1998, 7, 6, 18, 34, 32) / 1000, nsec: 0 }
  const context = { start, end: FOREVER, now: Date.UTC(2026, 10, 20, 15) / 1000, zone: UTC }
  expect(parseTimeArgument(text, context).sec).toBe(Date.parse(`${moment}Z`) / 1000)
  const last = { sec: start.sec + 8, nsec: 0 }
  const { origin } = parseTimeWindow({ origin: text }, { ...context, end: last })
  expect(origin).toEqual(moment < '1998-08-06T18:34' ? start : last)
})

test('a weekday and a year are not a date', () => {
  expect(() => parseTimeWindow({ start: '@Thu 12 1998' }, now)).toThrow(
    new SyntaxError('Thu 12 1998\n           ^ -- more information expected'),
  )
})
