/** The items of a fetch group: how each takes its values from what was fetched. pmExtendFetchGroup_item(3) */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { unpackEvents } from '../model/events.ts'
import type { Pmid } from '../model/ids.ts'
import { extract } from '../model/value-set.ts'
import type { Value, ValueSet } from '../model/values.ts'
import { applyConversion, type Conversion, type Reading } from './conversion.ts'
import { placeOf } from './instance-places.ts'

/** One value, as of the last fetch. */
export interface FetchItem {
  /** Undefined when there is none: `error` says why. */
  readonly value: Value | undefined
  /**
   * PM_ERR_AGAIN before the second reading of a rate, PM_ERR_VALUE for no value or a decrease, PM_ERR_TYPE for text that is
   * no number, PM_ERR_TRUNC and PM_ERR_SIGN where it does not fit, or the metric's own.
   */
  readonly error: PcpError | undefined
}

/** One instance's value. */
export interface FetchInstance extends FetchItem {
  /** PM_IN_NULL for a metric without instances. */
  readonly id: number
  /** Undefined for a metric without instances, and where nobody knows the name. */
  readonly name: string | undefined
}

/** The values of all instances, sorted by id, as of the last fetch. */
export interface FetchIndom {
  readonly instances: readonly FetchInstance[]
  /** Why there are none, when that is an error. */
  readonly error: PcpError | undefined
}

/** One field of one event record. */
export interface FetchEvent extends FetchItem {
  readonly time: Timestamp
}

/** A field of all records, as of the last fetch. */
export interface FetchEvents {
  readonly records: readonly FetchEvent[]
  readonly error: PcpError | undefined
}

/** What a group hands to its items after a fetch. */
export interface Fetched {
  readonly set: ValueSet
  readonly before: ValueSet | undefined
  /** Seconds from the fetch before to this one. */
  readonly elapsed: number
  readonly isFirst: boolean
}

/** An item's place in the group. */
export interface Member {
  readonly id: Pmid
  readonly desc: MetricDesc
  /** The one instance it wants; undefined for all of them. */
  readonly instance: number | undefined
  /** Takes its values; a promise only where there is something to ask for. */
  take(fetched: Fetched): Promise<void> | undefined
  /** No values, for the reason given. */
  reset(error: PcpError): undefined
}

/** What is known of a value before anything was fetched. */
const NOT_YET = new PcpError('PM_ERR_VALUE', 'Nothing was fetched yet')

/** Reads values out of the sets of one metric. */
class ValueReader {
  readonly #conversion: Conversion
  readonly #wraps: boolean

  constructor(conversion: Conversion, wraps: boolean) {
    this.#conversion = conversion
    this.#wraps = wraps
  }

  get conversion(): Conversion {
    return this.#conversion
  }

  /** Puts the `i`th value, converted, or why not, into an item. */
  readInto(item: { -readonly [K in keyof FetchItem]: FetchItem[K] }, fetched: Fetched, i: number): void {
    try {
      item.value = this.#value(fetched, i)
      item.error = undefined
    } catch (error) {
      item.value = undefined
      item.error = PcpError.from(error)
    }
  }

  #value({ set, before, elapsed, isFirst }: Fetched, i: number): Value {
    const { isRate, desc } = this.#conversion
    if (isRate && isFirst) throw new PcpError('PM_ERR_AGAIN', 'A rate needs two readings')
    const now = { value: extract(set, i, desc.type), at: elapsed }
    const earlier = isRate ? readingOf(before, set.inst[i]!, i, desc.type) : undefined
    return applyConversion(this.#conversion, now, earlier, this.#wraps)
  }
}

/** What an instance had before, which mostly is in the same place. */
function readingOf(
  before: ValueSet | undefined,
  instance: number,
  at: number,
  type: number,
): Reading | undefined {
  if (before === undefined) return undefined
  const i = placeOf(before.inst, instance, at)
  return i < 0 ? undefined : { value: extract(before, i, type), at: 0 }
}

/** One value of a metric. */
export class Item implements Member, FetchItem {
  readonly #reader: ValueReader
  readonly #repeats: boolean
  readonly instance: number | undefined
  value: Value | undefined
  error: PcpError | undefined = NOT_YET
  /** Where the instance was in the set before: mostly it is there again. */
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

  take(fetched: Fetched): undefined {
    const { set, isFirst } = fetched
    if (set.status < 0) return this.reset(PcpError.fromStatus(set.status))
    const { instance } = this
    if (instance === undefined) this.#at = 0
    else this.#at = placeOf(set.inst, instance, this.#at)
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

/** Names of the instances in a set. */
type NamesOf = (set: ValueSet) => ReadonlyMap<number, string> | Promise<ReadonlyMap<number, string>>

/** The values of all instances of a metric. */
export class IndomItem implements Member, FetchIndom {
  readonly #reader: ValueReader
  readonly #max: number
  readonly #names: NamesOf
  readonly #repeats: boolean
  /** Instances of the set before, and their places by ascending id. */
  #inst: Int32Array | undefined
  #order: readonly number[] = []
  readonly instance = undefined
  instances: readonly FetchInstance[] = []
  error: PcpError | undefined = NOT_YET

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

  take(fetched: Fetched): Promise<void> | undefined {
    const { set } = fetched
    if (set.status < 0) return this.reset(PcpError.fromStatus(set.status))
    if (set.status > this.#max)
      return this.reset(new PcpError('PM_ERR_TOOBIG', `${set.status} instances are more than ${this.#max}`))
    if (set.status === 0 && this.#repeats && this.error === undefined) return
    const names = this.#names(set)
    if (names instanceof Promise) return names.then((known) => this.#fill(fetched, known))
    return this.#fill(fetched, names)
  }

  #fill(fetched: Fetched, names: ReadonlyMap<number, string>): undefined {
    const { inst } = fetched.set
    // Sets share their instances where they cannot have changed.
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
export class EventsItem implements Member, FetchEvents {
  readonly desc: MetricDesc
  readonly instance: number | undefined
  readonly #field: ValueReader
  readonly #fieldInstance: number | undefined
  readonly #max: number
  records: readonly FetchEvent[] = []
  error: PcpError | undefined = NOT_YET

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

  take({ set }: Fetched): undefined {
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
