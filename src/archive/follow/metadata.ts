/** Metadata of an archive that is being written, read record by record. docs/formats/archive.md §4 */
import { type ByteSource, readBytes } from '../../base/byte-source.ts'
import { decodeText } from '../../base/text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import type { Indom, Pmid } from '../../model/ids.ts'
import type { LabelSet } from '../../model/labels.ts'
import type { TextQuery } from '../../model/source.ts'
import { cString } from '../indom-history.ts'
import {
  badMeta,
  checkDesc,
  checkIndom,
  checkLabels,
  DELETED,
  decodeDesc,
  decodeHelp,
  decodeLabelSets,
  labelKey,
  labelTarget,
  META_DESC,
  META_INDOM,
  META_INDOM_DELTA,
  META_INDOM_V2,
  META_LABEL,
  META_LABEL_V2,
  META_TEXT,
  textTarget,
} from '../meta-records.ts'
import { checkSame } from '../metadata.ts'
import { readStamp } from '../stamp.ts'
import { tearAt } from '../torn.ts'

/** A metric of an archive. */
export interface FollowedMetric {
  readonly desc: MetricDesc
  readonly names: readonly string[]
}

/** A change of metadata; `FollowedMetadata` then has the new state. */
export type MetadataChange =
  | ({ readonly kind: 'metric' } & FollowedMetric)
  | { readonly kind: 'instances'; readonly at: Timestamp; readonly indom: Indom }
  | {
      readonly kind: 'labels'
      readonly at: Timestamp
      /** LABEL_CONTEXT to LABEL_INSTANCES. */
      readonly level: number
      readonly id: number
      readonly sets: readonly LabelSet[]
    }
  | {
      readonly kind: 'text'
      readonly of: TextQuery['kind']
      readonly id: number
      readonly level: TextQuery['level']
      readonly text: string
    }

/** A complete record in the metadata file. */
export interface MetaRecord {
  readonly view: DataView
  readonly at: number
  readonly length: number
  readonly type: number
  /** Undefined for descriptors and texts. */
  readonly time: Timestamp | undefined
  /** File, and where `view` starts in it, for messages. */
  readonly file: string
}

/** Bytes read at once. */
const CHUNK = 64 << 10
const STAMPED: ReadonlySet<number> = new Set([
  META_INDOM_V2,
  META_INDOM,
  META_INDOM_DELTA,
  META_LABEL_V2,
  META_LABEL,
])

/** Reads the records of a metadata file that grows. */
export class MetaTail {
  /** Offset of the next record. */
  offset: number
  readonly #source: ByteSource
  readonly #path: string
  #view: DataView = new DataView(new ArrayBuffer(0))
  #from = 0
  #next: MetaRecord | undefined

  /** `offset` is that of a record. */
  constructor(source: ByteSource, path: string, offset: number) {
    this.#source = source
    this.#path = path
    this.offset = offset
  }

  /**
   * Returns the next complete record without moving; undefined without one. ESTALE if the file was truncated, PM_ERR_LOGREC for
   * damage.
   */
  peek(): MetaRecord | undefined {
    if (this.#next !== undefined) return this.#next
    const left = this.#source.size - this.offset
    if (left < 0) throw stale(this.#path, 'was truncated')
    if (left < 12) return undefined
    const length = this.#cover(4) ? this.#view.getInt32(this.offset - this.#from) : 0
    const isWhole = length >= 12 && length <= left && this.#cover(length)
    const at = this.offset - this.#from
    if (!isWhole || this.#view.getInt32(at + length - 4) !== length) {
      // Pages that are not on the disk yet may be read as zeros: read them again.
      this.#view = new DataView(new ArrayBuffer(0))
      if (tearAt(this.#source, this.offset, 12) !== undefined) return undefined
      throw badMeta(this.#path, this.offset, `its length of ${length} is wrong`)
    }
    const type = this.#view.getInt32(at + 4)
    const isStamped = STAMPED.has(type)
    if (isStamped && length < 24) throw badMeta(this.#path, this.offset, `${length} bytes are too few`)
    const version = type === META_INDOM_V2 || type === META_LABEL_V2 ? 2 : 3
    const time = isStamped ? readStamp(this.#view, at + 8, version) : undefined
    const file = this.#from === 0 ? this.#path : `${this.#path} after byte ${this.#from}`
    this.#next = { view: this.#view, at, length, type, time, file }
    return this.#next
  }

  /** Moves to the record after the next one. */
  skip(): void {
    this.offset += this.#next?.length ?? 0
    this.#next = undefined
  }

  /** Makes `length` bytes at the offset available; returns false if the file is too short. */
  #cover(length: number): boolean {
    const end = this.#from + this.#view.byteLength
    if (this.offset >= this.#from && this.offset + length <= end) return true
    const bytes = readBytes(this.#source, this.offset, Math.max(length, CHUNK))
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#from = this.offset
    return bytes.length >= length
  }
}

/** The present state of an archive's metadata; past states are not kept. */
export class FollowedMetadata {
  readonly #metrics = new Map<Pmid, FollowedMetric>()
  readonly #instances = new Map<Indom, Map<number, string>>()
  readonly #labels = new Map<string, readonly LabelSet[]>()

  /** Metrics with their names. */
  get metrics(): ReadonlyMap<Pmid, FollowedMetric> {
    return this.#metrics
  }

  /** Instance domains that were recorded, with the names of their present instances. */
  get indoms(): ReadonlyMap<Indom, ReadonlyMap<number, string>> {
    return this.#instances
  }

  /** Returns the newest label sets of an object. */
  labels(level: number, id: number): readonly LabelSet[] {
    const key = labelKey(level, id)
    return this.#labels.get(`${key.level} ${key.id}`) ?? []
  }

  /** Applies a record; returns undefined for a repetition. PM_ERR_LOGREC, PM_ERR_RECTYPE, PM_ERR_LOGCHANGE*. */
  apply({ view, at, length, type, time, file }: MetaRecord): MetadataChange | undefined {
    if (type === META_DESC) return this.#applyDesc(view, at, length, file)
    if (type === META_TEXT) {
      const target = textTarget(view, at, length, file)
      if (target === undefined) return undefined
      const { kind: of, id, level } = target
      return { kind: 'text', of, id, level, text: decodeHelp(view, at, length) }
    }
    if (time === undefined)
      throw new PcpError('PM_ERR_RECTYPE', `${file}: record at byte ${at} has unknown type ${type}`)
    if (type === META_LABEL || type === META_LABEL_V2) {
      const { level, id } = labelTarget(view, checkLabels(view, at, length, type, file))
      const sets = decodeLabelSets(view, at, length, type)
      this.#labels.set(`${level} ${id}`, sets)
      return { kind: 'labels', at: time, level, id, sets }
    }
    const { indom, count, ids, offsets, names } = checkIndom(view, at, length, type, file)
    if (count === 0) return undefined
    const isDelta = type === META_INDOM_DELTA
    const instances = (isDelta ? this.#instances.get(indom) : undefined) ?? new Map<number, string>()
    const isDeleted = (i: number): boolean => view.getInt32(offsets + 4 * i) === DELETED
    const idAt = (i: number): number => view.getInt32(ids + 4 * i)
    for (let i = 0; i < count; i++) if (isDeleted(i)) instances.delete(idAt(i))
    for (let i = 0; i < count; i++)
      if (!isDeleted(i) && !instances.has(idAt(i)))
        instances.set(idAt(i), cString(view, names + view.getInt32(offsets + 4 * i)))
    this.#instances.set(indom, instances)
    return { kind: 'instances', at: time, indom }
  }

  #applyDesc(view: DataView, at: number, length: number, file: string): MetadataChange | undefined {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    const names: string[] = []
    checkDesc(view, at, length, file, (start, end) => names.push(decodeText(bytes, start, end)))
    const desc = decodeDesc(view, at)
    const known = this.#metrics.get(desc.pmid)
    if (known !== undefined) checkSame(known.desc, desc, file)
    const all = [...new Set([...(known?.names ?? []), ...names])]
    if (all.length === known?.names.length) return undefined
    const metric = { desc: known?.desc ?? desc, names: all }
    this.#metrics.set(desc.pmid, metric)
    return { kind: 'metric', ...metric }
  }
}

/** Returns the error for an archive that was replaced. */
export function stale(path: string, what: string): PcpError {
  return new PcpError('ESTALE', `${path} ${what}: follow the new archive from its start`)
}
