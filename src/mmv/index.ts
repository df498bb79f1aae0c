/** Public entry point 'pcp-ts/mmv': publishes an application's metrics. docs/how-to/instrument-an-application.md */
export { type ErrorCode, PcpError } from '../model/errors.ts'
export type {
  CounterOptions,
  GaugeOptions,
  HistogramOptions,
  InstanceOptions,
  InstancesOptions,
  MetricOptions,
  MmvLabels,
  NumberType,
  TextOptions,
} from './declare.ts'
export type { Age, Counter, Gauge, Histogram, PerInstance, Text, Timer } from './handles.ts'
export type { Instances } from './instances.ts'
export { MmvWriter, type MmvWriterOptions } from './writer.ts'
