/** The client library: `pcp-ts/pmapi`. docs/reference/client-library.md has examples, docs/reference/pmapi-map.md the equivalents of C calls. */
export { fromMillis, type Timestamp, toSeconds } from '../base/timestamp.ts'
export type { DerivedText } from '../derive/definitions.ts'
export {
  clearDebug,
  type DebugName,
  debugList,
  isDebug,
  setDebug,
  type TraceWriter,
  traceTo,
} from '../model/debug.ts'
export type { MetricDesc } from '../model/desc.ts'
export { type ErrorCode, errStr, isError, type Outcome, PcpError } from '../model/errors.ts'
export {
  type EventRecord,
  type Parameter,
  PM_EVENT_FLAG_END,
  PM_EVENT_FLAG_ID,
  PM_EVENT_FLAG_MISSED,
  PM_EVENT_FLAG_PARENT,
  PM_EVENT_FLAG_POINT,
  PM_EVENT_FLAG_START,
  unpackEvents,
} from '../model/events.ts'
export { convertValue, extractValue } from '../model/extract-value.ts'
export {
  clusterOf,
  domainOf,
  type Indom,
  indom,
  indomStr,
  itemOf,
  PM_ID_NULL,
  PM_IN_NULL,
  PM_INDOM_NULL,
  type Pmid,
  pmid,
  pmidStr,
  serialOf,
} from '../model/ids.ts'
export { mergeLabelSets, mergeLabels } from '../model/label-set.ts'
export {
  LABEL_CLUSTER,
  LABEL_COMPOUND,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  LABEL_OPTIONAL,
  type Label,
  type LabelSet,
} from '../model/labels.ts'
export { type ParsedUnits, parseUnits } from '../model/parse-units.ts'
export {
  atomStr,
  eventFlagsStr,
  numberStr,
  type PrintOptions,
  printDesc,
  printValue,
} from '../model/print.ts'
export { ALL_INSTANCES, exclude, include, type Profile } from '../model/profile.ts'
export { convScale } from '../model/scale.ts'
export { sortInstances } from '../model/sort-instances.ts'
export type { Child, Instances, MetricSource, SourceEvent } from '../model/source.ts'
export * from '../model/types.ts'
export * from '../model/units.ts'
export { extract, extractNumber, valuesOf } from '../model/value-set.ts'
export { makeSet, makeSingular } from '../model/value-writer.ts'
export {
  type FetchResult,
  PMCD_ADD_AGENT,
  PMCD_DROP_AGENT,
  PMCD_HOSTNAME_CHANGE,
  PMCD_LABEL_CHANGE,
  PMCD_NAMES_CHANGE,
  PMCD_RESTART_AGENT,
  type Value,
  type ValueSet,
} from '../model/values.ts'
export { Pmns } from '../pmns/tree.ts'
export { API_FEATURES, apiConfig } from '../sys/api-config.ts'
export { type ConfigOptions, loadConfig, type PcpConfig, type Variables } from '../sys/config.ts'
export { addTimes, compareTimes, FOREVER, subtractTimes } from '../time/arithmetic.ts'
export { parseInterval } from '../time/interval.ts'
export { clockStamp, clockStampNanos, ctime, fromSeconds, intervalStr } from '../time/stamp.ts'
export { parseTimeWindow, type TimeWindow, type WindowContext, type WindowTexts } from '../time/window.ts'
export { type LocalTime, localTime, newZone, UTC, type Zone } from '../time/zone.ts'
export { type ArchiveContext, type OpenArchiveOptions, openArchive } from './archive.ts'
export type { ArchiveControl, ArchiveRange, SampleRange } from './archive-control.ts'
export type { Clock } from './clock.ts'
export { type ConnectOptions, connect, type ReconnectOptions } from './connect.ts'
export type { ContextOptions, TextOptions } from './context.ts'
export { type CallOptions, Context } from './context.ts'
export { contextZoneName } from './context-zone.ts'
export type { ConversionOptions } from './conversion.ts'
export {
  addDerivedText,
  type DerivedSetup,
  getDerivedControl,
  loadDerivedConfig,
  registerDerived,
  setDerivedControl,
  unregisterDerived,
} from './derived.ts'
export {
  type EventsOptions,
  FetchGroup,
  type FetchGroupOptions,
  type IndomOptions,
  type ItemOptions,
} from './fetch-group.ts'
export type { FetchEvent, FetchEvents, FetchIndom, FetchInstance, FetchItem } from './fetch-item.ts'
export {
  type Converted,
  type EventName,
  type InstanceArguments,
  type KnownCell,
  type KnownColumn,
  type KnownColumns,
  type KnownColumnText,
  type KnownContext,
  type KnownGroup,
  type KnownIndom,
  type KnownInstance,
  type KnownItem,
  type KnownMetric,
  type KnownMetrics,
  type KnownRow,
  type KnownTableRow,
  type KnownType,
  type KnownValue,
  type KnownValues,
  known,
  type NameBy,
  type ScalarName,
  type ValueIn,
} from './known-metrics.ts'
export { type MetricSpec, parseMetricSpec } from './metric-spec.ts'
export { loadNameSpace, type NameSpaceOptions } from './name-space.ts'
export { type MetricValues, type PlainValues, Row, type RowJson } from './row.ts'
export type { SampleOptions, ValuesOptions } from './sample.ts'
export type { ReadingsOptions } from './sampled-rows.ts'
export type { Cell, Column, Columns, TableOptions, TableRow } from './table.ts'
export { type FollowTimeOptions, followTime, type TimeEvent, type TimeFollower } from './time-control.ts'
