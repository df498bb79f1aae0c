/** serveAgent: a MetricSource as an agent, at the other end of a collector's connection. docs/formats/wire.md §7 */
import { MAX_DELAY_MS } from '../base/after.ts'
import { type Outcome, PcpError, statusOf } from '../model/errors.ts'
import { PM_IN_NULL } from '../model/ids.ts'
import { ALL_INSTANCES } from '../model/profile.ts'
import type { Ask, Credentials, MetricSource, Requester, SourceEvent, TextQuery } from '../model/source.ts'
import {
  attrText,
  decodeAttr,
  PCP_ATTR_CONTAINER,
  PCP_ATTR_GROUPID,
  PCP_ATTR_LOCAL,
  PCP_ATTR_PROCESSID,
  PCP_ATTR_USERID,
  PCP_ATTR_USERNAME,
} from '../wire/attr.ts'
import { decodeCreds, encodeCreds, versionOf } from '../wire/creds.ts'
import { decodeDescReq, encodeDesc } from '../wire/desc.ts'
import { decodeError, encodeError } from '../wire/error.ts'
import { decodeFetch } from '../wire/fetch.ts'
import { decodeInstanceReq, encodeInstanceReply, instanceQuery } from '../wire/instance.ts'
import { decodeLabelReq, encodeLabels } from '../wire/label.ts'
import * as wire from '../wire/pdu.ts'
import {
  decodePmnsChild,
  decodePmnsIds,
  decodePmnsNames,
  decodePmnsTraverse,
  encodePmnsIds,
  encodePmnsNames,
  PMNS_LEAF_STATUS,
  PMNS_NONLEAF_STATUS,
} from '../wire/pmns.ts'
import { decodeProfile } from '../wire/profile.ts'
import { decodeResult, encodeResult } from '../wire/result.ts'
import {
  decodeTextReq,
  encodeTextReply,
  PM_TEXT_HELP,
  PM_TEXT_INDOM,
  PM_TEXT_ONELINE,
  PM_TEXT_PMID,
  type TextReq,
} from '../wire/text.ts'
import type { PduConnection } from './connection.ts'
import { nextPdu } from './next-pdu.ts'

/** How an agent is served. */
export interface ServeAgentOptions {
  /** PDU_FLAG_AUTH and PDU_FLAG_CONTAINER to be told who the clients are; default 0. */
  readonly flags?: number
  /** Time for the collector's answer to our greeting in milliseconds; default: no limit. */
  readonly handshakeMs?: number
  /** Hears why a request failed, besides the collector. */
  readonly onFailure?: (error: PcpError, pduName: string) => void
}

const NOTCONN = statusOf('PM_ERR_NOTCONN')
const NOTREADY = statusOf('PM_ERR_PMDANOTREADY')
/** Requests that may wait for their turn; collectors send few at a time. */
const MAX_WAITING = 64

/**
 * Greets the collector, then answers its requests from `source` until the connection ends. Resolves when it ended in
 * order; rejects with PM_ERR_IPC and the like otherwise. The connection is closed then, the source stays open.
 */
export async function serveAgent(
  source: MetricSource,
  connection: PduConnection,
  options: ServeAgentOptions = {},
): Promise<void> {
  // Listens to the source from now on: what it announces during the greeting counts.
  const server = new AgentServer(source, connection, options)
  try {
    connection.send(encodeCreds(options.flags ?? 0, process.pid))
    versionOf(decodeCreds(await nextPdu(connection, { ms: options.handshakeMs ?? MAX_DELAY_MS })))
    const end = await new Promise<PcpError>((resolve) => {
      connection.onClose(resolve)
      connection.onPdu((pdu) => server.receive(pdu))
      connection.resume()
    })
    if (end.code !== 'PM_ERR_EOF') throw end
  } catch (error) {
    connection.destroy()
    throw error
  } finally {
    server.close()
  }
}

class AgentServer {
  readonly #source: MetricSource
  readonly #connection: PduConnection
  readonly #options: ServeAgentOptions
  readonly #unsubscribe: () => void
  /** Clients by slot, with the profile that came last. */
  readonly #clients = new Map<number, Requester>()
  /** Requests not answered yet; the first is being answered. */
  readonly #queue: Uint8Array[] = []
  /** State bits for the next RESULT. */
  #changes = 0
  #isNotReady = false
  #saidNotReady = false

  constructor(source: MetricSource, connection: PduConnection, options: ServeAgentOptions) {
    this.#source = source
    this.#connection = connection
    this.#options = options
    this.#unsubscribe = source.subscribe((event) => this.#onEvent(event))
  }

  close(): void {
    this.#unsubscribe()
    // Nobody hears the answers any more; a request that is being answered stays first.
    this.#queue.splice(1)
    for (const client of this.#clients.keys()) this.#source.endClient?.(client)
    this.#clients.clear()
  }

  /** Takes a PDU; requests are answered one after the other, in order. */
  receive(pdu: Uint8Array): void {
    this.#queue.push(pdu)
    if (this.#queue.length === MAX_WAITING) this.#connection.pause()
    if (this.#queue.length === 1) void this.#work()
  }

  async #work(): Promise<void> {
    for (let pdu = this.#queue[0]; pdu !== undefined; pdu = this.#queue[0]) {
      await this.#handle(pdu)
      this.#queue.shift()
      if (this.#queue.length === MAX_WAITING - 1) this.#connection.resume()
    }
  }

  /** Never throws: whatever goes wrong is the answer, or for what is not answered a notice. */
  async #handle(pdu: Uint8Array): Promise<void> {
    const type = wire.pduType(pdu)
    try {
      if (this.#takeNotice(type, pdu)) return
      if (this.#isNotReady) throw new PcpError('PM_ERR_PMDANOTREADY')
      const reply = await this.#answer(type, pdu)
      if (reply !== undefined) this.#connection.send(reply)
    } catch (error) {
      const failure = PcpError.from(error)
      this.#options.onFailure?.(failure, wire.pduName(type))
      if (isAnswered(type)) {
        if (failure.status === NOTREADY) this.#saidNotReady = true
        this.#connection.send(encodeError(failure.status))
      }
    }
  }

  /** What is not answered. Returns false for a request. */
  #takeNotice(type: number, pdu: Uint8Array): boolean {
    const client = wire.pduFrom(pdu)
    switch (type) {
      case wire.PDU_PROFILE: {
        const { context, profile } = decodeProfile(pdu)
        this.#clients.set(client, { ...this.#clientOf(client), context, profile })
        return true
      }
      case wire.PDU_ATTR:
        this.#takeAttr(client, pdu)
        return true
      case wire.PDU_ERROR:
        if (decodeError(pdu).status === NOTCONN) {
          this.#clients.delete(client)
          this.#source.endClient?.(client)
        }
        return true
      default:
        return false
    }
  }

  #takeAttr(client: number, pdu: Uint8Array): void {
    const attr = decodeAttr(pdu)
    const text = attrText(attr)
    const known = this.#clientOf(client)
    if (attr.key === PCP_ATTR_CONTAINER) {
      const { container: _, ...rest } = known
      this.#clients.set(client, text === '' ? rest : { ...known, container: text })
      return
    }
    const credentials = addCredential(known.credentials ?? {}, attr.key, text)
    this.#clients.set(client, { ...known, credentials })
  }

  #clientOf(client: number): Requester {
    return this.#clients.get(client) ?? { client, context: 0, profile: ALL_INSTANCES }
  }

  #askOf(pdu: Uint8Array, context?: number): Ask {
    const known = this.#clientOf(wire.pduFrom(pdu))
    return { requester: context === undefined || context === known.context ? known : { ...known, context } }
  }

  /** The reply to a request; undefined for types that agents ignore. */
  async #answer(type: number, pdu: Uint8Array): Promise<Uint8Array | undefined> {
    const source = this.#source
    const ask = this.#askOf(pdu)
    switch (type) {
      case wire.PDU_FETCH: {
        const { context, ids } = decodeFetch(pdu)
        const { sets } = await source.fetch(ids, this.#askOf(pdu, context))
        const changes = this.#changes
        this.#changes = 0
        return encodeResult({ sec: changes, nsec: 0 }, sets)
      }
      case wire.PDU_DESC_REQ:
        return encodeDesc(only(await source.descs([decodeDescReq(pdu)], ask)))
      case wire.PDU_INSTANCE_REQ: {
        const request = decodeInstanceReq(pdu)
        if (request.name !== '' && request.inst !== PM_IN_NULL) throw new PcpError('PM_ERR_INST')
        const query = instanceQuery(request)
        return encodeInstanceReply(await source.instances(request.indom, query, ask), query)
      }
      case wire.PDU_TEXT_REQ: {
        const request = decodeTextReq(pdu)
        return encodeTextReply(request.ident, await source.text(textQuery(request), ask))
      }
      case wire.PDU_RESULT:
        await source.store(decodeResult(pdu).sets, ask)
        return encodeError(0)
      case wire.PDU_LABEL_REQ: {
        const { ident, level } = decodeLabelReq(pdu)
        return encodeLabels(ident, level, await source.labels({ level, id: ident }, ask))
      }
      default:
        return this.#answerNames(type, pdu, ask)
    }
  }

  /** Dynamic names. */
  async #answerNames(type: number, pdu: Uint8Array, ask: Ask): Promise<Uint8Array | undefined> {
    const source = this.#source
    switch (type) {
      case wire.PDU_PMNS_NAMES:
        return encodePmnsIds([only(await source.lookupNames(decodePmnsNames(pdu).names, ask))])
      case wire.PDU_PMNS_IDS:
        return encodePmnsNames(await source.lookupId(decodePmnsIds(pdu).ids[0]!, ask))
      case wire.PDU_PMNS_CHILD: {
        const { name, wantsStatus } = decodePmnsChild(pdu)
        const children = await source.children(name, ask)
        const statuses = children.map((child) => (child.isLeaf ? PMNS_LEAF_STATUS : PMNS_NONLEAF_STATUS))
        const names = children.map((child) => child.name)
        return encodePmnsNames(names, wantsStatus ? statuses : undefined)
      }
      case wire.PDU_PMNS_TRAVERSE:
        return encodePmnsNames(await source.traverse(decodePmnsTraverse(pdu).name, ask))
      default:
        return undefined
    }
  }

  #onEvent(event: SourceEvent): void {
    if (event.type === 'changed') {
      this.#changes |= event.changes
    } else if (event.type === 'lost') {
      void this.#connection.close()
    } else if (event.type === 'notready') {
      this.#isNotReady = true
    } else if (event.type === 'ready') {
      this.#isNotReady = false
      if (this.#saidNotReady) this.#connection.send(encodeError(statusOf('PM_ERR_PMDAREADY')))
      this.#saidNotReady = false
    }
  }
}

/** Replies to anything else would put the conversation out of step. */
const ANSWERED: ReadonlySet<number> = new Set([
  wire.PDU_FETCH,
  wire.PDU_DESC_REQ,
  wire.PDU_INSTANCE_REQ,
  wire.PDU_TEXT_REQ,
  wire.PDU_RESULT,
  wire.PDU_LABEL_REQ,
  wire.PDU_PMNS_NAMES,
  wire.PDU_PMNS_IDS,
  wire.PDU_PMNS_CHILD,
  wire.PDU_PMNS_TRAVERSE,
])

function isAnswered(type: number): boolean {
  return ANSWERED.has(type)
}

function only<T>(outcomes: readonly Outcome<T>[]): T {
  const outcome = outcomes[0]
  if (outcome === undefined || outcomes.length !== 1)
    throw new PcpError('PM_ERR_IPC', `${outcomes.length} items where agents are asked for one`)
  if (outcome instanceof PcpError) throw outcome
  return outcome as T
}

function textQuery(request: TextReq): TextQuery {
  const { ident, type } = request
  if ((type & (PM_TEXT_PMID | PM_TEXT_INDOM)) === 0 || (type & (PM_TEXT_ONELINE | PM_TEXT_HELP)) === 0)
    throw new PcpError('PM_ERR_TEXT', `Text of type ${type}`)
  return {
    kind: (type & PM_TEXT_PMID) !== 0 ? 'metric' : 'indom',
    id: ident,
    level: (type & PM_TEXT_ONELINE) !== 0 ? 'oneline' : 'help',
  }
}

function addCredential(known: Credentials, key: number, text: string): Credentials {
  switch (key) {
    case PCP_ATTR_USERNAME:
      return { ...known, user: text }
    case PCP_ATTR_USERID:
      return withId(known, 'uid', text)
    case PCP_ATTR_GROUPID:
      return withId(known, 'gid', text)
    case PCP_ATTR_PROCESSID:
      return withId(known, 'pid', text)
    case PCP_ATTR_LOCAL:
      return { ...known, isGuest: true }
    default:
      return known
  }
}

/** What is no decimal number makes the id unknown again: Number('') would make the client root. */
function withId(known: Credentials, key: 'uid' | 'gid' | 'pid', text: string): Credentials {
  const { [key]: _, ...rest } = known
  return /^\d+$/.test(text) ? { ...rest, [key]: Number(text) } : rest
}
