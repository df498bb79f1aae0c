/**
 * Labels. docs/formats/wire.md §3.12
 *
 *     LABEL_REQ  12 ident   16 level bit
 *     LABEL      12 ident   16 level bit   20 0   24 sets   28 [sets], then the JSON texts of all sets, unpadded
 *     set        0 inst   4 labels, or an error   8 offset of its JSON in the PDU   12 JSON length   16 [labels]
 *     label      name offset (2), name length (1), flags (1), value offset (2), value length (2): in the set's JSON
 */
import { decodeText, encodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import type { Label, LabelSet } from '../model/labels.ts'
import { newPdu, PDU_LABEL, PDU_LABEL_REQ, pduBytes } from './pdu.ts'
import { PduReader } from './reader.ts'

const SET_BYTES = 16
const LABEL_BYTES = 8
/** Limits of a set: labels, and bytes of JSON. */
const MAX_LABELS = 254
const MAX_JSON = 65534

/** A decoded LABEL_REQ. */
export interface LabelReq {
  /** Domain, indom or PMID, depending on the level. */
  readonly ident: number
  /** One of LABEL_CONTEXT to LABEL_INSTANCES. */
  readonly level: number
}

/** A decoded LABEL. */
export interface LabelPdu extends LabelReq {
  readonly sets: readonly LabelSet[]
}

/** Encodes a request for labels. */
export function encodeLabelReq(ident: number, level: number, from = 0): Uint8Array {
  const view = newPdu(20, PDU_LABEL_REQ, from)
  view.setInt32(12, ident)
  view.setInt32(16, level)
  return pduBytes(view)
}

/** Decodes a request for labels; the receiver checks that the level is a single bit. */
export function decodeLabelReq(pdu: Uint8Array): LabelReq {
  const r = PduReader.open(pdu, PDU_LABEL_REQ)
  const ident = r.u32()
  const level = r.i32()
  r.end()
  return { ident, level }
}

/** Encodes label sets. PM_ERR_TOOBIG if a set exceeds the limits, PM_ERR_LABEL if labels are missing from their JSON. */
export function encodeLabels(ident: number, level: number, sets: readonly LabelSet[], from = 0): Uint8Array {
  const texts = sets.map((set) => encodeText(set.json))
  let jsonAt = 28
  for (const set of sets) jsonAt += SET_BYTES + LABEL_BYTES * set.labels.length
  const length = texts.reduce((sum, text) => sum + text.length, jsonAt)
  const view = newPdu(length, PDU_LABEL, from)
  const bytes = pduBytes(view)
  view.setInt32(12, ident)
  view.setInt32(16, level)
  view.setInt32(24, sets.length)
  let at = 28
  sets.forEach((set, s) => {
    const json = texts[s]!
    if (json.length > MAX_JSON || set.labels.length > MAX_LABELS)
      throw new PcpError('PM_ERR_TOOBIG', `A label set of ${set.labels.length} labels, ${json.length} bytes`)
    view.setInt32(at, set.inst)
    view.setInt32(at + 4, set.status < 0 ? set.status : set.labels.length)
    view.setInt32(at + 8, jsonAt)
    view.setInt32(at + 12, json.length)
    at = writeLabelIndex(view, at + SET_BYTES, json, set.labels)
    bytes.set(json, jsonAt)
    jsonAt += json.length
  })
  return bytes
}

/** Decodes label sets; a set may be an error instead of labels. */
export function decodeLabels(pdu: Uint8Array): LabelPdu {
  const r = PduReader.open(pdu, PDU_LABEL)
  const ident = r.u32()
  const level = r.i32()
  r.i32()
  const count = r.count(SET_BYTES)
  const sets: LabelSet[] = []
  let end = 0
  let jsonBytes = 0
  for (let i = 0; i < count; i++) {
    const inst = r.i32()
    const labelCount = r.i32()
    const jsonAt = r.i32()
    const jsonLength = r.i32()
    const jsonEnd = jsonAt + jsonLength
    if (jsonAt < 0 || jsonLength < 0 || jsonEnd > pdu.length) r.fail(`JSON at ${jsonAt} exceeds the PDU`)
    end = Math.max(end, jsonEnd)
    jsonBytes += jsonLength
    if (jsonBytes > pdu.length) r.fail('JSON texts overlap')
    const status = Math.min(labelCount, 0)
    if (labelCount > MAX_LABELS || labelCount * LABEL_BYTES > r.remaining)
      r.fail(`${labelCount} labels exceed the PDU`)
    const json = r.bytes.subarray(jsonAt, jsonEnd)
    const labels: Label[] = []
    let labelBytes = 0
    for (let l = 0; l < labelCount; l++) {
      const label = readLabel(r, json)
      labelBytes += label.name.length + label.value.length
      if (labelBytes > json.length) r.fail('labels overlap in their JSON')
      labels.push(label)
    }
    sets.push({ inst, status, json: decodeText(json), labels })
  }
  if (Math.max(end, r.offset) !== pdu.length) r.fail(`${pdu.length - end} bytes after the last JSON text`)
  return { ident, level, sets }
}

function readLabel(r: PduReader, json: Uint8Array): Label {
  const nameAt = r.u16()
  const nameEnd = nameAt + r.u8()
  const flags = r.u8()
  const valueAt = r.u16()
  const valueEnd = valueAt + r.u16()
  if (nameEnd > json.length || valueEnd > json.length)
    r.fail(`a label outside its JSON of ${json.length} bytes`)
  return { name: decodeText(json, nameAt, nameEnd), value: decodeText(json, valueAt, valueEnd), flags }
}

/** Byte offsets of a member of a flat JSON object. */
interface Member {
  readonly nameAt: number
  readonly nameLength: number
  readonly valueAt: number
  readonly valueLength: number
}

/** Writes the offsets of a set's labels in its JSON, and returns the offset after them. PM_ERR_LABEL if a label is missing there. */
export function writeLabelIndex(
  view: DataView,
  at: number,
  json: Uint8Array,
  labels: readonly Label[],
): number {
  if (labels.length === 0) return at
  const members = membersOf(json)
  for (const label of labels) {
    const member = members.get(label.name)
    if (member === undefined || member.nameLength > 255)
      throw new PcpError('PM_ERR_LABEL', `Label "${label.name}" is not in ${decodeText(json)}`)
    view.setUint16(at, member.nameAt)
    view.setUint8(at + 2, member.nameLength)
    view.setUint8(at + 3, label.flags)
    view.setUint16(at + 4, member.valueAt)
    view.setUint16(at + 6, member.valueLength)
    at += LABEL_BYTES
  }
  return at
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const SPACE = 0x20

/** Returns the members of a JSON object by name, without decoding their values. */
function membersOf(json: Uint8Array): Map<string, Member> {
  const members = new Map<string, Member>()
  let at = 1
  while (at < json.length) {
    while (json[at]! <= SPACE || json[at] === COMMA) at++
    if (json[at] !== QUOTE) break
    const nameAt = at + 1
    at = stringEnd(json, nameAt)
    const nameLength = at - nameAt
    at++
    while (json[at]! <= SPACE || json[at] === COLON) at++
    const valueAt = at
    at = valueEnd(json, at)
    let end = at
    while (json[end - 1]! <= SPACE) end--
    const member = { nameAt, nameLength, valueAt, valueLength: end - valueAt }
    members.set(decodeText(json, nameAt, nameAt + nameLength), member)
  }
  return members
}

/** Returns the offset of the quote that ends the string starting at `at`. */
function stringEnd(json: Uint8Array, at: number): number {
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}

/** Returns the offset of the comma or bracket after the value at `at`. */
function valueEnd(json: Uint8Array, at: number): number {
  for (let depth = 0; at < json.length; at++) {
    const byte = json[at]!
    if (byte === QUOTE) at = stringEnd(json, at + 1)
    else if (byte === 0x7b || byte === 0x5b) depth++
    else if ((byte === 0x7d || byte === 0x5d) && --depth < 0) return at
    else if (byte === COMMA && depth === 0) return at
  }
  return at
}
