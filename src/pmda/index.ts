/** Public entry point 'pcp-ts/pmda': everything an agent is written with. docs/agents.md */
export { Scanner } from '../base/scan.ts'
export { PcpError } from '../model/errors.ts'
export { PM_IN_NULL } from '../model/ids.ts'
export type { Ask, Credentials, Instances, Requester, SourceEvent } from '../model/source.ts'
export { ProcFile, readAttribute, readSmallFile, rooted } from '../sys/proc.ts'
export type {
  AgentEnv,
  AgentSpec,
  AgentTables,
  AliasSpec,
  IndomSpec,
  Labels,
  LabelValue,
  MetricSpec,
  RequestKind,
  Sample,
  SemName,
  TypeName,
} from './define.ts'
export { type AgentDefinition, defineAgent } from './define-agent.ts'
export { type AgentSource, openAgent } from './open-agent.ts'
export { Reading } from './reading.ts'
export { runDaemon } from './run-daemon.ts'
