/** Requests that a MetricSource answers, one row per PDU type, for collectors and agents. docs/formats/wire.md §10.1 */
import { type Outcome, PcpError } from '../model/errors.ts'
import { PM_ID_NULL, PM_IN_NULL, pmidStr } from '../model/ids.ts'
import { LABEL_INSTANCES } from '../model/labels.ts'
import type { Ask, MetricSource } from '../model/source.ts'
import type { FetchResult } from '../model/values.ts'
import { decodeDescIds, decodeDescReq, encodeDesc, encodeDescs, UNAVAILABLE_DESC } from '../wire/desc.ts'
import { encodeError } from '../wire/error.ts'
import { decodeFetch, type FetchPdu } from '../wire/fetch.ts'
import { decodeInstanceReq, encodeInstanceReply, instanceQuery } from '../wire/instance.ts'
import { decodeLabelReq, encodeLabels } from '../wire/label.ts'
import * as pdu from '../wire/pdu.ts'
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
import { decodeResult, encodeHighResResult, encodeResult } from '../wire/result.ts'
import {
  decodeTextReq,
  encodeTextReply,
  PM_TEXT_HELP,
  PM_TEXT_INDOM,
  PM_TEXT_ONELINE,
  PM_TEXT_PMID,
} from '../wire/text.ts'
import { type RequestHandler, type RequestTable, requestTable } from './pdu-server.ts'

/** Request table of a MetricSource. */
export type SourceRequests = RequestTable<MetricSource, Ask>

/** One row of `SourceRequests`. */
export type SourceRequest = RequestHandler<MetricSource, Ask>

/** Erases the types of a row. */
function requestHandler<Q, A>(typed: RequestHandler<MetricSource, Ask, Q, A>): SourceRequest {
  return typed
}

/** State changes precede the result, as the status of an ERROR. */
function fetchOf(type: number, encode: typeof encodeResult): SourceRequest {
  return requestHandler<FetchPdu, FetchResult>({
    type,
    topic: 'fetch',
    isFetch: true,
    decode: decodeFetch,
    handle: (source, { ids }, ask) => source.fetch(ids, ask),
    encode: ({ timestamp, sets }, _query, changes) => {
      const result = encode(timestamp, sets)
      return changes === 0 ? result : [encodeError(changes), result]
    },
    describe: fetchText,
  })
}

/** State changes are sent in the seconds of the result's timestamp; the collector sets the time itself. */
const AGENT_FETCH = requestHandler({
  type: pdu.PDU_FETCH,
  isFetch: true,
  decode: decodeFetch,
  handle: (source, { ids }, ask) => source.fetch(ids, ask),
  encode: ({ sets }, _query, changes) => encodeResult({ sec: changes, nsec: 0 }, sets),
})

const DESC_REQ = requestHandler({
  type: pdu.PDU_DESC_REQ,
  decode: decodeDescReq,
  handle: async (source, id, ask) => singleOutcome(await source.descs([id], ask)),
  encode: (desc) => encodeDesc(desc),
})

/** A single failing metric yields an error; among several, the failing ones are marked. */
const DESC_IDS = requestHandler({
  type: pdu.PDU_DESC_IDS,
  decode: decodeDescIds,
  handle: async (source, ids, ask) => {
    const descs = await source.descs(ids, ask)
    return ids.length === 1 ? [singleOutcome(descs)] : descs
  },
  encode: (descs) => encodeDescs(descs.map((desc) => (desc instanceof PcpError ? UNAVAILABLE_DESC : desc))),
})

const INSTANCE_REQ = requestHandler({
  type: pdu.PDU_INSTANCE_REQ,
  topic: 'indom',
  decode: (request) => {
    const { indom, inst, name } = decodeInstanceReq(request)
    if (inst !== PM_IN_NULL && name !== '')
      throw new PcpError('PM_ERR_INST', 'A query has either an instance id or a name')
    return { indom, query: instanceQuery({ indom, inst, name }) }
  },
  handle: (source, { indom, query }, ask) => source.instances(indom, query, ask),
  encode: (instances, { query }) => encodeInstanceReply(instances, query),
})

/** A request for neither a metric's nor an instance domain's text fails with `problem`. */
const textReq = (problem: 'PM_ERR_PMID' | 'PM_ERR_TEXT'): SourceRequest =>
  requestHandler({
    type: pdu.PDU_TEXT_REQ,
    decode: (request) => {
      const { ident, type } = decodeTextReq(request)
      if ((type & (PM_TEXT_PMID | PM_TEXT_INDOM)) === 0)
        throw new PcpError(problem, `Text type ${type} is neither for a metric nor an instance domain`)
      if ((type & (PM_TEXT_ONELINE | PM_TEXT_HELP)) === 0)
        throw new PcpError('PM_ERR_TEXT', `Text type ${type} is neither one-line nor full help`)
      return {
        kind: (type & PM_TEXT_PMID) !== 0 ? 'metric' : 'indom',
        id: ident,
        level: (type & PM_TEXT_ONELINE) !== 0 ? 'oneline' : 'help',
      } as const
    },
    handle: (source, query, ask) => source.text(query, ask),
    encode: (text, { id }) => encodeTextReply(id, text),
  })

const LABEL_REQ = requestHandler({
  type: pdu.PDU_LABEL_REQ,
  topic: 'labels',
  decode: decodeLabelReq,
  handle: (source, { ident, level }, ask) => source.labels({ level, id: ident }, ask),
  // Clients treat more than one set as a protocol error, except for instances.
  encode: (sets, { ident, level }) =>
    encodeLabels(ident, level, level === LABEL_INSTANCES ? sets : sets.slice(0, 1)),
})

const STORE = requestHandler({
  type: pdu.PDU_RESULT,
  decode: decodeResult,
  handle: async (source, { sets }, ask) => {
    if (sets.length > 0) await source.store(sets, ask)
  },
  encode: () => encodeError(0),
})

/** Agents answer for the first metric only. */
const pmnsIds = (isAgent: boolean): SourceRequest =>
  requestHandler({
    type: pdu.PDU_PMNS_IDS,
    topic: 'pmns',
    decode: (request) => {
      const { ids } = decodePmnsIds(request)
      if (ids.length !== 1 && !isAgent)
        throw new PcpError('PM_ERR_IPC', `Names are available for one metric per request, not ${ids.length}`)
      return ids[0]!
    },
    handle: (source, id, ask) => source.lookupId(id, ask),
    encode: (names) => encodePmnsNames(names),
  })

/**
 * A failed look-up of a single name is an error. Among several names, failed ones have no PMID and are not counted.
 * Agents receive one name per request, and reply with count 0.
 */
const pmnsNames = (isAgent: boolean): SourceRequest =>
  requestHandler({
    type: pdu.PDU_PMNS_NAMES,
    topic: 'pmns',
    decode: (request) => {
      const { names, status } = decodePmnsNames(request)
      if (isAgent && names.length !== 1)
        throw new PcpError('PM_ERR_IPC', `${names.length} names in a request to an agent, which takes one`)
      if (status < 0 || names.length === 0) throw new PcpError('PM_ERR_TOOSMALL', 'No names to look up')
      return names
    },
    handle: async (source, names, ask) => {
      const outcomes = await source.lookupNames(names, ask)
      return names.length === 1 ? [singleOutcome(outcomes)] : outcomes
    },
    encode: (outcomes) => {
      const ids = outcomes.map((outcome) => (outcome instanceof PcpError ? PM_ID_NULL : outcome))
      return encodePmnsIds(ids, isAgent ? 0 : ids.filter((id) => id !== PM_ID_NULL).length)
    },
  })

/** For clients PCP sends PM_ERR_AGAIN instead of the list. */
const pmnsChild = (isAgent: boolean): SourceRequest =>
  requestHandler({
    type: pdu.PDU_PMNS_CHILD,
    topic: 'pmns',
    decode: decodePmnsChild,
    handle: (source, { name }, ask) =>
      source.children(name, ask).catch((error: unknown) => {
        if (!isAgent && error instanceof PcpError && error.code === 'PM_ERR_AGAIN') return error
        throw error
      }),
    encode: (children, { wantsStatus }) => {
      if (children instanceof PcpError) return encodePmnsNamesError(children.status)
      const statuses = children.map((child) => (child.isLeaf ? PMNS_LEAF_STATUS : PMNS_NONLEAF_STATUS))
      return encodePmnsNames(
        children.map((child) => child.name),
        wantsStatus ? statuses : undefined,
      )
    },
  })

const PMNS_TRAVERSE = requestHandler({
  type: pdu.PDU_PMNS_TRAVERSE,
  topic: 'pmns',
  decode: (request) => decodePmnsTraverse(request).name,
  handle: (source, name, ask) => source.traverse(name, ask),
  encode: (names) => encodePmnsNames(names),
})

const COMMON = [DESC_REQ, INSTANCE_REQ, LABEL_REQ, STORE, PMNS_TRAVERSE]

/** Requests of a collector's clients. */
export const COLLECTOR_REQUESTS: SourceRequests = requestTable([
  ...COMMON,
  textReq('PM_ERR_PMID'),
  pmnsIds(false),
  pmnsNames(false),
  pmnsChild(false),
  DESC_IDS,
  fetchOf(pdu.PDU_FETCH, encodeResult),
  fetchOf(pdu.PDU_HIGHRES_FETCH, encodeHighResResult),
])

/** Requests of a collector to an agent: one item each, except for values. */
export const AGENT_REQUESTS: SourceRequests = requestTable([
  ...COMMON,
  textReq('PM_ERR_TEXT'),
  pmnsIds(true),
  pmnsNames(true),
  pmnsChild(true),
  AGENT_FETCH,
])

/** Returns the only outcome; throws if it is an error. */
function singleOutcome<T>(outcomes: readonly Outcome<T>[]): T {
  const outcome = outcomes[0]
  if (outcome === undefined)
    throw new PcpError('PM_ERR_IPC', 'The source answered for fewer items than requested')
  if (outcome instanceof PcpError) throw outcome
  return outcome
}

/** Lists metrics with their number of values or their error. */
function fetchText({ timestamp, sets }: FetchResult): string {
  const counts = sets.map(({ pmid, status }) => `${pmidStr(pmid)}=${status}`)
  return `${sets.length} metrics at ${timestamp.sec}.${String(timestamp.nsec).padStart(9, '0')}: ${counts.join(' ')}`
}
