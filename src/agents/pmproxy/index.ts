/** The pmproxy agent (domain 4): values that pmproxy keeps about itself in mapped files. docs/formats/mmv.md */
import { type AgentDefinition, defineAgent } from '../../pmda/define-agent.ts'
import { openMapped } from '../lib/mapped-agent.ts'

/** The agent for the collector's registry. In PCP it is another entry of the shared object of mmv. */
export const agent: AgentDefinition = defineAgent({
  name: 'pmproxy',
  domain: 4,
  open: (env) => openMapped(env, 'pmproxy'),
})
