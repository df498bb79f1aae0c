/** Metadata records of an archive in encoded form, for copying them to another. docs/formats/archive.md §4 */
import type { Timestamp } from '../../base/timestamp.ts'
import type { Pmid } from '../../model/ids.ts'
import type { Archive } from '../archive.ts'
import {
  afterStamp,
  forEachMetaRecord,
  labelKey,
  labelTarget,
  META_DESC,
  META_LABEL,
  META_LABEL_V2,
  META_TEXT,
} from '../meta-records.ts'
import { readStamp } from '../stamp.ts'

/** A record with labels: its time, and all bytes after it. */
export interface RawLabels {
  readonly time: Timestamp
  /** Level, id and sets. */
  readonly body: Uint8Array
}

/** Records of all members, as views of their bytes. */
export class RawMetadata {
  /** Descriptors: all distinct records of a metric, in file order. */
  readonly descs: ReadonlyMap<Pmid, readonly Uint8Array[]>
  readonly #texts = new Map<string, Uint8Array>()
  readonly #labels = new Map<string, RawLabels[]>()

  constructor(archive: Archive) {
    const descs = new Map<Pmid, Uint8Array[]>()
    for (const { meta } of archive.members) {
      const view = new DataView(meta.bytes.buffer, meta.bytes.byteOffset, meta.bytes.length)
      forEachMetaRecord(view, meta.start, meta.path, (at, length, type) => {
        const record = meta.bytes.subarray(at, at + length)
        if (type === META_DESC) addDistinct(descs, view.getUint32(at + 8), record)
        else if (type === META_TEXT)
          this.#texts.set(`${view.getInt32(at + 8)} ${view.getUint32(at + 12)}`, record)
        else if (type === META_LABEL || type === META_LABEL_V2) {
          const head = afterStamp(at, type)
          const key = keyOf(labelTarget(view, head))
          const time = readStamp(view, at + 8, type === META_LABEL_V2 ? 2 : 3)
          const body = meta.bytes.subarray(head, at + length - 4)
          const list = this.#labels.get(key)
          if (list === undefined) this.#labels.set(key, [{ time, body }])
          else list.push({ time, body })
        }
      })
    }
    this.descs = descs
    // Of equal times the record read first applies, so it goes last.
    for (const list of this.#labels.values())
      list.reverse().sort((a, b) => a.time.sec - b.time.sec || a.time.nsec - b.time.nsec)
  }

  /** Returns the record of a text: `what` is TEXT_ONELINE or TEXT_HELP with TEXT_PMID or TEXT_INDOM. */
  text(what: number, id: number): Uint8Array | undefined {
    return this.#texts.get(`${what} ${id}`)
  }

  /** Returns the label records of one object at one level, oldest first. */
  labels(level: number, id: number): readonly RawLabels[] {
    return this.#labels.get(keyOf(labelKey(level, id))) ?? []
  }

  /** Returns the times at which labels change. */
  labelTimes(): Timestamp[] {
    return [...this.#labels.values()].flatMap((list) => list.map(({ time }) => time))
  }
}

function keyOf({ level, id }: ReturnType<typeof labelKey>): string {
  return `${level} ${id}`
}

function addDistinct(map: Map<Pmid, Uint8Array[]>, pmid: Pmid, record: Uint8Array): void {
  const list = map.get(pmid)
  if (list === undefined) map.set(pmid, [record])
  else if (!list.some((other) => sameBytes(other, record))) list.push(record)
}

/** Returns whether two arrays have the same bytes. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
