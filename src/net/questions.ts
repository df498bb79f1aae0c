/** What collectors and agents are asked alike: from the arguments of a MetricSource to request and reply. */
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

/** A request ready to be sent, and what its reply means. */
export interface Question<T> {
  readonly pdu: Uint8Array
  readonly replyType: number
  /** Returns a PcpError for an error that stands in a reply. */
  readonly read: (reply: Uint8Array) => T | PcpError
  /** What is asked about, for the message of an error. */
  readonly on: string
  /** Items that the reply may list; more end the connection. */
  readonly most?: number
  /** Whoever is asked must know the requester's profile. */
  readonly needsProfile?: boolean
}

/** Children of a name. */
export function childrenQuestion(name: string, from: number): Question<readonly Child[]> {
  return {
    pdu: encodePmnsChild(name, true, from),
    replyType: PDU_PMNS_NAMES,
    on: `"${name}"`,
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
export function traverseQuestion(name: string, from: number): Question<readonly string[]> {
  return {
    pdu: encodePmnsTraverse(name, from),
    replyType: PDU_PMNS_NAMES,
    on: `"${name}"`,
    read: (reply) => namesOnly(namesOf(reply, name)),
  }
}

/** PMID of one name. */
export function nameQuestion(name: string, from: number): Question<Pmid> {
  return {
    pdu: encodePmnsNames([name], undefined, from),
    replyType: PDU_PMNS_IDS,
    on: `"${name}"`,
    most: 1,
    read: (reply) => oneId(decodePmnsIds(reply).ids),
  }
}

/** Names of a PMID. */
export function idQuestion(id: Pmid, from: number): Question<readonly string[]> {
  return {
    pdu: encodePmnsIds([id], 0, from),
    replyType: PDU_PMNS_NAMES,
    on: `PMID ${pmidStr(id)}`,
    read: (reply) => namesOnly(namesOf(reply, pmidStr(id))),
  }
}

/** Instances of a domain; the part that the query gave is put back into the answer. */
export function instancesQuestion(indom: Indom, query: InstanceQuery, from: number): Question<Instances> {
  return {
    pdu: encodeInstanceReq(indom, query, from),
    replyType: PDU_INSTANCE,
    on: `Instance domain ${indomStr(indom)}`,
    read: (reply) => {
      const instances = decodeInstances(reply)
      if (query === undefined || !('id' in query)) return instances
      return { ...instances, ids: instances.ids.map(() => query.id) }
    },
  }
}

/** A help text. */
export function textQuestion(query: TextQuery, from: number): Question<string> {
  const isMetric = query.kind === 'metric'
  const level = query.level === 'help' ? PM_TEXT_HELP : PM_TEXT_ONELINE
  return {
    pdu: encodeTextReq(query.id, level | (isMetric ? PM_TEXT_PMID : PM_TEXT_INDOM), from),
    replyType: PDU_TEXT,
    on: isMetric ? `PMID ${pmidStr(query.id)}` : `Instance domain ${indomStr(query.id)}`,
    read: (reply) => decodeTextReply(reply).text,
  }
}

/** Labels of one level. */
export function labelsQuestion(query: LabelQuery, from: number): Question<readonly LabelSet[]> {
  return {
    pdu: encodeLabelReq(query.id, query.level, from),
    replyType: PDU_LABEL,
    on: `Labels of level ${query.level}`,
    needsProfile: query.level === LABEL_INSTANCES,
    read: (reply) => {
      const labels = decodeLabels(reply)
      if (labels.level !== query.level)
        throw new PcpError('PM_ERR_IPC', `Labels of level ${labels.level} in place of ${query.level}`)
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
