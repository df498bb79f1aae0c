/** Instance domains of an application, and the metrics that have their instances. docs/guide/mmv.md */
import type { Catalogue, Domain } from './catalogue.ts'
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
import { counterKind, declareRow, gaugeKind, type Kind, textKind, timerKind } from './kinds.ts'

/** Instances that come and go, and what is counted for each. Handles of an instance that went change nothing any more. */
export class Instances {
  readonly #catalogue: Catalogue
  readonly #domain: Domain

  /** Writers make these. */
  constructor(catalogue: Catalogue, domain: Domain) {
    this.#catalogue = catalogue
    this.#domain = domain
  }

  get names(): readonly string[] {
    return this.#domain.names
  }

  has(name: string): boolean {
    return this.#domain.has(name)
  }

  /** Adds an instance. EEXIST when it or its number is there already, EINVAL when that is no number of an instance. */
  add(name: string, options: InstanceOptions = {}): void {
    this.#domain.add(name, options)
  }

  /** Takes an instance away from all metrics; nothing where there is none. */
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

  /** The instances of NAME.bucket are called INSTANCE::RANGE. @see MmvWriter.histogram */
  histogram(name: string, options: HistogramOptions): PerInstance<Histogram> {
    const handles = declareHistograms(this.#catalogue, this.#domain, name, options)
    return new PerInstance(handles, (instance) => this.#domain.add(instance))
  }

  #declare<Its extends Cell, Handle>(
    name: string,
    options: MetricOptions,
    kind: Kind<Its, Handle>,
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
