/** Samples an archive at an interval into a smaller one. pmlogreduce(1) */
import type { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import { ArchiveSource, type ArchiveSourceOptions } from '../../archive/source.ts'
import type { ArchiveWriter } from '../../archive/write/writer.ts'
import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { clusterId, domainOf, PM_ID_NULL, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
} from '../../model/labels.ts'
import {
  PM_SEM_COUNTER,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../model/types.ts'
import { extract } from '../../model/value-set.ts'
import { makeSet } from '../../model/value-writer.ts'
import { emptySet, type ValueSet } from '../../model/values.ts'
import { isEndOfArchive } from '../../pmapi/samples.ts'
import { compareTimes } from '../../time/arithmetic.ts'

interface Metric {
  /** Descriptor in the input; `type` is the type in the output. */
  readonly desc: MetricDesc
  readonly type: number
  hasTexts: boolean
  /** Instances already written. */
  readonly written: Set<number>
  /** Instances seen since the previous sample. */
  readonly seen: Set<number>
}

/** Options of a reduction. */
export interface ReductionOptions {
  readonly origin: Timestamp
  readonly interval: Timestamp
  readonly rules: ArchiveSourceOptions
  /** Called for metrics that are skipped because of their type. */
  readonly skip: (name: string, desc: MetricDesc) => void
}

/** Writes the output sample by sample. */
export class Reduction {
  readonly #archive: Archive
  readonly #source: ArchiveSource
  readonly #reader: RecordReader
  readonly #metrics = new Map<Pmid, Metric>()
  readonly #ids: readonly Pmid[]
  #next: RecordView | undefined

  readonly #writer: ArchiveWriter

  /** Writes the descriptors of all metrics. */
  constructor(archive: Archive, writer: ArchiveWriter, { origin, interval, rules, skip }: ReductionOptions) {
    this.#archive = archive
    this.#writer = writer
    const { descs, names } = archive.metadata
    for (const name of names.traverse()) {
      const pmid = names.idOf(name)
      const desc = pmid === undefined ? undefined : descs.get(pmid)
      if (desc === undefined || this.#metrics.has(desc.pmid)) continue
      if (desc.type > PM_TYPE_STRING) skip(name, desc)
      else {
        const metric = newMetric(desc)
        this.#metrics.set(desc.pmid, metric)
        writer.desc({ ...desc, type: metric.type }, names.namesOf(desc.pmid))
      }
    }
    this.#ids = [...this.#metrics.keys()]
    this.#source = new ArchiveSource(archive, rules)
    this.#source.setMode('interpolate', origin, toSeconds(interval))
    this.#reader = new RecordReader(archive, { reportsTears: true })
    this.#reader.seek(origin, 'forward')
    this.#next = this.#reader.next()
  }

  /**
   * Writes the next sample, preceded by marks; calls `begin` right before its record, if it has one. Returns its time; undefined at the end
   * of the input or after `finish`.
   */
  step(finish: Timestamp, begin: (at: Timestamp) => void): Timestamp | undefined {
    const sample = this.#fetch()
    if (sample === undefined || compareTimes(sample.timestamp, finish) > 0) return undefined
    const { timestamp, sets } = sample
    const writer = this.#writer
    this.#look(timestamp)
    const kept: ValueSet[] = []
    for (const set of sets) {
      const metric = this.#metrics.get(set.pmid)!
      const reduced = reducedSet(set, metric)
      if (reduced !== undefined) kept.push(reduced)
      metric.seen.clear()
    }
    if (kept.length === 0) return timestamp
    begin(timestamp)
    this.#labels(timestamp, LABEL_CONTEXT, PM_ID_NULL)
    for (const set of kept) this.#metadata(timestamp, this.#metrics.get(set.pmid)!, set)
    writer.result(timestamp, kept)
    return timestamp
  }

  #fetch(): { timestamp: Timestamp; sets: readonly ValueSet[] } | undefined {
    try {
      return this.#source.fetchNow(this.#ids)
    } catch (error) {
      if (isEndOfArchive(error)) return undefined
      throw error
    }
  }

  /** Reads the records up to a time, to note their instances and to copy marks. */
  #look(until: Timestamp): void {
    const writer = this.#writer
    while (this.#next !== undefined && compareTimes(this.#next.timestamp(), until) <= 0) {
      const record = this.#next
      if (record.count === 0 && writer.lastTime !== undefined) writer.mark(record.timestamp())
      for (let s = 0; s < record.count; s++) {
        const metric = this.#metrics.get(record.pmids[s]!)
        if (metric === undefined) continue
        for (let k = 0; k < record.statuses[s]!; k++)
          metric.seen.add(record.view.getInt32(record.pairs[s]! + 8 * k))
      }
      this.#next = this.#reader.next()
    }
  }

  #metadata(at: Timestamp, metric: Metric, { status }: ValueSet): void {
    const { pmid, indom } = metric.desc
    if (!metric.hasTexts) {
      metric.hasTexts = true
      this.#texts('metric', pmid)
      if (indom !== PM_INDOM_NULL) this.#texts('indom', indom)
    }
    this.#labels(at, LABEL_DOMAIN, domainOf(pmid))
    this.#labels(at, LABEL_CLUSTER, clusterId(pmid))
    this.#labels(at, LABEL_ITEM, pmid)
    if (indom === PM_INDOM_NULL || status <= 0) return
    const snapshot = this.#archive.metadata.snapshotAt(indom, at)
    if (snapshot !== undefined) {
      const ids = Array.from(snapshot.ids)
      this.#writer.instances(
        at,
        indom,
        ids,
        ids.map((_, i) => snapshot.name(i)),
      )
    }
    this.#labels(at, LABEL_INDOM, indom)
    this.#labels(at, LABEL_INSTANCES, indom)
  }

  #labels(at: Timestamp, level: number, id: number): void {
    const sets = this.#archive.metadata.labels({ level, id }, at)
    if (sets.length > 0) this.#writer.labels(at, level, id, sets)
  }

  #texts(kind: 'metric' | 'indom', id: number): void {
    for (const level of ['oneline', 'help'] as const) {
      const text = this.#archive.metadata.text({ kind, id, level })
      if (text !== undefined) this.#writer.text({ kind, id, level }, text)
    }
  }
}

function newMetric(desc: MetricDesc): Metric {
  const { type, sem } = desc
  const widened =
    sem !== PM_SEM_COUNTER
      ? type
      : type === PM_TYPE_32
        ? PM_TYPE_64
        : type === PM_TYPE_U32
          ? PM_TYPE_U64
          : type
  return { desc, type: widened, hasTexts: false, written: new Set(), seen: new Set() }
}

/**
 * Returns the output's values of a metric: instances seen since the previous sample, and those that appear for the first time; undefined if
 * no value is new. A metric without values, or with an error, is written to every record.
 */
function reducedSet(set: ValueSet, metric: Metric): ValueSet | undefined {
  if (set.status <= 0) return emptySet(set.pmid, set.status)
  const { pmid } = set
  const { seen, written, desc, type } = metric
  const insts: number[] = []
  const places: number[] = []
  for (let i = 0; i < set.status; i++) {
    const inst = set.inst[i]!
    if (!seen.has(inst) && written.has(inst)) continue
    insts.push(inst)
    places.push(i)
  }
  if (insts.length === 0) return undefined
  for (const inst of insts) written.add(inst)
  if (type === desc.type && insts.length === set.status) return set
  return makeSet(
    pmid,
    type,
    insts,
    places.map((i) => extract(set, i, desc.type)),
  )
}
