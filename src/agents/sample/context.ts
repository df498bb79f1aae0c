/** Shared state of the sample agent's metrics. */
import type { Pmid } from '../../model/ids.ts'
import type { AgentEnv, AliasSpec, MetricSpec, SemName, TypeName } from '../../pmda/define.ts'
import { Random } from './random.ts'

/** Rows of a group, by name without the agent's prefix; aliases refer to other rows in the same way. */
export type Rows = { readonly [name: string]: MetricSpec | AliasSpec }

/** State used by several groups. */
export interface SampleContext {
  readonly env: AgentEnv
  /** A generator shared by all groups. */
  readonly random: Random
  /** When the agent was opened: milliseconds since the epoch. */
  readonly started: number
  /** PMID of a metric of this agent. */
  readonly pmidOf: (item: number) => Pmid
  /** Incremented by each fetch: groups that advance once per fetch compare it with the last value. */
  fetches: number
}

/** Returns the initial state. */
export function newContext(env: AgentEnv, pmidOf: (item: number) => Pmid): SampleContext {
  return { env, random: new Random(), started: env.clock(), pmidOf, fetches: 0 }
}

/** Returns the common part of a descriptor. */
export function descOf(
  type: TypeName,
  sem: SemName = 'instant',
  units = 'none',
): Pick<MetricSpec, 'type' | 'sem' | 'units'> {
  return { type, sem, units }
}

/** Returns a function that runs `advance` once per fetch, however many metrics call it. */
export function oncePerFetch(context: SampleContext, advance: () => void): () => void {
  let seen = -1
  return () => {
    if (seen === context.fetches) return
    seen = context.fetches
    advance()
  }
}
