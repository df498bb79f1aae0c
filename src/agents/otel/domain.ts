/** Instances of one family of metrics: numbers that stay, names with the number before them. docs/otel.md */

import { PcpError } from '../../model/errors.ts'
import { cacheDir, InstanceCache } from '../../pmda/cache/instance-cache.ts'
import type { AgentEnv } from '../../pmda/define.ts'
import { rooted } from '../../sys/proc.ts'

/** What an instance stands for now; nothing while it is stale. */
export interface Slot<T> {
  content: T | undefined
}

/** Instances that a domain remembers, those that are gone included. */
const MAX_NAMES = 20_000

/** The instances of one domain, with what each stands for. */
export class Domain<T> {
  readonly serial: number
  readonly #cache: InstanceCache<Slot<T>>
  #listing: { readonly ids: readonly number[]; readonly names: readonly string[] } | undefined
  #listedVersion = -1

  /** Reads the numbers given out in earlier lives of the agent. */
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

  /** The instance with a name, made if need be. PM_ERR_TOOBIG when there are too many. */
  open(name: string): Slot<T> {
    const known = this.#cache.find(name)
    if (known?.data !== undefined && known.isActive) return known.data
    if (known === undefined) this.#makeRoom()
    const slot: Slot<T> = known?.data ?? { content: undefined }
    this.#cache.add(name, slot)
    return slot
  }

  /** The number of a name, which becomes active. PM_ERR_TOOBIG when there are too many. */
  numberOf(name: string): number {
    this.open(name)
    return this.#cache.find(name)!.id
  }

  /** What an instance stands for. */
  get(id: number): T | undefined {
    return this.#cache.get(id)?.data?.content
  }

  /** The instance is gone for now. */
  hide(name: string): void {
    const known = this.#cache.find(name)
    if (known === undefined || !known.isActive) return
    if (known.data !== undefined) known.data.content = undefined
    this.#cache.hide(name)
  }

  /** Active instances by number, the same object until they change. */
  list(): { readonly ids: readonly number[]; readonly names: readonly string[] } {
    if (this.#listing === undefined || this.#listedVersion !== this.#cache.version) {
      const { ids, names } = this.#cache.list()
      this.#listing = { ids, names: names.map((name, i) => `${ids[i]} ${name}`) }
      this.#listedVersion = this.#cache.version
    }
    return this.#listing
  }

  /** Writes what is new. Throws Node's error. */
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
