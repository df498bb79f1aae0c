/** Functions of the query language. `_inst` works along time for each instance, `_sample` across the instances of each sample. */

import { PcpError } from '../../model/errors.ts'
import { parseUnits } from '../../model/parse-units.ts'
import { counterDelta } from '../../model/rate.ts'
import { convScale } from '../../model/scale.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE } from '../../model/types.ts'
import { PM_TIME_SEC, packUnits, unitsStr, unpackUnits } from '../../model/units.ts'
import type { Value } from '../../model/values.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { Sample } from '../store.ts'
import { numberOf, type SeriesResult } from './result.ts'

/** A value with the time of its sample. */
interface Point {
  readonly sample: Sample
  readonly id: string
  readonly value: Value
}

/** Selects or combines points; `isText`: the values selected are unchanged. */
type Reduction = (points: readonly Point[], parameter: number) => readonly Point[]

const REDUCTIONS: Readonly<Record<string, Reduction>> = {
  max: (points) => [points.reduce((a, b) => (numberOf(b.value) > numberOf(a.value) ? b : a))],
  min: (points) => [points.reduce((a, b) => (numberOf(b.value) < numberOf(a.value) ? b : a))],
  topk: (points, k) => descending(points).slice(0, k),
  nth_percentile: (points, n) => {
    const sorted = descending(points).reverse()
    return [sorted[Math.round((n / 100) * (sorted.length - 1))]!]
  },
  sum: combined((numbers) => numbers.reduce((a, b) => a + b, 0)),
  avg: combined(mean),
  stdev: combined((numbers) => {
    const middle = mean(numbers)
    return Math.sqrt(mean(numbers.map((each) => (each - middle) ** 2)))
  }),
}
/** Reductions whose result is a new value. */
const COMBINING: ReadonlySet<string> = new Set(['sum', 'avg', 'stdev'])

/** Functions of single values. */
const MAPPINGS: Readonly<Record<string, (value: number, base: number | undefined) => number>> = {
  abs: Math.abs,
  floor: Math.floor,
  // As in C, halves are rounded away from zero.
  round: (value) => Math.sign(value) * Math.round(Math.abs(value)),
  sqrt: Math.sqrt,
  log: (value, base) => Math.log(value) / (base === undefined ? 1 : Math.log(base)),
}
const KEEPS_TYPE: ReadonlySet<string> = new Set(['abs', 'floor', 'round'])

/**
 * Applies a function to each series. `text` is the operand for messages; `isOne`: it is the only series, so that its values need not name it.
 * EINVAL for the rate of a metric without counter semantics, and for units of another dimension.
 */
export function applyFunction(
  name: string,
  operand: SeriesResult,
  { id, text, parameter, isOne }: { id: string; text: string; parameter: string | undefined; isOne: boolean },
): SeriesResult {
  const computed = { ...operand, id, isComputed: true }
  if (name === 'rate') return { ...computed, ...rateOf(operand, text) }
  if (name === 'rescale') return { ...computed, ...rescaled(operand, parameter!) }
  const mapping = MAPPINGS[name]
  if (mapping !== undefined) {
    const base = parameter === undefined ? undefined : Number(parameter)
    const samples = withInstances(operand).map((sample) => ({
      ...sample,
      values: sample.values.map((value) => mapping(numberOf(value), base)),
    }))
    if (KEEPS_TYPE.has(name)) return { ...computed, samples }
    return { ...computed, samples, format: 'e', desc: { ...operand.desc, type: PM_TYPE_DOUBLE } }
  }
  const isAcross = name.endsWith('_sample')
  const reduction = name.replace(/_(?:sample|inst)$/, '')
  const reduce = REDUCTIONS[reduction]!
  const isCombining = COMBINING.has(reduction)
  const number = Number(parameter ?? 0)
  const samples = isAcross
    ? across(operand, reduce, number, isCombining ? (isOne ? '' : operand.operand) : undefined)
    : along(operand, reduce, number)
  if (!isCombining) return { ...computed, samples }
  return { ...computed, samples, format: 'e', desc: { ...operand.desc, type: PM_TYPE_DOUBLE } }
}

/** Multiplies all values by a number. */
export function scaleBy(factor: number, operand: SeriesResult, id: string): SeriesResult {
  const samples = withInstances(operand).map((sample) => ({
    ...sample,
    values: sample.values.map((value) => factor * numberOf(value)),
  }))
  const desc = { ...operand.desc, type: PM_TYPE_DOUBLE }
  return { ...operand, id, isComputed: true, samples, format: 'e', desc }
}

/** Returns samples in which the value of a metric without instances has the identifier of its series, as results show it. */
export function withInstances({ operand, samples }: SeriesResult): readonly Sample[] {
  return samples.map((sample) => ({ ...sample, ids: sample.ids.map((id) => (id === '' ? operand : id)) }))
}

function rateOf(operand: SeriesResult, text: string): Pick<SeriesResult, 'samples' | 'format' | 'desc'> {
  const { desc } = operand
  if (desc.sem !== PM_SEM_COUNTER)
    throw new PcpError('EINVAL', `Can't rate convert '${text}', counter semantics required\n`)
  const samples = withInstances(operand)
  const rates = samples.slice(1).map((second, i): Sample => {
    const first = samples[i]!
    const isForward = compareTimes(second, first) >= 0
    const [older, newer] = isForward ? [first, second] : [second, first]
    const seconds = newer.sec - older.sec + (newer.nsec - older.nsec) / 1e9
    const ids: string[] = []
    const values: number[] = []
    if (!(newer.isAfterGap ?? false) && seconds > 0) {
      for (const [k, each] of second.ids.entries()) {
        const at = first.ids[k] === each ? k : first.ids.indexOf(each)
        if (at < 0) continue
        const [before, after] = isForward
          ? [first.values[at]!, second.values[k]!]
          : [second.values[k]!, first.values[at]!]
        const increase = isNumeric(before) && isNumeric(after) ? counterDelta(before, after) : undefined
        if (increase === undefined) continue // the counter was reset
        ids.push(each)
        values.push(increase / seconds)
      }
    }
    return { sec: second.sec, nsec: second.nsec, ids, values }
  })
  const units = unpackUnits(desc.units)
  return {
    samples: rates.filter(({ ids }) => ids.length > 0),
    format: 'f',
    desc: {
      ...desc,
      type: PM_TYPE_DOUBLE,
      sem: PM_SEM_INSTANT,
      units: packUnits({
        ...units,
        dimTime: units.dimTime - 1,
        scaleTime: units.dimTime === 0 ? PM_TIME_SEC : units.scaleTime,
      }),
    },
  }
}

function rescaled(operand: SeriesResult, text: string): Pick<SeriesResult, 'samples' | 'format' | 'desc'> {
  const from = operand.desc.units
  const { units: to, multiplier } = unitsOf(text)
  const a = unpackUnits(from)
  const b = unpackUnits(to)
  if (a.dimSpace !== b.dimSpace || a.dimTime !== b.dimTime || a.dimCount !== b.dimCount) {
    const about = `for series ${operand.operand} the units is ${unitsStr(from) || 'none'}`
    throw new PcpError('EINVAL', `Dimensions of units mismatch, ${about}\n`)
  }
  const samples = withInstances(operand).map((sample) => ({
    ...sample,
    values: sample.values.map(
      (value) => Number(convScale(PM_TYPE_DOUBLE, numberOf(value), from, to)) * multiplier,
    ),
  }))
  return { samples, format: 'e', desc: { ...operand.desc, type: PM_TYPE_DOUBLE, units: to } }
}

function unitsOf(text: string): { readonly units: number; readonly multiplier: number } {
  try {
    return parseUnits(text)
  } catch (error) {
    throw new PcpError('EINVAL', `"${text}" is not a unit: ${PcpError.from(error).message}\n`, {
      cause: error,
    })
  }
}

/** Reduces the values of each instance to those of one sample each. */
function along(operand: SeriesResult, reduce: Reduction, parameter: number): readonly Sample[] {
  const byInstance = new Map<string, Point[]>()
  for (const sample of withInstances(operand))
    for (const [i, id] of sample.ids.entries()) {
      const points = byInstance.get(id) ?? []
      if (points.length === 0) byInstance.set(id, points)
      points.push({ sample, id, value: sample.values[i]! })
    }
  return [...byInstance.values()].flatMap((points) =>
    reduce(points, parameter).map(({ sample, id, value }) => ({
      sec: sample.sec,
      nsec: sample.nsec,
      ids: [id],
      values: [value],
    })),
  )
}

/** Reduces the values of each sample; `id` is that of a combined value. */
function across(
  operand: SeriesResult,
  reduce: Reduction,
  parameter: number,
  id: string | undefined,
): readonly Sample[] {
  return withInstances(operand)
    .filter(({ ids }) => ids.length > 0)
    .map((sample) => {
      const points = sample.ids.map((each, i) => ({ sample, id: each, value: sample.values[i]! }))
      const reduced = reduce(points, parameter)
      const { sec, nsec } = sample
      return {
        sec,
        nsec,
        ids: reduced.map((each) => id ?? each.id),
        values: reduced.map(({ value }) => value),
      }
    })
}

function combined(combine: (numbers: readonly number[]) => number): Reduction {
  return (points) => [{ ...points[0]!, value: combine(points.map(({ value }) => numberOf(value))) }]
}

function isNumeric(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0) / numbers.length
}

function descending(points: readonly Point[]): Point[] {
  return [...points].sort((a, b) => numberOf(b.value) - numberOf(a.value))
}
