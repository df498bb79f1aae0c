/** A context: one metric source seen by one client, with its instance profile. pmNewContext(3), docs/pmapi.md */
import type { MetricSource, SourceEvent } from '../model/source.ts'
import type { PduCounters } from '../net/counters.ts'
import { type Clock, SYSTEM_CLOCK } from './clock.ts'
import { type CallOptions, type CallsOptions, ContextCalls } from './context-calls.ts'
import { Lifecycle, type LifecycleOptions } from './lifecycle.ts'
import type { Row } from './row.ts'
import { type SampleOptions, sampleRows, type ValuesOptions, valuesOnce } from './sample.ts'
import { SharedSource } from './shared-source.ts'
import { type Columns, sampleTable, type TableOptions, type TableRow } from './table.ts'

export type { CallOptions, TextOptions } from './context-calls.ts'

/** How a context sees its source. */
export interface ContextOptions extends CallsOptions, LifecycleOptions {
  /** What `sample` and reconnecting keep time by; tests give their own. */
  readonly clock?: Clock
  /** PDUs exchanged with the source, where it is at the other end of a connection. */
  readonly counters?: PduCounters
  /** Makes another context on the same source at the same place. */
  readonly dup?: () => Context
}

/**
 * A metric source as one client sees it. Calls may be made while others are being answered. Errors about one item
 * are returned in its place by the plural calls; the singular ones throw them.
 */
export class Context extends ContextCalls {
  readonly #lifecycle: Lifecycle
  readonly #options: ContextOptions
  readonly #clock: Clock

  private constructor(shared: SharedSource, options: ContextOptions) {
    const clock = options.clock ?? SYSTEM_CLOCK
    const lifecycle = new Lifecycle(shared, options, clock)
    super(lifecycle, options)
    this.#lifecycle = lifecycle
    this.#options = options
    this.#clock = clock
  }

  /** A context on any source: a connection, agents in this process, a fake in a test. `close` closes the source. */
  static over(source: MetricSource, options: ContextOptions = {}): Context {
    try {
      return new Context(new SharedSource(source), options)
    } catch (error) {
      void source.close().catch(() => {})
      throw error
    }
  }

  /** PDUs exchanged with the source so far; undefined when it is in this process. */
  get counters(): PduCounters | undefined {
    return this.#options.counters
  }

  /**
   * Rows of values at an interval that does not drift. A name with others below it stands for all of them. Ends after
   * `count` rows or when the loop is left. PM_ERR_NAME for an unknown metric, ECANCELED when the signal is aborted.
   *
   * @example
   * for await (const row of pcp.sample(['kernel.all.load', 'disk.dev.read'], { every: '5s', rates: true })) {
   *   console.log(row.value('kernel.all.load', '1 minute'))
   *   for (const [disk, reads] of row.get('disk.dev.read').instances) console.log(disk, reads)
   * }
   */
  sample<N extends string>(names: readonly N[], options: SampleOptions = {}): AsyncGenerator<Row<N>> {
    return sampleRows(this, names, options, this.#clock)
  }

  /**
   * Typed rows at an interval that does not drift, or through an archive: each column says which metric, which instances, in
   * which units. Counters are change a second, discrete values hold until there is another one. Errors as for `sample`;
   * PM_ERR_INDOM, PM_ERR_INST for instances that do not fit, PM_ERR_CONV for units that do not.
   *
   * @example
   * const columns = {
   *   load: 'kernel.all.load[1 minute]',
   *   read: { metric: 'disk.dev.read_bytes', instances: 'all', scale: 'Mbyte/sec' },
   * } as const
   * for await (const { time, values } of pcp.table(columns, { every: '10s' })) {
   *   console.log(time.sec, values.load?.toFixed(2), values.read.get('sda'))
   * }
   */
  table<const C extends Columns>(columns: C, options: TableOptions = {}): AsyncGenerator<TableRow<C>> {
    return sampleTable(this, columns, options, this.#clock)
  }

  /** The values of metrics now, named. A name with others below it stands for all of them. PM_ERR_NAME. */
  async values<N extends string>(names: readonly N[], options: ValuesOptions = {}): Promise<Row<N>> {
    return valuesOnce(this, names, options)
  }

  /** Subscribes to changed names and agents, and to a source lost and back, until the context is closed. Returns how to stop. */
  subscribe(listener: (event: SourceEvent) => void): () => void {
    return this.#lifecycle.subscribe(listener)
  }

  /**
   * Opens the source afresh; profile and derived metrics are kept. Callers at the same time share one attempt. After a failed
   * attempt the next ones fail at once, with ETIMEDOUT, until some time has passed: longer after every failure. ECANCELED by
   * the signal, PM_ERR_NOCONTEXT when the context is closed. @see pmReconnectContext(3)
   */
  async reconnect(options?: CallOptions): Promise<void> {
    return this.#lifecycle.reconnect(options?.signal)
  }

  /**
   * Another context on the same source, with the same profile and, over archives, at the same position in the same mode. A
   * context on a collector opens a connection of its own; others share the source, which the last of them to be closed closes.
   * Derived metrics of one context alone stay with it. @see pmDupContext(3)
   */
  async dup(options?: CallOptions): Promise<Context> {
    this.#lifecycle.insistOnNotClosed()
    const { dup, reopen } = this.#options
    // The PDUs counted are those of this context's connection.
    const { counters: _, ...rest } = this.#options
    let other = dup?.()
    other ??= reopen === undefined ? undefined : Context.over(await reopen(options?.signal), rest)
    other ??= new Context(this.#lifecycle.shared!, this.#options)
    other.profile = this.profile
    return other
  }

  /**
   * Releases the source, and gives up a `reconnect` under way: later questions fail with PM_ERR_NOCONTEXT. Idempotent.
   * @see pmDestroyContext(3)
   */
  async close(): Promise<void> {
    await this.#lifecycle.close()
  }

  /** For `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
