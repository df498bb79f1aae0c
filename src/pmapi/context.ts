/** A context: one client's view of a metric source, with its instance profile. pmNewContext(3), docs/reference/client-library.md */
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

/** Options of `Context.over`. */
export interface ContextOptions extends CallsOptions, LifecycleOptions {
  /** Clock used by `sample` and reconnecting; replaced in tests. */
  readonly clock?: Clock
  /** PDUs exchanged with the source if it is remote. */
  readonly counters?: PduCounters
  /** Creates another context on the same source at the same position. */
  readonly dup?: () => Context
}

/**
 * A metric source as one client sees it. Calls may overlap. Calls for several items return errors as outcomes of the
 * items concerned; calls for one item throw them.
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

  /** Creates a context on any source: a connection, local agents, a test double. `close` closes the source. */
  static over(source: MetricSource, options: ContextOptions = {}): Context {
    try {
      return new Context(new SharedSource(source), options)
    } catch (error) {
      void source.close().catch(() => {})
      throw error
    }
  }

  /** PDUs exchanged with the source so far; undefined for a source in this process. */
  get counters(): PduCounters | undefined {
    return this.#options.counters
  }

  /**
   * Yields rows of values at an interval that does not drift. A name of a non-leaf node includes all metrics below it.
   * Ends after `count` rows or when the loop is left. PM_ERR_NAME for an unknown metric, ECANCELED on abort.
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
   * Yields typed rows at an interval that does not drift, or through an archive. Each column specifies metric, instances
   * and units. Counters become rates per second; discrete values hold until the next one. Errors as for `sample`;
   * PM_ERR_INDOM and PM_ERR_INST for instances that do not fit, PM_ERR_CONV for units that do not.
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

  /** Returns the current values of metrics by name. A name of a non-leaf node includes all metrics below it. PM_ERR_NAME. */
  async values<N extends string>(names: readonly N[], options: ValuesOptions = {}): Promise<Row<N>> {
    return valuesOnce(this, names, options)
  }

  /** Subscribes to changes of names and agents and to loss and return of the source, until the context is closed. Returns the function to unsubscribe. */
  subscribe(listener: (event: SourceEvent) => void): () => void {
    return this.#lifecycle.subscribe(listener)
  }

  /**
   * Reopens the source, keeping profile and derived metrics. Concurrent callers share one attempt. After a failed attempt,
   * calls fail immediately with ETIMEDOUT for a while, longer after each failure. ECANCELED on abort, PM_ERR_NOCONTEXT
   * after `close`. @see pmReconnectContext(3)
   */
  async reconnect(options?: CallOptions): Promise<void> {
    return this.#lifecycle.reconnect(options?.signal)
  }

  /**
   * Returns another context on the same source, with the same profile and, for archives, at the same position in the same
   * mode. On a collector it opens a new connection; other sources are shared and closed by the last context. Derived
   * metrics of `addDerived` are not copied. @see pmDupContext(3)
   */
  async dup(options?: CallOptions): Promise<Context> {
    this.#lifecycle.assertNotClosed()
    const { dup, reopen } = this.#options
    // Counters belong to this context's connection.
    const { counters: _, ...rest } = this.#options
    let other = dup?.()
    other ??= reopen === undefined ? undefined : Context.over(await reopen(options?.signal), rest)
    other ??= new Context(this.#lifecycle.shared!, this.#options)
    other.profile = this.profile
    return other
  }

  /**
   * Releases the source and cancels a pending `reconnect`; later calls fail with PM_ERR_NOCONTEXT. Idempotent.
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
