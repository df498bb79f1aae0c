/**
 * PROFILE: the instance profile of a client; not answered. docs/formats/wire.md §3.4
 *
 *     12  context
 *     16  default state: 0 include, 1 exclude
 *     20  entries
 *     24  0
 *     28  [entries]  indom, state, instances, 0
 *     ..  the instance ids of all entries, in entry order
 */
import type { Indom } from '../model/ids.ts'
import { InstanceSet } from '../model/instance-set.ts'
import type { Profile, ProfileEntry } from '../model/profile.ts'
import { newPdu, PDU_PROFILE, pduBytes } from './pdu.ts'
import { PduReader } from './reader.ts'

/** A decoded PROFILE. */
export interface ProfilePdu {
  /** Context number chosen by the client. The receiver rejects negative ones. */
  readonly context: number
  readonly profile: Profile
}

const INCLUDE = 0
const EXCLUDE = 1
const ENTRY_BYTES = 16

/** Encodes the profile of one context. */
export function encodeProfile(context: number, profile: Profile, from = 0): Uint8Array {
  const { entries } = profile
  let instances = 0
  for (const entry of entries.values()) instances += entry.instances.size
  const view = newPdu(28 + ENTRY_BYTES * entries.size + 4 * instances, PDU_PROFILE, from)
  view.setInt32(12, context)
  view.setInt32(16, profile.includeByDefault ? INCLUDE : EXCLUDE)
  view.setInt32(20, entries.size)
  let at = 28
  let listAt = at + ENTRY_BYTES * entries.size
  for (const entry of entries.values()) {
    view.setInt32(at, entry.indom)
    view.setInt32(at + 4, entry.includeAll ? INCLUDE : EXCLUDE)
    view.setInt32(at + 8, entry.instances.size)
    at += ENTRY_BYTES
    for (const inst of entry.instances) {
      view.setInt32(listAt, inst)
      listAt += 4
    }
  }
  return pduBytes(view)
}

/** Decodes a profile. If a domain has several entries, the first applies. */
export function decodeProfile(pdu: Uint8Array): ProfilePdu {
  const r = PduReader.open(pdu, PDU_PROFILE)
  const context = r.i32()
  const includeByDefault = state(r)
  const count = r.i32()
  r.i32()
  if (count < 0 || count * ENTRY_BYTES > r.remaining) r.fail(`${count} entries exceed the PDU`)
  const lists = PduReader.over(r.bytes, r.offset + count * ENTRY_BYTES, 'PROFILE')
  const entries = new Map<Indom, ProfileEntry>()
  for (let i = 0; i < count; i++) {
    const indom = r.u32()
    const includeAll = state(r)
    const size = r.i32()
    r.i32()
    if (size < 0 || size * 4 > lists.remaining) r.fail(`${size} instances exceed the PDU`)
    const ids = new Int32Array(size)
    for (let j = 0; j < size; j++) ids[j] = lists.i32()
    const instances = InstanceSet.over(ids)
    if (!entries.has(indom)) entries.set(indom, { indom, includeAll, instances })
  }
  lists.end()
  return { context, profile: { includeByDefault, entries } }
}

function state(r: PduReader): boolean {
  const value = r.i32()
  if (value !== INCLUDE && value !== EXCLUDE) r.fail(`state ${value} is neither include nor exclude`)
  return value === INCLUDE
}
