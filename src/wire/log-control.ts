/**
 * LOG_CONTROL to pmlogger, answered by a RESULT whose words describe each instance. docs/formats/wire.md §3.13
 *
 *     12  control   16  state   20  interval in ms   24  metrics
 *     28  [metrics]: pmid, count, [count]: inst, word     (no format word; nothing follows a count of 0 or less)
 */
import type { Pmid } from '../model/ids.ts'
import { newPdu, PDU_LOG_CONTROL, pduBytes } from './pdu.ts'
import { PduReader } from './reader.ts'

/** Mandatory: advisory requests cannot change the state. */
export const PM_LOG_MANDATORY = 11
/** Advisory: mandatory requests override the state. */
export const PM_LOG_ADVISORY = 12
/** Only queries the state. */
export const PM_LOG_ENQUIRE = 13
/** Do not log. */
export const PM_LOG_OFF = 0
/** Leave the state to other requests. */
export const PM_LOG_MAYBE = 1
/** Log. */
export const PM_LOG_ON = 2

/** Instances of a metric. */
export interface LogControlSet {
  readonly pmid: Pmid
  /** Number of instances, 0 for all, or negative. */
  readonly status: number
  readonly inst: Int32Array
  readonly word: Int32Array
}

/** A decoded LOG_CONTROL. */
export interface LogControl {
  /** PM_LOG_MANDATORY, PM_LOG_ADVISORY or PM_LOG_ENQUIRE. */
  readonly control: number
  /** PM_LOG_OFF, PM_LOG_MAYBE or PM_LOG_ON. */
  readonly state: number
  /** Logging interval. */
  readonly deltaMs: number
  readonly sets: readonly LogControlSet[]
}

/** Encodes a control request. */
export function encodeLogControl(request: LogControl, from = 0): Uint8Array {
  let length = 28
  for (const set of request.sets) length += 8 + 8 * Math.max(0, set.status)
  const view = newPdu(length, PDU_LOG_CONTROL, from)
  view.setInt32(12, request.control)
  view.setInt32(16, request.state)
  view.setInt32(20, request.deltaMs)
  view.setInt32(24, request.sets.length)
  let at = 28
  for (const set of request.sets) {
    view.setInt32(at, set.pmid)
    view.setInt32(at + 4, set.status)
    at += 8
    for (let i = 0; i < set.status; i++) {
      view.setInt32(at, set.inst[i]!)
      view.setInt32(at + 4, set.word[i]!)
      at += 8
    }
  }
  return pduBytes(view)
}

/** Decodes a control request. PM_ERR_IPC for a negative interval. */
export function decodeLogControl(pdu: Uint8Array): LogControl {
  const r = PduReader.open(pdu, PDU_LOG_CONTROL)
  const control = r.i32()
  const state = r.i32()
  const deltaMs = r.i32()
  if (deltaMs < 0) r.fail(`negative interval of ${deltaMs} ms`)
  const count = r.count(8)
  const sets: LogControlSet[] = []
  for (let s = 0; s < count; s++) {
    const pmid = r.u32()
    const status = r.i32()
    const values = Math.max(0, status)
    r.need(values * 8)
    const inst = new Int32Array(values)
    const word = new Int32Array(values)
    for (let i = 0; i < values; i++) {
      inst[i] = r.i32()
      word[i] = r.i32()
    }
    sets.push({ pmid, status, inst, word })
  }
  r.end()
  return { control, state, deltaMs, sets }
}
