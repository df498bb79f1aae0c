/** Publishing an application's metrics in a file that agents read. docs/guide/mmv.md, docs/formats/mmv.md */

import { after } from '../base/after.ts'
import { PcpError } from '../model/errors.ts'
import type { LoadNative } from '../sys/native/calls.ts'
import { atExit, forgetEnding } from './at-exit.ts'
import { Catalogue } from './catalogue.ts'
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
import { ageKind, counterKind, declareRow, gaugeKind, type Kind, textKind, timerKind } from './kinds.ts'
import { MMV_FLAG_NOPREFIX, MMV_FLAG_PROCESS, MMV_FLAG_SENTINEL } from './layout.ts'
import { makeGeneration } from './owner.ts'
import { publishDirectory } from './publish-directory.ts'
import { PublishedFile } from './published-file.ts'

/** How a file is published. */
export interface MmvWriterOptions {
  /**
   * Default: `$PCP_TMP_DIR/mmv`, from the environment or pcp.conf, which is where agents look; where this process may not write
   * there, the directory that `npm start` of this user reads.
   */
  readonly directory?: string
  /** 1 to 4095, the second number of the PMIDs. Default: one that the agent finds free. */
  readonly cluster?: number
  /** Metrics are called mmv.NAME.METRIC; false: mmv.METRIC. */
  readonly prefix?: boolean
  /** The file stays when the process ends, and agents go on to read it. Default: it goes with the process. */
  readonly keep?: boolean
  /** Labels of all metrics of the file. */
  readonly labels?: MmvLabels
  /** Permissions. Default 0o644: values are for everybody. */
  readonly mode?: number
  /** Of the format; by default the least that holds what is declared. */
  readonly version?: 1 | 2 | 3
  /** Milliseconds within which others see what was declared later and, without memory mapping, new values. Default 1000. */
  readonly flushMs?: number
  /**
   * Values are written also before SIGHUP, SIGINT or SIGTERM ends the process. Default: only where they would be lost
   * otherwise, that is with `keep` and without memory mapping.
   */
  readonly signals?: boolean
  /** Hears what goes wrong later, such as a full disk; writing is tried again. Default: a process warning. */
  readonly onError?: (error: PcpError) => void
  /** For tests: how the C library is found. */
  readonly load?: LoadNative
}

/** Where the value of a cell is in the file. */
interface Placement {
  readonly cell: Cell
  readonly at: number
}

/**
 * Metrics of this process. Declare them, `publish` once, then change values through the handles: that costs no system
 * call. What is declared after `publish` appears by itself within `flushMs`.
 */
export class MmvWriter {
  readonly #options: MmvWriterOptions
  readonly #file: PublishedFile
  readonly #catalogue: Catalogue
  #generation = 0n
  #isPublished = false
  #isClosed = false
  /** Something was declared that the file does not have. */
  #isStale = true
  /** Ends the wait for the next write; undefined when none is due. */
  #cancel: (() => void) | undefined
  /** Where the values of the last version are. */
  #placed: readonly Placement[] = []
  #region: Region | undefined

  /** `name` is the file's, and part of the metrics' names. EINVAL when it cannot be. Nothing is written yet. */
  constructor(name: string, options: MmvWriterOptions = {}) {
    const pattern = options.prefix === false ? /^[^./\0][^/\0]*$/ : /^[A-Za-z]\w*$/
    if (!pattern.test(name)) throw new PcpError('EINVAL', `"${name}" can be no name of a file of values`)
    const { cluster = 0, mode = 0o644, load } = options
    if (!Number.isInteger(cluster) || cluster < 0 || cluster > 4095)
      throw new PcpError('EINVAL', `Cluster ${cluster} is not from 1 to 4095`)
    const directory = options.directory ?? publishDirectory(process.env)
    this.#options = options
    this.#file = new PublishedFile({ directory, name, mode, ...(load === undefined ? {} : { load }) })
    this.#catalogue = new Catalogue(cluster, options.labels, () => this.#touch())
  }

  /** The file. */
  get path(): string {
    return this.#file.path
  }

  /**
   * A count of what happened. This and all that declare: EEXIST for a name, item or serial that is there already, EINVAL
   * for a name that is none, PM_ERR_CONV for units that are none. A metric has at most 1024 others beside it.
   */
  counter(name: string, options: CounterOptions = {}): Counter {
    return this.#declare(name, options, counterKind(options))
  }

  /** A number that goes up and down. */
  gauge(name: string, options: GaugeOptions = {}): Gauge {
    return this.#declare(name, options, gaugeKind(options))
  }

  /** A text that changes now and then. */
  text(name: string, options: TextOptions = {}): Text {
    return this.#declare(name, options, textKind(options))
  }

  /** A counter of the microseconds in which something was going on. */
  timer(name: string, options: MetricOptions = {}): Timer {
    return this.#declare(name, options, timerKind())
  }

  /** The microseconds for which something has lasted: 0 while nothing does. */
  age(name: string, options: MetricOptions = {}): Age {
    return this.#declare(name, options, ageKind())
  }

  /** NAME.count, NAME.sum and NAME.bucket, the instances of which are ranges. */
  histogram(name: string, options: HistogramOptions): Histogram {
    return declareHistogram(this.#catalogue, name, options)
  }

  /** An instance domain, with methods that declare metrics of its instances. */
  instances(options: InstancesOptions = {}): Instances {
    return new Instances(this.#catalogue, this.#catalogue.addDomain(options))
  }

  /**
   * Writes the file, or what was declared since. EEXIST when a process that lives writes a file of this name, E2BIG for
   * texts that are too long or labels that are too many, Node's error when the directory cannot be written.
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

  /** Makes values visible at once where there is no memory mapping; otherwise they are. */
  flush(): void {
    this.#file.flush()
  }

  /** The metrics go, unless `keep` is set; handles may still be used, to no effect. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancel?.()
    forgetEnding(this.#ending)
    this.#file.close(this.#options.keep ?? false)
  }

  readonly #ending = { end: (): void => this.#end() }

  /** What was declared a moment ago counts too where somebody may still read it. */
  #end(): void {
    try {
      if (this.#isStale && this.#options.keep === true) this.#write()
      this.close()
    } catch (error) {
      this.#report(error)
    }
  }

  #declare<Its extends Cell, Handle>(name: string, options: MetricOptions, kind: Kind<Its, Handle>): Handle {
    return kind.makeHandle(declareRow(this.#catalogue, undefined, name, options, kind).cells[0]!)
  }

  /** Something was declared: many such things make one new version of the file. */
  #touch(): void {
    this.#isStale = true
    if (this.#isPublished && !this.#isClosed) this.#tick()
  }

  /** Comes back in a while; the process may end meanwhile. */
  #tick(): void {
    this.#cancel ??= after(this.#options.flushMs ?? 1000, () => this.#update(), { isBackground: true })
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
        for (const { cell, at } of placed) cell.place(region, at)
        now = region
      })
    } catch (error) {
      // The last version goes on to be the one that others see.
      if (this.#region !== undefined) for (const { cell, at } of this.#placed) cell.place(this.#region, at)
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
