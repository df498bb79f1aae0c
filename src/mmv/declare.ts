/** What an application says of its metrics. docs/guide/mmv.md */
import type { MmvTexts } from './layout.ts'

/** Labels: names to JSON values. */
export type MmvLabels = { readonly [name: string]: unknown }

/** Types of numbers. */
export type NumberType = '32' | 'u32' | '64' | 'u64' | 'float' | 'double'

/** What every metric may have. */
export interface MetricOptions {
  /** As pmParseUnitsStr(3) reads them: 'count', 'millisec', 'Kbyte / sec'. Default: none. */
  readonly units?: string
  /** One line, up to 255 bytes. */
  readonly help?: string
  /** The full text, up to 255 bytes. */
  readonly text?: string
  /** 0 to 1023, what its PMID ends with. Default: the next that is free, which changes when metrics before it do. */
  readonly item?: number
  readonly labels?: MmvLabels
  /** Labels that are annotations, not part of the metric's identity. */
  readonly notes?: MmvLabels
}

/** A counter: default u64. */
export interface CounterOptions extends MetricOptions {
  readonly type?: NumberType
}

/** A gauge: default double. */
export interface GaugeOptions extends MetricOptions {
  readonly type?: NumberType
  /** `discrete` for what changes now and then and holds meanwhile. Default `instant`. */
  readonly sem?: 'instant' | 'discrete'
  /** Default: no value until one is set. */
  readonly initial?: number
}

/** A text: discrete. */
export interface TextOptions extends MetricOptions {
  readonly initial?: string
}

/** A histogram: metrics NAME.count, NAME.sum (a double in `units`) and, by range, NAME.bucket. */
export interface HistogramOptions extends Omit<MetricOptions, 'item'> {
  /** Upper ends of the ranges, ascending, at most 63; what is above the last is counted too. */
  readonly bounds: readonly number[]
}

/** An instance domain. */
export interface InstancesOptions {
  /** Its number within the file, 1 to 2047. Default: the next that is free. */
  readonly serial?: number
  readonly help?: string
  readonly text?: string
  readonly labels?: MmvLabels
  /** Instances that are there from the start; `add` and `PerInstance.of` bring more. */
  readonly names?: readonly string[]
}

/** One instance that is added. */
export interface InstanceOptions {
  /** Its number, 0 to 2^31-1. Default: the next that is free. */
  readonly id?: number
  readonly labels?: MmvLabels
}

/** The texts of a metric or a domain as they are written. */
export function textsOf({ help, text }: Pick<MetricOptions, 'help' | 'text'>): MmvTexts {
  return {
    ...(help === undefined ? {} : { oneline: help }),
    ...(text === undefined ? {} : { help: text }),
  }
}
