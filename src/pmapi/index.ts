/** The client library: `pcp-ts/pmapi`. docs/pmapi.md shows it by example, docs/pmapi-map.md finds C calls in it. */
export type { Timestamp } from '../base/timestamp.ts'
export type { MetricDesc } from '../model/desc.ts'
export { type ErrorCode, errStr, isError, type Outcome, PcpError } from '../model/errors.ts'
export {
  domainOf,
  type Indom,
  indomStr,
  PM_IN_NULL,
  PM_INDOM_NULL,
  type Pmid,
  pmidStr,
} from '../model/ids.ts'
export { mergeLabelSets } from '../model/label-set.ts'
export type { Label, LabelSet } from '../model/labels.ts'
export { printValue } from '../model/print.ts'
export { ALL_INSTANCES, exclude, include, type Profile } from '../model/profile.ts'
export type { Child, Instances, MetricSource, SourceEvent } from '../model/source.ts'
export * from '../model/types.ts'
export { unitsStr } from '../model/units.ts'
export { extract, extractNumber, valuesOf } from '../model/value-set.ts'
export { makeSet, makeSingular } from '../model/value-writer.ts'
export type { FetchResult, Value, ValueSet } from '../model/values.ts'
export type { Clock } from './clock.ts'
export { type ConnectOptions, connect } from './connect.ts'
export { type CallOptions, Context, type ContextOptions, type TextOptions } from './context.ts'
export { type MetricSpec, parseMetricSpec } from './metric-spec.ts'
export { type MetricValues, Row, type SampleOptions, type ValuesOptions } from './sample.ts'
