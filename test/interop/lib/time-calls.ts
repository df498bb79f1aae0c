/** Random calls about intervals, time windows and zones, made of what users write. */
import { FOREVER } from '../../../src/time/arithmetic.ts'
import { parseInterval } from '../../../src/time/interval.ts'
import { ctime } from '../../../src/time/stamp.ts'
import { parseTimeWindow } from '../../../src/time/window.ts'
import { makeZone } from '../../../src/time/zone.ts'
import { answer, type Call, type Kind } from './pmapi-calls.ts'
import type { Random } from './random.ts'

/** Current time in the reference's program. */
const NOW = 1_700_000_000

const TIME_UNITS = [
  'sec',
  'seconds',
  's',
  'min',
  'minute',
  'm',
  'hour',
  'hr',
  'h',
  'day',
  'd',
  'msec',
  'usec',
  'nsec',
]

function intervalText(random: Random, covers: string[]): string {
  let text = ''
  for (let i = random.int(1, 2); i > 0; i--) {
    const unit = random.chance(0.8) ? random.pick(TIME_UNITS) : ''
    covers.push(unit === '' ? 'no unit' : unit)
    const number = random.pick([
      String(random.int(0, 90)),
      (random.next() * 10).toFixed(3),
      '1.5',
      '.5',
      '1e2',
      '0x10 ',
    ])
    text += `${number}${random.chance(0.5) ? ' ' : ''}${unit}${unit === '' ? ' ' : random.pick(['', ' '])}`
  }
  if (!random.chance(0.08)) return text
  covers.push('malformed')
  return text + random.pick(['x', '5 foo', 'week', '..'])
}

function intervalCall(random: Random): Call {
  const covers: string[] = []
  const text = intervalText(random, covers)
  return {
    line: `I\t${text}`,
    covers,
    ours: () =>
      orMessage(() => {
        const { sec, nsec } = parseInterval(text)
        return `0\t${sec}.${String(nsec).padStart(9, '0')}`
      }),
  }
}

/** Returns both lines of the program, or the error message. */
function orMessage(call: () => string): string {
  try {
    return call()
  } catch (error) {
    return `-1\t${(error as Error).message.replaceAll('\n', '|')}|`
  }
}

function secondsOf(answer: string): number {
  return Number(answer.split('\t')[1])
}

function explainInterval(_call: Call, ours: string, theirs: string): string | undefined {
  if (!ours.startsWith('0\t') || !theirs.startsWith('0\t')) return undefined
  // The reference prints a full second of nanoseconds with ten digits.
  if (theirs.endsWith('.1000000000'))
    return secondsOf(ours) === secondsOf(theirs.slice(0, -11)) + 1
      ? 'a whole second of nanoseconds'
      : undefined
  return Math.abs(secondsOf(ours) - secondsOf(theirs)) <= 2e-9 ? 'the last nanosecond' : undefined
}

const ZONES = [
  'UTC',
  'EST5EDT,M3.2.0,M11.1.0',
  'AEST-10AEDT,M10.1.0,M4.1.0/3',
  'IST-5:30',
  'CET-1CEST,M3.5.0,M10.5.0/3',
]
const two = (value: number): string => String(value).padStart(2, '0')
const MONTH_WORDS = [
  'Jan',
  'Feb',
  'March',
  'Apr',
  'May',
  'june',
  'Jul',
  'August',
  'Sep',
  'Oct',
  'NOV',
  'December',
]
const DAY_WORDS = ['Sun', 'monday', 'Tue', 'Wed', 'Thursday', 'Fri', 'sat']

const clockText = (random: Random): string =>
  `${two(random.int(0, 23))}:${two(random.int(0, 59))}${random.chance(0.3) ? `:${two(random.int(0, 59))}` : ''}`

/** Forms of a time argument. */
const FORMS: Readonly<Record<string, (random: Random) => string>> = {
  after: (random) => random.pick(['', '+']) + intervalText(random, []),
  before: (random) => `-${random.int(1, 300)}${random.pick(['sec', 'min', 'h'])}`,
  'at a clock time': (random) => `@${clockText(random)}`,
  'at a day': (random) => `@${random.int(1, 31)} ${clockText(random)}`,
  'at a date': (random) => `@${random.pick(MONTH_WORDS)} ${random.int(1, 31)} ${clockText(random)}`,
  'at a year': (random) =>
    `@${random.pick(DAY_WORDS)} ${random.pick(MONTH_WORDS)} ${random.int(1, 28)} ${clockText(random)} ${random.int(2022, 2025)}`,
  'iso date': (random) =>
    `202${random.int(2, 5)}-${two(random.int(1, 13))}-${two(random.int(1, 30))} ${clockText(random)}`,
  'us date': (random) => `${random.int(1, 12)}/${random.int(1, 28)}/23 ${clockText(random)}`,
  'named date': (random) => `${random.int(1, 28)} ${random.pick(MONTH_WORDS)} 2023`,
  'clock time': (random) => `${clockText(random)}${random.pick(['', ' UTC', ' EST', ' +0200'])}`,
  half: (random) => `${random.int(0, 13)}:${two(random.int(0, 59))}${random.pick(['am', ' pm', ' a.m.'])}`,
  ago: (random) => `${random.int(1, 9)} ${random.pick(['minutes', 'hour', 'day', 'week'])} ago`,
  ordinal: (random) =>
    `${random.pick(['last', 'next', 'this', 'first', 'third'])} ${random.pick(['hour', 'day', 'minute', 'month'])}`,
  'whole day': (random) => `${random.pick(['today', 'yesterday', 'tomorrow'])} ${clockText(random)}`,
  weekday: (random) => `${random.pick(DAY_WORDS)} ${clockText(random)}`,
  malformed: (random) =>
    random.pick(['noon', '25:00', '10:60', '@foo', '5 foo', '+', '@32', '10:30 10:31', 'Feb 31']),
}
const FORM_NAMES = Object.keys(FORMS)

function windowCall(random: Random): Call {
  const covers: string[] = []
  const argument = (share: number): string | undefined => {
    if (!random.chance(share)) return undefined
    const form = random.pick(FORM_NAMES)
    covers.push(form)
    return FORMS[form]!(random)
  }
  const zone = random.pick(ZONES)
  const [start, finish, origin] = [argument(0.7), argument(0.5), argument(0.3)]
  const align = random.chance(0.2) ? random.pick(['1sec', '10min', '1hour', '7 sec', '0.25']) : undefined
  covers.push(zone.slice(0, 3), align === undefined ? 'not aligned' : 'aligned')
  const first = { sec: NOW - random.int(0, 200_000), nsec: random.pick([0, 250_000_000]) }
  const isLive = random.chance(0.2)
  const last = isLive ? FOREVER : { sec: first.sec + random.int(100, 300_000), nsec: 750_000_000 }
  const given = [start, finish, align, origin].map((text) => text ?? '\\N')
  const moment = ({ sec, nsec }: { sec: number; nsec: number }): string =>
    Number.isFinite(sec) ? `${sec}.${String(nsec).padStart(9, '0')}` : 'max'
  return {
    line: ['W', zone, ...given, first.sec, first.nsec, isLive ? 'max' : last.sec, last.nsec].join('\t'),
    covers,
    ours: () =>
      orMessage(() => {
        const context = { start: first, end: last, zone: makeZone(zone === 'UTC' ? 'UTC0' : zone), now: NOW }
        const window = parseTimeWindow({ start, finish, align, origin }, context)
        const status = window.warning === undefined ? 1 : 0
        return `${status}\t${[window.start, window.finish, window.origin].map(moment).join(' ')}`
      }),
  }
}

function explainWindow({ line }: Call, ours: string, theirs: string): string | undefined {
  const [, zone, start, finish, align, origin, , , end] = line.split('\t')
  const texts = [start!, finish!, origin!]
  if (align !== '\\N' && origin !== '\\N' && end === 'max') {
    const cut = (text: string): string => text.slice(1, text.lastIndexOf(' '))
    if (cut(ours) === cut(theirs)) return 'before release 7 an origin without an end is aligned'
  }
  const mended = theirs.replace(/(\d+)\.1000000000/g, (_, sec) => `${BigInt(sec) + 1n}.000000000`)
  if (mended === ours) return 'a whole second of nanoseconds'
  if (areClose(ours, theirs)) return 'the last nanoseconds'
  if (/^[01]\t(?:.* )?-\d/.test(theirs)) return 'a day that its month has not is before 1970'
  if (theirs.startsWith('-1\t-') && end === 'max' && texts.some((text) => /^-\d+h$/.test(text)))
    return 'an hour before now, without an end, is not a date'
  const isAcrossDays = texts.some((text) => /day|week|month|ago/.test(text))
  if (zone!.includes(',') && isAcrossDays && differByHour(ours, theirs)) return 'days keep the local time'
  return undefined
}

/** Returns whether the results are equal except for the last nanoseconds. */
function areClose(ours: string, theirs: string): boolean {
  const nanos = (text: string): bigint[] =>
    (text.match(/\d+\.\d{9}/g) ?? []).map((each) => BigInt(each.replace('.', '')))
  const [a, b] = [nanos(ours), nanos(theirs)]
  return (
    a.length > 0 && a.length === b.length && a.every((each, i) => each - b[i]! <= 2n && b[i]! - each <= 2n)
  )
}

function differByHour(ours: string, theirs: string): boolean {
  const [a, b] = [ours, theirs].map((text) => (text.split('\t')[1] ?? '').split(' ').map(Number))
  return a!.every((sec, i) => [0, 3600].includes(Math.abs(sec - b![i]!)) || Number.isNaN(sec))
}

function zonedCall(random: Random): Call {
  const zone = random.pick(ZONES)
  const sec = random.int(0, 2_000_000_000)
  return {
    line: ['Z', zone, sec].join('\t'),
    covers: [zone.slice(0, 3)],
    ours: () => answer(() => ctime(sec, makeZone(zone === 'UTC' ? 'UTC0' : zone))),
  }
}

/** Kinds of calls to compare. */
export const TIME_KINDS: readonly Kind[] = [
  {
    name: 'interval',
    count: 1000,
    covers: [...TIME_UNITS, 'malformed'],
    make: intervalCall,
    explain: explainInterval,
  },
  {
    name: 'window',
    count: 1500,
    covers: [...FORM_NAMES, 'aligned'],
    make: windowCall,
    explain: explainWindow,
  },
  {
    name: 'zone',
    count: 500,
    covers: ZONES.map((zone) => zone.slice(0, 3)),
    make: zonedCall,
    explain: () => undefined,
  },
]
