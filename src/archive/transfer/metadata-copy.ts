/**
 * Copies the metadata that a copied record needs, before the record. docs/formats/archive.md §4
 *
 *     context labels, then for each metric:  descriptor;  labels of its domain, cluster, item;  its texts;
 *                                            instances;  labels of the instance domain and its instances;  its texts
 */
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { unpackEvents } from '../../model/events.ts'
import { clusterId, domainOf, type Indom, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
} from '../../model/labels.ts'
import { PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT } from '../../model/types.ts'
import type { ValueSet } from '../../model/values.ts'
import { compareTimes, laterOf } from '../../time/arithmetic.ts'
import type { Archive } from '../archive.ts'
import type { IndomSnapshot } from '../indom-history.ts'
import { META_LABEL, META_LABEL_V2, TEXT_HELP, TEXT_INDOM, TEXT_ONELINE, TEXT_PMID } from '../meta-records.ts'
import type { RecordView } from '../record-view.ts'
import { stampSize, storedAfter, writeStamp } from '../stamp.ts'
import type { ArchiveWriter } from '../write/writer.ts'
import { type RawLabels, RawMetadata, sameBytes } from './raw-metadata.ts'
import type { TakenSets } from './record-copy.ts'

const NO_ID = 0xffffffff
const NO_NAMES: ReadonlyMap<number, string> = new Map()

/** Metadata written to one output so far, for all its inputs. */
export class WrittenMetadata {
  readonly descs: Set<Pmid> = new Set()
  readonly texts: Set<string> = new Set()
  readonly labels: Map<string, WrittenLabels> = new Map()
  readonly instances: Map<Indom, WrittenInstances> = new Map()
}

interface WrittenLabels {
  readonly at: Timestamp
  readonly labels: RawLabels
}

interface WrittenInstances {
  readonly time: Timestamp
  readonly names: ReadonlyMap<number, string>
}

interface MetricState {
  readonly pmid: Pmid
  readonly indom: Indom
  readonly isEvent: boolean
  /** Number of the last metadata change processed; -1 if some metadata waits for values. */
  change: number
}

/** Copies the metadata of one input. */
export class MetadataCopy {
  readonly #archive: Archive
  readonly #raw: RawMetadata
  readonly #written: WrittenMetadata
  readonly #earliest: Timestamp | undefined
  readonly #metrics = new Map<Pmid, MetricState>()
  readonly #snapshots = new Map<Indom, IndomSnapshot>()
  /** Instances of values that are copied from before `earliest`. */
  readonly #older = new Map<Indom, Map<number, string>>()
  /** Times of metadata changes, in order; metrics are checked again only after a change. */
  readonly #changes: readonly Timestamp[]
  #change = 0
  #contextChange = -1
  #others: () => readonly MetadataCopy[] = alone

  /** `earliest`: the time of records that are older, with the metadata of then. Default: their own. */
  constructor(archive: Archive, written: WrittenMetadata, earliest?: Timestamp) {
    this.#archive = archive
    this.#earliest = earliest
    this.#raw = new RawMetadata(archive)
    this.#written = written
    const times = this.#raw.labelTimes()
    for (const indom of archive.metadata.indoms) times.push(...archive.metadata.snapshots(indom))
    this.#changes = times.sort(compareTimes)
  }

  /**
   * Takes the records from before `earliest` that will be copied, with their metrics. Of several records of a domain at that time only one
   * applies, so it names the instances of all of them.
   */
  older(records: readonly { readonly record: RecordView; readonly ids: ReadonlySet<Pmid> }[]): void {
    const { metadata } = this.#archive
    for (const { record, ids } of records)
      for (const id of ids) {
        const indom = metadata.descs.get(id)?.indom ?? PM_INDOM_NULL
        if (indom === PM_INDOM_NULL) continue
        const names = namesOf(metadata.snapshotAt(indom, record.timestamp()))
        const older = this.#older.get(indom) ?? new Map<number, string>()
        this.#older.set(indom, older)
        for (const inst of record.toSet(record.find(id)).inst)
          if (names.has(inst)) older.set(inst, names.get(inst)!)
      }
  }

  /**
   * Writes the metadata for the value sets taken from a record. Records must be in time order. `others`: the other inputs that have records
   * before and after this time, or at it. A record of a domain has their instances too, as it applies to their values until the next one.
   */
  before(
    record: RecordView,
    taken: TakenSets,
    writer: ArchiveWriter,
    others: () => readonly MetadataCopy[] = alone,
  ): void {
    this.#others = others
    const time = this.#stamp(record.timestamp())
    const changes = this.#changes
    while (this.#change < changes.length && compareTimes(changes[this.#change]!, time) <= 0) this.#change++
    if (this.#contextChange !== this.#change) {
      this.#labels(writer, time, LABEL_CONTEXT, NO_ID)
      this.#contextChange = this.#change
    }
    for (let i = 0; i < taken.count; i++) {
      const s = taken.sets[i]!
      const metric = this.#metric(record.pmids[s]!)
      const hasValues = record.statuses[s]! > 0
      if (metric.change !== this.#change) this.#prepare(writer, time, metric, hasValues)
      if (metric.isEvent && hasValues) this.#parameters(writer, record, s)
    }
  }

  #metric(pmid: Pmid): MetricState {
    let metric = this.#metrics.get(pmid)
    if (metric === undefined) {
      const desc = this.#archive.metadata.descs.get(pmid)
      const isEvent = desc?.type === PM_TYPE_EVENT || desc?.type === PM_TYPE_HIGHRES_EVENT
      metric = { pmid, indom: desc?.indom ?? PM_INDOM_NULL, isEvent, change: -1 }
      this.#metrics.set(pmid, metric)
    }
    return metric
  }

  #prepare(writer: ArchiveWriter, time: Timestamp, metric: MetricState, hasValues: boolean): void {
    const { pmid, indom } = metric
    if (!this.#written.descs.has(pmid)) {
      this.#written.descs.add(pmid)
      for (const record of this.#raw.descs.get(pmid) ?? []) writer.metadata(record)
    }
    this.#labels(writer, time, LABEL_DOMAIN, domainOf(pmid))
    this.#labels(writer, time, LABEL_CLUSTER, clusterId(pmid))
    this.#labels(writer, time, LABEL_ITEM, pmid)
    this.#texts(writer, TEXT_PMID, pmid)
    metric.change = this.#change
    if (indom === PM_INDOM_NULL) return
    if (!hasValues || !this.#instances(writer, time, indom)) metric.change = -1
    this.#labels(writer, time, LABEL_INDOM, indom)
    this.#labels(writer, time, LABEL_INSTANCES, indom)
    this.#texts(writer, TEXT_INDOM, indom)
  }

  /** Returns false if instances were written that are gone at this time. */
  #instances(writer: ArchiveWriter, time: Timestamp, indom: Indom): boolean {
    const snapshot = this.#archive.metadata.snapshotAt(indom, time)
    if (snapshot === undefined) return true
    const isEarliest = this.#earliest !== undefined && compareTimes(time, this.#earliest) === 0
    const older = isEarliest ? this.#older.get(indom) : undefined
    // Before names are decoded: this runs for each metric after any change of metadata.
    if (older === undefined && this.#snapshots.get(indom) === snapshot) return true
    const present = namesOf(snapshot)
    const own = new Map([...(older ?? []), ...present])
    const isComplete = own.size === present.size
    if (isComplete) this.#snapshots.set(indom, snapshot)
    const last = this.#written.instances.get(indom)
    const written = last !== undefined && compareTimes(last.time, time) === 0 ? last.names : NO_NAMES
    if (includes(written, own)) return isComplete
    const others = this.#others().flatMap((other) => [...other.#present(indom, time)])
    const names = new Map([...written, ...others, ...own])
    this.#written.instances.set(indom, { time, names })
    // Repeated records of an unchanged domain are copied too.
    writer.instances(time, indom, [...names.keys()], [...names.values()], true)
    return isComplete
  }

  #present(indom: Indom, time: Timestamp): ReadonlyMap<number, string> {
    return namesOf(this.#archive.metadata.snapshotAt(indom, time))
  }

  #stamp(time: Timestamp): Timestamp {
    return this.#earliest === undefined ? time : laterOf(time, this.#earliest)
  }

  #labels(writer: ArchiveWriter, time: Timestamp, level: number, id: number): void {
    const list = this.#raw.labels(level, id)
    let i = list.length - 1
    while (i >= 0 && compareTimes(list[i]!.time, time) > 0) i--
    const labels = list[i]
    if (labels === undefined) return
    const key = `${level} ${id}`
    const last = this.#written.labels.get(key)
    if (last?.labels === labels || (last !== undefined && sameBytes(last.labels.body, labels.body))) return
    // Of equal times the first record would apply.
    const at = storedAfter(last?.at, time, writer.version)
    this.#written.labels.set(key, { at, labels })
    writer.start(time)
    writer.metadata(labelRecord(writer, at, labels.body))
  }

  #texts(writer: ArchiveWriter, kind: number, id: number): void {
    const key = `${kind} ${id}`
    if (this.#written.texts.has(key)) return
    this.#written.texts.add(key)
    for (const level of [TEXT_ONELINE, TEXT_HELP]) {
      const record = this.#raw.text(kind | level, id)
      if (record !== undefined) writer.metadata(record)
    }
  }

  /** Writes descriptors of the parameters of event records, which are referenced nowhere else. */
  #parameters(writer: ArchiveWriter, record: RecordView, s: number): void {
    const set = record.toSet(s)
    const { type } = this.#archive.metadata.descs.get(set.pmid)!
    for (let i = 0; i < set.status; i++)
      for (const pmid of parametersOf(set, i, type)) {
        const metric = this.#metric(pmid)
        if (metric.change !== this.#change)
          this.#prepare(writer, this.#stamp(record.timestamp()), metric, false)
      }
  }
}

const alone = (): readonly MetadataCopy[] => []

function namesOf(snapshot: IndomSnapshot | undefined): ReadonlyMap<number, string> {
  return new Map(Array.from(snapshot?.ids ?? [], (id, i) => [id, snapshot!.name(i)]))
}

function includes(names: ReadonlyMap<number, string>, part: ReadonlyMap<number, string>): boolean {
  for (const [id, name] of part) if (names.get(id) !== name) return false
  return true
}

/** Returns the PMIDs of the parameters in one value; none if it is damaged, since damaged values are copied too. */
function parametersOf(set: ValueSet, i: number, type: number): Pmid[] {
  try {
    return unpackEvents(set, i, type).flatMap(({ params }) => params.map(({ pmid }) => pmid))
  } catch (error) {
    if (error instanceof PcpError) return []
    throw error
  }
}

function labelRecord({ version }: ArchiveWriter, time: Timestamp, body: Uint8Array): Uint8Array {
  const head = 8 + stampSize(version)
  const bytes = new Uint8Array(head + body.length + 4)
  const view = new DataView(bytes.buffer)
  view.setInt32(0, bytes.length)
  view.setInt32(4, version === 2 ? META_LABEL_V2 : META_LABEL)
  writeStamp(view, 8, time, version)
  bytes.set(body, head)
  view.setInt32(bytes.length - 4, bytes.length)
  return bytes
}
