/** Numbers that test clients' handling of ranges: wrapping counters, negative values, and values of every scale. */
import type { Value } from '../../model/values.ts'
import type { MetricSpec, SemName, TypeName } from '../../pmda/define.ts'
import { descOf, type Rows } from './context.ts'

/** Rows of these metrics. */
export function scaleRows(): Rows {
  return { ...wrapRows(), ...negativeRows(), ...scaleStepRows() }
}

interface Integer {
  readonly name: string
  readonly type: TypeName
  readonly bits: 32 | 64
  readonly isSigned: boolean
}

const INTEGERS: readonly Integer[] = [
  { name: 'long', type: '32', bits: 32, isSigned: true },
  { name: 'ulong', type: 'u32', bits: 32, isSigned: false },
  { name: 'longlong', type: '64', bits: 64, isSigned: true },
  { name: 'ulonglong', type: 'u64', bits: 64, isSigned: false },
]

/** A counter that increases by `step` with each fetch and wraps at the limit of its type. */
function wrapping({ bits, isSigned }: Integer, step: bigint): () => Value {
  let value = 0n
  return () => {
    value = isSigned ? BigInt.asIntN(bits, value + step) : BigInt.asUintN(bits, value + step)
    return bits === 32 ? Number(value) : value
  }
}

function wrapRows(): Rows {
  const rows: { [name: string]: MetricSpec } = {}
  for (const [i, integer] of INTEGERS.entries()) {
    const { name, type, bits, isSigned } = integer
    const highest = (1n << BigInt(isSigned ? bits - 1 : bits)) - 1n
    const highestSigned = (1n << BigInt(bits - 1)) - 1n
    rows[`wrap.${name}`] = {
      item: 57 + i,
      ...descOf(type, 'counter'),
      help: `A counter of type ${type} that wraps nearly every other fetch`,
      text: 'Each fetch adds half of the largest value of the type, minus one.',
      value: wrapping(integer, highest / 2n - 1n),
    }
    rows[`slow_wrap.${name}`] = {
      item: 160 + i,
      ...descOf(type, 'counter'),
      help: `A counter of type ${type} that wraps every 10 or 20 fetches`,
      text: 'Each fetch adds a tenth of the largest signed value of its size, minus one.',
      value: wrapping(integer, highestSigned / 10n - 1n),
    }
  }
  return rows
}

/** Types of negative numbers, and the items of their counters; items of the other semantics follow in steps of four. */
const NEGATIVES: readonly (readonly [name: string, type: TypeName])[] = [
  ['m_32', '32'],
  ['m_64', '64'],
  ['m_float', 'float'],
  ['m_double', 'double'],
]
const SEMANTICS: readonly (readonly [name: string, sem: SemName])[] = [
  ['ctr', 'counter'],
  ['instant', 'instant'],
  ['discrete', 'discrete'],
]

function negativeRows(): Rows {
  const rows: { [name: string]: MetricSpec } = {}
  // 64-bit values must stay bigints: doubles lose digits.
  const values: (number | bigint)[] = NEGATIVES.map(([, type]) => (type === '64' ? -10_000n : -10_000))
  for (const [s, [group, sem]] of SEMANTICS.entries()) {
    for (const [t, [name, type]] of NEGATIVES.entries())
      rows[`negative.${group}.${name}`] = {
        item: 141 + 4 * s + t,
        ...descOf(type, sem),
        help: `A ${sem} value of type ${type} that increases from -10000 by one with each fetch`,
        text: 'Metrics of one type share their number. It can be stored.',
        value: () => {
          const next = values[t]!
          values[t] = typeof next === 'bigint' ? BigInt.asIntN(64, next + 1n) : next + 1
          return values[t]
        },
        store: (value) => {
          values[t] = type === '64' ? BigInt(value as number | bigint) : Number(value)
        },
      }
  }
  return rows
}

/** Fetches per step. */
const STEP_FETCHES = 5

/** Returns values from 1 to the largest in steps of a factor, in a cycle; or downwards. */
function stepping(factor: number, largest: number, isUp: boolean): () => number {
  let value = 1
  let left = STEP_FETCHES
  return () => {
    if (left === 0) {
      left = STEP_FETCHES
      if (isUp) value = value >= largest ? 1 : value * factor
      else value = value <= 1 ? largest : value / factor
    }
    left--
    return value
  }
}

function scaleStepRows(): Rows {
  const row = (item: number, units: string, value: () => number, help: string): MetricSpec => ({
    item,
    ...descOf('double', 'instant', units),
    help,
    text: 'Changes every five fetches by a factor, in a cycle, to test automatic scaling.',
    value,
  })
  return {
    'scale_step.bytes_up': row(
      65,
      'byte / sec',
      stepping(2, 2 ** 40, true),
      'From a byte per second to a terabyte, by doubling',
    ),
    'scale_step.bytes_down': row(
      66,
      'byte',
      stepping(2, 2 ** 40, false),
      'From a terabyte to a byte, by halves',
    ),
    'scale_step.count_up': row(
      67,
      'count / sec',
      stepping(10, 1e12, true),
      'From one event per second to a million million, by tens',
    ),
    'scale_step.count_down': row(
      68,
      'count',
      stepping(10, 1e12, false),
      'From a million million events to one, by tenths',
    ),
    'scale_step.time_up_secs': row(
      69,
      'sec',
      stepping(10, 86_400, true),
      'From a second to more than a day, by tens',
    ),
    'scale_step.time_up_nanosecs': row(
      70,
      'nanosec',
      stepping(10, 86_400e9, true),
      'From a nanosecond to more than a day, by tens',
    ),
    'scale_step.none_up': row(
      71,
      'none',
      stepping(10, 1e7, true),
      'From 1 to ten million without any unit, by tens',
    ),
  }
}
