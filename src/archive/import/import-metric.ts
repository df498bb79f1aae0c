/** A metric of an import, and its values for the next record. pmiAddMetric(3), pmiPutValue(3) */
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import { type Indom, PM_IN_NULL, type Pmid } from '../../model/ids.ts'
import { parseUnits } from '../../model/parse-units.ts'
import {
  PM_SEM_INSTANT,
  PM_TYPE_32,
  PM_TYPE_AGGREGATE,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  typeStr,
} from '../../model/types.ts'
import { makeSet, makeSingular } from '../../model/value-writer.ts'
import type { Value, ValueSet } from '../../model/values.ts'

/** Descriptor of a metric, with defaults. */
export interface MetricOptions {
  /** Default: the next one in IMPORT_DOMAIN. */
  readonly pmid?: Pmid
  /** PM_TYPE_*: numbers, text or aggregate. Default PM_TYPE_DOUBLE. */
  readonly type?: number
  /** Instance domain: an identifier, or a name, which is assigned an identifier. Default: none, the metric has one value. */
  readonly indom?: Indom | string
  /** PM_SEM_*. Default PM_SEM_INSTANT. */
  readonly sem?: number
  /** As text, `Kbyte / sec`, or as a units word. Default none. */
  readonly units?: string | number
}

/** A metric of an import. */
export class ImportMetric {
  readonly name: string
  readonly desc: MetricDesc
  #insts: number[] = []
  #values: Value[] = []
  #seen = new Set<number>()
  #isSorted = true

  constructor(name: string, pmid: Pmid, indom: Indom, options: MetricOptions) {
    const { type = PM_TYPE_DOUBLE, sem = PM_SEM_INSTANT, units = 0 } = options
    if (!(type >= PM_TYPE_32 && type <= PM_TYPE_AGGREGATE))
      throw new PcpError('PM_ERR_TYPE', `"${name}": values of type ${typeStr(type)} cannot be imported`)
    this.name = name
    this.desc = { pmid, type, indom, sem, units: typeof units === 'number' ? units : unitsOf(name, units) }
  }

  /** Whether the next record would have no values. */
  get isEmpty(): boolean {
    return this.#values.length === 0
  }

  /** Stores a value for the next record. EEXIST if the instance has one; PM_ERR_TYPE and PM_ERR_CONV as `ArchiveImport.put`. */
  put(inst: number, value: Value): void {
    checkValue(this.name, this.desc.type, value)
    if (this.#seen.has(inst)) {
      const which = inst === PM_IN_NULL ? '' : `, instance ${inst}`
      throw new PcpError('EEXIST', `"${this.name}"${which} already has a value in this record`)
    }
    const count = this.#insts.length
    if (count > 0 && this.#insts[count - 1]! > inst) this.#isSorted = false
    this.#seen.add(inst)
    this.#insts.push(inst)
    this.#values.push(value)
  }

  /** Returns the values put since the last call, by instance. */
  takeSet(): ValueSet {
    const { pmid, type } = this.desc
    let insts = this.#insts
    let values = this.#values
    if (!this.#isSorted) {
      const order = insts.map((_, i) => i).sort((a, b) => insts[a]! - insts[b]!)
      insts = order.map((i) => this.#insts[i]!)
      values = order.map((i) => this.#values[i]!)
    }
    this.#insts = []
    this.#values = []
    this.#seen.clear()
    this.#isSorted = true
    return insts[0] === PM_IN_NULL ? makeSingular(pmid, type, values[0]!) : makeSet(pmid, type, insts, values)
  }
}

/** Checks the type of each value, because `makeSet` would report only the whole record. */
function checkValue(name: string, type: number, value: Value): void {
  const kind = typeof value
  const isRight =
    type === PM_TYPE_STRING
      ? kind === 'string'
      : type === PM_TYPE_AGGREGATE
        ? value instanceof Uint8Array
        : kind === 'number' || kind === 'bigint'
  if (!isRight)
    throw new PcpError('PM_ERR_TYPE', `"${name}": ${String(value)} is not a value of type ${typeStr(type)}`)
  if (kind === 'number' && !Number.isFinite(value) && type !== PM_TYPE_FLOAT && type !== PM_TYPE_DOUBLE)
    throw new PcpError('PM_ERR_CONV', `"${name}": ${value} is not a value of type ${typeStr(type)}`)
}

function unitsOf(name: string, text: string): number {
  const { units, multiplier } = parseUnits(text)
  if (multiplier !== 1) throw new PcpError('PM_ERR_CONV', `"${name}": units "${text}" must not have a factor`)
  return units
}
