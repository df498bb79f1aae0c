/** The trivial agent (domain 250): a single metric, the smallest possible agent. docs/reference/agent-toolkit.md */
import type { AgentEnv, AgentTables } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent } from '../../pmda/define-agent.ts'

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({ name: 'trivial', domain: 250, open })

function open(env: AgentEnv): AgentTables {
  return {
    labels: {},
    metrics: {
      'trivial.time': {
        item: 0,
        type: 'u64',
        sem: 'counter',
        units: 'sec',
        help: 'Seconds since the epoch, by the clock of this host',
        text: 'Whole seconds since the beginning of 1970 (UTC). The rate of this counter is 1, unless the clock is set.',
        value: () => Math.floor(env.clock() / 1000),
      },
    },
  }
}
