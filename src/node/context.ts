/** Context of all measurements of a process. docs/how-to/instrument-node.md */
import type {
  Counter,
  CounterOptions,
  Gauge,
  GaugeOptions,
  Instances,
  MmvWriter,
  Text,
} from '../mmv/index.ts'
import type { MeasuredThread } from './family.ts'
import type { RegisterOptions } from './options.ts'

/** Declares the metrics of one process or thread. */
export class NodeContext {
  readonly writer: MmvWriter
  readonly self: MeasuredThread
  readonly options: RegisterOptions
  /** Reports an error of a measurement, each once, without disturbing the application. */
  readonly report: (error: unknown) => void
  readonly #processes: Instances

  /** `processes` is the domain that contains `self`. */
  constructor(
    parts: Pick<NodeContext, 'writer' | 'self' | 'options' | 'report'> & { readonly processes: Instances },
  ) {
    this.writer = parts.writer
    this.self = parts.self
    this.options = parts.options
    this.report = parts.report
    this.#processes = parts.processes
  }

  /** Declares a counter of the process. Item numbers are permanent: processes of all versions share the metrics. */
  counter(name: string, item: number, help: string, options: CounterOptions = {}): Counter {
    return this.#processes.counter(`node.${name}`, { item, help, ...options }).of(this.self.instance)
  }

  /** Declares a gauge of the process. */
  gauge(name: string, item: number, help: string, options: GaugeOptions = {}): Gauge {
    return this.#processes.gauge(`node.${name}`, { item, help, ...options }).of(this.self.instance)
  }

  /** Declares a text of the process. */
  text(name: string, item: number, help: string, initial: string): Text {
    return this.#processes.text(`node.${name}`, { item, help, initial }).of(this.self.instance)
  }
}

/** One group of measurements. */
export interface Measurement {
  /** Called each interval to read values that are not counted as they occur. */
  sample?(): void
  /** Stops measuring. */
  close?(): void
}

/** Declares the metrics of a group and starts measuring. */
export type OpenMeasurement = (context: NodeContext) => Measurement
