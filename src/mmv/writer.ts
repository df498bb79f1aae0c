/** Publishes an application's metrics in a file that agents read. docs/how-to/instrument-an-application.md, docs/formats/mmv.md */

import { setLongTimeout } from '../base/after.ts'
import { PcpError } from '../model/errors.ts'
import type { LoadNative } from '../sys/native/calls.ts'
import { atExit, cancelAtExit } from './at-exit.ts'
import { MetricCatalogue } from './catalogue.ts'
import { type Cell, type Region, regionOf } from './cells.ts'
import { encodeMmv, versionFor } from './content.ts'
import type {
  CounterOptions,
  GaugeOptions,
  HistogramOptions,
  InstancesOptions,
  MetricOptions,
  MmvLabels,
  TextOptions,
} from './declare.ts'
import type { Age, Counter, Gauge, Histogram, Text, Timer } from './handles.ts'
import { declareHistogram } from './histograms.ts'
import { Instances } from './instances.ts'
import { ageKind, counterKind, declareRow, gaugeKind, type MetricKind, textKind, timerKind } from './kinds.ts'
import { MMV_FLAG_NOPREFIX, MMV_FLAG_PROCESS, MMV_FLAG_SENTINEL } from './layout.ts'
import { makeGeneration } from './owner.ts'
import { publishDirectory } from './publish-directory.ts'
import { PublishedFile } from './published-file.ts'

/** Options of a writer. */
export interface MmvWriterOptions {
  /**
   * Default: `$PCP_TMP_DIR/mmv`, from the environment or pcp.conf, where agents look. If this process may not write there,
   * the directory read by this user's `npm start`.
   */
  readonly directory?: string
  /** Cluster of the PMIDs, 1 to 4095. Default: a free one chosen by the agent. */
  readonly cluster?: number
  /** Whether metrics are named mmv.NAME.METRIC (default) or mmv.METRIC. */
  readonly prefix?: boolean
  /** Keeps the file after the process ended, and agents continue to read it. Default: it is removed. */
  readonly keep?: boolean
  /** Labels of all metrics of the file. */
  readonly labels?: MmvLabels
  /** Permissions. Default 0o644: everyone may read the values. */
  readonly mode?: number
  /** Version of the format. Default: the lowest that can hold the declarations. */
  readonly version?: 1 | 2 | 3
  /** Delay in milliseconds until readers see later declarations and, without memory mapping, new values. Default 1000. */
  readonly flushMs?: number
  /**
   * Writes values before SIGHUP, SIGINT or SIGTERM ends the process. Default: only if they would be lost otherwise, with
   * `keep` and without memory mapping.
   */
  readonly signals?: boolean
  /** Called for later errors, such as a full disk; writing is retried. Default: a process warning. */
  readonly onError?: (error: PcpError) => void
  /** For tests: how the C library is loaded. */
  readonly load?: LoadNative
}

/** Offset of a cell's value in the file. */
interface Placement {
  readonly cell: Cell
  readonly at: number
}

/**
 * Publishes metrics of this process. Declare them, call `publish` once, then set values through the handles without system
 * calls. Metrics declared after `publish` appear within `flushMs`.
 */
export class MmvWriter {
  readonly #options: MmvWriterOptions
  readonly #file: PublishedFile
  readonly #catalogue: MetricCatalogue
  #generation = 0n
  #isPublished = false
  #isClosed = false
  /** The file lacks a declaration. */
  #isStale = true
  /** Cancels the next write; undefined if none is scheduled. */
  #cancel: (() => void) | undefined
  /** Offsets of values in the last version. */
  #placed: readonly Placement[] = []
  #region: Region | undefined

  /** `name` is the file's name and part of the metrics' names. EINVAL if it is invalid. Writes nothing yet. */
  constructor(name: string, options: MmvWriterOptions = {}) {
    const pattern = options.prefix === false ? /^[^./\0][^/\0]*$/ : /^[A-Za-z]\w*$/
    if (!pattern.test(name)) throw new PcpError('EINVAL', `"${name}" is not a valid MMV file name`)
    const { cluster = 0, mode = 0o644, load } = options
    if (!Number.isInteger(cluster) || cluster < 0 || cluster > 4095)
      throw new PcpError('EINVAL', `Cluster ${cluster} is not from 1 to 4095`)
    const directory = options.directory ?? publishDirectory(process.env)
    this.#options = options
    this.#file = new PublishedFile({ directory, name, mode, ...(load === undefined ? {} : { load }) })
    this.#catalogue = new MetricCatalogue(cluster, options.labels, () => this.#touch())
  }

  /** Path of the file. */
  get path(): string {
    return this.#file.path
  }

  /**
   * Declares a count of events. All declarations throw EEXIST for a name, item or serial in use, EINVAL for an invalid name
   * and PM_ERR_CONV for invalid units. A file holds at most 1024 metrics.
   */
  counter(name: string, options: CounterOptions = {}): Counter {
    return this.#declare(name, options, counterKind(options))
  }

  /** Declares a number that goes up and down. */
  gauge(name: string, options: GaugeOptions = {}): Gauge {
    return this.#declare(name, options, gaugeKind(options))
  }

  /** Declares a text that changes rarely. */
  text(name: string, options: TextOptions = {}): Text {
    return this.#declare(name, options, textKind(options))
  }

  /** Declares a counter of microseconds during which sections were open. */
  timer(name: string, options: MetricOptions = {}): Timer {
    return this.#declare(name, options, timerKind())
  }

  /** Declares the age of a condition in microseconds, 0 without one. */
  age(name: string, options: MetricOptions = {}): Age {
    return this.#declare(name, options, ageKind())
  }

  /** Declares NAME.count, NAME.sum and NAME.bucket, whose instances are ranges. */
  histogram(name: string, options: HistogramOptions): Histogram {
    return declareHistogram(this.#catalogue, name, options)
  }

  /** Declares an instance domain, with methods that declare metrics of its instances. */
  instances(options: InstancesOptions = {}): Instances {
    return new Instances(this.#catalogue, this.#catalogue.addDomain(options))
  }

  /**
   * Writes the file, or later declarations. EEXIST when a running process writes a file of this name, E2BIG for long texts
   * or too many labels, Node's error when the directory is not writable.
   */
  publish(): void {
    if (this.#isClosed) throw new PcpError('EINVAL', `${this.path} is closed`)
    this.#write()
    if (this.#isPublished) return
    this.#isPublished = true
    const { keep = false, signals = keep && !this.#file.isMapped } = this.#options
    atExit(this.#ending, signals)
    if (!this.#file.isMapped) this.#tick()
  }

  /** Makes values visible immediately; only needed without memory mapping. */
  flush(): void {
    this.#file.flush()
  }

  /** Removes the metrics unless `keep` is set. Handles remain usable, without effect. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancel?.()
    cancelAtExit(this.#ending)
    this.#file.close(this.#options.keep ?? false)
  }

  readonly #ending = { end: (): void => this.#end() }

  /** Writes pending declarations if the file is kept. */
  #end(): void {
    try {
      if (this.#isStale && this.#options.keep === true) this.#write()
      this.close()
    } catch (error) {
      this.#report(error)
    }
  }

  #declare<Its extends Cell, Handle>(
    name: string,
    options: MetricOptions,
    kind: MetricKind<Its, Handle>,
  ): Handle {
    return kind.makeHandle(declareRow(this.#catalogue, undefined, name, options, kind).cells[0]!)
  }

  /** Schedules a new version of the file, which includes further declarations made in the meantime. */
  #touch(): void {
    this.#isStale = true
    if (this.#isPublished && !this.#isClosed) this.#tick()
  }

  /** Updates the file after a delay. The timer does not keep the process alive. */
  #tick(): void {
    this.#cancel ??= setLongTimeout(this.#options.flushMs ?? 1000, () => this.#update(), {
      isBackground: true,
    })
  }

  #update(): void {
    this.#cancel = undefined
    try {
      if (this.#isStale) this.#write()
      else this.#file.flush()
    } catch (error) {
      this.#report(error)
    }
    if (this.#isStale || !this.#file.isMapped) this.#tick()
  }

  #write(): void {
    if (!this.#isStale && this.#file.isOpen) return
    const { cluster = 0, keep = false, prefix = true, version } = this.#options
    const content = this.#catalogue.content()
    this.#generation = makeGeneration(Date.now(), this.#generation)
    const { bytes, values } = encodeMmv({
      ...content,
      version: version ?? versionFor(content),
      flags: MMV_FLAG_SENTINEL | (prefix ? 0 : MMV_FLAG_NOPREFIX) | (keep ? 0 : MMV_FLAG_PROCESS),
      pid: process.pid,
      cluster,
      generation: this.#generation,
    })
    let now: Region | undefined
    const placed: readonly Placement[] = this.#catalogue.rows.flatMap(({ cells }, i) =>
      cells.map((cell, k) => ({ cell, at: values[i]![k]! })),
    )
    try {
      this.#file.replace(bytes, (shared) => {
        const region = regionOf(shared)
        for (const { cell, at } of placed) cell.bind(region, at)
        now = region
      })
    } catch (error) {
      // Readers continue to use the last version.
      if (this.#region !== undefined) for (const { cell, at } of this.#placed) cell.bind(this.#region, at)
      throw error
    }
    this.#region = now
    this.#placed = placed
    this.#isStale = false
  }

  #report(error: unknown): void {
    const problem = PcpError.from(error, this.path)
    if (this.#options.onError === undefined) process.emitWarning(problem)
    else this.#options.onError(problem)
  }
}
