/** An instance domain of an open agent: its current instances, and those in a client's profile. */
import { PcpError } from '../model/errors.ts'
import { type Indom, indomStr } from '../model/ids.ts'
import type { Profile } from '../model/profile.ts'
import type { Ask, InstanceQuery, Instances, Requester } from '../model/source.ts'
import type { IndomSpec, InstanceList } from './define.ts'

/** Lists and selects instances once per batch, however many metrics of a fetch share the domain. */
export class AgentInstanceDomain {
  readonly id: Indom
  readonly spec: IndomSpec
  readonly #isStatic: boolean
  #listing: InstanceList | undefined
  #listedAt: object | undefined
  #listedFor: Requester | undefined
  #all: Int32Array | undefined
  #selection: Int32Array | undefined
  #selectedFor: Profile | undefined

  constructor(id: Indom, spec: IndomSpec) {
    this.id = id
    this.spec = spec
    const { instances } = spec
    this.#isStatic = typeof instances !== 'function'
    if (typeof instances !== 'function')
      this.#listing = { ids: Object.values(instances), names: Object.keys(instances) }
  }

  /** Returns the current instances, in the agent's order. Throws why they cannot be listed. */
  list(ask: Ask): Instances {
    const { ids, names } = this.#list(ask, ask.batch)
    return { indom: this.id, ids, names: typeof names === 'function' ? this.#checked(ids, names()) : names }
  }

  #list(ask: Ask, batch: object | undefined): InstanceList {
    const { reading, instances, isPerRequester = false } = this.spec
    const known = this.#listing
    if (known !== undefined) {
      if (this.#isStatic) return known
      const isForAsker = !isPerRequester || ask.requester === this.#listedFor
      if (isForAsker && batch !== undefined && batch === this.#listedAt) return known
    }
    if (reading !== undefined) {
      reading.refresh(batch)
      if (reading.error !== undefined) throw reading.error
    }
    const listing = (instances as Exclude<typeof instances, { readonly [name: string]: number }>)(ask)
    if (typeof listing.names !== 'function') this.#checked(listing.ids, listing.names)
    this.#listing = listing
    this.#listedAt = batch
    this.#listedFor = isPerRequester ? ask.requester : undefined
    this.#all = undefined
    this.#selectedFor = undefined
    return listing
  }

  /** Returns the identifiers in the profile, in the agent's order. The result is shared: do not modify. Throws as `list`. */
  select(ask: Ask, batch: object): Int32Array {
    const { ids } = this.#list(ask, batch)
    const { profile } = ask.requester
    const entry = profile.entries.get(this.id)
    if (entry === undefined ? profile.includeByDefault : entry.includeAll && entry.instances.size === 0) {
      this.#all ??= new Int32Array(ids)
      return this.#all
    }
    if (entry === undefined) return NONE
    if (profile === this.#selectedFor && this.#selection !== undefined) return this.#selection
    const { includeAll, instances } = entry
    this.#selection = new Int32Array(ids.filter((inst) => instances.has(inst) !== includeAll))
    this.#selectedFor = profile
    return this.#selection
  }

  /** Answers a request for instances. PM_ERR_INST for an unknown instance. */
  find(query: InstanceQuery, ask: Ask): Instances {
    const listing = this.list(ask)
    if (query === undefined) return listing
    if ('id' in query) {
      const at = listing.ids.indexOf(query.id)
      if (at < 0) throw this.#noInstance(`instance ${query.id}`)
      return { indom: this.id, ids: [query.id], names: [listing.names[at]!] }
    }
    const at = findName(listing.names, this.spec.canonicalName?.(query.name) ?? query.name)
    if (at < 0) throw this.#noInstance(`instance "${query.name}"`)
    return { indom: this.id, ids: [listing.ids[at]!], names: [listing.names[at]!] }
  }

  #checked(ids: readonly number[], names: readonly string[]): readonly string[] {
    if (ids.length === names.length) return names
    throw new PcpError(
      'PM_ERR_GENERIC',
      `Instance domain ${indomStr(this.id)} listed ${ids.length} ids and ${names.length} names`,
    )
  }

  #noInstance(what: string): PcpError {
    return new PcpError('PM_ERR_INST', `No ${what} in instance domain ${indomStr(this.id)}`)
  }
}

const NONE = new Int32Array(0)

/** Index of a name: an exact match, else the first whose part before the first space is the given name. @see pmLookupInDom(3) */
function findName(names: readonly string[], given: string): number {
  const exact = names.indexOf(given)
  if (exact >= 0 || given.includes(' ')) return exact
  const start = `${given} `
  return names.findIndex((name) => name.startsWith(start))
}
