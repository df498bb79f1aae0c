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
import { CHOICES, COMBINATIONS, type Combination } from './reductions.ts'
import { numberOf, type SeriesResult } from './result.ts'

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
  const combination = COMBINATIONS[reduction]
  if (combination === undefined) {
    const choice = CHOICES[reduction]!
    const number = Number(parameter ?? 0)
    const choose = (numbers: readonly number[]): readonly number[] => choice(numbers, number)
    return { ...computed, samples: isAcross ? chosenAcross(operand, choose) : chosenAlong(operand, choose) }
  }
  const samples = isAcross
    ? combinedAcross(operand, combination, isOne ? '' : operand.operand)
    : combinedAlong(operand, combination)
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
  let known: readonly string[] | undefined
  let named: readonly string[] = []
  return samples.map((sample) => {
    const { ids } = sample
    if (!ids.includes('')) return sample
    if (ids !== known) {
      known = ids
      named = ids.map((id) => (id === '' ? operand : id))
    }
    return { ...sample, ids: named }
  })
}

function rateOf(operand: SeriesResult, text: string): Pick<SeriesResult, 'samples' | 'format' | 'desc'> {
  const { desc } = operand
  if (desc.sem !== PM_SEM_COUNTER && desc.hasGuessedSemantics !== true)
    throw new PcpError('EINVAL', `Can't rate convert '${text}', counter semantics required\n`)
  const samples = withInstances(operand)
  const rates: Sample[] = []
  for (let i = 1; i < samples.length; i++) {
    const rate = rateBetween(samples[i - 1]!, samples[i]!)
    if (rate !== undefined) rates.push(rate)
  }
  const units = unpackUnits(desc.units)
  return {
    samples: rates,
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

/** Returns the rates of the instances in both samples; undefined without any. */
function rateBetween(first: Sample, second: Sample): Sample | undefined {
  const isForward = compareTimes(second, first) >= 0
  const [older, newer] = isForward ? [first, second] : [second, first]
  const seconds = newer.sec - older.sec + (newer.nsec - older.nsec) / 1e9
  if ((newer.isAfterGap ?? false) || !(seconds > 0)) return undefined
  // An array that grows by `push` gets room for 17 values, most of which has to be collected again.
  const values = new Array<number>(second.ids.length)
  let count = 0
  /** Instances with rates, once one has none. */
  let ids: string[] | undefined
  for (let k = 0; k < second.ids.length; k++) {
    const each = second.ids[k]!
    const at = first.ids[k] === each ? k : first.ids.indexOf(each)
    const a = at < 0 ? undefined : first.values[at]
    const b = second.values[k]
    const increase =
      !isNumeric(a) || !isNumeric(b) ? undefined : isForward ? counterDelta(a, b) : counterDelta(b, a)
    if (increase === undefined)
      ids ??= second.ids.slice(0, k) // new, or the counter was reset
    else {
      ids?.push(each)
      values[count++] = increase / seconds
    }
  }
  if (count === 0) return undefined
  if (count < values.length) values.length = count
  return { sec: second.sec, nsec: second.nsec, ids: ids ?? second.ids, values }
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

/** Values of an instance along time. */
interface Line {
  readonly id: string
  readonly samples: Sample[]
  readonly values: Value[]
}

/** Returns the values of each instance, in order of appearance. */
function linesOf(operand: SeriesResult): Iterable<Line> {
  const byInstance = new Map<string, Line>()
  const lineOf = (id: string): Line => {
    let line = byInstance.get(id)
    if (line === undefined) {
      line = { id, samples: [], values: [] }
      byInstance.set(id, line)
    }
    return line
  }
  let known: readonly string[] | undefined
  let lines: readonly Line[] = []
  for (const sample of withInstances(operand)) {
    if (sample.ids !== known) {
      known = sample.ids
      lines = known.map(lineOf)
    }
    for (let i = 0; i < lines.length; i++) {
      lines[i]!.samples.push(sample)
      lines[i]!.values.push(sample.values[i]!)
    }
  }
  return byInstance.values()
}

function chosenAlong(
  operand: SeriesResult,
  choose: (numbers: readonly number[]) => readonly number[],
): Sample[] {
  return [...linesOf(operand)].flatMap(({ id, samples, values }) =>
    choose(values.map(numberOf)).map((at) => ({
      sec: samples[at]!.sec,
      nsec: samples[at]!.nsec,
      ids: [id],
      values: [values[at]!],
    })),
  )
}

/** The time of a combined value is that of the first one. */
function combinedAlong(operand: SeriesResult, combine: Combination): Sample[] {
  return [...linesOf(operand)].map(({ id, samples: [first], values }) => ({
    sec: first!.sec,
    nsec: first!.nsec,
    ids: [id],
    values: [combine(values.map(numberOf))],
  }))
}

function chosenAcross(
  operand: SeriesResult,
  choose: (numbers: readonly number[]) => readonly number[],
): Sample[] {
  const chosen: Sample[] = []
  for (const { sec, nsec, ids, values } of withInstances(operand)) {
    if (ids.length === 0) continue
    const places = choose(values.map(numberOf))
    chosen.push({ sec, nsec, ids: places.map((at) => ids[at]!), values: places.map((at) => values[at]!) })
  }
  return chosen
}

function combinedAcross({ samples }: SeriesResult, combine: Combination, id: string): Sample[] {
  const ids = [id]
  const results: Sample[] = []
  for (const { sec, nsec, values } of samples)
    if (values.length > 0) results.push({ sec, nsec, ids, values: [combine(values.map(numberOf))] })
  return results
}

function isNumeric(value: Value | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
