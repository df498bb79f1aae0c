/** Fetch groups: what is wanted is said once, each fetch fills it in. pmFetchGroup(3), docs/pmapi.md */
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
  IndomItem,
  Item,
  type Member,
} from './fetch-item.ts'
import { findInstance, freshNames, type InstanceNames } from './instances.ts'

/** How one value is wanted. */
export interface ItemOptions extends ConversionOptions {
  /** Which instance, by full name or by name up to its first blank: exactly for a metric that has an instance domain. */
  readonly instance?: string
}

/** How the values of all instances are wanted. */
export interface IndomOptions extends ConversionOptions {
  /** With more instances than this there are no values, and the error is PM_ERR_TOOBIG. Default: no limit. */
  readonly max?: number
}

/** How one field of event records is wanted. Rates are refused. */
export interface EventsOptions extends ConversionOptions {
  /** Which instance of the event metric. */
  readonly instance?: string
  /** The metric that names the field. */
  readonly field: string
  /** Which instance of the field. */
  readonly fieldInstance?: string
  /** With more records than this there are no values, and the error is PM_ERR_TOOBIG. Default: no limit. */
  readonly max?: number
}

/** How a group reads. */
export interface FetchGroupOptions {
  /** PCP_COUNTER_WRAP: an integer that decreased has gone round once. */
  readonly counterWrap?: boolean
  /** PCP_DISCRETE_ONCE: a discrete value counts only for the fetch that brought it. */
  readonly discreteOnce?: boolean
}

/**
 * Items, and the context that they are fetched from. Say what is wanted with `item`, `indom` and `events`, then `fetch` again
 * and again.
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
  #members: Member[] = []
  #request: FetchRequest | undefined
  #profile: Profile = ALL_INSTANCES
  #before: FetchResult | undefined
  /** The opening of the source that the fetch before is from. */
  #opening: number
  #timestamp: Timestamp | undefined

  private constructor(context: Context, options: FetchGroupOptions) {
    this.#context = context
    this.#names = freshNames(context)
    this.#options = options
    this.#opening = context.openings
  }

  /** A group over a context that it takes over: its profile becomes the group's, and `close` closes it. */
  static over(context: Context, options: FetchGroupOptions = {}): FetchGroup {
    return new FetchGroup(context, options)
  }

  /** The context, to ask it other questions. @see pmGetFetchGroupContext(3) */
  get context(): Context {
    return this.#context
  }

  /** When the values were read; undefined before the first fetch and after one that failed. @see pmExtendFetchGroup_timespec(3) */
  get timestamp(): Timestamp | undefined {
    return this.#timestamp
  }

  /**
   * Adds one value. PM_ERR_NAME, PM_ERR_NONLEAF; PM_ERR_INDOM for an instance too many or too few, PM_ERR_INST for an unknown
   * one; PM_ERR_TYPE, PM_ERR_CONV. @see pmExtendFetchGroup_item(3)
   */
  async item(metric: string, options: ItemOptions = {}): Promise<FetchItem> {
    const desc = await this.#desc(metric)
    const instance = await findInstance(this.#context, desc, options.instance)
    const item = new Item(planConversion(desc, options), instance, this.#isWrapping, this.#repeats(desc))
    return this.#add(item)
  }

  /** Adds all instances of a metric. Errors as for `item`. @see pmExtendFetchGroup_indom(3) */
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
   * Fetches everything and fills in the items. Returns the PMCD_* bits of what changed since the last fetch. When the fetch
   * fails no item has a value. @see pmFetchGroup(3)
   */
  async fetch(options?: CallOptions): Promise<number> {
    return this.fetchNow(options)
  }

  /** As `fetch`, but without a promise where there is nothing to wait for. @see Context.fetchNow */
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

  /** Rates are not computed across a reconnect: counters may have restarted, as after a mark in an archive. */
  #forgetOtherSource(): void {
    const { openings } = this.#context
    if (openings === this.#opening) return
    this.#opening = openings
    this.#before = undefined
    this.#names.forget()
  }

  /** Fills in the items, unless they are forgotten meanwhile. */
  #take(result: FetchResult, request: FetchRequest, members: readonly Member[]): number | Promise<number> {
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

  /** Forgets all items and keeps the context. @see pmClearFetchGroup(3) */
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

  #add<M extends Member>(member: M): M {
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

/** Returns a profile of only the instances of the items, and of whole domains where an item wants all. */
function profileOf(members: readonly Member[]): Profile {
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
