/** What a collector answers to each request but PROFILE and FETCH: one row a PDU type. docs/formats/wire.md §10.1 */
import { type Outcome, PcpError } from '../model/errors.ts'
import { PM_ID_NULL, PM_IN_NULL } from '../model/ids.ts'
import { LABEL_INSTANCES } from '../model/labels.ts'
import type { Ask, MetricSource } from '../model/source.ts'
import { decodeDescIds, decodeDescReq, encodeDesc, encodeDescs, NO_DESC } from '../wire/desc.ts'
import { encodeError } from '../wire/error.ts'
import { decodeInstanceReq, encodeInstanceReply, instanceQuery } from '../wire/instance.ts'
import { decodeLabelReq, encodeLabels } from '../wire/label.ts'
import {
  PDU_DESC_IDS,
  PDU_DESC_REQ,
  PDU_INSTANCE_REQ,
  PDU_LABEL_REQ,
  PDU_PMNS_CHILD,
  PDU_PMNS_IDS,
  PDU_PMNS_NAMES,
  PDU_PMNS_TRAVERSE,
  PDU_RESULT,
  PDU_TEXT_REQ,
} from '../wire/pdu.ts'
import {
  decodePmnsChild,
  decodePmnsIds,
  decodePmnsNames,
  decodePmnsTraverse,
  encodePmnsIds,
  encodePmnsNames,
  encodePmnsNamesError,
  PMNS_LEAF_STATUS,
  PMNS_NONLEAF_STATUS,
} from '../wire/pmns.ts'
import { decodeResult } from '../wire/result.ts'
import {
  decodeTextReq,
  encodeTextReply,
  PM_TEXT_HELP,
  PM_TEXT_INDOM,
  PM_TEXT_ONELINE,
  PM_TEXT_PMID,
} from '../wire/text.ts'

/** Decodes a request, asks the source and encodes the reply. Rejects with what the ERROR PDU says. */
export type RequestHandler = (source: MetricSource, pdu: Uint8Array, ask: Ask) => Promise<Uint8Array>

/** By PDU type. */
export const REQUESTS: Readonly<Record<number, RequestHandler>> = {
  [PDU_DESC_REQ]: descReq,
  [PDU_DESC_IDS]: descIds,
  [PDU_INSTANCE_REQ]: instanceReq,
  [PDU_TEXT_REQ]: textReq,
  [PDU_LABEL_REQ]: labelReq,
  [PDU_RESULT]: store,
  [PDU_PMNS_IDS]: pmnsIds,
  [PDU_PMNS_NAMES]: pmnsNames,
  [PDU_PMNS_CHILD]: pmnsChild,
  [PDU_PMNS_TRAVERSE]: pmnsTraverse,
}

async function descReq(source: MetricSource, pdu: Uint8Array, ask: Ask): Promise<Uint8Array> {
  const [desc] = await source.descs([decodeDescReq(pdu)], ask)
  return encodeDesc(unwrap(desc))
}

/** A single metric that fails is an error; of several, those that fail are marked. */
async function descIds(source: MetricSource, pdu: Uint8Array, ask: Ask): Promise<Uint8Array> {
  const ids = decodeDescIds(pdu)
  const descs = await source.descs(ids, ask)
  if (ids.length === 1) return encodeDescs([unwrap(descs[0])])
  return encodeDescs(descs.map((desc) => (desc instanceof PcpError ? NO_DESC : desc)))
}

async function instanceReq(source: MetricSource, pdu: Uint8Array, ask: Ask): Promise<Uint8Array> {
  const request = decodeInstanceReq(pdu)
  if (request.inst !== PM_IN_NULL && request.name !== '')
    throw new PcpError('PM_ERR_INST', 'A query has either an instance id or a name')
  const query = instanceQuery(request)
  return encodeInstanceReply(await source.instances(request.indom, query, ask), query)
}

async function textReq(source: MetricSource, pdu: Uint8Array, ask: Ask): Promise<Uint8Array> {
  const { ident, type } = decodeTextReq(pdu)
  if ((type & (PM_TEXT_PMID | PM_TEXT_INDOM)) === 0)
    throw new PcpError('PM_ERR_PMID', `Text type ${type} says neither metric nor instance domain`)
  if ((type & (PM_TEXT_ONELINE | PM_TEXT_HELP)) === 0)
    throw new PcpError('PM_ERR_TEXT', `Text type ${type} says neither one line nor full help`)
  const kind = (type & PM_TEXT_PMID) !== 0 ? 'metric' : 'indom'
  const level = (type & PM_TEXT_ONELINE) !== 0 ? 'oneline' : 'help'
  return encodeTextReply(ident, await source.text({ kind, id: ident, level }, ask))
}

async function labelReq(source: MetricSource, pdu: Uint8Array, ask: Ask): Promise<Uint8Array> {
  const { ident, level } = decodeLabelReq(pdu)
  const sets = await source.labels({ level, id: ident }, ask)
  // Clients take more than one set for a protocol error, except for instances.
  return encodeLabels(ident, level, level === LABEL_INSTANCES ? sets : sets.slice(0, 1))
}

async function store(source: MetricSource, pdu: Uint8Array, ask: Ask): Promise<Uint8Array> {
  const { sets } = decodeResult(pdu)
  if (sets.length > 0) await source.store(sets, ask)
  return encodeError(0)
}

async function pmnsIds(source: MetricSource, pdu: Uint8Array, ask: Ask): Promise<Uint8Array> {
  const { ids } = decodePmnsIds(pdu)
  if (ids.length !== 1)
    throw new PcpError('PM_ERR_IPC', `Names of one metric can be asked for, not of ${ids.length}`)
  return encodePmnsNames(await source.lookupId(ids[0]!, ask))
}

/** A single name that fails is an error; of several, those that fail have no PMID and are not counted. */
async function pmnsNames(source: MetricSource, pdu: Uint8Array, ask: Ask): Promise<Uint8Array> {
  const { names, status } = decodePmnsNames(pdu)
  if (status < 0 || names.length === 0) throw new PcpError('PM_ERR_TOOSMALL', 'No names to look up')
  const outcomes = await source.lookupNames(names, ask)
  if (names.length === 1) return encodePmnsIds([unwrap(outcomes[0])], 1)
  const ids = outcomes.map((outcome) => (outcome instanceof PcpError ? PM_ID_NULL : outcome))
  return encodePmnsIds(ids, ids.filter((id) => id !== PM_ID_NULL).length)
}

async function pmnsChild(source: MetricSource, pdu: Uint8Array, ask: Ask): Promise<Uint8Array> {
  const { name, wantsStatus } = decodePmnsChild(pdu)
  try {
    const children = await source.children(name, ask)
    const statuses = children.map((child) => (child.isLeaf ? PMNS_LEAF_STATUS : PMNS_NONLEAF_STATUS))
    return encodePmnsNames(
      children.map((child) => child.name),
      wantsStatus ? statuses : undefined,
    )
  } catch (error) {
    // PCP puts this one error into the list's place.
    if (error instanceof PcpError && error.code === 'PM_ERR_AGAIN') return encodePmnsNamesError(error.status)
    throw error
  }
}

async function pmnsTraverse(source: MetricSource, pdu: Uint8Array, ask: Ask): Promise<Uint8Array> {
  return encodePmnsNames(await source.traverse(decodePmnsTraverse(pdu).name, ask))
}

/** The item, or its error as an exception. */
function unwrap<T>(outcome: Outcome<T> | undefined): T {
  if (outcome === undefined)
    throw new PcpError('PM_ERR_IPC', 'The source answered for fewer items than were asked')
  if (outcome instanceof PcpError) throw outcome
  return outcome
}
