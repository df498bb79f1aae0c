/** Random calls about values and units. */
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
import { answer, type Call, type Kind } from './pmapi-calls.ts'
import type { Random } from './random.ts'

const NUMBERS = [PM_TYPE_32, PM_TYPE_U32, PM_TYPE_64, PM_TYPE_U64, PM_TYPE_FLOAT, PM_TYPE_DOUBLE] as const
const ALL_TYPES = [...NUMBERS, PM_TYPE_STRING] as const
const ID = pmid(246, 0, 1)

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

/** Mostly common scales: factors of the others do not fit 64 bits. */
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
  const { mult, div } = factorBits(call.line)
  if (Math.max(mult, div) >= 63) return 'factors beyond 64 bits give anything'
  const [status, , real] = theirs.split('\t')
  if (status !== '0' || real === undefined) return undefined
  const exact = realOf(real)
  const [sts, value] = ours.split('\t')
  if (sts === '-12363' || sts === '-12364') return overflows(exact, type, sts)
  const got = isReal(type) ? realOf(value!) : Number(value)
  if (isReal(type))
    return Math.abs(got - exact) <= Math.abs(exact) * (type === PM_TYPE_FLOAT ? 4e-7 : 4e-16)
      ? 'the last bit of a real'
      : undefined
  return BigInt(value!) === exactScale(call.line) ? 'intermediate overflow' : undefined
}

/** Returns the bits of the integers the reference multiplies and divides by: it converts through the base scales. */
function factorBits(line: string): { readonly mult: number; readonly div: number } {
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
  return { mult, div }
}

const NANOSECONDS = [1n, 1000n, 1_000_000n, 10n ** 9n, 60n * 10n ** 9n, 3600n * 10n ** 9n]

/** Converts an integer exactly: half up, then towards zero. */
function exactScale(line: string): bigint {
  const fields = line.split('\t')
  const [dims, from, to] = [3, 6, 12].map((at) => fields.slice(at, at + 3).map(Number))
  const powers = dims!.every((dim) => dim === 0) ? [0, 0, 1] : dims!
  let [num, den] = [1n, 1n]
  const times = (scale: bigint, power: number): void => {
    if (power > 0) num *= scale ** BigInt(power)
    else den *= scale ** BigInt(-power)
  }
  times(1024n, powers[0]! * (from![0]! - to![0]!))
  times(NANOSECONDS[from![1]!]!, powers[1]!)
  times(NANOSECONDS[to![1]!]!, -powers[1]!)
  times(10n, powers[2]! * (from![2]! - to![2]!))
  return (BigInt(fields[2]!) * num + den / 2n) / den
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

const TYPE_PAIRS = ALL_TYPES.flatMap((from) => ALL_TYPES.map((to) => `${typeStr(from)}>${typeStr(to)}`))

/** Kinds of calls to compare. */
export const VALUE_KINDS: readonly Kind[] = [
  { name: 'extract', count: 3000, covers: TYPE_PAIRS, make: extractCall, explain: explainExtract },
  {
    name: 'scale',
    count: 2500,
    covers: [...NUMBERS.map(typeStr), ...UNIT_NAMES],
    make: scaleCall,
    explain: sameScale,
  },
  { name: 'units text', count: 500, covers: UNIT_NAMES, make: unitsTextCall, explain: () => undefined },
  { name: 'units parsed', count: 1000, covers: UNIT_NAMES, make: parseUnitsCall, explain: explainUnits },
]
