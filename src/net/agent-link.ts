/** AgentLink: the collector's end of a connection to an agent. docs/formats/wire.md §7 */
import type { MetricDesc } from '../model/desc.ts'
import { type Outcome, PcpError, statusOf } from '../model/errors.ts'
import { type Indom, type Pmid, pmidStr } from '../model/ids.ts'
import type { LabelSet } from '../model/labels.ts'
import type {
  Ask,
  Child,
  InstanceQuery,
  Instances,
  LabelQuery,
  MetricSource,
  Requester,
  SourceEvent,
  TextQuery,
} from '../model/source.ts'
import { type FetchResult, PMCD_LABEL_CHANGE, PMCD_NAMES_CHANGE, type ValueSet } from '../model/values.ts'
import { encodeAgentAttr } from '../wire/attr.ts'
import { decodeCreds, encodeCreds, PDU_FLAG_AUTH, PDU_FLAG_CONTAINER, versionOf } from '../wire/creds.ts'
import { decodeDesc, encodeDescReq } from '../wire/desc.ts'
import { decodeError, encodeError } from '../wire/error.ts'
import { encodeFetch } from '../wire/fetch.ts'
import { PDU_DESC, PDU_ERROR, PDU_RESULT, pduName, pduType } from '../wire/pdu.ts'
import { encodeProfile } from '../wire/profile.ts'
import { decodeResult, encodeResult } from '../wire/result.ts'
import type { PduConnection } from './connection.ts'
import {
  childrenRequest,
  type EncodedRequest,
  idRequest,
  instancesRequest,
  labelsRequest,
  nameRequest,
  textRequest,
  traverseRequest,
} from './encoded-requests.ts'
import { nextPdu } from './next-pdu.ts'
import { RequestQueue } from './request-queue.ts'
import { SourceListeners } from './source-listeners.ts'

/** Options of `AgentLink`. */
export interface AgentLinkOptions {
  /** Name of the agent, for messages. */
  readonly name: string
  /** Reply timeout in milliseconds; 0 for none. Default 5000. */
  readonly timeoutMs?: number
  /** Timeout for the agent's CREDS in milliseconds. Default 3000. */
  readonly handshakeMs?: number
  /** The agent starts "not ready" and reports later that it is ready. */
  readonly startsNotReady?: boolean
}

const REQUEST_MS = 5000
const HANDSHAKE_MS = 3000
/** Fetches sent before the first is answered, so that the agent need not wait for the collector between them. */
const FETCHES_AT_ONCE = 16
/** Bits an agent may set in the seconds of its RESULT. */
const STATE_BITS = PMCD_LABEL_CHANGE | PMCD_NAMES_CHANGE
const NOTREADY = statusOf('PM_ERR_PMDANOTREADY')
const READY = statusOf('PM_ERR_PMDAREADY')
const NOTCONN = statusOf('PM_ERR_NOTCONN')

/**
 * Waits for the agent's CREDS, answers them and returns the link. Rejects with PM_ERR_TIMEOUT, PM_ERR_EOF or
 * PM_ERR_IPC; the connection is then closed.
 */
export async function openAgentLink(
  connection: PduConnection,
  options: AgentLinkOptions,
): Promise<AgentLink> {
  try {
    const pdu = await nextPdu(connection, { ms: options.handshakeMs ?? HANDSHAKE_MS })
    const { version, flags } = versionOf(decodeCreds(pdu))
    if (version === 0) throw new PcpError('PM_ERR_IPC', `${options.name} offers no version`)
    connection.send(encodeCreds(flags & PDU_FLAG_AUTH, process.pid))
    return new AgentLink(connection, flags, options)
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/**
 * An agent behind a pipe or socket. Several fetches may be in flight; any other request is in flight alone. A request
 * rejects with the agent's own status, and the link stays usable. After a timeout, end of file or malformed reply
 * (PM_ERR_TIMEOUT, PM_ERR_IPC) the connection is closed, 'lost' is emitted once and later requests reject with
 * PM_ERR_NOAGENT. While the agent is not ready, requests reject with PM_ERR_AGAIN. State bits in results become
 * 'changed' events and never appear in `FetchResult.changes`.
 */
export class AgentLink implements MetricSource {
  readonly name: string
  /** PDU_FLAG_AUTH and PDU_FLAG_CONTAINER of the agent's CREDS; with either it receives client attributes. */
  readonly flags: number
  readonly #connection: PduConnection
  readonly #requests: RequestQueue
  readonly #listeners = new SourceListeners()
  /** Client whose profile the agent has. */
  #client = -1
  #context = -1
  #profile: object | undefined
  #isReady = true

  constructor(connection: PduConnection, flags: number, options: AgentLinkOptions) {
    this.name = options.name
    this.flags = flags
    this.#connection = connection
    this.#requests = new RequestQueue(connection, {
      depth: FETCHES_AT_ONCE,
      // Read for each request: `options` may have a getter whose value changes.
      get timeoutMs() {
        return options.timeoutMs ?? REQUEST_MS
      },
      toleratesOddStatus: true,
      // READY may arrive before the replies to requests sent together with the one answered "not ready".
      isNotification: (status) => status === READY && !this.#isReady,
      onUnsolicited: (pdu) => this.#onUnsolicited(pdu),
    })
    connection.onClose((error) => this.#listeners.emit({ type: 'lost', error }))
    if (options.startsNotReady === true) this.#becomeNotReady()
  }

  /** False while the agent reports "not ready". */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Whether a request is in flight. */
  get isBusy(): boolean {
    return this.#requests.isBusy
  }

  /** Why the connection ended, or undefined while it is open. */
  get closedBy(): PcpError | undefined {
    return this.#connection.closedBy
  }

  children(name: string, ask: Ask): Promise<readonly Child[]> {
    return this.#ask(childrenRequest(name, ask.requester.client), ask)
  }

  traverse(name: string, ask: Ask): Promise<readonly string[]> {
    return this.#ask(traverseRequest(name, ask.requester.client), ask)
  }

  lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]> {
    return this.#each(names, (name) => nameRequest(name, ask.requester.client), ask)
  }

  lookupId(id: Pmid, ask: Ask): Promise<readonly string[]> {
    return this.#ask(idRequest(id, ask.requester.client), ask)
  }

  descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]> {
    return this.#each(
      ids,
      (id) => ({
        pdu: encodeDescReq(id, ask.requester.client),
        replyType: PDU_DESC,
        subject: `PMID ${pmidStr(id)}`,
        read: decodeDesc,
      }),
      ask,
    )
  }

  instances(indom: Indom, query: InstanceQuery, ask: Ask): Promise<Instances> {
    return this.#ask(instancesRequest(indom, query, ask.requester.client), ask)
  }

  text(query: TextQuery, ask: Ask): Promise<string> {
    return this.#ask(textRequest(query, ask.requester.client), ask)
  }

  labels(query: LabelQuery, ask: Ask): Promise<readonly LabelSet[]> {
    return this.#ask(labelsRequest(query, ask.requester.client), ask)
  }

  fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    const { client, context } = ask.requester
    return this.#ask(
      {
        pdu: encodeFetch(context, ids, client),
        replyType: PDU_RESULT,
        subject: this.name,
        needsProfile: true,
        maxItems: ids.length,
        read: (reply) => this.#readResult(reply, ids.length),
      },
      ask,
    )
  }

  async store(sets: readonly ValueSet[], ask: Ask): Promise<void> {
    await this.#ask(
      {
        pdu: encodeResult({ sec: 0, nsec: 0 }, sets, ask.requester.client),
        replyType: PDU_ERROR,
        subject: this.name,
        read: () => 0,
      },
      ask,
    )
  }

  /** Sends a client's attribute (PCP_ATTR_*) if the agent subscribed to attributes. */
  attribute(client: number, key: number, value: string): void {
    if ((this.flags & (PDU_FLAG_AUTH | PDU_FLAG_CONTAINER)) === 0) return
    // Encoded here, so that a value that cannot be encoded fails this call and not a later request.
    const pdu = encodeAgentAttr(key, value, client)
    this.#requests.notify({ client, isEnd: false, send: () => this.#connection.send(pdu) })
  }

  /** Ends a client slot. The slot may be reused, so its profile is forgotten too. */
  endClient(client: number): void {
    const send = (): void => {
      this.#connection.send(encodeError(NOTCONN, client))
      if (this.#client === client) this.#profile = undefined
    }
    this.#requests.notify({ client, isEnd: true, send })
  }

  subscribe(listener: (event: SourceEvent) => void): () => void {
    return this.#listeners.subscribe(listener)
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  async #ask<T>(question: EncodedRequest<T>, ask: Ask): Promise<T> {
    if (this.closedBy !== undefined) throw new PcpError('PM_ERR_NOAGENT', this.closedBy.message)
    const prepare = (): void => {
      if (question.needsProfile === true) this.#sendProfile(ask.requester)
    }
    try {
      const isExclusive = question.replyType !== PDU_RESULT
      const request = { ...question, isExclusive, prepare, onRefusal: this.#onRefusal }
      return await this.#requests.send(request, ask.signal)
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /** Sends one request per item, in sequence: agents accept one item each. */
  async #each<I, T>(
    items: readonly I[],
    questionOf: (item: I) => EncodedRequest<T>,
    ask: Ask,
  ): Promise<readonly Outcome<T>[]> {
    const outcomes: Outcome<T>[] = []
    for (const item of items) {
      try {
        outcomes.push(await this.#ask(questionOf(item), ask))
      } catch (error) {
        if (this.closedBy !== undefined || ask.signal?.aborted === true) throw error
        outcomes.push(PcpError.from(error))
      }
    }
    return outcomes
  }

  /** Maps errors to those clients see: PM_ERR_IPC for a lost agent, PM_ERR_AGAIN for one that is not ready. */
  #explain(error: unknown): PcpError {
    const known = PcpError.from(error)
    if (known.status === NOTREADY)
      return new PcpError('PM_ERR_AGAIN', `${this.name} is not ready`, { cause: known })
    if (known !== this.closedBy || known.code === 'PM_ERR_TIMEOUT' || known.code === 'PM_ERR_IPC')
      return known
    return new PcpError('PM_ERR_IPC', known.message, { cause: known })
  }

  #readResult(reply: Uint8Array, count: number): FetchResult {
    const { timestamp, sets } = decodeResult(reply)
    if (sets.length !== count)
      throw new PcpError('PM_ERR_IPC', `${sets.length} value sets for ${count} metrics`)
    const changes = timestamp.sec & STATE_BITS
    if (changes !== 0) this.#listeners.emit({ type: 'changed', changes })
    return { timestamp, changes: 0, sets }
  }

  #sendProfile(requester: Requester): void {
    const { client, context, profile } = requester
    if (this.#profile === profile && this.#client === client && this.#context === context) return
    this.#connection.send(encodeProfile(context, profile, client))
    this.#client = client
    this.#context = context
    this.#profile = profile
  }

  readonly #onRefusal = (status: number): void => {
    if (status === NOTREADY) this.#becomeNotReady()
    // READY is a notification: the reply is still to come and would be taken for that of the next request.
    else if (status === READY)
      throw new PcpError(
        'PM_ERR_IPC',
        `${this.name} reported that it is ready instead of answering a request`,
      )
  }

  #becomeNotReady(): void {
    if (!this.#isReady) return
    this.#isReady = false
    this.#requests.hold(new PcpError('PM_ERR_AGAIN', `${this.name} is not ready`))
    this.#listeners.emit({ type: 'notready' })
  }

  /** Handles a PDU with no request in flight: READY is expected, a stray ERROR with status 0 is harmless. */
  #onUnsolicited(pdu: Uint8Array): void {
    const type = pduType(pdu)
    const status = type === PDU_ERROR ? decodeError(pdu).status : undefined
    if (status === READY && !this.#isReady) {
      this.#isReady = true
      this.#requests.release()
      this.#listeners.emit({ type: 'ready' })
    } else if (status !== 0) {
      const what = status === undefined ? pduName(type) : `status ${status}`
      throw new PcpError('PM_ERR_IPC', `Unexpected ${what} without a request`)
    }
  }
}
