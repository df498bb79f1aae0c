/** PDUs received and sent by type: pmcd.pdu_in.*, pmcd.pdu_out.*, pmprobe -V. */

/** Counts by type; read them with `pduCount`. */
export interface PduCounters {
  readonly received: Float64Array
  readonly sent: Float64Array
}

const LOG_TYPES = 0x8000
const SLOTS = 64

/** Returns the index of a type: 0x7000 to 0x701f first, then 0x8000 to 0x801f; unknown types share them. */
function slot(type: number): number {
  return (type & 0x1f) | (type >= LOG_TYPES ? 0x20 : 0)
}

/** Returns counters that are all 0. */
export function newPduCounters(): PduCounters {
  return { received: new Float64Array(SLOTS), sent: new Float64Array(SLOTS) }
}

/** Returns the number of PDUs of one type in `received` or `sent`. */
export function pduCount(counts: Float64Array, type: number): number {
  return counts[slot(type)]!
}

/** Returns the number of PDUs of all types in `received` or `sent`. */
export function pduTotal(counts: Float64Array): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Counts one PDU. */
export function countPdu(counts: Float64Array, type: number): void {
  counts[(type & 0x1f) | (type >= LOG_TYPES ? 0x20 : 0)]! += 1 // `slot` inlined: called four times per PDU
}
