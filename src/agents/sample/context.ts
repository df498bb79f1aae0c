/** What the groups of metrics of the sample agent share. */
import type { Pmid } from '../../model/ids.ts'
import type { AgentEnv, AliasSpec, MetricSpec, SemName, TypeName } from '../../pmda/define.ts'
import { Random } from './random.ts'

/** Rows of a group, by name without the agent's prefix; aliases name other rows of the agent in the same way. */
export type Rows = { readonly [name: string]: MetricSpec | AliasSpec }

/** The state that several groups use. */
export interface SampleContext {
  readonly env: AgentEnv
  /** One generator for all groups: what one draws, the others do not. */
  readonly random: Random
  /** When the agent was opened: milliseconds since the epoch. */
  readonly started: number
  /** PMID of a metric of this agent. */
  readonly pmidOf: (item: number) => Pmid
  /** Grows by one with each fetch: groups that advance once a fetch compare it with what they saw last. */
  fetches: number
}

/** The state of an agent that is just being opened. */
export function newContext(env: AgentEnv, pmidOf: (item: number) => Pmid): SampleContext {
  return { env, random: new Random(), started: env.clock(), pmidOf, fetches: 0 }
}

/** The part of a descriptor that most rows say in one line. */
export function of(
  type: TypeName,
  sem: SemName = 'instant',
  units = 'none',
): Pick<MetricSpec, 'type' | 'sem' | 'units'> {
  return { type, sem, units }
}

/** Runs `advance` once in each fetch, however many metrics of it ask. */
export function oncePerFetch(context: SampleContext, advance: () => void): () => void {
  let seen = -1
  return () => {
    if (seen === context.fetches) return
    seen = context.fetches
    advance()
  }
}
