/** What every part of the measuring is given, and what it is. docs/guide/node.md */
import type {
  Counter,
  CounterOptions,
  Gauge,
  GaugeOptions,
  Instances,
  MmvWriter,
  Text,
} from '../mmv/index.ts'
import type { Self } from './family.ts'
import type { RegisterOptions } from './options.ts'

/** Metrics of one process, or of one thread of it. */
export class NodeContext {
  readonly writer: MmvWriter
  readonly self: Self
  readonly options: RegisterOptions
  /** Tells of a mistake in the measuring, once each, so that the application goes on. */
  readonly report: (error: unknown) => void
  readonly #processes: Instances

  /** `processes` is the domain that has `self`. */
  constructor(
    parts: Pick<NodeContext, 'writer' | 'self' | 'options' | 'report'> & { readonly processes: Instances },
  ) {
    this.writer = parts.writer
    this.self = parts.self
    this.options = parts.options
    this.report = parts.report
    this.#processes = parts.processes
  }

  /** A counter of the process. Numbers of items are for ever: processes of all versions share the metrics. */
  counter(name: string, item: number, help: string, options: CounterOptions = {}): Counter {
    return this.#processes.counter(`node.${name}`, { item, help, ...options }).of(this.self.instance)
  }

  /** A gauge of the process. */
  gauge(name: string, item: number, help: string, options: GaugeOptions = {}): Gauge {
    return this.#processes.gauge(`node.${name}`, { item, help, ...options }).of(this.self.instance)
  }

  /** A text of the process. */
  text(name: string, item: number, help: string, initial: string): Text {
    return this.#processes.text(`node.${name}`, { item, help, initial }).of(this.self.instance)
  }
}

/** One subject that is measured. */
export interface Part {
  /** Called each interval: reads what is not counted as it happens. */
  sample?(): void
  /** Stops measuring. */
  close?(): void
}

/** Declares the metrics of a subject and begins to measure. */
export type OpenPart = (context: NodeContext) => Part
