/** Rewrites records of values. docs/formats/archive.md §5 */
import type { RecordView } from '../../archive/record-view.ts'
import { type ArchiveVersion, writeStamp } from '../../archive/stamp.ts'
import { RecordBuffer } from '../../archive/write/record-buffer.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { convertValue } from '../../model/extract-value.ts'
import { type Indom, PM_IN_NULL, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import { convScale } from '../../model/scale.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_FLOAT, typeStr } from '../../model/types.ts'
import { extract } from '../../model/value-set.ts'
import { makeSet } from '../../model/value-writer.ts'
import { emptySet, type Value, type ValueSet } from '../../model/values.ts'
import { addTimes } from '../../time/arithmetic.ts'
import type { MetricPlan, Plan } from './plan.ts'
import type { IndomRule, MetricRule, Reduction } from './rules.ts'

/** A value with its instance. */
interface One {
  readonly inst: number
  readonly value: Value
}

/** Rewrites one record at a time. */
export class ValueRewriter {
  readonly #version: ArchiveVersion
  readonly #delta: Timestamp | undefined
  readonly #metrics: ReadonlyMap<Pmid, MetricPlan>
  readonly #buffer = new RecordBuffer()
  #copy = new Uint8Array(4096)

  constructor({ known, rules, metrics }: Plan) {
    this.#version = known.version
    this.#delta = rules.global.delta
    this.#metrics = new Map([...metrics].filter(([, plan]) => changesValues(plan)))
  }

  /** Returns a record's time in the output. */
  timeOf(record: RecordView): Timestamp {
    const time = record.timestamp()
    return this.#delta === undefined ? time : addTimes(time, this.#delta)
  }

  /**
   * Returns the record for the output, undefined if nothing is left; valid until the next call, and until the reader advances. Throws
   * PM_ERR_LOGREC for values outside the record, and errors of converting a value.
   */
  rewrite(record: RecordView): Uint8Array | undefined {
    const isSameVersion = record.version === this.#version
    if (this.#isUntouched(record) && isSameVersion)
      return this.#delta === undefined ? wholeOf(record) : this.#restamped(record)
    if (record.count === 0) return this.#buffer.mark(this.#version, this.timeOf(record))
    const sets: ValueSet[] = []
    for (let s = 0; s < record.count; s++) {
      const plan = this.#metrics.get(record.pmids[s]!)
      if (plan === undefined) sets.push(record.toSet(s))
      else if (!plan.rule.isDeleted) sets.push(rewriteSet(record.toSet(s), plan))
    }
    if (sets.length === 0) return undefined
    return this.#buffer.result(this.#version, this.timeOf(record), sets)
  }

  /** Returns a mark record; valid until the next call. */
  mark(at: Timestamp): Uint8Array {
    return this.#buffer.mark(this.#version, at)
  }

  #isUntouched(record: RecordView): boolean {
    if (record.count === 0) return true
    record.index()
    if (this.#metrics.size === 0) return true
    for (let s = 0; s < record.count; s++) if (this.#metrics.has(record.pmids[s]!)) return false
    return true
  }

  #restamped(record: RecordView): Uint8Array {
    if (record.length > this.#copy.length) this.#copy = new Uint8Array(2 * record.length)
    this.#copy.set(wholeOf(record))
    writeStamp(new DataView(this.#copy.buffer), 4, this.timeOf(record), this.#version)
    return this.#copy.subarray(0, record.length)
  }
}

function wholeOf({ bytes, offset, length }: RecordView): Uint8Array {
  return bytes.subarray(offset, offset + length)
}

function changesValues({ rule, indom, instances }: MetricPlan): boolean {
  const { isDeleted, pmid, type, pick, isRescaled, replacements, desc } = rule
  if (isDeleted || pmid !== undefined || type !== undefined || isRescaled || replacements.length > 0)
    return true
  return (
    pick !== undefined ||
    (instances?.instances.size ?? 0) > 0 ||
    (indom === PM_INDOM_NULL) !== (desc.indom === PM_INDOM_NULL)
  )
}

function rewriteSet(set: ValueSet, { rule, indom, instances }: MetricPlan): ValueSet {
  const pmid = rule.pmid ?? set.pmid
  if (set.status <= 0) return { ...set, pmid }
  const { type: newType, pick, isRescaled, replacements, desc } = rule
  if (newType === undefined && pick === undefined && !isRescaled && replacements.length === 0)
    return withInstances({ ...set, pmid }, instances)
  const type = newType ?? desc.type
  const values = renumbered(picked(valuesOf(set, rule), pick, desc.type, desc.indom, indom), instances)
  if (values.length === 0) return emptySet(pmid)
  const insts = values.map(({ inst }) => inst)
  return makeSet(
    pmid,
    type,
    insts,
    values.map(({ value }) => converted(value, rule)),
  )
}

/** Removes deleted instances and renumbers others. */
function withInstances(set: ValueSet, rule: IndomRule | undefined): ValueSet {
  if (rule === undefined || rule.instances.size === 0) return set
  const inst: number[] = []
  const word: number[] = []
  set.inst.forEach((id, i) => {
    const change = rule.instances.get(id)
    if (change?.isDeleted) return
    inst.push(change?.newId ?? id)
    word.push(set.word[i]!)
  })
  if (inst.length === 0) return emptySet(set.pmid)
  return { ...set, status: inst.length, inst: Int32Array.from(inst), word: Int32Array.from(word) }
}

function valuesOf(set: ValueSet, { desc }: MetricRule): One[] {
  const values: One[] = []
  for (let i = 0; i < set.status; i++) values.push({ inst: set.inst[i]!, value: extract(set, i, desc.type) })
  return values
}

function renumbered(values: readonly One[], rule: IndomRule | undefined): readonly One[] {
  if (rule === undefined) return values
  return values.flatMap(({ inst, value }) => {
    const change = rule.instances.get(inst)
    return change?.isDeleted ? [] : [{ inst: change?.newId ?? inst, value }]
  })
}

/** Reduces the values of a set; a single value of a metric with an instance domain gets the instance of the rule. */
function picked(
  values: readonly One[],
  pick: Reduction | undefined,
  type: number,
  from: Indom,
  to: Indom,
): readonly One[] {
  if (pick === undefined) return values
  const inst = to === PM_INDOM_NULL ? PM_IN_NULL : (pick.inst ?? 0)
  if (from === PM_INDOM_NULL) return values.slice(0, 1).map(({ value }) => ({ inst, value }))
  const one = pickOne(values, pick, type)
  if (one === undefined) return []
  const keeps = pick.kind !== 'sum' && pick.kind !== 'avg'
  return [{ inst: keeps && to !== PM_INDOM_NULL ? one.inst : inst, value: one.value }]
}

function pickOne(values: readonly One[], pick: Reduction, type: number): One | undefined {
  switch (pick.kind) {
    case 'first':
      return values[0]
    case 'last':
      return values[values.length - 1]
    case 'inst':
      return values.find(({ inst }) => inst === pick.inst)
    case 'min':
      return values.reduce((a, b) => (b.value < a.value ? b : a))
    case 'max':
      return values.reduce((a, b) => (b.value > a.value ? b : a))
    default: {
      const total = sum(values, type)
      return { inst: 0, value: pick.kind === 'sum' ? total : average(total, values.length) }
    }
  }
}

function isReal(type: number): boolean {
  return type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE
}

/** Sums values in the metric's type: exactly for integers, which may be beyond 2^53. */
function sum(values: readonly One[], type: number): number | bigint {
  if (isReal(type)) return values.reduce((total, { value }) => total + Number(value), 0)
  return values.reduce((total, { value }) => total + BigInt(value as number | bigint), 0n)
}

/** Averages values; integers are rounded half away from zero. */
function average(total: number | bigint, count: number): number | bigint {
  if (typeof total === 'number') return total / count
  const twice = 2n * total + (total < 0n ? -BigInt(count) : BigInt(count))
  return twice / BigInt(2 * count)
}

/** Converts a value to its new scale and type. */
function converted(value: Value, rule: MetricRule): Value {
  const { desc, type = desc.type, units, isRescaled, replacements, name } = rule
  let result = value
  try {
    if (isRescaled) result = convScale(desc.type, result as number | bigint, desc.units, units!)
    if (type !== desc.type) result = convertValue(result, desc.type, type)
  } catch (error) {
    const { code, text } = PcpError.from(error)
    const what = `${name} (${pmidStr(desc.pmid)}): extracting value from type ${typeStr(desc.type)} to ${typeStr(type)}`
    throw new PcpError(code, `Error: ${what}: ${text}`, { cause: error })
  }
  if (typeof result === 'string')
    for (const { pattern, text } of replacements) result = result.replace(pattern, text)
  return result
}
