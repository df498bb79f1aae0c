/** Instance domains of an application, with the metrics of their instances. docs/how-to/instrument-an-application.md */
import type { DeclaredDomain, MetricCatalogue } from './catalogue.ts'
import type { Cell } from './cells.ts'
import type {
  CounterOptions,
  GaugeOptions,
  HistogramOptions,
  InstanceOptions,
  MetricOptions,
  TextOptions,
} from './declare.ts'
import { type Counter, type Gauge, type Histogram, PerInstance, type Text, type Timer } from './handles.ts'
import { declareHistograms } from './histograms.ts'
import { counterKind, declareRow, gaugeKind, type MetricKind, textKind, timerKind } from './kinds.ts'

/** An instance domain whose instances come and go. Handles of a removed instance have no effect. */
export class Instances {
  readonly #catalogue: MetricCatalogue
  readonly #domain: DeclaredDomain

  /** For writers only. */
  constructor(catalogue: MetricCatalogue, domain: DeclaredDomain) {
    this.#catalogue = catalogue
    this.#domain = domain
  }

  get names(): readonly string[] {
    return this.#domain.names
  }

  has(name: string): boolean {
    return this.#domain.has(name)
  }

  /** Adds an instance. EEXIST for a name or identifier in use, EINVAL for an invalid identifier. */
  add(name: string, options: InstanceOptions = {}): void {
    this.#domain.add(name, options)
  }

  /** Removes an instance from all metrics, if it exists. */
  remove(name: string): void {
    this.#domain.remove(name)
  }

  /** @see MmvWriter.counter */
  counter(name: string, options: CounterOptions = {}): PerInstance<Counter> {
    return this.#declare(name, options, counterKind(options))
  }

  /** @see MmvWriter.gauge */
  gauge(name: string, options: GaugeOptions = {}): PerInstance<Gauge> {
    return this.#declare(name, options, gaugeKind(options))
  }

  /** @see MmvWriter.text */
  text(name: string, options: TextOptions = {}): PerInstance<Text> {
    return this.#declare(name, options, textKind(options))
  }

  /** @see MmvWriter.timer */
  timer(name: string, options: MetricOptions = {}): PerInstance<Timer> {
    return this.#declare(name, options, timerKind())
  }

  /** Instances of NAME.bucket are named INSTANCE::RANGE. @see MmvWriter.histogram */
  histogram(name: string, options: HistogramOptions): PerInstance<Histogram> {
    const handles = declareHistograms(this.#catalogue, this.#domain, name, options)
    return new PerInstance(handles, (instance) => this.#domain.add(instance))
  }

  #declare<Its extends Cell, Handle>(
    name: string,
    options: MetricOptions,
    kind: MetricKind<Its, Handle>,
  ): PerInstance<Handle> {
    const row = declareRow(this.#catalogue, this.#domain, name, options, kind)
    const handles = new Map<string, Handle>()
    this.#domain.watch({
      added: (instance, _id, place) => handles.set(instance, kind.makeHandle(row.cells[place]!)),
      removed: (instance) => handles.delete(instance),
    })
    return new PerInstance(handles, (instance) => this.#domain.add(instance))
  }
}
