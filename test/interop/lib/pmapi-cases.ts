/** Random calls of the library, made of what users write: values, units, intervals, time windows. */
import { PcpError } from '../../../src/model/errors.ts'
import { extractValue } from '../../../src/model/extract-value.ts'
import { pmid } from '../../../src/model/ids.ts'
import { parseUnits } from '../../../src/model/parse-units.ts'
import { convScale } from '../../../src/model/scale.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  typeStr,
} from '../../../src/model/types.ts'
import { packUnits, unitsStr, unpackUnits } from '../../../src/model/units.ts'
import { makeSingular } from '../../../src/model/value-writer.ts'
import type { Value } from '../../../src/model/values.ts'
import { FOREVER } from '../../../src/time/arithmetic.ts'
import { parseInterval } from '../../../src/time/interval.ts'
import { ctime } from '../../../src/time/stamp.ts'
import { parseTimeWindow } from '../../../src/time/window.ts'
import { makeZone } from '../../../src/time/zone.ts'
import type { Random } from './random.ts'

/** One call: what the reference's program reads, and our answer to it. */
export interface Call {
  readonly line: string
  /** What it covers: a pair of types, a unit, a form. */
  readonly covers: readonly string[]
  /** Our answer, as the program prints its own. */
  readonly ours: () => string
}

/** A kind of call. */
export interface Kind {
  readonly name: string
  /** Of ten thousand calls. */
  readonly count: number
  readonly make: (random: Random) => Call
  /** Why the two may differ; undefined where they must not. */
  readonly explain: (call: Call, ours: string, theirs: string) => string | undefined
}

const NUMBERS = [PM_TYPE_32, PM_TYPE_U32, PM_TYPE_64, PM_TYPE_U64, PM_TYPE_FLOAT, PM_TYPE_DOUBLE] as const
const ALL_TYPES = [...NUMBERS, PM_TYPE_STRING] as const
const ID = pmid(246, 0, 1)
/** What the reference's program takes for the wall clock. */
const NOW = 1_700_000_000

const view = new DataView(new ArrayBuffer(8))

function realBits(value: number): string {
  view.setFloat64(0, value)
  return view.getBigUint64(0).toString(16).padStart(16, '0')
}

function realOf(bits: string): number {
  view.setBigUint64(0, BigInt(`0x${bits}`))
  return view.getFloat64(0)
}

const isReal = (type: number): boolean => type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE
const shown = (value: Value, type: number): string => (isReal(type) ? realBits(Number(value)) : String(value))

/** Ours as the program prints it: the status, a tab and what there is. */
function answer(call: () => string, status = 0): string {
  try {
    return `${status}\t${call()}`
  } catch (error) {
    return `${PcpError.from(error).status}\t`
  }
}

const BITS: Readonly<Record<number, number>> = {
  [PM_TYPE_32]: 32,
  [PM_TYPE_U32]: 32,
  [PM_TYPE_64]: 64,
  [PM_TYPE_U64]: 64,
}
const REALS = [0, -0, 0.5, -0.5, 1, 1.5, -1, 1e-300, 1e300, 2 ** 31, 2 ** 32, 2 ** 53, 3.25, 1e9, 16_777_217]

function randomValue(random: Random, type: number): Value {
  if (type === PM_TYPE_STRING) return random.pick(['', 'text', '42', 'two words', '3.5'])
  if (isReal(type)) {
    const real = random.chance(0.4)
      ? random.pick(REALS) + random.int(-2, 2)
      : (random.next() - 0.5) * 10 ** random.int(-5, 20)
    return type === PM_TYPE_FLOAT ? Math.fround(real) : real
  }
  const bits = random.int(1, BITS[type]!)
  let value = (1n << BigInt(bits)) - BigInt(random.int(0, 3))
  if (random.chance(0.5)) value = BigInt(Math.floor(random.next() * 2 ** Math.min(bits, 53)))
  const isSigned = type === PM_TYPE_32 || type === PM_TYPE_64
  if (!isSigned) return narrow(BigInt.asUintN(BITS[type]!, value))
  return narrow(BigInt.asIntN(BITS[type]!, random.chance(0.5) ? -value : value))
}

function narrow(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

function extractCall(random: Random): Call {
  const [from, to] = [random.pick(ALL_TYPES), random.pick(ALL_TYPES)]
  const value = randomValue(random, from)
  return {
    line: ['E', from, to, shown(value, from)].join('\t'),
    covers: [`${typeStr(from)}>${typeStr(to)}`],
    ours: () => answer(() => shown(extractValue(makeSingular(ID, from, value), 0, from, to), to)),
  }
}

function explainExtract({ line }: Call, ours: string, theirs: string): string | undefined {
  const [, from, to, value] = line.split('\t')
  const [source, target] = [Number(from), Number(to)]
  if (target === PM_TYPE_STRING && source !== PM_TYPE_STRING && theirs.startsWith('-12362'))
    return 'numbers have no text before release 7'
  if (source === PM_TYPE_64 && target === PM_TYPE_32 && BigInt(value!) < -(2n ** 31n) && ours === '-12363\t')
    return 'integers below -2^31 lose their high bits'
  if (isReal(source) && target === PM_TYPE_64 && realOf(value!) < -(2 ** 63) && ours === '-12363\t')
    return 'reals below -2^63 become anything'
  return undefined
}

type Dims = readonly [number, number, number, number, number, number]

function wordOf([dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount]: Dims): number {
  return packUnits({ dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount })
}

/** Mostly scales that people use: factors of the others do not fit 64 bits. */
function scales(random: Random): readonly [number, number, number] {
  if (random.chance(0.2)) return [random.int(0, 6), random.int(0, 5), random.int(-3, 6)]
  return [random.int(0, 3), random.int(0, 5), random.int(0, 3)]
}

function scaleCall(random: Random): Call {
  const type = random.pick(NUMBERS)
  const dims = random.pick([
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, -1, 0],
    [0, -1, 1],
    [0, 0, 0],
    [2, 0, 0],
    [1, 0, -1],
  ] as const)
  const other = random.chance(0.05) ? ([0, 1, 1] as const) : dims
  const [from, to]: readonly [Dims, Dims] = [
    [...dims, ...scales(random)],
    [...other, ...scales(random)],
  ]
  const value = randomValue(random, type) as number | bigint
  return {
    line: ['C', type, shown(value, type), ...from, ...to].join('\t'),
    covers: [typeStr(type), ...UNIT_NAMES.filter((_, i) => dims[i] !== 0)],
    ours: () => answer(() => shown(convScale(type, value, wordOf(from), wordOf(to)), type)),
  }
}

const UNIT_NAMES = ['space', 'time', 'count']

function sameScale(call: Call, ours: string, theirs: string): string | undefined {
  const type = Number(call.line.split('\t')[1])
  if (factorBits(call.line) >= 63) return 'factors beyond 64 bits give anything'
  const [status, , real] = theirs.split('\t')
  if (status !== '0' || real === undefined) return undefined
  const exact = realOf(real)
  const [sts, value] = ours.split('\t')
  if (sts === '-12363' || sts === '-12364') return overflows(exact, type, sts)
  const got = isReal(type) ? realOf(value!) : Number(value)
  const error = Math.abs(got - exact)
  if (isReal(type))
    return error <= Math.abs(exact) * (type === PM_TYPE_FLOAT ? 4e-7 : 4e-16)
      ? 'the last bit of a real'
      : undefined
  return error <= 1.5 + Math.abs(exact) * 1e-9 ? 'intermediate overflow' : undefined
}

/** Binary digits of the larger of the two integers that the reference multiplies and divides with: it goes by way of the base scales. */
function factorBits(line: string): number {
  const [dims, from, to] = [3, 6, 12].map((at) =>
    line
      .split('\t')
      .slice(at, at + 3)
      .map(Number),
  )
  // Without a dimension it is a count.
  const powers = dims!.every((dim) => dim === 0) ? [0, 0, 1] : dims!
  let [mult, div] = [0, 0]
  for (const [i, power] of powers.entries()) {
    for (const bits of [power * scaleBits(i, from![i]!), -power * scaleBits(i, to![i]!)]) {
      mult += Math.max(0, bits)
      div += Math.max(0, -bits)
    }
  }
  return Math.max(mult, div)
}

/** Seconds in each time scale. */
const SECONDS = [1e-9, 1e-6, 1e-3, 1, 60, 3600]

function scaleBits(dimension: number, scale: number): number {
  if (dimension === 0) return 10 * scale
  return dimension === 1 ? Math.log2(SECONDS[scale]!) : Math.log2(10) * scale
}

function overflows(exact: number, type: number, status: string): string | undefined {
  const isSigned = type === PM_TYPE_32 || type === PM_TYPE_64
  const high = 2 ** (BITS[type]! - (isSigned ? 1 : 0))
  if (status === '-12364') return !isSigned && exact < 0 ? 'negative results of unsigned types' : undefined
  return Math.abs(exact) >= high * 0.999_999 ? 'results that do not fit give anything' : undefined
}

function unitsTextCall(random: Random): Call {
  const dims: Dims = [
    random.int(-2, 2),
    random.int(-2, 2),
    random.int(-2, 2),
    random.int(0, 8),
    random.int(0, 5),
    random.int(-3, 7),
  ]
  const covers = UNIT_NAMES.filter((_, i) => dims[i] !== 0)
  return {
    line: ['U', ...dims].join('\t'),
    covers: covers.length === 0 ? ['none'] : covers,
    ours: () => answer(() => unitsStr(wordOf(dims))),
  }
}

const UNIT_WORDS: Readonly<Record<string, readonly string[]>> = {
  space: ['byte', 'bytes', 'Kbyte', 'KB', 'KiB', 'mebibyte', 'Gbyte', 'Terabytes', 'EB', 'PiB'],
  time: [
    'ns',
    'nanosec',
    'microseconds',
    'ms',
    'millisec',
    's',
    'sec',
    'seconds',
    'min',
    'minutes',
    'h',
    'hour',
    'hr',
  ],
  count: ['count', 'counts', 'count x 10^2', 'count x 10', 'count x 10^6'],
}

function unitsPart(random: Random, covers: string[]): string {
  const words: string[] = []
  for (const name of UNIT_NAMES) {
    if (!random.chance(0.4)) continue
    covers.push(name)
    const exponent = random.chance(0.2) ? `^${random.int(-3, 4)}` : ''
    words.push(random.pick(UNIT_WORDS[name]!) + exponent)
  }
  if (random.chance(0.2)) words.unshift(random.pick(['2', '100', '0.5', '1e3', '-4', '.25']))
  if (random.chance(0.05)) words.push(random.pick(['frob', 'byte byte', '^2', 'sec^', 'msec']))
  return words.join(' ')
}

function parseUnitsCall(random: Random): Call {
  const covers: string[] = []
  const text = unitsPart(random, covers) + (random.chance(0.6) ? ` / ${unitsPart(random, covers)}` : '')
  return {
    line: `P\t${text}`,
    covers: covers.length === 0 ? ['none'] : [...new Set(covers)],
    ours: () =>
      answer(() => {
        const { units, multiplier } = parseUnits(text)
        const { dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount } = unpackUnits(units)
        const dims = [dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount]
        return `${dims.join()}\t${realBits(multiplier)}`
      }),
  }
}

function explainUnits(_call: Call, ours: string, theirs: string): string | undefined {
  if (theirs === 'hang' || theirs === 'crash') return 'malformed units hang or crash'
  const [a, b] = [ours.split('\t'), theirs.split('\t')]
  if (a[0] !== '0' || b[0] !== '0' || a[1] !== b[1]) return undefined
  const [got, want] = [realOf(a[2]!), realOf(b[2]!)]
  return Math.abs(got - want) <= 1e-15 * Math.abs(want) ? 'the last bits of a multiplier' : undefined
}

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
  return text + random.pick(['x', '-', '5 foo', 'week', '..'])
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

/** Both of the program's lines, or what is wrong with the text. */
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
  // A whole second of nanoseconds is printed with ten digits.
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
  if (theirs.startsWith('-1\t-') && end === 'max' && texts.some((text) => /^-\d+h$/.test(text)))
    return 'an hour before now, without an end, is no date'
  const isAcrossDays = texts.some((text) => /day|week|month|ago/.test(text))
  if (zone!.includes(',') && isAcrossDays && differByHour(ours, theirs)) return 'days keep the local time'
  return undefined
}

/** The same but for the last nanoseconds. */
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

/** What is compared. */
export const KINDS: readonly Kind[] = [
  { name: 'extract', count: 3000, make: extractCall, explain: explainExtract },
  { name: 'scale', count: 2500, make: scaleCall, explain: sameScale },
  { name: 'units text', count: 500, make: unitsTextCall, explain: () => undefined },
  { name: 'units parsed', count: 1000, make: parseUnitsCall, explain: explainUnits },
  { name: 'interval', count: 1000, make: intervalCall, explain: explainInterval },
  { name: 'window', count: 1500, make: windowCall, explain: explainWindow },
  { name: 'zone', count: 500, make: zonedCall, explain: () => undefined },
]
