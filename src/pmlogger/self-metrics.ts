/**
 * What a recorder publishes of itself, where rules can watch it: mmv.pmlogger.*, memory-mapped values of the agent mmv.
 * docs/pmlogger.md
 */
import { join } from 'node:path'
import type { Age, Counter, Gauge } from '../mmv/index.ts'
import { MmvWriter } from '../mmv/index.ts'
import { debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import type { Variables } from '../sys/config.ts'
import type { RecorderCounts } from './counts.ts'

/** Second number of the PMIDs where it is free: the primary logger's metrics are the same after each start. */
const PRIMARY_CLUSTER = 411

/** Metrics of the loggers of one process. */
export class SelfMetrics {
  readonly #name: string
  readonly #variables: Variables
  #writer: MmvWriter | undefined
  #values: Values
  /** When the oldest value of each logger was written that is not known to be on disk, by performance.now(). */
  readonly #atRisk = new Map<object, number>()

  /** Nothing is published yet. */
  constructor(name: string, variables: Variables) {
    this.#name = name
    this.#variables = variables
    this.#writer = this.#make(name)
    this.#values = declare(this.#writer)
  }

  /** Publishes them unless they are: whoever may not write where agents look records without. */
  publish(): void {
    if (this.#tryPublish(this.#writer)) return
    // Another logger records the same host.
    this.#writer = this.#make(`${this.#name}_${process.pid}`)
    this.#values = declare(this.#writer)
    this.#tryPublish(this.#writer)
  }

  /** What one more logger of this process counts. */
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
      began: (lateMs, leftOut) => {
        this.#values.late.set(lateMs)
        if (leftOut > 0) this.#values.leftOut.add(leftOut)
      },
      atRisk: (ms) => {
        if (ms === undefined) this.#atRisk.delete(logger)
        else this.#atRisk.set(logger, performance.now() - ms)
        const oldest = Math.min(...this.#atRisk.values())
        if (this.#atRisk.size === 0) this.#values.age.clear()
        else this.#values.age.since(performance.now() - oldest)
      },
      syncFailed: () => this.#values.syncFailures.inc(),
    }
  }

  /** They are gone. */
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

  /** False when the name is another's. */
  #tryPublish(writer: MmvWriter | undefined): boolean {
    try {
      writer?.publish()
    } catch (error) {
      const { code, message } = PcpError.from(error)
      if (code === 'EEXIST') return false
      if (debug.log) trace('log', `pmlogger: no metrics of its own: ${message}`)
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
      help: 'Results lost because they could not be written, as on a full disk',
    }),
    fetchFailures: writer.counter('failures.fetch', {
      item: 4,
      help: 'Fetches without an answer of the collector',
    }),
    syncFailures: writer.counter('failures.sync', {
      item: 5,
      help: 'Times that the disk failed to take what had been written',
    }),
    late: writer.gauge('late.last', { item: 6, units: 'millisec', help: 'How late the last fetch began' }),
    leftOut: writer.counter('late.left_out', {
      item: 7,
      help: 'Fetches left out because the one before took too long',
    }),
    age: writer.age('sync.age', {
      item: 8,
      help: 'How long the oldest value has waited that a power cut would cost',
    }),
  }
}

/** Name of the primary logger's values. */
export const PRIMARY_NAME = 'pmlogger'

/** Name of the values of another logger, by its collector. */
export function selfName(source: string): string {
  return `${PRIMARY_NAME}_${source.replace(/\W+/g, '_').replace(/^_|_$/g, '') || 'local'}`
}
