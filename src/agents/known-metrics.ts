/** Names and descriptors that the agents of the package always have, for data that has lost them on its way through other systems. */
import type { MetricDesc } from '../model/desc.ts'
import { isError } from '../model/errors.ts'
import { isDynamicRoot } from '../model/ids.ts'
import { ANONYMOUS } from '../model/source.ts'
import { openAgent } from '../pmda/open-agent.ts'
import { AGENTS } from './registry.ts'

/** A metric of an agent. */
export interface AgentMetricName {
  readonly name: string
  readonly desc: MetricDesc
}

/** Returns the metrics of all agents, except agents that contact others or take the metrics of applications. */
export async function knownMetrics(): Promise<readonly AgentMetricName[]> {
  // Tables need no files: the agents see an empty file system, so that the result does not depend on this machine.
  const root = '/nonexistent'
  const all: AgentMetricName[] = []
  for (const { load, isExplicit } of AGENTS) {
    if (isExplicit === true) continue
    const source = openAgent(await load(), { root, env: {} })
    try {
      const named = [...source.names()].filter(([, id]) => !isDynamicRoot(id))
      const descs = await source.descs(
        named.map(([, id]) => id),
        { requester: ANONYMOUS },
      )
      for (const [i, [name]] of named.entries()) {
        const desc = descs[i]!
        if (!isError(desc)) all.push({ name, desc })
      }
    } finally {
      await source.close()
    }
  }
  return all
}
