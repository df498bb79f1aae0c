/**
 * Instance domains. docs/formats/wire.md §3.9
 *
 *     INSTANCE_REQ  12 indom   16 8 bytes of 0   24 inst (-1: any)   28 name length   32 name, padded
 *     INSTANCE      12 indom   16 count   20 [count]: inst, name length, name (padded)
 */
import { type Indom, PM_IN_NULL } from '../model/ids.ts'
import type { InstanceQuery, Instances } from '../model/source.ts'
import {
  newPdu,
  PDU_INSTANCE,
  PDU_INSTANCE_REQ,
  pduBytes,
  round4,
  textSize,
  writePadding,
  writeText,
} from './pdu.ts'
import { PduReader } from './reader.ts'

/** A decoded INSTANCE_REQ. */
export interface InstanceReq {
  readonly indom: Indom
  /** PM_IN_NULL (-1) if no id is given. */
  readonly inst: number
  /** '' if no name is given. */
  readonly name: string
}

/** Converts a request for `MetricSource.instances`. PM_ERR_INST if it has both an id and a name. */
export function instanceQuery(req: InstanceReq): InstanceQuery {
  if (req.name !== '') return { name: req.name }
  return req.inst === PM_IN_NULL ? undefined : { id: req.inst }
}

/** Encodes a query: all instances (PM_IN_NULL and ''), the name of an id, or the id of a name. */
export function encodeInstanceReq(indom: Indom, query: InstanceQuery, from = 0): Uint8Array {
  const name = query !== undefined && 'name' in query ? query.name : ''
  const inst = query !== undefined && 'id' in query ? query.id : PM_IN_NULL
  const size = textSize(name)
  const view = newPdu(32 + round4(size), PDU_INSTANCE_REQ, from)
  view.setInt32(12, indom)
  view.setInt32(24, inst)
  view.setInt32(28, size)
  const bytes = pduBytes(view)
  writePadding(bytes, writeText(bytes, 32, name, size))
  return bytes
}

/** Decodes an INSTANCE_REQ; the name must be padded. */
export function decodeInstanceReq(pdu: Uint8Array): InstanceReq {
  const r = PduReader.open(pdu, PDU_INSTANCE_REQ)
  const indom = r.u32()
  r.need(8)
  r.offset += 8
  const inst = r.i32()
  const name = r.paddedText(r.count(1))
  r.end()
  return { indom, inst, name }
}

/** Encodes instances unchanged; ids or names that were not requested are PM_IN_NULL or empty. */
export function encodeInstances(instances: Instances, from = 0): Uint8Array {
  const { ids, names } = instances
  const sizes = names.map(textSize)
  let length = 20
  for (const size of sizes) length += 8 + round4(size)
  const view = newPdu(length, PDU_INSTANCE, from)
  const bytes = pduBytes(view)
  view.setInt32(12, instances.indom)
  view.setInt32(16, ids.length)
  let at = 20
  for (let i = 0; i < ids.length; i++) {
    const size = sizes[i]!
    view.setInt32(at, ids[i]!)
    view.setInt32(at + 4, size)
    at = writePadding(bytes, writeText(bytes, at + 8, names[i]!, size))
  }
  return bytes
}

/** Encodes the reply to `query` as PCP does: names without ids for an id, ids without names for a name. */
export function encodeInstanceReply(instances: Instances, query: InstanceQuery, from = 0): Uint8Array {
  const { indom, ids, names } = instances
  if (query === undefined) return encodeInstances(instances, from)
  if ('id' in query) return encodeInstances({ indom, ids: ids.map(() => PM_IN_NULL), names }, from)
  return encodeInstances({ indom, ids, names: names.map(() => '') }, from)
}

/** Decodes instances. */
export function decodeInstances(pdu: Uint8Array): Instances {
  const r = PduReader.open(pdu, PDU_INSTANCE)
  const indom = r.u32()
  const count = r.count(8)
  const ids = new Array<number>(count)
  const names = new Array<string>(count)
  for (let i = 0; i < count; i++) {
    ids[i] = r.i32()
    names[i] = r.paddedText(r.count(1))
  }
  r.end()
  return { indom, ids, names }
}
