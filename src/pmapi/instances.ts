/** Instances: their names, their places in value sets, and which one a name means. pmNameInDom(3), pmLookupInDom(3) */
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { type Indom, PM_INDOM_NULL } from '../model/ids.ts'
import type { ValueSet } from '../model/values.ts'
import type { CallOptions, ContextCalls } from './context-calls.ts'

/** Most domains remembered; beyond that all are dropped and refetched. */
const MOST_INDOMS = 1000

/** Names of the instances in value sets: refetched when a set has an unknown instance, which drops the names of vanished ones. */
export class InstanceNames {
  readonly #context: ContextCalls
  #known = new Map<Indom, ReadonlyMap<number, string>>()

  constructor(context: ContextCalls) {
    this.#context = context
  }

  /** Forgets all names: the source is another one, or instances may have got other names. */
  forget(): void {
    this.#known = new Map()
  }

  /**
   * Names by instance, at least of those in the set that anybody knows; none for a metric without instances. A promise only
   * where they have to be asked for.
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

/** Returns the names of a context's instances, all of them forgotten: who begins to sample wants those of now. */
export function freshNames(context: ContextCalls): InstanceNames {
  const names = namesOf.get(context) ?? new InstanceNames(context)
  names.forget()
  namesOf.set(context, names)
  return names
}

/**
 * The instance of that name, at any time of an archive; undefined for a metric without instances. PM_ERR_INDOM when there is
 * a name and no instances or the other way round, PM_ERR_INST or PM_ERR_INST_LOG for an unknown one.
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

/** Is an instance among those asked for, by full name or by name up to its first blank? */
export function isWanted(wanted: readonly string[], name: string): boolean {
  const blank = name.indexOf(' ')
  return wanted.includes(name) || (blank > 0 && wanted.includes(name.slice(0, blank)))
}

/** Below this length a search is cheaper than a table. */
const SHORT = 16

/** Tables of arrays in which an instance was looked for; sets share arrays that did not change. */
const tables = new WeakMap<Int32Array, ReadonlyMap<number, number>>()

/** Returns where an instance is, -1 for nowhere. `guess` is where it mostly is: its place in the set before. */
export function placeOf(inst: Int32Array, instance: number, guess: number): number {
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
