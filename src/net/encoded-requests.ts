/** Requests common to collectors and agents: maps arguments of a MetricSource to a request and decodes its reply. */
import { PcpError } from '../model/errors.ts'
import { type Indom, indomStr, type Pmid, pmidStr } from '../model/ids.ts'
import { LABEL_INSTANCES, type LabelSet } from '../model/labels.ts'
import type { Child, InstanceQuery, Instances, LabelQuery, TextQuery } from '../model/source.ts'
import { decodeInstances, encodeInstanceReq } from '../wire/instance.ts'
import { decodeLabels, encodeLabelReq } from '../wire/label.ts'
import { PDU_INSTANCE, PDU_LABEL, PDU_PMNS_IDS, PDU_PMNS_NAMES, PDU_TEXT } from '../wire/pdu.ts'
import {
  decodePmnsIds,
  decodePmnsNames,
  encodePmnsChild,
  encodePmnsIds,
  encodePmnsNames,
  encodePmnsTraverse,
  PMNS_LEAF_STATUS,
  type PmnsNames,
} from '../wire/pmns.ts'
import {
  decodeTextReply,
  encodeTextReq,
  PM_TEXT_HELP,
  PM_TEXT_INDOM,
  PM_TEXT_ONELINE,
  PM_TEXT_PMID,
} from '../wire/text.ts'

/** An encoded request and the decoder of its reply. */
export interface EncodedRequest<T> {
  readonly pdu: Uint8Array
  readonly replyType: number
  /** Decodes the reply; returns a PcpError for an error within it. */
  readonly read: (reply: Uint8Array) => T | PcpError
  /** Subject of the request, for error messages. */
  readonly subject: string
  /** Most items that the reply may list; a longer list ends the connection. */
  readonly maxItems?: number
  /** The peer needs the requester's profile first. */
  readonly needsProfile?: boolean
}

/** Children of a name. */
export function childrenRequest(name: string, from: number): EncodedRequest<readonly Child[]> {
  return {
    pdu: encodePmnsChild(name, true, from),
    replyType: PDU_PMNS_NAMES,
    subject: `"${name}"`,
    read: (reply) => {
      const list = namesOf(reply, name)
      if (list instanceof PcpError) return list
      return list.names.map((child, i) => ({
        name: child,
        isLeaf: (list.statuses?.[i] ?? PMNS_LEAF_STATUS) === PMNS_LEAF_STATUS,
      }))
    },
  }
}

/** Leaves below a name. */
export function traverseRequest(name: string, from: number): EncodedRequest<readonly string[]> {
  return {
    pdu: encodePmnsTraverse(name, from),
    replyType: PDU_PMNS_NAMES,
    subject: `"${name}"`,
    read: (reply) => namesOnly(namesOf(reply, name)),
  }
}

/** PMID of one name. */
export function nameRequest(name: string, from: number): EncodedRequest<Pmid> {
  return {
    pdu: encodePmnsNames([name], undefined, from),
    replyType: PDU_PMNS_IDS,
    subject: `"${name}"`,
    maxItems: 1,
    read: (reply) => oneId(decodePmnsIds(reply).ids),
  }
}

/** Names of a PMID. */
export function idRequest(id: Pmid, from: number): EncodedRequest<readonly string[]> {
  return {
    pdu: encodePmnsIds([id], 0, from),
    replyType: PDU_PMNS_NAMES,
    subject: `PMID ${pmidStr(id)}`,
    read: (reply) => namesOnly(namesOf(reply, pmidStr(id))),
  }
}

/** Instances of a domain; the id or name of the query is restored in the answer. */
export function instancesRequest(
  indom: Indom,
  query: InstanceQuery,
  from: number,
): EncodedRequest<Instances> {
  return {
    pdu: encodeInstanceReq(indom, query, from),
    replyType: PDU_INSTANCE,
    subject: `Instance domain ${indomStr(indom)}`,
    read: (reply) => {
      const instances = decodeInstances(reply)
      if (query === undefined || !('id' in query)) return instances
      return { ...instances, ids: instances.ids.map(() => query.id) }
    },
  }
}

/** A help text. */
export function textRequest(query: TextQuery, from: number): EncodedRequest<string> {
  const isMetric = query.kind === 'metric'
  const level = query.level === 'help' ? PM_TEXT_HELP : PM_TEXT_ONELINE
  return {
    pdu: encodeTextReq(query.id, level | (isMetric ? PM_TEXT_PMID : PM_TEXT_INDOM), from),
    replyType: PDU_TEXT,
    subject: isMetric ? `PMID ${pmidStr(query.id)}` : `Instance domain ${indomStr(query.id)}`,
    read: (reply) => decodeTextReply(reply).text,
  }
}

/** Labels of one level. */
export function labelsRequest(query: LabelQuery, from: number): EncodedRequest<readonly LabelSet[]> {
  return {
    pdu: encodeLabelReq(query.id, query.level, from),
    replyType: PDU_LABEL,
    subject: `Labels of level ${query.level}`,
    needsProfile: query.level === LABEL_INSTANCES,
    read: (reply) => {
      const labels = decodeLabels(reply)
      if (labels.level !== query.level)
        throw new PcpError('PM_ERR_IPC', `Labels of level ${labels.level} instead of ${query.level}`)
      return labels.sets
    },
  }
}

function namesOf(reply: Uint8Array, asked: string): PmnsNames | PcpError {
  const list = decodePmnsNames(reply)
  return list.status < 0 ? PcpError.fromStatus(list.status, `"${asked}"`) : list
}

function namesOnly(list: PmnsNames | PcpError): readonly string[] | PcpError {
  return list instanceof PcpError ? list : list.names
}

function oneId(ids: readonly Pmid[]): Pmid {
  if (ids.length !== 1) throw new PcpError('PM_ERR_IPC', `${ids.length} PMIDs for one name`)
  return ids[0]!
}
