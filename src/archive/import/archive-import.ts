/** Creating archives from other data. LOGIMPORT(3), docs/reference/archive-library.md */
import { fromMillis, type Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import {
  type Indom,
  indomStr,
  indom as makeIndom,
  pmid as makePmid,
  PM_IN_NULL,
  PM_INDOM_NULL,
  type Pmid,
  pmidStr,
} from '../../model/ids.ts'
import type { Value, ValueSet } from '../../model/values.ts'
import type { OutputFiles } from '../write/output-files.ts'
import { ArchiveWriter, type WriterOptions } from '../write/writer.ts'
import { ImportIndom } from './import-indom.ts'
import { ImportMetric, type MetricOptions } from './import-metric.ts'
import { ImportNotes, type LabelTarget } from './import-notes.ts'

/** Options of `ArchiveImport`. */
export interface ImportOptions extends WriterOptions {
  /**
   * Accepts instances whose names only differ behind the first blank, such as the mount points `/mnt/my disk` and `/mnt/my other`. Readers
   * find them by their whole names; by `/mnt/my` they find the first one. Default false, as pmiAddInstance(3) rejects the second.
   */
  readonly sharesFirstWords?: boolean
}

/** Domain of metrics and instance domains without explicit numbers. */
export const IMPORT_DOMAIN = 245

/** Components separated by dots: letters, digits and underscores, starting with a letter. */
const METRIC_NAME = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$/

/**
 * Creates an archive from data of a program: add metrics, put values, write them as a record, repeatedly, then close. The first
 * record creates the files. Metadata that no record needs is not written. Every method throws a
 * PcpError. @see LOGIMPORT(3)
 */
export class ArchiveImport {
  readonly #files: OutputFiles
  readonly #options: ImportOptions
  readonly #metrics = new Map<string, ImportMetric>()
  readonly #byPmid = new Map<Pmid, ImportMetric>()
  readonly #indoms = new Map<Indom, ImportIndom>()
  readonly #indomNames = new Map<string, Indom>()
  readonly #notes = new ImportNotes()
  /** Metrics with a value for the next record, in the order of their first value. */
  #pending: ImportMetric[] = []
  #writer: ArchiveWriter | undefined
  #last: Timestamp | undefined
  #isClosed = false

  constructor(files: OutputFiles, options: ImportOptions) {
    this.#files = files
    this.#options = options
  }

  /** Time of the last record. */
  get lastTime(): Timestamp | undefined {
    return this.#last
  }

  /**
   * Adds a metric. The result can be passed to `put`, which is faster than the name. EINVAL for an invalid name,
   * EEXIST for an existing name or PMID, PM_ERR_TYPE for a type without values, PM_ERR_CONV for invalid units.
   * @see pmiAddMetric(3)
   */
  addMetric(name: string, options: MetricOptions = {}): ImportMetric {
    if (!METRIC_NAME.test(name)) throw new PcpError('EINVAL', `"${name}" is not a metric name`)
    if (this.#metrics.has(name)) throw new PcpError('EEXIST', `Metric "${name}" already exists`)
    const pmid = options.pmid ?? this.#freePmid()
    if (this.#byPmid.has(pmid))
      throw new PcpError(
        'EEXIST',
        `PMID ${pmidStr(pmid)} of "${name}" is already used by ${this.#byPmid.get(pmid)!.name}`,
      )
    const metric = new ImportMetric(name, pmid, this.#indomOf(options.indom), options)
    this.#metrics.set(name, metric)
    this.#byPmid.set(pmid, metric)
    return metric
  }

  /** Returns the metric of this name, if it was added. */
  metric(name: string): ImportMetric | undefined {
    return this.#metrics.get(name)
  }

  /**
   * Adds an instance and returns its number: `id`, or a free one. Only needed to choose numbers, because `put` adds unknown
   * instances. EEXIST for an existing number or name; names must differ before the first blank, unless `sharesFirstWords` is set.
   * @see pmiAddInstance(3)
   */
  addInstance(indom: Indom | string, name: string, id?: number): number {
    return this.#instances(this.#indomOf(indom)).add(name, id)
  }

  /**
   * Adds a value to the next record. A metric with an instance domain needs the instance, by name or number; an unknown name
   * becomes a new instance. EEXIST if the instance already has a value, PM_ERR_NAME for an unknown metric, PM_ERR_INST for
   * an unexpected or missing instance or an unknown number, PM_ERR_TYPE and PM_ERR_CONV for a value that does not match the type.
   * @see pmiPutValue(3)
   */
  put(metric: string | ImportMetric, value: Value, instance?: string | number): void {
    const of = typeof metric === 'string' ? this.#metrics.get(metric) : metric
    if (of === undefined) throw new PcpError('PM_ERR_NAME', `Metric "${metric}" was not added with addMetric`)
    const isFirst = of.isEmpty
    of.put(this.#inst(of, instance), value)
    if (isFirst) this.#pending.push(of)
  }

  /** Adds a help text of a metric, by name, or of an instance domain. @see pmiPutText(3) */
  addText(of: string | { readonly indom: Indom | string }, level: 'oneline' | 'help', text: string): void {
    if (typeof of === 'string')
      this.#notes.addText({ kind: 'metric', id: this.#known(of).desc.pmid, level }, text)
    else this.#notes.addText({ kind: 'indom', id: this.#indomOf(of.indom), level }, text)
  }

  /**
   * Adds labels to the existing ones of the whole archive or of `target`. EINVAL for invalid label names.
   * @see pmiPutLabel(3)
   */
  addLabels(labels: { readonly [name: string]: unknown }, target: LabelTarget = 'context'): void {
    if (target === 'context' || 'domain' in target || 'cluster' in target)
      this.#notes.addLabels(labels, target)
    else if ('metric' in target) this.#notes.addLabels(labels, { pmid: this.#known(target.metric).desc.pmid })
    else {
      const indom = this.#indomOf(target.indom)
      const { instance } = target
      const inst = instance === undefined ? undefined : this.#instances(indom).lookup(instance)
      this.#notes.addLabels(labels, inst === undefined ? { indom } : { indom, inst })
    }
  }

  /**
   * Writes the values put since the last record, with this time; returns false without any. EINVAL for a time before the last
   * record, and errors of the file system, such as EEXIST for an existing archive. On an error the values are
   * discarded. @see pmiWrite(3)
   */
  write(at: Timestamp | Date): boolean {
    const pending = this.#pending
    this.#pending = []
    const sets = pending.map((metric) => metric.takeSet())
    if (sets.length === 0) return false
    this.#record(toTimestamp(at), sets)
    return true
  }

  /** Writes a record of value sets of added metrics; values from `put` keep waiting. @see pmiPutResult(3) */
  writeSets(at: Timestamp | Date, sets: readonly ValueSet[]): void {
    this.#record(toTimestamp(at), sets)
  }

  /** Writes a mark 1 ms after the last record, to separate it from the next. @see pmiPutMark(3) */
  mark(): void {
    this.#writer?.mark()
    this.#last = this.#writer?.lastTime ?? this.#last
  }

  /** Closes the archive. Values that were put but not written are discarded. Idempotent. @see pmiEnd(3) */
  close(): void {
    this.#isClosed = true
    this.#writer?.close()
  }

  #record(at: Timestamp, sets: readonly ValueSet[]): void {
    if (this.#isClosed) throw new PcpError('EBADF', `${this.#files.name} is closed`)
    const last = this.#last
    if (last !== undefined && (at.sec - last.sec || at.nsec - last.nsec) < 0)
      throw new PcpError('EINVAL', `A record of ${stamp(at)} cannot follow a record of ${stamp(last)}`)
    const metrics = sets.map(({ pmid }) => this.#ofPmid(pmid))
    this.#writer ??= ArchiveWriter.create(this.#files, { indexesMarks: true, ...this.#options })
    for (const metric of metrics) this.#metadata(this.#writer, at, metric)
    this.#notes.write(this.#writer, at)
    this.#writer.result(at, sets)
    this.#last = at
  }

  /** Writes a metric's descriptor and instance domain unless they are already written. */
  #metadata(writer: ArchiveWriter, at: Timestamp, metric: ImportMetric): void {
    const { desc } = metric
    this.#notes.describe(writer, desc, metric.name)
    const indom = this.#indoms.get(desc.indom)
    if (indom === undefined || !indom.isChanged) return
    writer.instances(at, desc.indom, indom.ids(), indom.names())
    indom.isChanged = false
  }

  #inst({ name, desc }: ImportMetric, instance: string | number | undefined): number {
    if (desc.indom === PM_INDOM_NULL) {
      if (instance === undefined) return PM_IN_NULL
      throw new PcpError(
        'PM_ERR_INST',
        `"${name}" has no instance domain, but instance "${instance}" was given`,
      )
    }
    if (instance === undefined)
      throw new PcpError('PM_ERR_INST', `"${name}" has an instance domain, but no instance was given`)
    const indom = this.#instances(desc.indom)
    return (
      indom.find(instance) ?? (typeof instance === 'string' ? indom.add(instance) : indom.lookup(instance))
    )
  }

  #known(name: string): ImportMetric {
    const metric = this.#metrics.get(name)
    if (metric === undefined)
      throw new PcpError('PM_ERR_NAME', `Metric "${name}" was not added with addMetric`)
    return metric
  }

  #ofPmid(pmid: Pmid): ImportMetric {
    const metric = this.#byPmid.get(pmid)
    if (metric === undefined)
      throw new PcpError('PM_ERR_PMID', `No metric of PMID ${pmidStr(pmid)} was added`)
    return metric
  }

  #instances(indom: Indom): ImportIndom {
    let instances = this.#indoms.get(indom)
    if (instances === undefined) {
      instances = new ImportIndom(indomStr(indom), this.#options.sharesFirstWords)
      this.#indoms.set(indom, instances)
    }
    return instances
  }

  #indomOf(indom: Indom | string = PM_INDOM_NULL): Indom {
    if (typeof indom === 'number') return indom
    const known = this.#indomNames.get(indom)
    if (known !== undefined) return known
    const made = makeIndom(IMPORT_DOMAIN, this.#indomNames.size + 1)
    this.#indomNames.set(indom, made)
    return made
  }

  #freePmid(): Pmid {
    for (let n = this.#metrics.size + 1; ; n++) {
      const pmid = makePmid(IMPORT_DOMAIN, n >> 10, n & 1023)
      if (!this.#byPmid.has(pmid)) return pmid
    }
  }
}

function toTimestamp(at: Timestamp | Date): Timestamp {
  return at instanceof Date ? fromMillis(at.getTime()) : at
}

function stamp({ sec, nsec }: Timestamp): string {
  return `${sec}.${String(nsec).padStart(9, '0')}`
}
