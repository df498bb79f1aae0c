/** Instances of one family of metrics: persistent identifiers, which are also part of the names. docs/reference/agents/otel.md */

import { PcpError } from '../../model/errors.ts'
import { cacheDir } from '../../pmda/cache/directory.ts'
import { InstanceCache } from '../../pmda/cache/instance-cache.ts'
import type { AgentEnv } from '../../pmda/define.ts'
import { rooted } from '../../sys/proc.ts'

/** State of an instance; empty while it is stale. */
export interface InstanceSlot<T> {
  content: T | undefined
}

/** Most instances of a domain, including inactive ones. */
const MAX_NAMES = 20_000

/** The instances of one domain, with the state of each. */
export class SeriesDomain<T> {
  readonly serial: number
  readonly #cache: InstanceCache<InstanceSlot<T>>
  #listing: { readonly ids: readonly number[]; readonly names: readonly string[] } | undefined
  #listedVersion = -1

  /** Loads the identifiers assigned in earlier runs of the agent. */
  constructor(env: AgentEnv, serial: number) {
    this.serial = serial
    this.#cache = new InstanceCache({
      domain: env.domain,
      serial,
      dir: rooted(env.root, cacheDir(env.env)),
      isDictionary: true,
      clock: env.clock,
    })
    try {
      this.#cache.load()
    } catch (error) {
      env.log('warning', `${PcpError.from(error).message}: instances get new numbers`)
    }
  }

  /** Returns the instance with a name, creating it if needed. PM_ERR_TOOBIG if there are too many. */
  open(name: string): InstanceSlot<T> {
    const known = this.#cache.find(name)
    if (known?.data !== undefined && known.isActive) return known.data
    if (known === undefined) this.#makeRoom()
    const slot: InstanceSlot<T> = known?.data ?? { content: undefined }
    this.#cache.add(name, slot)
    return slot
  }

  /** Activates a name and returns its identifier. PM_ERR_TOOBIG if there are too many. */
  numberOf(name: string): number {
    this.open(name)
    return this.#cache.find(name)!.id
  }

  /** Returns the state of an instance. */
  get(id: number): T | undefined {
    return this.#cache.get(id)?.data?.content
  }

  /** Deactivates an instance. */
  hide(name: string): void {
    const known = this.#cache.find(name)
    if (known === undefined || !known.isActive) return
    if (known.data !== undefined) known.data.content = undefined
    this.#cache.hide(name)
  }

  /** Returns active instances by identifier: the same object until they change. */
  list(): { readonly ids: readonly number[]; readonly names: readonly string[] } {
    if (this.#listing === undefined || this.#listedVersion !== this.#cache.version) {
      const { ids, names } = this.#cache.list()
      this.#listing = { ids, names: names.map((name, i) => `${ids[i]} ${name}`) }
      this.#listedVersion = this.#cache.version
    }
    return this.#listing
  }

  /** Saves changes. Throws Node's error. */
  save(): void {
    this.#cache.save()
  }

  #makeRoom(): void {
    const { active, inactive } = this.#cache.sizes
    if (active + inactive < MAX_NAMES) return
    if (active >= MAX_NAMES) throw new PcpError('PM_ERR_TOOBIG', `The metric has ${active} series already`)
    this.#cache.purge(0)
    this.#cache.reorganize()
  }
}
