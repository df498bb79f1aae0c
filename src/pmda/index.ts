/** Public entry point 'pcp-ts/pmda': the agent toolkit. docs/reference/agent-toolkit.md */
export { Scanner } from '../base/scan.ts'
export { type DebugName, isDebug } from '../model/debug.ts'
export { type ErrorCode, type Outcome, PcpError } from '../model/errors.ts'
export {
  encodeEvents,
  type NewEventRecord,
  PM_EVENT_FLAG_END,
  PM_EVENT_FLAG_ID,
  PM_EVENT_FLAG_MISSED,
  PM_EVENT_FLAG_PARENT,
  PM_EVENT_FLAG_POINT,
  PM_EVENT_FLAG_START,
} from '../model/events.ts'
export { indom, PM_ID_NULL, PM_IN_NULL, PM_INDOM_NULL, pmid } from '../model/ids.ts'
export type { Ask, Credentials, Instances, Requester, SourceEvent } from '../model/source.ts'
export * from '../model/types.ts'
export {
  PMCD_ADD_AGENT,
  PMCD_DROP_AGENT,
  PMCD_HOSTNAME_CHANGE,
  PMCD_LABEL_CHANGE,
  PMCD_NAMES_CHANGE,
  PMCD_RESTART_AGENT,
} from '../model/values.ts'
export { ProcFile, readAttribute, readSmallFile, rooted } from '../sys/proc.ts'
export { type BackgroundOptions, BackgroundReading } from './background-reading.ts'
export { cacheDir } from './cache/directory.ts'
export {
  type CachedInstance,
  InstanceCache,
  type InstanceCacheOptions,
} from './cache/instance-cache.ts'
export type { DaemonOption, OptionValues } from './daemon-options.ts'
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
export { type AskOptions, askService, type GivenOptions } from './deprecated.ts'
export { EventQueue, type EventQueueOptions } from './event-queue.ts'
export { ChildFeed, type ChildFeedOptions, type Program, type RunOptions, runProgram } from './feeds/child.ts'
export { LogTail, type LogTailOptions } from './feeds/log-tail.ts'
export { type SnapshotFileOptions, snapshotFile } from './feeds/snapshot-file.ts'
export {
  type QueryOptions,
  queryService,
  type ServiceAddress,
  SocketFeed,
  type SocketFeedOptions,
} from './feeds/socket.ts'
export { HelpFile, type HelpFiles, type HelpRecord } from './help-file.ts'
export { type AgentSource, openAgent } from './open-agent.ts'
export { Rates, type RatesOptions } from './rates.ts'
export { Reading, type Refreshable } from './reading.ts'
export { runDaemon } from './run-daemon.ts'
export { WorkerReader, type WorkerReaderOptions } from './worker-reader.ts'
