/** Public entry point 'pcp-ts': the client library and the agent toolkit together. */
export { VERSION } from './base/version.ts'
export * from './pmapi/index.ts'
export {
  type AgentDefinition,
  type AgentEnv,
  type AgentSource,
  type AgentSpec,
  type AgentTables,
  type Ask,
  type Credentials,
  defineAgent,
  type IndomSpec,
  type Labels,
  type LabelValue,
  // A 'metric specification' is a client's `host:metric[instance]`; here it is a row of an agent's metric table.
  type MetricSpec as AgentMetricSpec,
  openAgent,
  ProcFile,
  Reading,
  type Requester,
  readAttribute,
  readSmallFile,
  rooted,
  runDaemon,
  type Sample,
  Scanner,
  type SemName,
  type TypeName,
} from './pmda/index.ts'
