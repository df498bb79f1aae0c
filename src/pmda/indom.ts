/** An instance domain of an open agent: which instances there are now, and which of them somebody wants. */
import { PcpError } from '../model/errors.ts'
import { type Indom, indomStr } from '../model/ids.ts'
import type { Profile } from '../model/profile.ts'
import type { InstanceQuery, Instances } from '../model/source.ts'
import type { IndomSpec } from './define.ts'

/** Listing and selection are worked out once a moment, however many metrics of a fetch share the domain. */
export class AgentIndom {
  readonly id: Indom
  readonly spec: IndomSpec
  readonly #isStatic: boolean
  #listing: Instances | undefined
  #listedAt: object | undefined
  #all: Int32Array | undefined
  #selection: Int32Array | undefined
  #selectedFor: Profile | undefined

  constructor(id: Indom, spec: IndomSpec) {
    this.id = id
    this.spec = spec
    const { instances } = spec
    this.#isStatic = typeof instances !== 'function'
    if (typeof instances !== 'function')
      this.#listing = { indom: id, ids: Object.values(instances), names: Object.keys(instances) }
  }

  /** All instances now, in the agent's order. Throws why they cannot be listed. */
  list(moment: object | undefined): Instances {
    const { reading, instances } = this.spec
    const known = this.#listing
    if (known !== undefined && (this.#isStatic || (moment !== undefined && moment === this.#listedAt)))
      return known
    if (reading !== undefined) {
      reading.refresh(moment)
      if (reading.error !== undefined) throw reading.error
    }
    const { ids, names } = (instances as Exclude<typeof instances, { readonly [name: string]: number }>)()
    if (ids.length !== names.length)
      throw new PcpError(
        'PM_ERR_GENERIC',
        `Instance domain ${indomStr(this.id)} listed ${ids.length} ids and ${names.length} names`,
      )
    this.#listing = { indom: this.id, ids, names }
    this.#listedAt = moment
    this.#all = undefined
    this.#selectedFor = undefined
    return this.#listing
  }

  /** Ids that the profile wants, in the agent's order. Shared: never written to. Throws as `list` does. */
  select(profile: Profile, moment: object): Int32Array {
    const { ids } = this.list(moment)
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

  /** Answers a question about instances. PM_ERR_INST for an instance that does not exist. */
  find(query: InstanceQuery, moment: object | undefined): Instances {
    const listing = this.list(moment)
    if (query === undefined) return listing
    if ('id' in query) {
      const at = listing.ids.indexOf(query.id)
      if (at < 0) throw this.#noInstance(`instance ${query.id}`)
      return { indom: this.id, ids: [query.id], names: [listing.names[at]!] }
    }
    const at = findName(listing.names, query.name)
    if (at < 0) throw this.#noInstance(`instance "${query.name}"`)
    return { indom: this.id, ids: [listing.ids[at]!], names: [listing.names[at]!] }
  }

  #noInstance(what: string): PcpError {
    return new PcpError('PM_ERR_INST', `No ${what} in instance domain ${indomStr(this.id)}`)
  }
}

const NONE = new Int32Array(0)

/** Place of a name: an exact match, else the first whose part before the first space is the given name. @see pmLookupInDom(3) */
function findName(names: readonly string[], given: string): number {
  const exact = names.indexOf(given)
  if (exact >= 0 || given.includes(' ')) return exact
  const start = `${given} `
  return names.findIndex((name) => name.startsWith(start))
}
