/** Writes the metadata and values of one source. Each series, instance and name is written once, before the first value that needs it. */

import type { RecordView } from '../../archive/record-view.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { type Indom, indomStr, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import { mergeLabelSets } from '../../model/label-set.ts'
import { LABEL_CONTEXT, type LabelSet } from '../../model/labels.ts'
import { semStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import { metricId, sourceId } from '../ids.ts'
import { contextLabels, metricLabels, type SeriesMetadata } from '../labels.ts'
import { type Argument, encodedArguments } from './command-buffer.ts'
import type { KeyPipeline } from './pipeline.ts'
import {
  channelOf,
  descKey,
  EMPTY_FIELD,
  ERROR_FIELD,
  instanceKey,
  instancesKey,
  type KeyId,
  keyId,
  LOCATION_KEY,
  labelFlagsKey,
  labelsKey,
  labelValueMap,
  type MapName,
  mapKey,
  metricNamesKey,
  seriesKey,
  sourceNamesKey,
  sourcesKey,
  textId,
  valuesKey,
} from './schema.ts'
import { slotOf } from './slots.ts'
import { type Instance, SourceInstances } from './source-instances.ts'
import { storedType } from './values.ts'
import { writeValue } from './write-value.ts'

/** A source and its settings. */
export interface SourceOptions {
  readonly path: string
  readonly host: string
  readonly metadata: SeriesMetadata
  /** Excludes metrics by name or instance domain. */
  readonly isExcluded?: ((name: string, indom: Indom) => boolean) | undefined
  readonly maxSamples: number
  readonly expireSeconds: number
  /** Milliseconds since any moment. */
  readonly clock?: () => number
}

/** A series: a metric under one of its names. */
interface Series {
  readonly id: KeyId
  readonly name: string
  readonly slot: number
  /** XADD with its first arguments, and EXPIRE with all. */
  readonly add: Uint8Array
  readonly expire: Uint8Array
  /** Identifiers of the instances that were written. */
  readonly instances: Set<string>
  isWritten: boolean
  /** When the last EXPIRE was sent. */
  expiredAt: number
}

interface Metric {
  readonly pmid: Pmid
  readonly indom: Indom
  readonly type: number
  readonly labels: readonly LabelSet[]
  readonly series: readonly Series[]
  /** Instances of the last record, by position, and the state of their domain then: most records have the same ones. */
  readonly insts: number[]
  readonly instances: (Instance | undefined)[]
  snapshot: unknown
}

const COUNTED_ARGUMENTS = 6
const NO_FIELD = encodedArguments('')
const ERROR = encodedArguments(ERROR_FIELD)
const EMPTY = encodedArguments(EMPTY_FIELD, '')
/** Share of the expiry after which it is sent again. */
const EXPIRE_AGAIN = 0.01
/** The most names whose announcement is remembered. */
const MOST_NAMES = 1_000_000

/** Writes one source into a pipeline. */
export class KeySource {
  readonly #pipeline: KeyPipeline
  readonly #options: SourceOptions
  readonly #clock: () => number
  #context: readonly LabelSet[] = []
  #sourceId: KeyId | undefined
  #pathId: KeyId | undefined
  #names: ReadonlyMap<Pmid, readonly string[]> | undefined
  readonly #metrics = new Map<Pmid, Metric | undefined>()
  /** By identifier; kept when metadata changes. */
  readonly #series = new Map<string, Series>()
  #instances: SourceInstances
  readonly #mapped = new Map<string, KeyId>()
  #selected: ReadonlySet<string> | undefined

  constructor(pipeline: KeyPipeline, options: SourceOptions) {
    this.#pipeline = pipeline
    this.#options = options
    this.#instances = new SourceInstances(options.metadata)
    this.#clock = options.clock ?? (() => performance.now())
  }

  /** Identifier of the source: a host with its labels. */
  get id(): string {
    this.begin()
    return this.#sourceId!.hex
  }

  /** Writes only these series. */
  select(series: ReadonlySet<string>): void {
    this.#selected = series
  }

  /**
   * Adds a record, with the metadata that is not yet in the server. Resolves as soon as the next one may be added: the record itself is
   * no longer needed. Errors as `KeyLoader.flush`.
   */
  async add(record: RecordView): Promise<void> {
    this.write(record)
    await this.#pipeline.room()
  }

  /** Call after the metadata has grown: what has changed is written with the next values. */
  metadataChanged(): void {
    this.#names = undefined
    this.#metrics.clear()
    this.#instances = new SourceInstances(this.#options.metadata)
    this.#sourceId = undefined
  }

  /** Writes the names of the source, unless they are written. */
  begin(): void {
    if (this.#sourceId !== undefined) return
    const { metadata, host, path } = this.#options
    this.#context = contextLabels(metadata, host)
    const source = keyId(sourceId(this.#context, host))
    this.#sourceId = source
    const pathId = this.#map('context.name', path)
    const hostId = this.#map('context.name', host)
    this.#pathId = pathId
    for (const { hex } of [pathId, hostId]) this.#pipeline.add(['SADD', sourcesKey(hex), source.bytes])
    this.#pipeline.add(['SADD', sourceNamesKey(source.hex), pathId.bytes, hostId.bytes])
    const labels = mergeLabelSets(this.#context).labels
    const degrees = (name: string): string =>
      (Number(labels.find((label) => label.name === name)?.value ?? 0) || 0).toFixed(8)
    this.#pipeline.add(['GEOADD', LOCATION_KEY, degrees('longitude'), degrees('latitude'), source.bytes])
  }

  /** Writes the metadata of all metrics, with their instances at a time. */
  async addMetadata(at: Timestamp): Promise<void> {
    this.begin()
    const { metadata } = this.#options
    for (const pmid of metadata.descs.keys()) {
      const metric = this.#metric(pmid)
      if (metric === undefined) continue
      const { indom } = metric
      const snapshot = indom === PM_INDOM_NULL ? undefined : this.#instances.at(indom, at)
      const instances = Array.from(snapshot?.ids ?? [], (inst) =>
        this.#instances.find(indom, inst, metric.labels),
      )
      for (const series of metric.series) {
        this.#describe(metric, series)
        for (const each of instances) if (each !== undefined) this.#haveInstance(metric, series, each)
      }
      await this.#pipeline.room()
    }
  }

  /** Adds a record as `add`, without waiting for room; returns the number of values. */
  write(record: RecordView): number {
    this.begin()
    const { sec, nsec, count } = record
    if (count === 0) return 0 // a mark
    record.index()
    const time = encodedArguments(`${sec * 1000 + Math.floor(nsec / 1e6)}-${Math.floor(nsec / 1000) % 1000}`)
    const now = this.#clock()
    let values = 0
    for (let s = 0; s < count; s++) {
      const metric = this.#metric(record.pmids[s]!)
      if (metric !== undefined) values += this.#writeSet(record, s, metric, time, now)
    }
    return values
  }

  /** Writes the values of a metric; returns their number. */
  #writeSet(record: RecordView, s: number, metric: Metric, time: Uint8Array, now: number): number {
    const status = record.statuses[s]!
    const isSingle = metric.indom === PM_INDOM_NULL
    // Metrics that never had a value are not described.
    if (status === 0 && !metric.series.some(({ isWritten }) => isWritten)) return 0
    const found = status <= 0 || isSingle ? 1 : this.#findInstances(record, s, metric)
    if (found === 0) return 0
    for (const series of metric.series) {
      this.#describe(metric, series)
      const buffer = this.#pipeline.bufferOf(series.slot)
      buffer.begin(COUNTED_ARGUMENTS + 2 * found)
      buffer.raw(series.add)
      buffer.raw(time)
      if (status < 0) {
        buffer.raw(ERROR)
        buffer.argument(String(status))
      } else if (status === 0) buffer.raw(EMPTY)
      else if (isSingle) {
        buffer.raw(NO_FIELD)
        writeValue(buffer, record, s, 0, metric.type)
      } else
        for (let i = 0; i < status; i++) {
          const instance = metric.instances[i]
          if (instance === undefined) continue
          buffer.raw(instance.field)
          writeValue(buffer, record, s, i, metric.type)
        }
      if (now - series.expiredAt >= EXPIRE_AGAIN * 1000 * this.#options.expireSeconds) {
        series.expiredAt = now
        buffer.begin(3)
        buffer.raw(series.expire)
      }
    }
    return status > 0 ? found * metric.series.length : 0
  }

  /** Finds the instances of a set and writes new ones; returns how many have names. */
  #findInstances(record: RecordView, s: number, metric: Metric): number {
    const { view } = record
    const { insts, instances } = metric
    const snapshot = this.#instances.at(metric.indom, record)
    const isSame = metric.snapshot === snapshot
    metric.snapshot = snapshot
    const status = record.statuses[s]!
    let found = 0
    for (let i = 0, at = record.pairs[s]!; i < status; i++, at += 8) {
      const inst = view.getInt32(at)
      if (isSame && insts[i] === inst) {
        if (instances[i] !== undefined) found++
        continue
      }
      const instance = this.#instances.find(metric.indom, inst, metric.labels)
      insts[i] = inst
      instances[i] = instance
      if (instance === undefined) continue
      found++
      for (const series of metric.series)
        if (!series.instances.has(instance.id.hex)) {
          this.#describe(metric, series)
          this.#haveInstance(metric, series, instance)
        }
    }
    return found
  }

  /** Returns a known metric; undefined for metrics without descriptor and for unselected ones. */
  #metric(pmid: Pmid): Metric | undefined {
    if (this.#metrics.has(pmid)) return this.#metrics.get(pmid)
    const { metadata, isExcluded } = this.#options
    const desc = metadata.descs.get(pmid)
    const names = this.#namesOf(pmid)
    let metric: Metric | undefined
    if (desc !== undefined && names.length > 0) {
      const labels = metricLabels(metadata, this.#context, pmid, desc.indom)
      const series = names
        .filter((name) => isExcluded?.(name, desc.indom) !== true)
        .map((name) => this.#seriesOf(name, metricId(name, desc, labels)))
        .filter(({ id }) => this.#selected?.has(id.hex) !== false)
      if (series.length > 0)
        metric = {
          pmid,
          indom: desc.indom,
          type: desc.type,
          labels,
          series,
          insts: [],
          instances: [],
          snapshot: undefined,
        }
    }
    this.#metrics.set(pmid, metric)
    return metric
  }

  #seriesOf(name: string, hex: string): Series {
    const known = this.#series.get(hex)
    if (known !== undefined) return known
    const { maxSamples, expireSeconds } = this.#options
    const key = valuesKey(hex)
    const series = {
      id: keyId(hex),
      name,
      slot: slotOf(key),
      add: encodedArguments('XADD', key, 'MAXLEN', '~', maxSamples),
      expire: encodedArguments('EXPIRE', key, expireSeconds),
      instances: new Set<string>(),
      isWritten: false,
      expiredAt: Number.NEGATIVE_INFINITY,
    }
    this.#series.set(hex, series)
    return series
  }

  #namesOf(pmid: Pmid): readonly string[] {
    if (this.#names === undefined) {
      const { metadata } = this.#options
      const names = new Map<Pmid, string[]>()
      for (const name of metadata.traverse('')) {
        const id = metadata.lookup(name)
        if (typeof id !== 'number') continue
        const list = names.get(id)
        if (list === undefined) names.set(id, [name])
        else list.push(name)
      }
      this.#names = names
    }
    return this.#names.get(pmid) ?? []
  }

  /** Writes the name and descriptor of a series, and the labels of one without instances, unless they are written. */
  #describe({ pmid, indom, type, labels }: Metric, series: Series): void {
    if (series.isWritten) return
    series.isWritten = true
    const { id, name } = series
    const pipeline = this.#pipeline
    const nameId = this.#map('metric.name', name)
    const desc = this.#options.metadata.descs.get(pmid)!
    pipeline.add(['SADD', seriesKey('metric.name', nameId.hex), id.bytes])
    pipeline.add(['SADD', metricNamesKey(id.hex), nameId.bytes])
    pipeline.add([
      'HMSET',
      descKey(id.hex),
      ...['indom', indom === PM_INDOM_NULL ? 'none' : indomStr(indom), 'pmid', pmidStr(pmid)],
      ...['semantics', semStr(desc.sem), 'source', this.#sourceId!.bytes],
      ...['type', storedType(type), 'units', unitsStr(desc.units) || 'none'],
    ])
    pipeline.add(['SADD', seriesKey('context.name', this.#pathId!.hex), id.bytes])
    if (indom === PM_INDOM_NULL) this.#label(id, series, labels)
  }

  /** Writes an instance of a series. */
  #haveInstance(metric: Metric, series: Series, { id, inst, name, labels }: Instance): void {
    series.instances.add(id.hex)
    const pipeline = this.#pipeline
    const nameId = this.#map('inst.name', name)
    pipeline.add(['SADD', seriesKey('inst.name', nameId.hex), series.id.bytes])
    pipeline.add(['SADD', instancesKey(series.id.hex), id.bytes])
    pipeline.add([
      'HMSET',
      instanceKey(id.hex),
      ...['inst', inst, 'name', nameId.bytes, 'source', this.#sourceId!.bytes],
    ])
    this.#label(id, series, [...metric.labels, ...labels])
  }

  /** Writes the labels of a series without instances, or of an instance. */
  #label(id: KeyId, series: Series, sets: readonly LabelSet[]): void {
    const { labels } = mergeLabelSets(sets)
    if (labels.length === 0) return
    const values: Argument[] = []
    const flags: Argument[] = []
    const added: string[] = []
    for (const label of labels) {
      const nameId = this.#map('label.name', label.name)
      const valueId = this.#map(labelValueMap(nameId.hex), label.value)
      values.push(nameId.bytes, valueId.bytes)
      if ((label.flags & LABEL_CONTEXT) === 0) flags.push(nameId.bytes, label.flags)
      added.push(seriesKey(labelValueMap(nameId.hex), valueId.hex))
    }
    this.#pipeline.add(['HMSET', labelsKey(id.hex), ...values])
    if (flags.length > 0) this.#pipeline.add(['HMSET', labelFlagsKey(id.hex), ...flags])
    for (const key of added) this.#pipeline.add(['SADD', key, series.id.bytes])
  }

  /** Writes a name into its map, unless it is written, and announces it if the server did not have it. */
  #map(map: MapName, text: string): KeyId {
    const name = `${map} ${text}`
    const known = this.#mapped.get(name)
    if (known !== undefined) return known
    const id = textId(text)
    if (this.#mapped.size >= MOST_NAMES) this.#mapped.clear()
    this.#mapped.set(name, id)
    this.#pipeline.add(['HSET', mapKey(map), id.bytes, text], (reply) => {
      if (reply === 1) this.#pipeline.add(['PUBLISH', channelOf(map), `${id.hex}:${text}`])
    })
    return id
  }
}
