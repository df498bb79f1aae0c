/**
 * Records of the metadata file. docs/formats/archive.md §4
 *
 *     all     0 length   4 type   ...   length repeated; not padded
 *     DESC    8 pmid   12 type   16 indom   20 semantics   24 units   28 names   32 [names]: length, text
 *     INDOM   8 time   indom   instances   [instances] id   [instances] offset of name (delta: -1 deletes)   names
 *     LABEL   8 time   level   id   sets   [sets]: inst, length, JSON, labels, [labels] 8 bytes
 *     TEXT    8 level and kind bits   12 pmid or indom   16 text
 */
import { decodeText } from '../base/text.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { PM_ID_NULL } from '../model/ids.ts'
import { LABEL_CONTEXT, type Label, type LabelSet } from '../model/labels.ts'
import type { TextQuery } from '../model/source.ts'

/** Record types. */
export const META_DESC = 1
/** Instances with a timestamp of version 2. */
export const META_INDOM_V2 = 2
/** Labels with a timestamp of version 2. */
export const META_LABEL_V2 = 3
/** Help text. */
export const META_TEXT = 4
/** All instances of a domain. */
export const META_INDOM = 5
/** Changes of a domain. */
export const META_INDOM_DELTA = 6
/** Labels. */
export const META_LABEL = 7

/** Kind bits of a text record. */
export const TEXT_ONELINE = 1
/** Full help. */
export const TEXT_HELP = 2
/** Of a metric. */
export const TEXT_PMID = 4
/** Of an instance domain. */
export const TEXT_INDOM = 8

/** Marks a deleted instance in a delta record, instead of the name's offset. */
export const DELETED = -1

/** Offsets in a record with instances. */
export interface IndomLayout {
  readonly indom: number
  readonly count: number
  /** Offset of the ids, of the offsets of names, and of the names. */
  readonly ids: number
  readonly offsets: number
  readonly names: number
}

/** One label set in a record. */
interface SetLayout {
  readonly inst: number
  readonly json: number
  readonly jsonLength: number
  readonly labels: number
  readonly end: number
}

/**
 * Calls `visit` with offset, length and type of each record from `start` on; the length is at both ends. Returns the end of the last
 * record. Fewer than 8 bytes at the end are ignored, as a writer may be active. PM_ERR_LOGREC for a truncated record or different
 * lengths; `file` is for messages.
 */
export function forEachMetaRecord(
  view: DataView,
  start: number,
  file: string,
  visit: (at: number, length: number, type: number) => void,
): number {
  const size = view.byteLength
  let at = start
  while (at + 8 <= size) {
    const length = view.getInt32(at)
    if (length < 12 || length > size - at || view.getInt32(at + length - 4) !== length)
      throw badMeta(file, at, `the record is incomplete or its length of ${length} is wrong`)
    visit(at, length, view.getInt32(at + 4))
    at += length
  }
  return at
}

/** Returns the error for a damaged metadata record. */
export function badMeta(file: string, at: number, problem: string): PcpError {
  return new PcpError('PM_ERR_LOGREC', `${file}: damaged record at byte ${at}: ${problem}`)
}

/** Returns the offset after the timestamp of a record with instances or labels. */
export function afterStamp(at: number, type: number): number {
  return type === META_INDOM_V2 || type === META_LABEL_V2 ? at + 16 : at + 20
}

/** Longest valid name: the depth of a name space is that of its names. */
const MAX_NAME = 4096

/** Checks a descriptor record with its names, and calls `visit` with the position of each name. */
export function checkDesc(
  view: DataView,
  at: number,
  length: number,
  file: string,
  visit?: (start: number, end: number) => void,
): void {
  const end = at + length - 4
  if (length < 36) throw badMeta(file, at, `${length} bytes are too few for a descriptor`)
  const count = view.getInt32(at + 28)
  let name = at + 32
  for (let i = 0; i < count; i++) {
    const size = name + 4 <= end ? view.getInt32(name) : -1
    if (size < 0 || size > end - name - 4) throw badMeta(file, at, `name ${i} of ${count} exceeds the record`)
    if (size > MAX_NAME) throw badMeta(file, at, `name ${i} of ${count} has ${size} bytes`)
    visit?.(name + 4, name + 4 + size)
    name += 4 + size
  }
}

/** Returns the descriptor of a checked record. */
export function decodeDesc(view: DataView, at: number): MetricDesc {
  return {
    pmid: view.getUint32(at + 8),
    type: view.getInt32(at + 12),
    indom: view.getUint32(at + 16),
    sem: view.getInt32(at + 20),
    units: view.getUint32(at + 24),
  }
}

/** Returns what a text describes; undefined for a kind or level without a meaning. PM_ERR_LOGREC for a short record. */
export function textTarget(view: DataView, at: number, length: number, file: string): TextQuery | undefined {
  if (length < 20) throw badMeta(file, at, `${length} bytes are too few for a text`)
  const what = view.getInt32(at + 8)
  const hasLevel = (what & (TEXT_ONELINE | TEXT_HELP)) !== 0
  if (!hasLevel || (what & (TEXT_PMID | TEXT_INDOM)) === 0) return undefined
  return {
    kind: (what & TEXT_PMID) !== 0 ? 'metric' : 'indom',
    id: view.getUint32(at + 12),
    level: (what & TEXT_ONELINE) !== 0 ? 'oneline' : 'help',
  }
}

/** Returns the text of a record, up to a NUL. */
export function decodeHelp(view: DataView, at: number, length: number): string {
  const bytes = new Uint8Array(view.buffer, view.byteOffset + at + 16, length - 20)
  const end = bytes.indexOf(0)
  return decodeText(bytes, 0, end === -1 ? bytes.length : end)
}

/** Checks a record with instances and returns the offsets of its parts. */
export function checkIndom(
  view: DataView,
  at: number,
  length: number,
  type: number,
  file: string,
): IndomLayout {
  const head = afterStamp(at, type)
  const end = at + length - 4
  if (head + 8 > end) throw badMeta(file, at, `${length} bytes are too few for an instance domain`)
  const count = view.getInt32(head + 4)
  const ids = head + 8
  const offsets = ids + 4 * count
  const names = offsets + 4 * count
  if (count < 0 || names > end) throw badMeta(file, at, `${count} instances exceed the record`)
  const least = type === META_INDOM_DELTA ? DELETED : 0
  for (let i = 0; i < count; i++) {
    const id = view.getInt32(ids + 4 * i)
    const offset = view.getInt32(offsets + 4 * i)
    if (id < 0) throw badMeta(file, at, `instance ${id} is negative`)
    if (offset < least || offset > end - names)
      throw badMeta(file, at, `the name of instance ${id} is outside the record`)
  }
  return { indom: view.getUint32(head), count, ids, offsets, names }
}

/** Checks a record with label sets; returns the offset of its level, which its id follows. */
export function checkLabels(view: DataView, at: number, length: number, type: number, file: string): number {
  const head = afterStamp(at, type)
  const end = at + length - 4
  if (head + 12 > end) throw badMeta(file, at, `${length} bytes are too few for labels`)
  const sets = view.getInt32(head + 8)
  let next = head + 12
  if (sets < 0 || sets * 12 > end - next) throw badMeta(file, at, `${sets} label sets exceed the record`)
  for (let s = 0; s < sets; s++) next = setAt(view, next, end, file, at).end
  return head
}

/** Level bits of labels, without qualifying bits. */
const LEVEL_MASK = 0x3f

/** Returns level and id of labels, which start at `head`. The context has no id, so the recorded one is ignored. */
export function labelTarget(view: DataView, head: number): { readonly level: number; readonly id: number } {
  return labelKey(view.getInt32(head), view.getUint32(head + 4))
}

/** Returns the key by which labels are found. */
export function labelKey(levelBits: number, id: number): { readonly level: number; readonly id: number } {
  const level = levelBits & LEVEL_MASK
  return { level, id: level === LABEL_CONTEXT ? PM_ID_NULL : id }
}

/** Decodes the label sets of a checked record. */
export function decodeLabelSets(view: DataView, at: number, length: number, type: number): LabelSet[] {
  const head = afterStamp(at, type)
  const end = at + length - 4
  const sets: LabelSet[] = []
  let next = head + 12
  for (let s = view.getInt32(head + 8); s > 0; s--) {
    const set = setAt(view, next, end, '', at)
    sets.push(decodeSet(view, set))
    next = set.end
  }
  return sets
}

function setAt(view: DataView, next: number, end: number, file: string, at: number): SetLayout {
  const jsonLength = next + 8 <= end ? view.getInt32(next + 4) : -1
  const json = next + 8
  if (jsonLength < 0 || jsonLength > 65535 || json + jsonLength + 4 > end)
    throw badMeta(file, at, 'the text of a label set exceeds the record')
  const count = Math.max(0, view.getInt32(json + jsonLength))
  const labels = json + jsonLength + 4
  if (count > 255 || labels + 8 * count > end) throw badMeta(file, at, `${count} labels exceed the record`)
  return { inst: view.getInt32(next), json, jsonLength, labels, end: labels + 8 * count }
}

function decodeSet(view: DataView, { inst, json, jsonLength, labels, end }: SetLayout): LabelSet {
  const bytes = new Uint8Array(view.buffer, view.byteOffset + json, jsonLength)
  const list: Label[] = []
  for (let at = labels; at < end; at += 8) {
    const name = view.getUint16(at)
    const value = view.getUint16(at + 4)
    const nameEnd = name + view.getUint8(at + 2)
    const valueEnd = value + view.getUint16(at + 6)
    // Labels that point outside the text are skipped, as in PCP.
    if (nameEnd > jsonLength || valueEnd > jsonLength) continue
    list.push({
      name: decodeText(bytes, name, nameEnd),
      value: decodeText(bytes, value, valueEnd),
      flags: view.getUint8(at + 3),
    })
  }
  return { inst, status: 0, json: decodeText(bytes), labels: list }
}
