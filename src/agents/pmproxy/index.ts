/** The pmproxy agent (domain 4): pmproxy's own values, published in MMV files. docs/formats/mmv.md */
import { type AgentDefinition, defineAgent } from '../../pmda/define-agent.ts'
import { openMapped } from '../lib/mapped-agent.ts'

/** The agent for the collector's registry. In PCP it is another entry point of the mmv shared object. */
export const agent: AgentDefinition = defineAgent({
  name: 'pmproxy',
  domain: 4,
  open: (env) => openMapped(env, 'pmproxy'),
})
