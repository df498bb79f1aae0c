/** Where the bytes of an archive's files go. docs/formats/archive.md */
import { decodeLabel, labelSize } from '../../archive/label.ts'
import {
  afterStamp,
  checkIndom,
  DELETED,
  forEachMetaRecord,
  type IndomLayout,
  META_DESC,
  META_INDOM,
  META_INDOM_DELTA,
  META_INDOM_V2,
  META_LABEL,
  META_LABEL_V2,
  META_TEXT,
} from '../../archive/meta-records.ts'
import { stampSize } from '../../archive/stamp.ts'
import { indexEntrySize } from '../../archive/temporal-index.ts'
import { type ByteSource, readBytes } from '../../base/byte-source.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'

/** Bytes and records of one metric or instance domain. */
export interface Share {
  readonly id: number
  bytes: number
  records: number
  /** Values, or instances. */
  items: number
  duplicates: number
  duplicateBytes: number
}

/** One class of content. */
export interface ContentClass {
  readonly name: 'data' | 'index' | 'metrics' | 'indoms' | 'labels' | 'texts'
  bytes: number
  records: number
  marks: number
  readonly shares: Map<number, Share>
}

/** What a file holds; the rest of its size is overhead. */
export interface FileUsage {
  readonly size: number
  readonly classes: readonly ContentClass[]
}

/** Bytes of the lengths around a record. */
const FRAME = 8

/** Adds up a file. `part` is `meta`, `index` or a volume number. PM_ERR_LABEL, PM_ERR_LOGREC for a damaged file. */
export function fileUsage(source: ByteSource, part: string, path: string): FileUsage {
  const bytes = readBytes(source, 0, source.size)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const { version } = decodeLabel(bytes.subarray(0, labelSize(3)), path)
  const start = labelSize(version)
  if (part === 'index') {
    const entries = Math.floor((bytes.length - start) / indexEntrySize(version))
    const index = newClass('index')
    index.records = entries
    index.bytes = entries * indexEntrySize(version)
    return { size: bytes.length, classes: [index] }
  }
  if (part === 'meta') return { size: bytes.length, classes: metaClasses(view, start, path) }
  const data = newClass('data')
  const volume = new VolumeUsage(view, bytes, data)
  let at = start
  for (; at + 4 <= bytes.length; at += view.getInt32(at)) {
    const length = view.getInt32(at)
    if (length < stampSize(version) + 12 || at + length > bytes.length)
      throw new PcpError('PM_ERR_LOGREC', `${path}: damaged record at byte ${at}`)
    volume.add(at, at + 4 + stampSize(version))
  }
  return { size: bytes.length, classes: [data] }
}

function newClass(name: ContentClass['name']): ContentClass {
  return { name, bytes: 0, records: 0, marks: 0, shares: new Map() }
}

function metaClasses(view: DataView, start: number, path: string): ContentClass[] {
  const metrics = newClass('metrics')
  const indoms = newClass('indoms')
  const labels = newClass('labels')
  const texts = newClass('texts')
  const known = new Map<number, Map<number, string>>()
  const byType: { readonly [type: number]: ContentClass } = {
    [META_DESC]: metrics,
    [META_INDOM_V2]: indoms,
    [META_INDOM]: indoms,
    [META_INDOM_DELTA]: indoms,
    [META_LABEL_V2]: labels,
    [META_LABEL]: labels,
    [META_TEXT]: texts,
  }
  forEachMetaRecord(view, start, path, (at, length, type) => {
    const owner = byType[type]
    if (owner === undefined)
      throw new PcpError('PM_ERR_RECTYPE', `${path}: record type ${type} at byte ${at}`)
    owner.bytes += length - FRAME
    owner.records++
    if (owner !== indoms) return
    const head = afterStamp(at, type)
    const share = shareOf(indoms, view.getUint32(head))
    share.bytes += length - FRAME
    share.records++
    share.items += view.getInt32(head + 4)
    const names = known.get(share.id) ?? new Map<number, string>()
    known.set(share.id, names)
    countRepeated(view, checkIndom(view, at, length, type, path), share, names)
  })
  return [metrics, indoms, labels, texts].filter(({ records }) => records > 0)
}

/** Instances that have the name they had before. */
function countRepeated(
  view: DataView,
  { count, ids, offsets, names }: IndomLayout,
  share: Share,
  known: Map<number, string>,
): void {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  for (let i = 0; i < count; i++) {
    const offset = view.getInt32(offsets + 4 * i)
    if (offset === DELETED) continue
    const start = names + offset
    const name = decodeText(bytes, start, bytes.indexOf(0, start))
    const inst = view.getInt32(ids + 4 * i)
    if (known.get(inst) === name) {
      share.duplicates++
      share.duplicateBytes += 8 + bytes.indexOf(0, start) + 1 - start
    } else known.set(inst, name)
  }
}

function shareOf({ shares }: ContentClass, id: number): Share {
  let share = shares.get(id)
  if (share === undefined) {
    share = { id, bytes: 0, records: 0, items: 0, duplicates: 0, duplicateBytes: 0 }
    shares.set(id, share)
  }
  return share
}

/** The records of one data volume. */
class VolumeUsage {
  readonly #view: DataView
  readonly #bytes: Uint8Array
  readonly #data: ContentClass
  /** The last value of each instance of each metric, as text. */
  readonly #last = new Map<number, Map<number, string>>()

  constructor(view: DataView, bytes: Uint8Array, data: ContentClass) {
    this.#view = view
    this.#bytes = bytes
    this.#data = data
  }

  /** The record at `at`, whose number of value sets is at `head`. */
  add(at: number, head: number): void {
    const count = this.#view.getInt32(head)
    if (count === 0) {
      this.#data.marks++
      return
    }
    this.#data.records++
    for (let s = 0, set = head + 4; s < count; s++) set = this.#addSet(at, set)
  }

  /** Returns where the next value set is. */
  #addSet(record: number, set: number): number {
    const view = this.#view
    const id = view.getUint32(set)
    const status = view.getInt32(set + 4)
    const share = shareOf(this.#data, id)
    share.records++
    const head = status > 0 ? 12 : 8
    let bytes = head + 8 * Math.max(0, status)
    const isInSitu = status > 0 && view.getInt32(set + 8) === 0
    for (let i = 0; i < status; i++) {
      const pair = set + 12 + 8 * i
      const word = view.getInt32(pair + 4)
      const block = record + 4 * (word - 2)
      const length = isInSitu ? 0 : view.getUint32(block) & 0xffffff
      bytes += (length + 3) & ~3
      share.items++
      const value = isInSitu ? String(word) : this.#bytes.subarray(block, block + length).join()
      this.#compare(share, view.getInt32(pair), value, 8 + length)
    }
    share.bytes += bytes
    this.#data.bytes += bytes
    return set + head + 8 * Math.max(0, status)
  }

  #compare(share: Share, inst: number, value: string, bytes: number): void {
    let last = this.#last.get(share.id)
    if (last === undefined) {
      last = new Map()
      this.#last.set(share.id, last)
    }
    if (last.get(inst) === value) {
      share.duplicates++
      share.duplicateBytes += bytes
    } else last.set(inst, value)
  }
}
