/** Items of a fetch group: each extracts its values from a fetch result. pmExtendFetchGroup_item(3) */
import { secondsBetween, type Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { unpackEvents } from '../model/events.ts'
import type { Pmid } from '../model/ids.ts'
import { counterRate } from '../model/rate.ts'
import { extract } from '../model/value-set.ts'
import type { FetchResult, Value, ValueSet } from '../model/values.ts'
import { applyConversion, type Conversion } from './conversion.ts'
import { indexOfInstance } from './instances.ts'

/** One value, as of the last fetch. */
export interface FetchItem {
  /** Undefined without a value; `error` then has the reason. */
  readonly value: Value | undefined
  /**
   * PM_ERR_AGAIN before the second fetch of a rate, PM_ERR_VALUE for a missing or decreased value, PM_ERR_TYPE for text
   * that is not a number, PM_ERR_TRUNC and PM_ERR_SIGN for a value that does not fit, or the metric's own error.
   */
  readonly error: PcpError | undefined
}

/** One instance's value. */
export interface FetchInstance extends FetchItem {
  /** PM_IN_NULL for a metric without instances. */
  readonly id: number
  /** Undefined for a metric without instances, and for an instance whose name is unknown. */
  readonly name: string | undefined
}

/** The values of all instances, sorted by id, as of the last fetch. */
export interface FetchIndom {
  readonly instances: readonly FetchInstance[]
  /** Error of the whole metric. */
  readonly error: PcpError | undefined
}

/** One field of one event record. */
export interface FetchEvent extends FetchItem {
  readonly time: Timestamp
}

/** One field of all event records, as of the last fetch. */
export interface FetchEvents {
  readonly records: readonly FetchEvent[]
  readonly error: PcpError | undefined
}

/** The values of one metric after a fetch. */
export interface FetchedMetric {
  readonly set: ValueSet
  readonly before: ValueSet | undefined
  /** Seconds since the previous fetch. */
  readonly elapsed: number
  readonly isFirst: boolean
}

/** Receives values after each fetch: an item of a group, a column of a table, a metric of a row. */
export interface ValueConsumer {
  readonly id: Pmid
  /** Takes its values; returns a promise only if instance names have to be fetched. */
  take(fetched: FetchedMetric): Promise<void> | undefined
}

/** A member of a fetch group. */
export interface GroupMember extends ValueConsumer {
  readonly desc: MetricDesc
  /** Instance to fetch; undefined for all. */
  readonly instance: number | undefined
  /** Clears the values for the given reason. */
  reset(error: PcpError): undefined
}

/** Error of every value before the first fetch. */
const NOT_FETCHED = new PcpError('PM_ERR_VALUE', 'Nothing was fetched yet')

const NEEDS_TWO_FETCHES = new PcpError('PM_ERR_AGAIN', 'A rate needs two readings')
const NOT_BEFORE = new PcpError('PM_ERR_VALUE', 'No value before to make a rate of')
const DECREASED = new PcpError('PM_ERR_VALUE', 'The value decreased')
const NO_NUMBER = new PcpError('PM_ERR_CONV', 'No conversion: only numbers have rates')

/** Reads values from the value sets of one metric. */
export class ValueReader {
  readonly conversion: Conversion
  readonly #wraps: boolean

  constructor(conversion: Conversion, wraps: boolean) {
    this.conversion = conversion
    this.#wraps = wraps
  }

  /** Stores the `i`th value, converted, or its error in an item. */
  readInto(
    item: { -readonly [K in keyof FetchItem]: FetchItem[K] },
    fetched: FetchedMetric,
    i: number,
  ): void {
    let read: Outcome<Value>
    try {
      read = this.read(fetched, i)
    } catch (error) {
      read = PcpError.from(error)
    }
    if (isError(read)) {
      item.value = undefined
      item.error = read
    } else {
      item.value = read
      item.error = undefined
    }
  }

  /** Returns the `i`th value, converted, or the reason it has no rate. Throws for values that cannot be decoded or converted. */
  read(fetched: FetchedMetric, i: number): Outcome<Value> {
    const { isRate, isPlain, desc } = this.conversion
    if (!isRate) {
      const value = extract(fetched.set, i, desc.type)
      return isPlain ? value : applyConversion(this.conversion, value)
    }
    const rate = this.#rate(fetched, i)
    return typeof rate === 'number' ? applyConversion(this.conversion, rate) : rate
  }

  #rate({ set, before, elapsed, isFirst }: FetchedMetric, i: number): Outcome<number> {
    if (isFirst) return NEEDS_TWO_FETCHES
    const { type } = this.conversion.desc
    const now = extract(set, i, type)
    const k = before === undefined ? -1 : indexOfInstance(before.inst, set.inst[i]!, i)
    if (k < 0 || elapsed === 0) return NOT_BEFORE
    const earlier = extract(before!, k, type)
    if (!isNumeric(earlier) || !isNumeric(now)) return NO_NUMBER
    return counterRate(earlier, now, elapsed, type, this.#wraps) ?? DECREASED
  }
}

function isNumeric(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** One value of a metric. */
export class Item implements GroupMember, FetchItem {
  readonly #reader: ValueReader
  readonly #repeats: boolean
  readonly instance: number | undefined
  value: Value | undefined
  error: PcpError | undefined = NOT_FETCHED
  /** Index of the instance in the previous set; usually unchanged. */
  #at = 0

  constructor(conversion: Conversion, instance: number | undefined, wraps: boolean, repeats: boolean) {
    this.#reader = new ValueReader(conversion, wraps)
    this.instance = instance
    this.#repeats = repeats
  }

  get desc(): MetricDesc {
    return this.#reader.conversion.desc
  }

  get id(): Pmid {
    return this.desc.pmid
  }

  take(fetched: FetchedMetric): undefined {
    const { set, isFirst } = fetched
    if (set.status < 0) return this.reset(PcpError.fromStatus(set.status))
    const { instance } = this
    if (instance === undefined) this.#at = 0
    else this.#at = indexOfInstance(set.inst, instance, this.#at)
    if (this.#at >= 0 && this.#at < set.status) this.#reader.readInto(this, fetched, this.#at)
    else if (!this.#repeats || this.value === undefined) {
      const isEarly = this.#reader.conversion.isRate && isFirst
      this.reset(new PcpError(isEarly ? 'PM_ERR_AGAIN' : 'PM_ERR_VALUE', 'No value now'))
    }
  }

  reset(error: PcpError): undefined {
    this.value = undefined
    this.error = error
  }
}

/** Returns the names of the instances in a set. */
type NamesOf = (set: ValueSet) => ReadonlyMap<number, string> | Promise<ReadonlyMap<number, string>>

/** The values of all instances of a metric. */
export class IndomItem implements GroupMember, FetchIndom {
  readonly #reader: ValueReader
  readonly #max: number
  readonly #names: NamesOf
  readonly #repeats: boolean
  /** Instances of the previous set, and their indexes by ascending id. */
  #inst: Int32Array | undefined
  #order: readonly number[] = []
  readonly instance = undefined
  instances: readonly FetchInstance[] = []
  error: PcpError | undefined = NOT_FETCHED

  constructor(conversion: Conversion, max: number, names: NamesOf, wraps: boolean, repeats: boolean) {
    this.#reader = new ValueReader(conversion, wraps)
    this.#max = max
    this.#names = names
    this.#repeats = repeats
  }

  get desc(): MetricDesc {
    return this.#reader.conversion.desc
  }

  get id(): Pmid {
    return this.desc.pmid
  }

  take(fetched: FetchedMetric): Promise<void> | undefined {
    const { set } = fetched
    if (set.status < 0) return this.reset(PcpError.fromStatus(set.status))
    if (set.status > this.#max)
      return this.reset(new PcpError('PM_ERR_TOOBIG', `${set.status} instances are more than ${this.#max}`))
    if (set.status === 0 && this.#repeats && this.error === undefined) return
    const names = this.#names(set)
    if (names instanceof Promise) return names.then((known) => this.#fill(fetched, known))
    return this.#fill(fetched, names)
  }

  #fill(fetched: FetchedMetric, names: ReadonlyMap<number, string>): undefined {
    const { inst } = fetched.set
    // Sets share the array of instances if those cannot have changed.
    if (inst !== this.#inst) this.#order = Array.from(inst.keys()).sort((a, b) => inst[a]! - inst[b]!)
    this.#inst = inst
    this.error = undefined
    this.instances = this.#order.map((i) => {
      const id = inst[i]!
      const instance = { id, name: names.get(id), value: undefined, error: undefined }
      this.#reader.readInto(instance, fetched, i)
      return instance
    })
  }

  reset(error: PcpError): undefined {
    this.instances = []
    this.error = error
  }
}

/** One field of the records of an event metric. */
export class EventsItem implements GroupMember, FetchEvents {
  readonly desc: MetricDesc
  readonly instance: number | undefined
  readonly #field: ValueReader
  readonly #fieldInstance: number | undefined
  readonly #max: number
  records: readonly FetchEvent[] = []
  error: PcpError | undefined = NOT_FETCHED

  constructor(
    desc: MetricDesc,
    instance: number | undefined,
    field: Conversion,
    fieldInstance: number | undefined,
    max: number = Number.POSITIVE_INFINITY,
  ) {
    this.desc = desc
    this.instance = instance
    this.#field = new ValueReader(field, false)
    this.#fieldInstance = fieldInstance
    this.#max = max
  }

  get id(): Pmid {
    return this.desc.pmid
  }

  take({ set }: FetchedMetric): undefined {
    if (set.status < 0) return this.reset(PcpError.fromStatus(set.status))
    const i = this.instance === undefined ? 0 : set.inst.indexOf(this.instance)
    if (i < 0 || i >= set.status) return this.reset(new PcpError('PM_ERR_VALUE', 'No value now'))
    try {
      const records: FetchEvent[] = []
      for (const { timestamp, params } of unpackEvents(set, i, this.desc.type)) {
        const param = params.find(({ pmid }) => pmid === this.#field.conversion.desc.pmid)
        if (param === undefined) continue
        const at = this.#fieldInstance === undefined ? 0 : param.inst.indexOf(this.#fieldInstance)
        if (at < 0) continue
        const event = { time: timestamp, value: undefined, error: undefined }
        this.#field.readInto(event, { set: param, before: undefined, elapsed: 0, isFirst: true }, at)
        records.push(event)
      }
      if (records.length > this.#max)
        throw new PcpError('PM_ERR_TOOBIG', `${records.length} records are more than ${this.#max}`)
      this.records = records
      this.error = undefined
    } catch (error) {
      this.reset(PcpError.from(error))
    }
  }

  reset(error: PcpError): undefined {
    this.records = []
    this.error = error
  }
}

/** The metrics of targets, without duplicates. */
export class FetchRequest {
  readonly ids: readonly Pmid[]
  readonly #targets: readonly ValueConsumer[]
  /** Index in `ids` of each target's metric. */
  readonly #places: readonly number[]

  constructor(targets: Iterable<ValueConsumer>) {
    const places = new Map<Pmid, number>()
    this.#targets = [...targets]
    for (const { id } of this.#targets) if (!places.has(id)) places.set(id, places.size)
    this.ids = [...places.keys()]
    this.#places = this.#targets.map(({ id }) => places.get(id)!)
  }

  /**
   * Passes a result and the previous one to the targets. Returns a promise only if instance names have to be fetched;
   * stops once `isWanted` returns false.
   */
  take(
    result: FetchResult,
    before: FetchResult | undefined,
    isWanted: () => boolean = () => true,
    first = 0,
  ): Promise<void> | undefined {
    const elapsed = before === undefined ? 0 : secondsBetween(before.timestamp, result.timestamp)
    for (let m = first; m < this.#places.length && isWanted(); m++) {
      const place = this.#places[m]!
      const set = result.sets[place]!
      const earlier = setOf(before, set.pmid, place)
      const taken = this.#targets[m]!.take({ set, before: earlier, elapsed, isFirst: earlier === undefined })
      if (taken !== undefined) return taken.then(() => this.take(result, before, isWanted, m + 1))
    }
    return undefined
  }
}

/** Returns a metric's value set in the previous result; usually at the same index. */
function setOf(before: FetchResult | undefined, id: Pmid, place: number): ValueSet | undefined {
  const set = before?.sets[place]
  return set?.pmid === id ? set : before?.sets.find(({ pmid }) => pmid === id)
}
