/** Measures the space used by an archive file's contents. docs/formats/archive.md */
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
import type { RecordView } from '../../archive/record-view.ts'
import { RecordWindow, type WindowTarget } from '../../archive/record-window.ts'
import { indexEntrySize } from '../../archive/temporal-index.ts'
import { type ByteSource, readBytes } from '../../base/byte-source.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'

/** Bytes and records of one metric or instance domain. */
export interface ItemUsage {
  readonly id: number
  bytes: number
  records: number
  /** Number of values or instances. */
  items: number
  duplicates: number
  duplicateBytes: number
}

/** One kind of content. */
export interface ContentClass {
  readonly name: 'data' | 'index' | 'metrics' | 'indoms' | 'labels' | 'texts'
  bytes: number
  records: number
  marks: number
  readonly shares: Map<number, ItemUsage>
}

/** Contents of a file; the rest of its size is overhead. */
export interface FileUsage {
  readonly size: number
  readonly classes: readonly ContentClass[]
}

/** Bytes of the length words around a record. */
const FRAME = 8

/**
 * Measures a file. `part` is `meta`, `index` or a volume number. `duplicates` counts values equal to their predecessors. Throws
 * PM_ERR_LABEL, PM_ERR_LOGREC for a damaged file.
 */
export function fileUsage(
  source: ByteSource,
  { part, path, duplicates }: { readonly part: string; readonly path: string; readonly duplicates: boolean },
): FileUsage {
  const { version } = decodeLabel(readBytes(source, 0, labelSize(3)), path)
  const start = labelSize(version)
  const { size } = source
  if (part === 'meta') return { size, classes: metaClasses(readBytes(source, 0, size), start, path) }
  if (part !== 'index') {
    const data = volumeClass({ source, path, version, volume: Number(part), member: 0, start }, duplicates)
    return { size, classes: [data] }
  }
  const index = newClass('index')
  index.records = Math.floor((size - start) / indexEntrySize(version))
  index.bytes = index.records * indexEntrySize(version)
  return { size, classes: [index] }
}

function newClass(name: ContentClass['name']): ContentClass {
  return { name, bytes: 0, records: 0, marks: 0, shares: new Map() }
}

function metaClasses(bytes: Uint8Array, start: number, path: string): ContentClass[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const metrics = newClass('metrics')
  const indoms = newClass('indoms')
  const labels = newClass('labels')
  const texts = newClass('texts')
  const known = new Map<number, Set<string>>()
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
    const names = known.get(share.id) ?? new Set<string>()
    known.set(share.id, names)
    countRepeated(view, checkIndom(view, at, length, type, path), share, names)
  })
  return [metrics, indoms, labels, texts].filter(({ records }) => records > 0)
}

/** Counts instances with an unchanged name. */
function countRepeated(
  view: DataView,
  { count, ids, offsets, names }: IndomLayout,
  share: ItemUsage,
  known: Set<string>,
): void {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  for (let i = 0; i < count; i++) {
    const offset = view.getInt32(offsets + 4 * i)
    if (offset === DELETED) continue
    const start = names + offset
    const name = decodeText(bytes, start, bytes.indexOf(0, start))
    const inst = view.getInt32(ids + 4 * i)
    const instance = `${inst} ${name}`
    if (known.has(instance)) {
      share.duplicates++
      share.duplicateBytes += 8 + bytes.indexOf(0, start) + 1 - start
    } else known.add(instance)
  }
}

function shareOf({ shares }: ContentClass, id: number): ItemUsage {
  let share = shares.get(id)
  if (share === undefined) {
    share = { id, bytes: 0, records: 0, items: 0, duplicates: 0, duplicateBytes: 0 }
    shares.set(id, share)
  }
  return share
}

/** Bytes of a volume in memory at a time. */
const WINDOW = 1 << 20

function volumeClass(target: WindowTarget, duplicates: boolean): ContentClass {
  const data = newClass('data')
  const window = new RecordWindow(true, WINDOW)
  window.attach(target)
  const repeats = duplicates ? new Repeats(window) : undefined
  for (let at = target.start; ; at += window.length) {
    const found = window.load(at)
    if (found === 'end') return data
    if (found === 'damage') throw window.damage()
    if (window.count === 0) {
      data.marks++
      repeats?.forget()
    } else {
      data.records++
      for (let s = 0; s < window.count; s++) addSet(window, s, data, repeats)
    }
  }
}

function addSet(record: RecordView, s: number, data: ContentClass, repeats: Repeats | undefined): void {
  const share = shareOf(data, record.pmids[s]!)
  const values = Math.max(0, record.statuses[s]!)
  const first = record.pairs[s]!
  let bytes = (values > 0 ? 12 : 8) + 8 * values
  if (record.formats[s] !== 0)
    for (let at = first; at < first + 8 * values; at += 8)
      bytes += (blockLength(record, record.view.getInt32(at + 4)) + 3) & ~3
  share.records++
  share.items += values
  share.bytes += bytes
  data.bytes += bytes
  repeats?.count(share, s)
}

function blockLength(record: RecordView, word: number): number {
  return record.view.getUint32(record.blockAt(word)) & 0xffffff
}

/** Counts repetitions of each instance's last value in a volume. */
class Repeats {
  readonly #record: RecordView
  readonly #last = new Map<number, Map<number, number | Uint8Array>>()

  constructor(record: RecordView) {
    this.#record = record
  }

  /** Discards the last values, after a mark. */
  forget(): void {
    this.#last.clear()
  }

  /** Counts values of set `s` that equal the previous one. */
  count(share: ItemUsage, s: number): void {
    const { view, bytes, formats, pairs, statuses } = this.#record
    let last = this.#last.get(share.id)
    if (last === undefined) {
      last = new Map()
      this.#last.set(share.id, last)
    }
    for (let i = 0, at = pairs[s]!; i < statuses[s]!; i++, at += 8) {
      const inst = view.getInt32(at)
      const word = view.getInt32(at + 4)
      const before = last.get(inst)
      if (formats[s] === 0) {
        if (before === word) repeat(share, 8)
        else last.set(inst, word)
        continue
      }
      const from = this.#record.blockAt(word)
      const block = bytes.subarray(from, from + blockLength(this.#record, word))
      if (before instanceof Uint8Array && isSame(before, block)) repeat(share, 8 + block.length)
      else last.set(inst, block.slice())
    }
  }
}

function repeat(share: ItemUsage, bytes: number): void {
  share.duplicates++
  share.duplicateBytes += bytes
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
