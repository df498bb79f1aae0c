/** Options of declared metrics and instance domains. docs/how-to/instrument-an-application.md */
import type { MmvTexts } from './layout.ts'

/** Labels: names to JSON values. */
export type MmvLabels = { readonly [name: string]: unknown }

/** Types of numbers. */
export type NumberType = '32' | 'u32' | '64' | 'u64' | 'float' | 'double'

/** Options of every metric. */
export interface MetricOptions {
  /** In the syntax of pmParseUnitsStr(3): 'count', 'millisec', 'Kbyte / sec'. Default: none. */
  readonly units?: string
  /** One line, up to 255 bytes. */
  readonly help?: string
  /** The full text, up to 255 bytes. */
  readonly text?: string
  /** Last number of its PMID, 0 to 1023. Default: the next free one, which changes when metrics are declared before it. */
  readonly item?: number
  readonly labels?: MmvLabels
  /** Optional labels, not part of the metric's identity. */
  readonly notes?: MmvLabels
}

/** A counter: default u64. */
export interface CounterOptions extends MetricOptions {
  readonly type?: NumberType
}

/** A gauge: default double. */
export interface GaugeOptions extends MetricOptions {
  readonly type?: NumberType
  /** `discrete` for values that change rarely. Default `instant`. */
  readonly sem?: 'instant' | 'discrete'
  /** Default: no value until one is set. */
  readonly initial?: number
}

/** A text: discrete. */
export interface TextOptions extends MetricOptions {
  readonly initial?: string
}

/** A histogram: metrics NAME.count, NAME.sum (a double in `units`) and, per range, NAME.bucket. */
export interface HistogramOptions extends Omit<MetricOptions, 'item'> {
  /** Upper bounds of the ranges, ascending, at most 63. A last range counts values above them. */
  readonly bounds: readonly number[]
}

/** An instance domain. */
export interface InstancesOptions {
  /** Its serial within the file, 1 to 2047. Default: the next free one. */
  readonly serial?: number
  readonly help?: string
  readonly text?: string
  readonly labels?: MmvLabels
  /** Initial instances; `add` and `PerInstance.of` add more. */
  readonly names?: readonly string[]
}

/** Options of an added instance. */
export interface InstanceOptions {
  /** Its identifier, 0 to 2^31-1. Default: the next free one. */
  readonly id?: number
  readonly labels?: MmvLabels
}

/** Returns the texts of a metric or domain as they are written. */
export function textsOf({ help, text }: Pick<MetricOptions, 'help' | 'text'>): MmvTexts {
  return {
    ...(help === undefined ? {} : { oneline: help }),
    ...(text === undefined ? {} : { help: text }),
  }
}
