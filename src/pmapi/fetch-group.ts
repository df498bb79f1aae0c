/** Fetch groups: items are defined once and updated by each fetch. pmFetchGroup(3), docs/reference/client-library.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { type Indom, PM_INDOM_NULL } from '../model/ids.ts'
import { ALL_INSTANCES, exclude, include, type Profile } from '../model/profile.ts'
import { PM_SEM_DISCRETE, PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT } from '../model/types.ts'
import type { FetchResult } from '../model/values.ts'
import type { CallOptions, Context } from './context.ts'
import { type ConversionOptions, planConversion } from './conversion.ts'
import {
  EventsItem,
  type FetchEvents,
  type FetchIndom,
  type FetchItem,
  FetchRequest,
  type GroupMember,
  IndomItem,
  Item,
} from './fetch-item.ts'
import { emptyNameCache, findInstance, type InstanceNames } from './instances.ts'

/** Options of one value. */
export interface ItemOptions extends ConversionOptions {
  /** Instance, by full name or first word; required for metrics with an instance domain and invalid for others. */
  readonly instance?: string
}

/** Options of the values of all instances. */
export interface IndomOptions extends ConversionOptions {
  /** Limit on instances; beyond it there are no values and the error is PM_ERR_TOOBIG. Default: no limit. */
  readonly max?: number
}

/** Options of one field of event records. Rates are refused. */
export interface EventsOptions extends ConversionOptions {
  /** Instance of the event metric. */
  readonly instance?: string
  /** Metric that identifies the field. */
  readonly field: string
  /** Instance of the field's metric. */
  readonly fieldInstance?: string
  /** Limit on records; beyond it there are no values and the error is PM_ERR_TOOBIG. Default: no limit. */
  readonly max?: number
}

/** Options of a fetch group. */
export interface FetchGroupOptions {
  /** PCP_COUNTER_WRAP: treat a decreased integer counter as wrapped once. */
  readonly counterWrap?: boolean
  /** PCP_DISCRETE_ONCE: return a discrete value only from the fetch that obtained it. */
  readonly discreteOnce?: boolean
}

/**
 * A set of items and the context that they are fetched from. Add items with `item`, `indom` and `events`, then call
 * `fetch` repeatedly.
 *
 * @example
 * const group = FetchGroup.over(await connect())
 * const load = await group.item('kernel.all.load', { instance: '1 minute' })
 * const reads = await group.indom('disk.dev.read_bytes', { scale: 'Mbyte/sec' })
 * await group.fetch()
 * console.log(load.value, reads.instances)
 * await group.close()
 *
 * @see pmCreateFetchGroup(3)
 */
export class FetchGroup {
  readonly #context: Context
  readonly #options: FetchGroupOptions
  readonly #names: InstanceNames
  #members: GroupMember[] = []
  #request: FetchRequest | undefined
  #profile: Profile = ALL_INSTANCES
  #before: FetchResult | undefined
  /** `openings` of the context at the previous fetch. */
  #opening: number
  #timestamp: Timestamp | undefined

  private constructor(context: Context, options: FetchGroupOptions) {
    this.#context = context
    this.#names = emptyNameCache(context)
    this.#options = options
    this.#opening = context.openings
  }

  /** Creates a group over a context and takes ownership: the group sets its profile, and `close` closes it. */
  static over(context: Context, options: FetchGroupOptions = {}): FetchGroup {
    return new FetchGroup(context, options)
  }

  /** The group's context, for other calls. @see pmGetFetchGroupContext(3) */
  get context(): Context {
    return this.#context
  }

  /** Time of the values; undefined before the first fetch and after a failed one. @see pmExtendFetchGroup_timespec(3) */
  get timestamp(): Timestamp | undefined {
    return this.#timestamp
  }

  /**
   * Adds one value. PM_ERR_NAME, PM_ERR_NONLEAF; PM_ERR_INDOM for a missing or unexpected instance, PM_ERR_INST for an
   * unknown one; PM_ERR_TYPE, PM_ERR_CONV. @see pmExtendFetchGroup_item(3)
   */
  async item(metric: string, options: ItemOptions = {}): Promise<FetchItem> {
    const desc = await this.#desc(metric)
    const instance = await findInstance(this.#context, desc, options.instance)
    const item = new Item(planConversion(desc, options), instance, this.#isWrapping, this.#repeats(desc))
    return this.#add(item)
  }

  /** Adds the values of all instances of a metric. Errors as for `item`. @see pmExtendFetchGroup_indom(3) */
  async indom(metric: string, options: IndomOptions = {}): Promise<FetchIndom> {
    const desc = await this.#desc(metric)
    const conversion = planConversion(desc, options)
    const max = options.max ?? Number.POSITIVE_INFINITY
    const indom = new IndomItem(
      conversion,
      max,
      (set) => this.#names.of(desc.indom, set),
      this.#isWrapping,
      this.#repeats(desc),
    )
    return this.#add(indom)
  }

  /** Adds one field of all records of an event metric. Errors as for `item`. @see pmExtendFetchGroup_event(3) */
  async events(metric: string, options: EventsOptions): Promise<FetchEvents> {
    const desc = await this.#desc(metric)
    if (desc.type !== PM_TYPE_EVENT && desc.type !== PM_TYPE_HIGHRES_EVENT)
      throw new PcpError('PM_ERR_TYPE', `"${metric}" has no event records`)
    const instance = await findInstance(this.#context, desc, options.instance)
    const fieldDesc = await this.#desc(options.field)
    const fieldInstance = await findInstance(this.#context, fieldDesc, options.fieldInstance)
    const conversion = planConversion(fieldDesc, { ...options, scale: options.scale ?? 'instant' })
    if (conversion.isRate) throw new PcpError('PM_ERR_CONV', 'Fields of event records have no rates')
    const events = new EventsItem(desc, instance, conversion, fieldInstance, options.max)
    return this.#add(events)
  }

  /**
   * Fetches all metrics and updates the items. Returns the PMCD_* bits of changes since the last fetch. After a failed
   * fetch no item has a value. @see pmFetchGroup(3)
   */
  async fetch(options?: CallOptions): Promise<number> {
    return this.fetchNow(options)
  }

  /** Like `fetch`, but synchronous where possible. @see Context.fetchNow */
  fetchNow(options?: CallOptions): number | Promise<number> {
    if (this.#members.length === 0) return 0
    if (this.#request === undefined) {
      this.#request = new FetchRequest(this.#members)
      this.#profile = profileOf(this.#members)
    }
    const [request, profile, members] = [this.#request, this.#profile, this.#members]
    let result: FetchResult | Promise<FetchResult>
    try {
      if (this.#context.profile !== profile) this.#context.profile = profile
      result = this.#context.fetchNow(request.ids, options)
    } catch (error) {
      return this.#fail(error)
    }
    if (!(result instanceof Promise)) return this.#take(result, request, members)
    return result.then(
      (answer) => this.#take(answer, request, members),
      (error: unknown) => this.#fail(error),
    )
  }

  #fail(error: unknown): never {
    this.#timestamp = undefined
    for (const member of this.#members) member.reset(PcpError.from(error))
    throw error
  }

  /** Rates are not computed across a reconnect: counters may have restarted, as after an archive's mark record. */
  #forgetOtherSource(): void {
    const { openings } = this.#context
    if (openings === this.#opening) return
    this.#opening = openings
    this.#before = undefined
    this.#names.forget()
  }

  /** Updates the items, unless they were cleared meanwhile. */
  #take(
    result: FetchResult,
    request: FetchRequest,
    members: readonly GroupMember[],
  ): number | Promise<number> {
    if (members !== this.#members) return result.changes
    this.#forgetOtherSource()
    const taken = request.take(result, this.#before, () => members === this.#members)
    const keep = (): number => {
      if (members === this.#members) {
        this.#before = result
        this.#timestamp = result.timestamp
      }
      return result.changes
    }
    return taken === undefined ? keep() : taken.then(keep)
  }

  /** Removes all items but keeps the context. @see pmClearFetchGroup(3) */
  clear(): void {
    this.#members = []
    this.#request = undefined
    this.#before = undefined
  }

  /** Closes the context. Idempotent. @see pmDestroyFetchGroup(3) */
  async close(): Promise<void> {
    this.clear()
    await this.#context.close()
  }

  /** For `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #add<M extends GroupMember>(member: M): M {
    this.#members.push(member)
    this.#request = undefined
    return member
  }

  get #isWrapping(): boolean {
    return this.#options.counterWrap === true
  }

  #repeats(desc: MetricDesc): boolean {
    return desc.sem === PM_SEM_DISCRETE && this.#options.discreteOnce !== true
  }

  async #desc(metric: string): Promise<MetricDesc> {
    return this.#context.desc(await this.#context.lookupName(metric))
  }
}

/** Returns a profile of the items' instances only, with whole domains where an item needs all. */
function profileOf(members: readonly GroupMember[]): Profile {
  const wanted = new Map<Indom, number[] | undefined>()
  for (const { desc, instance } of members) {
    if (instance === undefined) wanted.set(desc.indom, undefined)
    else if (!wanted.has(desc.indom)) wanted.set(desc.indom, [instance])
    else wanted.get(desc.indom)?.push(instance)
  }
  wanted.delete(PM_INDOM_NULL)
  let profile = exclude(ALL_INSTANCES, PM_INDOM_NULL)
  for (const [indom, instances] of wanted) profile = include(profile, indom, instances)
  return profile
}
