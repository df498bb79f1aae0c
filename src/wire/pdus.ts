/** All PDU types with their decoders, for diagnostics and tests. docs/formats/wire.md §2 */
import { decodeAttr } from './attr.ts'
import { decodeCreds } from './creds.ts'
import { decodeDesc, decodeDescIds, decodeDescReq, decodeDescs } from './desc.ts'
import { decodeError } from './error.ts'
import { decodeFetch } from './fetch.ts'
import { decodeInstanceReq, decodeInstances } from './instance.ts'
import { decodeLabelReq, decodeLabels } from './label.ts'
import { decodeLogControl } from './log-control.ts'
import { decodeLogRequest } from './log-request.ts'
import { decodeLogStatus, decodeLogStatusV2 } from './log-status.ts'
import * as pdu from './pdu.ts'
import { decodePmnsChild, decodePmnsIds, decodePmnsNames, decodePmnsTraverse } from './pmns.ts'
import { decodeProfile } from './profile.ts'
import { decodeResult } from './result.ts'
import { decodeTextReply, decodeTextReq } from './text.ts'

export interface PduRow {
  readonly code: number
  /** File in this folder that encodes and decodes it. */
  readonly family: string
  /** Decodes a whole PDU. PM_ERR_IPC if it is malformed. */
  readonly decode: (pdu: Uint8Array) => unknown
}

/** All supported types. */
export const PDUS: readonly PduRow[] = [
  { code: pdu.PDU_ERROR, family: 'error', decode: decodeError },
  { code: pdu.PDU_RESULT, family: 'result', decode: decodeResult },
  { code: pdu.PDU_PROFILE, family: 'profile', decode: decodeProfile },
  { code: pdu.PDU_FETCH, family: 'fetch', decode: decodeFetch },
  { code: pdu.PDU_DESC_REQ, family: 'desc', decode: decodeDescReq },
  { code: pdu.PDU_DESC, family: 'desc', decode: decodeDesc },
  { code: pdu.PDU_INSTANCE_REQ, family: 'instance', decode: decodeInstanceReq },
  { code: pdu.PDU_INSTANCE, family: 'instance', decode: decodeInstances },
  { code: pdu.PDU_TEXT_REQ, family: 'text', decode: decodeTextReq },
  { code: pdu.PDU_TEXT, family: 'text', decode: decodeTextReply },
  { code: pdu.PDU_CREDS, family: 'creds', decode: decodeCreds },
  { code: pdu.PDU_PMNS_IDS, family: 'pmns', decode: decodePmnsIds },
  { code: pdu.PDU_PMNS_NAMES, family: 'pmns', decode: decodePmnsNames },
  { code: pdu.PDU_PMNS_CHILD, family: 'pmns', decode: decodePmnsChild },
  { code: pdu.PDU_PMNS_TRAVERSE, family: 'pmns', decode: decodePmnsTraverse },
  { code: pdu.PDU_ATTR, family: 'attr', decode: decodeAttr },
  { code: pdu.PDU_LABEL_REQ, family: 'label', decode: decodeLabelReq },
  { code: pdu.PDU_LABEL, family: 'label', decode: decodeLabels },
  { code: pdu.PDU_HIGHRES_FETCH, family: 'fetch', decode: decodeFetch },
  { code: pdu.PDU_HIGHRES_RESULT, family: 'result', decode: decodeResult },
  { code: pdu.PDU_DESC_IDS, family: 'desc', decode: decodeDescIds },
  { code: pdu.PDU_DESCS, family: 'desc', decode: decodeDescs },
  { code: pdu.PDU_LOG_CONTROL, family: 'log-control', decode: decodeLogControl },
  { code: pdu.PDU_LOG_STATUS_V2, family: 'log-status', decode: decodeLogStatusV2 },
  { code: pdu.PDU_LOG_REQUEST, family: 'log-request', decode: decodeLogRequest },
  { code: pdu.PDU_LOG_STATUS, family: 'log-status', decode: decodeLogStatus },
]
