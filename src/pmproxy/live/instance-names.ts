/** Names of the instances whose values a feed sends. docs/reference/pmproxy.md */
import type { Pmid } from '../../model/ids.ts'
import type { Instances } from '../../model/source.ts'
import type { ValueSet } from '../../model/values.ts'
import { orUndefined } from '../describe.ts'
import { isSame, type Topic } from './topic.ts'

/** Names of the instances of a domain, and the ids for which they were requested. */
interface KnownNames {
  readonly ids: Int32Array
  readonly names: ReadonlyMap<number, string>
  /** Number of requests that left names missing, which a domain may never have. */
  readonly misses: number
}

/** Maximum requests for the names of the same instances while some are missing. Failed requests do not count. */
const MOST_MISSES = 5

const NO_NAMES: ReadonlyMap<number, string> = new Map()

/** Requests all instances of a domain. */
export type AskInstances = (indom: number) => Promise<Instances>

/** Keeps the names of the domains of a host. */
export class InstanceNames {
  readonly #known = new Map<number, KnownNames>()

  /** Returns the names of a domain by instance. */
  of(indom: number): ReadonlyMap<number, string> {
    return this.#known.get(indom)?.names ?? NO_NAMES
  }

  /** Forgets all names: the collector may be another one. */
  clear(): void {
    this.#known.clear()
  }

  /** Requests the names of domains whose instances have changed or have no names yet. Never rejects. */
  async learn(topics: Iterable<Topic>, sets: ReadonlyMap<Pmid, ValueSet>, ask: AskInstances): Promise<void> {
    const indoms = new Map<number, Int32Array>()
    const unnamed = new Set<number>()
    for (const topic of topics)
      for (const [indom, id] of topic.indoms) {
        const set = sets.get(id)
        if (set === undefined || set.status <= 0) continue
        if (set.status > (indoms.get(indom)?.length ?? 0)) indoms.set(indom, set.inst)
        const names = this.#known.get(indom)?.names
        if (names !== undefined && !set.inst.every((inst) => names.has(inst))) unnamed.add(indom)
      }
    await Promise.all([...indoms].map(([indom, ids]) => this.#learn(indom, ids, unnamed.has(indom), ask)))
  }

  async #learn(indom: number, ids: Int32Array, isUnnamed: boolean, ask: AskInstances): Promise<void> {
    const known = this.#known.get(indom)
    const isKnown = known !== undefined && isSame(known.ids, ids)
    const misses = isKnown ? known.misses : 0
    if (isKnown && (!isUnnamed || misses >= MOST_MISSES)) return
    const found = await orUndefined(ask(indom))
    // An agent may have values before names; known names are kept.
    const names =
      found === undefined ? known?.names : new Map(found.ids.map((id, i) => [id, found.names[i]!]))
    this.#known.set(indom, {
      ids: ids.slice(),
      names: names ?? NO_NAMES,
      misses: found === undefined ? 0 : misses + 1,
    })
  }
}
