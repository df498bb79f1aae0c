/**
 * Metadata records: descriptors, instance domains, labels, texts. docs/formats/archive.md
 *
 *     every record   0 length   4 record type   8 ...   length, unpadded
 *     DESC           8 pmid   type   indom   semantics   units   names, then for each: length (4), name
 *     INDOM          8 time   indom   instances   [id]   [offset of the name, -1: gone]   names, NUL-terminated
 *     LABEL          8 time   level   id   sets, then for each: inst   length (4), JSON   labels   [8 bytes per label]
 *     TEXT           8 what   pmid or indom   text, NUL-terminated
 */
import { encodeText } from '../../base/text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import type { Indom } from '../../model/ids.ts'
import type { LabelSet } from '../../model/labels.ts'
import type { TextQuery } from '../../model/source.ts'
import { writeLabelIndex } from '../../wire/label.ts'
import { type ArchiveVersion, stampSize, writeStamp } from '../stamp.ts'

const TYPE_DESC = 1
const TYPE_INDOM_V2 = 2
const TYPE_LABEL_V2 = 3
const TYPE_TEXT = 4
const TYPE_INDOM = 5
const TYPE_INDOM_DELTA = 6
const TYPE_LABEL = 7

const TEXT_ONELINE = 1
const TEXT_HELP = 2
const TEXT_PMID = 4
const TEXT_INDOM = 8

const LABEL_BYTES = 8
/** Limits of readers: labels of a set, and bytes of its JSON. */
const MAX_LABELS = 255
const MAX_JSON = 65535

/** Instances of a domain, ascending; the name is undefined for a deleted instance. */
export interface InstanceColumns {
  readonly ids: readonly number[]
  readonly names: readonly (string | undefined)[]
}

/** Encodes a descriptor with all its names. */
export function encodeDesc(desc: MetricDesc, names: readonly string[]): Uint8Array {
  const texts = names.map(encodeText)
  const length = texts.reduce((sum, text) => sum + 4 + text.length, 36)
  const { bytes, view } = newRecord(length, TYPE_DESC)
  view.setUint32(8, desc.pmid)
  view.setInt32(12, desc.type)
  view.setUint32(16, desc.indom)
  view.setInt32(20, desc.sem)
  view.setUint32(24, desc.units)
  view.setInt32(28, texts.length)
  let at = 32
  for (const text of texts) {
    view.setInt32(at, text.length)
    bytes.set(text, at + 4)
    at += 4 + text.length
  }
  return bytes
}

/** Encodes an instance domain at a time, or its changes since the record before (version 3 only). */
export function encodeIndom(
  version: ArchiveVersion,
  at: Timestamp,
  indom: Indom,
  instances: InstanceColumns,
  isDelta: boolean,
): Uint8Array {
  const { ids, names } = instances
  const texts = names.map((name) => (name === undefined ? undefined : encodeText(name)))
  const head = 8 + stampSize(version) + 8
  const length = texts.reduce((sum, text) => sum + 8 + (text === undefined ? 0 : text.length + 1), head + 4)
  const type = isDelta ? TYPE_INDOM_DELTA : version === 3 ? TYPE_INDOM : TYPE_INDOM_V2
  const { bytes, view } = newRecord(length, type)
  const next = writeStamp(view, 8, at, version)
  view.setUint32(next, indom)
  view.setInt32(next + 4, ids.length)
  const offsets = head + 4 * ids.length
  const table = offsets + 4 * ids.length
  let used = 0
  texts.forEach((text, i) => {
    view.setInt32(head + 4 * i, ids[i]!)
    view.setInt32(offsets + 4 * i, text === undefined ? -1 : used)
    if (text === undefined) return
    bytes.set(text, table + used)
    used += text.length + 1
  })
  return bytes
}

/** Encodes the labels of one level at a time. Sets with an error are empty. E2BIG for a set beyond the limits. */
export function encodeLabels(
  version: ArchiveVersion,
  at: Timestamp,
  level: number,
  id: number,
  sets: readonly LabelSet[],
): Uint8Array {
  const texts = sets.map(({ json }) => encodeText(json))
  let length = 8 + stampSize(version) + 12 + 4
  sets.forEach((set, s) => {
    length += 12 + texts[s]!.length + LABEL_BYTES * set.labels.length
  })
  const { bytes, view } = newRecord(length, version === 3 ? TYPE_LABEL : TYPE_LABEL_V2)
  let next = writeStamp(view, 8, at, version)
  view.setInt32(next, level)
  view.setUint32(next + 4, id)
  view.setInt32(next + 8, sets.length)
  next += 12
  sets.forEach((set, s) => {
    const json = texts[s]!
    if (json.length > MAX_JSON || set.labels.length > MAX_LABELS)
      throw new PcpError(
        'E2BIG',
        `A label set of ${set.labels.length} labels and ${json.length} bytes is too big`,
      )
    view.setInt32(next, set.inst)
    view.setInt32(next + 4, json.length)
    bytes.set(json, next + 8)
    view.setInt32(next + 8 + json.length, set.status < 0 ? set.status : set.labels.length)
    next = writeLabelIndex(view, next + 12 + json.length, json, set.labels)
  })
  return bytes
}

/** Encodes a help text. */
export function encodeHelp({ kind, id, level }: TextQuery, text: string): Uint8Array {
  const encoded = encodeText(text)
  const { bytes, view } = newRecord(21 + encoded.length, TYPE_TEXT)
  const what = level === 'oneline' ? TEXT_ONELINE : TEXT_HELP
  view.setInt32(8, what | (kind === 'metric' ? TEXT_PMID : TEXT_INDOM))
  view.setUint32(12, id)
  bytes.set(encoded, 16)
  return bytes
}

function newRecord(length: number, type: number): { bytes: Uint8Array; view: DataView } {
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  view.setInt32(0, length)
  view.setInt32(4, type)
  view.setInt32(length - 4, length)
  return { bytes, view }
}
