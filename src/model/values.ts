/** Values in columns close to the wire format. docs/formats/wire.md §5, docs/decisions/values.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { Pmid } from './ids.ts'

/**
 * One value. Integers are numbers within ±(2^53 − 1) and bigints beyond; aggregates and event arrays are
 * the bytes of their block without its header.
 */
export type Value = number | bigint | string | Uint8Array

/**
 * The values of one metric in one result, as columns. Values are decoded on demand: `extract(set, i, type)`.
 * `inst` and `word` have `max(0, status)` entries.
 */
export interface ValueSet {
  readonly pmid: Pmid
  /** Number of values, or a negative error status for the whole metric. */
  readonly status: number
  /** PM_VAL_INSITU: `word` holds the values. PM_VAL_DPTR or PM_VAL_SPTR: `word` holds offsets into `bytes`. */
  readonly format: number
  /** Instance of each value, PM_IN_NULL (-1) for a metric without instance domain. */
  readonly inst: Int32Array
  /** The 32 bits of each value in situ, or the byte offset in `bytes` of its value block. */
  readonly word: Int32Array
  /**
   * Storage of the value blocks (first byte type, then 24-bit big-endian length including these 4 bytes, then data).
   * May be shared with other sets and may be the received PDU: never modified once the set exists.
   */
  readonly bytes: Uint8Array
}

/** Result of a fetch. @see pmFetch(3) */
export interface FetchResult {
  readonly timestamp: Timestamp
  /** Changes since this requester's last fetch: PMCD_* bits, 0 for none. */
  readonly changes: number
  /** One set per requested PMID, in request order. */
  readonly sets: readonly ValueSet[]
}

/** An agent was added. */
export const PMCD_ADD_AGENT = 1
/** An agent was restarted. */
export const PMCD_RESTART_AGENT = 2
/** An agent was dropped. */
export const PMCD_DROP_AGENT = 4
/** Labels changed. */
export const PMCD_LABEL_CHANGE = 8
/** Names changed. */
export const PMCD_NAMES_CHANGE = 16
/** The host name changed (7.x). */
export const PMCD_HOSTNAME_CHANGE = 32
/** After any of these changes a name may refer to another metric. */
export const METRICS_MAY_HAVE_CHANGED: number =
  PMCD_ADD_AGENT | PMCD_RESTART_AGENT | PMCD_DROP_AGENT | PMCD_NAMES_CHANGE

const NO_WORDS = new Int32Array(0)
const NO_BYTES = new Uint8Array(0)

/** A set without values: `status` is 0 (none now) or a negative error status. */
export function emptySet(pmid: Pmid, status = 0): ValueSet {
  return { pmid, status, format: 0, inst: NO_WORDS, word: NO_WORDS, bytes: NO_BYTES }
}
