/** Samples an archive at an interval into a smaller one. pmlogreduce(1) */
import type { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import { ArchiveSource } from '../../archive/source.ts'
import type { ArchiveWriter } from '../../archive/write/writer.ts'
import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import { clusterId, domainOf, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
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
import { compareTimes } from '../../time/arithmetic.ts'

const NO_ID = 0xffffffff

interface Metric {
  /** As in the input, and with the type of the output. */
  readonly desc: MetricDesc
  readonly type: number
  readonly names: readonly string[]
  isDescribed: boolean
  /** Instances written before. */
  readonly written: Set<number>
  /** Instances seen since the sample before. */
  readonly seen: Set<number>
}

/** Makes records of the output, sample by sample. */
export class Reduction {
  readonly #archive: Archive
  readonly #source: ArchiveSource
  readonly #reader: RecordReader
  readonly #metrics = new Map<Pmid, Metric>()
  readonly #ids: readonly Pmid[]
  #next: RecordView | undefined

  /** Samples from `origin` on; `skip` hears the names of metrics whose type has no samples. */
  constructor(
    archive: Archive,
    origin: Timestamp,
    interval: Timestamp,
    skip: (name: string, desc: MetricDesc) => void,
  ) {
    this.#archive = archive
    const { descs, names } = archive.metadata
    for (const name of names.traverse()) {
      const pmid = names.idOf(name)
      const desc = pmid === undefined ? undefined : descs.get(pmid)
      if (desc === undefined || this.#metrics.has(desc.pmid)) continue
      if (desc.type > PM_TYPE_STRING) skip(name, desc)
      else this.#metrics.set(desc.pmid, newMetric(desc, names.namesOf(desc.pmid)))
    }
    this.#ids = [...this.#metrics.keys()]
    this.#source = new ArchiveSource(archive)
    this.#source.setMode('interpolate', origin, toSeconds(interval))
    this.#reader = new RecordReader(archive, { reportsTears: true })
    this.#reader.seek(origin, 'forward')
    this.#next = this.#reader.next()
  }

  /** Writes the next sample, with the marks before it; its time, or undefined at the end of the input. */
  step(writer: ArchiveWriter): Timestamp | undefined {
    const sample = this.#fetch()
    if (sample === undefined) return undefined
    const { timestamp, sets } = sample
    this.#look(timestamp, writer)
    const kept: ValueSet[] = []
    for (const set of sets) {
      const metric = this.#metrics.get(set.pmid)!
      const reduced = reducedSet(set, metric)
      if (reduced !== undefined) kept.push(reduced)
      metric.seen.clear()
    }
    if (kept.length === 0) return timestamp
    this.#labels(writer, timestamp, LABEL_CONTEXT, NO_ID)
    for (const set of kept) this.#metadata(writer, timestamp, this.#metrics.get(set.pmid)!, set)
    writer.result(timestamp, kept)
    return timestamp
  }

  #fetch(): { timestamp: Timestamp; sets: readonly ValueSet[] } | undefined {
    try {
      return this.#source.fetchNow(this.#ids)
    } catch (error) {
      if (error instanceof PcpError && error.code === 'PM_ERR_EOL') return undefined
      throw error
    }
  }

  /** Looks at the records up to a time: which instances they have, and marks, which are copied. */
  #look(until: Timestamp, writer: ArchiveWriter): void {
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

  #metadata(writer: ArchiveWriter, at: Timestamp, metric: Metric, { status }: ValueSet): void {
    const { desc, names, type } = metric
    const { pmid, indom } = desc
    if (!metric.isDescribed) {
      metric.isDescribed = true
      writer.desc({ ...desc, type }, names)
      this.#texts(writer, 'metric', pmid)
      if (indom !== PM_INDOM_NULL) this.#texts(writer, 'indom', indom)
    }
    this.#labels(writer, at, LABEL_DOMAIN, domainOf(pmid))
    this.#labels(writer, at, LABEL_CLUSTER, clusterId(pmid))
    this.#labels(writer, at, LABEL_ITEM, pmid)
    if (indom === PM_INDOM_NULL || status <= 0) return
    const snapshot = this.#archive.metadata.snapshotAt(indom, at)
    if (snapshot !== undefined) {
      const ids = Array.from(snapshot.ids)
      writer.instances(
        at,
        indom,
        ids,
        ids.map((_, i) => snapshot.name(i)),
      )
    }
    this.#labels(writer, at, LABEL_INDOM, indom)
    this.#labels(writer, at, LABEL_INSTANCES, indom)
  }

  #labels(writer: ArchiveWriter, at: Timestamp, level: number, id: number): void {
    const sets = this.#archive.metadata.labels({ level, id }, at)
    if (sets.length > 0) writer.labels(at, level, id, sets)
  }

  #texts(writer: ArchiveWriter, kind: 'metric' | 'indom', id: number): void {
    for (const level of ['oneline', 'help'] as const) {
      const text = this.#archive.metadata.text({ kind, id, level })
      if (text !== undefined) writer.text({ kind, id, level }, text)
    }
  }
}

function newMetric(desc: MetricDesc, names: readonly string[]): Metric {
  const { type, sem } = desc
  const widened =
    sem !== PM_SEM_COUNTER
      ? type
      : type === PM_TYPE_32
        ? PM_TYPE_64
        : type === PM_TYPE_U32
          ? PM_TYPE_U64
          : type
  return { desc, type: widened, names, isDescribed: false, written: new Set(), seen: new Set() }
}

/**
 * What the output has of a metric: instances seen since the sample before, and those that come for the first time. A metric
 * of which nothing was written yet, or which was seen but has no value between two others, is there without values.
 */
function reducedSet(set: ValueSet, metric: Metric): ValueSet | undefined {
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
  if (insts.length === 0) {
    const isExpected = written.size === 0 || seen.size > 0
    return isExpected ? emptySet(pmid, Math.min(0, set.status)) : undefined
  }
  for (const inst of insts) written.add(inst)
  if (type === desc.type && insts.length === set.status) return set
  return makeSet(
    pmid,
    type,
    insts,
    places.map((i) => extract(set, i, desc.type)),
  )
}
