/** The mmv agent (domain 70): values that applications publish in MMV files. docs/formats/mmv.md */
import { type AgentDefinition, defineAgent } from '../../pmda/define-agent.ts'
import { openMapped } from '../lib/mapped-agent.ts'

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({
  name: 'mmv',
  domain: 70,
  open: (env) => openMapped(env, 'mmv'),
})
