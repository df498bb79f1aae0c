/**
 * Metrics of a recorder about itself, for rules to watch: mmv.pmlogger.*, published through the mmv agent.
 * docs/reference/pmlogger.md
 */
import { join } from 'node:path'
import type { Age, Counter, Gauge } from '../mmv/index.ts'
import { MmvWriter } from '../mmv/index.ts'
import { debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import type { Variables } from '../sys/config.ts'
import type { RecorderCounts } from './counts.ts'

/** Preferred cluster of the PMIDs, so that the primary logger's metrics keep their PMIDs across restarts. */
const PRIMARY_CLUSTER = 411

/** Metrics of the loggers of one process. */
export class SelfMetrics {
  readonly #name: string
  readonly #variables: Variables
  #writer: MmvWriter | undefined
  #values: Values
  /** Write time of each logger's oldest unsynced value, by performance.now(). */
  readonly #atRisk = new Map<object, number>()

  /** Does not publish yet. */
  constructor(name: string, variables: Variables) {
    this.#name = name
    this.#variables = variables
    this.#writer = this.#make(name)
    this.#values = declare(this.#writer)
  }

  /** Publishes the metrics unless already published. Without write permission the recorder continues without them. */
  publish(): void {
    if (this.#tryPublish(this.#writer)) return
    // Another logger of the same host uses the name.
    this.#writer = this.#make(`${this.#name}_${process.pid}`)
    this.#values = declare(this.#writer)
    this.#tryPublish(this.#writer)
  }

  /** Returns counters for one more logger of this process. */
  counts(): RecorderCounts {
    const logger = {}
    return {
      archiveBegun: () => this.#values.archives.inc(),
      recorded: (bytes) => {
        this.#values.records.inc()
        this.#values.bytes.add(bytes)
      },
      lost: () => this.#values.lost.inc(),
      fetchFailed: () => this.#values.fetchFailures.inc(),
      fetchBegan: (lateMs, leftOut) => {
        this.#values.late.set(lateMs)
        if (leftOut > 0) this.#values.leftOut.add(leftOut)
      },
      unsyncedAge: (ms) => {
        if (ms === undefined) this.#atRisk.delete(logger)
        else this.#atRisk.set(logger, performance.now() - ms)
        const oldest = Math.min(...this.#atRisk.values())
        if (this.#atRisk.size === 0) this.#values.age.clear()
        else this.#values.age.since(performance.now() - oldest)
      },
      syncFailed: () => this.#values.syncFailures.inc(),
    }
  }

  /** Unpublishes the metrics. */
  close(): void {
    this.#writer?.close()
  }

  #make(name: string): MmvWriter {
    return new MmvWriter(name, {
      directory: join(this.#variables['PCP_TMP_DIR']!, 'mmv'),
      cluster: name === PRIMARY_NAME ? PRIMARY_CLUSTER : 0,
      onError: () => {},
    })
  }

  /** Returns false if the name is taken by another process. */
  #tryPublish(writer: MmvWriter | undefined): boolean {
    try {
      writer?.publish()
    } catch (error) {
      const { code, message } = PcpError.from(error)
      if (code === 'EEXIST') return false
      if (debug.log) trace('log', `pmlogger: cannot publish its own metrics: ${message}`)
    }
    return true
  }
}

interface Values {
  readonly archives: Counter
  readonly records: Counter
  readonly bytes: Counter
  readonly lost: Counter
  readonly fetchFailures: Counter
  readonly syncFailures: Counter
  readonly late: Gauge
  readonly leftOut: Counter
  readonly age: Age
}

function declare(writer: MmvWriter): Values {
  return {
    archives: writer.counter('archives', { item: 0, help: 'Archives begun' }),
    records: writer.counter('records', { item: 1, help: 'Results written' }),
    bytes: writer.counter('bytes', { item: 2, units: 'byte', help: 'Bytes of values written' }),
    lost: writer.counter('failures.write', {
      item: 3,
      help: 'Results lost because they could not be written, for example on a full disk',
    }),
    fetchFailures: writer.counter('failures.fetch', {
      item: 4,
      help: 'Fetches that failed or got no reply from the collector',
    }),
    syncFailures: writer.counter('failures.sync', {
      item: 5,
      help: 'Failed attempts to sync written data to disk',
    }),
    late: writer.gauge('late.last', { item: 6, units: 'millisec', help: 'Delay of the last fetch' }),
    leftOut: writer.counter('late.left_out', {
      item: 7,
      help: 'Fetches skipped because the previous one took too long',
    }),
    age: writer.age('sync.age', {
      item: 8,
      help: 'Age of the oldest value not yet synced to disk, which a power failure would lose',
    }),
  }
}

/** Metric group name of the primary logger. */
export const PRIMARY_NAME = 'pmlogger'

/** Returns the metric group name of another logger, based on its collector. */
export function selfName(source: string): string {
  return `${PRIMARY_NAME}_${source.replace(/\W+/g, '_').replace(/^_|_$/g, '') || 'local'}`
}
