/** Names and indexes of instances. pmNameInDom(3), pmLookupInDom(3) */
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { type Indom, PM_INDOM_NULL } from '../model/ids.ts'
import type { ValueSet } from '../model/values.ts'
import type { CallOptions, ContextCalls } from './context-calls.ts'

/** Limit on cached domains; beyond it all are dropped and refetched. */
const MOST_INDOMS = 1000

/** Caches instance names. An unknown instance in a value set causes a refetch, which drops the names of vanished instances. */
export class InstanceNames {
  readonly #context: ContextCalls
  #known = new Map<Indom, ReadonlyMap<number, string>>()

  constructor(context: ContextCalls) {
    this.#context = context
  }

  /** Drops all names, because the source or its instances may have changed. */
  forget(): void {
    this.#known = new Map()
  }

  /**
   * Returns names by instance, for all instances of the set whose names are known; empty for a metric without instances.
   * Returns a promise only if names have to be fetched.
   */
  of(
    indom: Indom,
    set: ValueSet,
    options?: CallOptions,
  ): ReadonlyMap<number, string> | Promise<ReadonlyMap<number, string>> {
    const known = this.#known.get(indom) ?? new Map<number, string>()
    if (indom === PM_INDOM_NULL || set.inst.every((id) => known.has(id))) return known
    return this.#ask(indom, set, known, options)
  }

  async #ask(
    indom: Indom,
    { inst }: ValueSet,
    before: ReadonlyMap<number, string>,
    options: CallOptions | undefined,
  ): Promise<ReadonlyMap<number, string>> {
    const all = this.#known
    const { ids, names } = await this.#context.instances(indom, options)
    const known = new Map(ids.map((id, i) => [id, names[i]!]))
    // An instance of the set may have vanished before the request.
    for (const id of inst) {
      const name = before.get(id)
      if (name !== undefined && !known.has(id)) known.set(id, name)
    }
    if (all.size >= MOST_INDOMS && !all.has(indom)) all.clear()
    all.set(indom, known)
    return known
  }
}

const namesOf = new WeakMap<ContextCalls, InstanceNames>()

/** Returns the name cache of a context, emptied so that sampling starts with current names. */
export function emptyNameCache(context: ContextCalls): InstanceNames {
  const names = namesOf.get(context) ?? new InstanceNames(context)
  names.forget()
  namesOf.set(context, names)
  return names
}

/**
 * Returns the instance with this name (in archives at any time); undefined for a metric without instances. PM_ERR_INDOM
 * for a missing or unexpected name, PM_ERR_INST or PM_ERR_INST_LOG for an unknown one.
 */
export async function findInstance(
  context: ContextCalls,
  { indom }: MetricDesc,
  name: string | undefined,
): Promise<number | undefined> {
  if ((indom === PM_INDOM_NULL) !== (name === undefined)) {
    const what = name === undefined ? 'has instances: name one' : `has no instances: leave "${name}" out`
    throw new PcpError('PM_ERR_INDOM', `The metric ${what}`)
  }
  if (name === undefined) return undefined
  if (context.archive !== undefined) return context.archive.instanceId(indom, name)
  return context.instanceId(indom, name)
}

/** Returns whether an instance is selected, by its full name or first word. */
export function isSelected(wanted: readonly string[], name: string): boolean {
  const blank = name.indexOf(' ')
  return wanted.includes(name) || (blank > 0 && wanted.includes(name.slice(0, blank)))
}

/** Below this length a linear search is faster than a map. */
const SHORT = 16

/** Indexes by instance, for arrays that were searched; value sets share arrays that did not change. */
const tables = new WeakMap<Int32Array, ReadonlyMap<number, number>>()

/** Returns the index of an instance, or -1. `guess` is its likely index: that in the previous set. */
export function indexOfInstance(inst: Int32Array, instance: number, guess: number): number {
  if (inst[guess] === instance) return guess
  if (inst.length < SHORT) return inst.indexOf(instance)
  let places = tables.get(inst)
  if (places === undefined) {
    const table = new Map<number, number>()
    for (let i = inst.length - 1; i >= 0; i--) table.set(inst[i]!, i)
    places = table
    tables.set(inst, places)
  }
  return places.get(instance) ?? -1
}
