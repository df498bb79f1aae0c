/**
 * Limits on the replies of collectors and agents. Counts are read from the PDU before anything is decoded: a PDU of 64 MiB can contain
 * 8 million values, which take 2.6 GB as objects. docs/reference/client-library.md
 */
import {
  PDU_DESCS,
  PDU_HIGHRES_RESULT,
  PDU_INSTANCE,
  PDU_LABEL,
  PDU_PMNS_IDS,
  PDU_PMNS_NAMES,
  PDU_RESULT,
  PDU_TEXT,
  pduType,
  wordAt,
} from './pdu.ts'

/** Limits of one reply. */
export interface ReplyLimits {
  /** Bytes of a PDU. */
  readonly pduBytes: number
  /** Values, instances, names, descriptors or labels. */
  readonly items: number
  /** Bytes of a help text. */
  readonly textBytes: number
}

/** Limits of programs that follow one collector. */
export const REPLY_LIMITS: ReplyLimits = { pduBytes: 64 * 2 ** 20, items: 1_000_000, textBytes: 2 ** 20 }

/** Limits of servers, which have to answer other clients meanwhile. */
export const SERVER_REPLY_LIMITS: ReplyLimits = { pduBytes: 16 * 2 ** 20, items: 250_000, textBytes: 2 ** 16 }

/** Returns limits overridden by the environment: PCP_REPLY_MB (MiB of a PDU and of a text) and PCP_REPLY_ITEMS. */
export function replyLimits(
  env: Readonly<Record<string, string | undefined>>,
  byDefault: ReplyLimits = REPLY_LIMITS,
): ReplyLimits {
  const mib = wholeNumber(env['PCP_REPLY_MB'], 2047)
  const items = wholeNumber(env['PCP_REPLY_ITEMS'], 2 ** 31 - 1)
  return {
    ...byDefault,
    ...(mib === undefined ? {} : { pduBytes: mib * 2 ** 20, textBytes: mib * 2 ** 20 }),
    ...(items === undefined ? {} : { items }),
  }
}

/** Parses a number; undefined, so that the setting is ignored, for anything else. */
function wholeNumber(text: string | undefined, most: number): number | undefined {
  if (text === undefined || !/^\d{1,10}$/.test(text) || Number(text) === 0) return undefined
  return Math.min(Number(text), most)
}

/** Returns how a reply exceeds the limits, with a remedy; undefined if it does not. */
export function replyProblem(pdu: Uint8Array, limits: ReplyLimits): string | undefined {
  if (pduType(pdu) === PDU_TEXT) {
    const length = wordIn(pdu, 16)
    return length <= limits.textBytes
      ? undefined
      : `a text of ${length} bytes, more than ${limits.textBytes}: set PCP_REPLY_MB to accept it`
  }
  const items = itemsOf(pdu)
  return items <= limits.items
    ? undefined
    : `${items} items in one reply, more than ${limits.items}: request fewer at a time, or set PCP_REPLY_ITEMS`
}

/** Returns the number of items at the top level of a reply, according to its header: value sets, not their values. */
export function listLength(pdu: Uint8Array): number {
  switch (pduType(pdu)) {
    case PDU_RESULT:
      return wordIn(pdu, 20)
    case PDU_HIGHRES_RESULT:
    case PDU_DESCS:
      return wordIn(pdu, 12)
    case PDU_INSTANCE:
    case PDU_PMNS_IDS:
      return wordIn(pdu, 16)
    case PDU_PMNS_NAMES:
      return wordIn(pdu, 20)
    case PDU_LABEL:
      return wordIn(pdu, 24)
    default:
      return 0
  }
}

/** Returns the number of all items in a reply; a malformed PDU is counted up to the fault. */
function itemsOf(pdu: Uint8Array): number {
  const count = listLength(pdu)
  switch (pduType(pdu)) {
    case PDU_RESULT:
      return count + valuesFrom(pdu, 24, count)
    case PDU_HIGHRES_RESULT:
      return count + valuesFrom(pdu, 32, count)
    case PDU_LABEL:
      return count + labelsIn(pdu, count)
    default:
      return count
  }
}

/** Counts values: a set takes 8 bytes, and if it has values 4 more and 8 for each. */
function valuesFrom(pdu: Uint8Array, start: number, sets: number): number {
  let values = 0
  for (let at = start, set = 0; set < sets && at + 8 <= pdu.length; set++) {
    const count = wordAt(pdu, at + 4)
    at += count > 0 ? 12 + 8 * count : 8
    if (count > 0) values += count
  }
  return values
}

/** Counts labels: a set takes 16 bytes, and 8 for each label. */
function labelsIn(pdu: Uint8Array, sets: number): number {
  let labels = 0
  for (let at = 28, set = 0; set < sets && at + 16 <= pdu.length; set++) {
    const count = Math.max(0, wordAt(pdu, at + 4))
    at += 16 + 8 * count
    labels += count
  }
  return labels
}

function wordIn(pdu: Uint8Array, at: number): number {
  return at + 4 <= pdu.length ? wordAt(pdu, at) : 0
}
