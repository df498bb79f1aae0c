/** The collector's own agent, domain 2: statistics and settings of pmcd. docs/reference/agent-toolkit.md */
import type { MetricSpec } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent } from '../../pmda/define-agent.ts'
import { LiveMemory } from '../../sys/live-memory.ts'
import { agentMetrics, clientMetrics } from './clients.ts'
import { controlMetrics } from './controls.ts'
import { loggerMetrics, ruleEngineMetrics } from './daemons.ts'
import { PDU_COUNTS } from './pdu-counts.ts'
import { selfMetrics } from './self.ts'
import type { CollectorStatistics } from './statistics.ts'

/** Domain of the agent, fixed because clients depend on it. */
export const PMCD_DOMAIN = 2

/** Returns the agent of a collector. */
export function pmcdAgent(statistics: CollectorStatistics): AgentDefinition {
  return defineAgent({
    name: 'pmcd',
    domain: PMCD_DOMAIN,
    open: (env) => {
      const memory = new LiveMemory()
      return {
        metrics: {
          ...selfMetrics(statistics, env, memory),
          ...controlMetrics(statistics),
          ...pduMetrics(statistics),
          ...agentMetrics(statistics),
          ...clientMetrics(statistics),
          ...loggerMetrics(env),
          ...ruleEngineMetrics(env),
        },
        close: () => memory.close(),
      }
    },
  })
}

const CLUSTER_IN = 1
const CLUSTER_OUT = 2
const ITEM_TOTAL = 16

function pduMetrics(statistics: CollectorStatistics): Record<string, MetricSpec> {
  return {
    ...direction('pmcd.pdu_in', CLUSTER_IN, 'received', statistics.pdusIn),
    ...direction('pmcd.pdu_out', CLUSTER_OUT, 'sent', statistics.pdusOut),
  }
}

function direction(
  prefix: string,
  cluster: number,
  verb: string,
  counts: ArrayLike<number>,
): Record<string, MetricSpec> {
  const counter = { cluster, type: 'u32', sem: 'counter', units: 'count' } as const
  const metrics: Record<string, MetricSpec> = {
    [`${prefix}.total`]: {
      ...counter,
      item: ITEM_TOTAL,
      help: `All PDUs ${verb} by the collector`,
      text: `PDUs of every type that the collector ${verb} since it started: clients and agents together.`,
      value: () => total(counts),
    },
  }
  for (const { name, index, what } of PDU_COUNTS) {
    metrics[`${prefix}.${name}`] = {
      ...counter,
      // Item 16 is the total, from a time with fewer than sixteen PDU types.
      item: index < ITEM_TOTAL ? index : index + 1,
      help: `${what.slice(0, what.indexOf('PDU'))}PDUs ${verb} by the collector`,
      text: `Counts the ${what}. Clients and agents are counted together, from the start of the collector.`,
      value: () => wrap32(counts[index] ?? 0),
    }
  }
  return metrics
}

function total(counts: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < counts.length; i++) sum += counts[i]!
  return wrap32(sum)
}

/** Wraps a count at 32 bits, the width of these counters. */
function wrap32(count: number): number {
  return count % 2 ** 32
}
