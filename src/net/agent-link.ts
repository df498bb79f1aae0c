/** AgentLink: an agent at the other end of a connection, as the collector sees it. docs/formats/wire.md §7 */
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
import { SourceListeners } from './listeners.ts'
import { nextPdu } from './next-pdu.ts'
import {
  childrenQuestion,
  idQuestion,
  instancesQuestion,
  labelsQuestion,
  nameQuestion,
  type Question,
  textQuestion,
  traverseQuestion,
} from './questions.ts'
import { RequestQueue } from './requests.ts'

/** How a collector talks to an agent. */
export interface AgentLinkOptions {
  /** Name of the agent, for messages. */
  readonly name: string
  /** Time for each reply in milliseconds; 0 for no limit. Default 5000. */
  readonly timeoutMs?: number
  /** Time for the agent's first word in milliseconds. Default 3000. */
  readonly handshakeMs?: number
  /** The agent starts not ready: it will say when it is. */
  readonly startsNotReady?: boolean
}

const REQUEST_MS = 5000
const HANDSHAKE_MS = 3000
/** Fetches an agent is sent before it has answered the first: it need not wait for the collector between two of them. */
const FETCHES_AT_ONCE = 16
/** Bits an agent may set in the seconds of its RESULT. */
const STATE_BITS = PMCD_LABEL_CHANGE | PMCD_NAMES_CHANGE
const NOTREADY = statusOf('PM_ERR_PMDANOTREADY')
const READY = statusOf('PM_ERR_PMDAREADY')
const NOTCONN = statusOf('PM_ERR_NOTCONN')

/**
 * Waits for the agent's greeting, answers it, and returns the link. Rejects with PM_ERR_TIMEOUT, PM_ERR_EOF or
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
 * An agent behind a pipe or socket. Fetches are sent ahead, a few at a time, and answered in order; any other request is
 * under way by itself. A request fails with
 * the agent's own status (and the link stays), or with PM_ERR_TIMEOUT or PM_ERR_IPC when the agent is silent, gone or
 * talks nonsense: then the connection is closed, listeners hear 'lost', once, and later requests get PM_ERR_NOAGENT. While the agent is not ready everything
 * is refused with PM_ERR_AGAIN. State bits in results come as 'changed' events, never in `FetchResult.changes`.
 */
export class AgentLink implements MetricSource {
  readonly name: string
  /** PDU_FLAG_AUTH and PDU_FLAG_CONTAINER as the agent asked for them: with either it gets attributes. */
  readonly flags: number
  readonly #connection: PduConnection
  readonly #requests: RequestQueue
  readonly #listeners = new SourceListeners()
  /** Whose profile the agent has. */
  #client = -1
  #context = -1
  #profile: object | undefined
  #isReady = true

  /** Use `openAgentLink`. */
  constructor(connection: PduConnection, flags: number, options: AgentLinkOptions) {
    this.name = options.name
    this.flags = flags
    this.#connection = connection
    this.#requests = new RequestQueue(connection, {
      depth: FETCHES_AT_ONCE,
      // Asked for each request: the options may have a getter whose value changes.
      get timeoutMs() {
        return options.timeoutMs ?? REQUEST_MS
      },
      toleratesOddStatus: true,
      // It may come before the answers to what was asked together with the request that it refused.
      isNews: (status) => status === READY && !this.#isReady,
      onUnsolicited: (pdu) => this.#onUnsolicited(pdu),
    })
    connection.onClose((error) => this.#listeners.emit({ type: 'lost', error }))
    if (options.startsNotReady === true) this.#becomeNotReady()
  }

  /** May it be asked? */
  get isReady(): boolean {
    return this.#isReady
  }

  /** Is a request under way? */
  get isBusy(): boolean {
    return this.#requests.isBusy
  }

  /** Why the connection ended, or undefined while it is open. */
  get lostBy(): PcpError | undefined {
    return this.#connection.closedBy
  }

  children(name: string, ask: Ask): Promise<readonly Child[]> {
    return this.#ask(childrenQuestion(name, ask.requester.client), ask)
  }

  traverse(name: string, ask: Ask): Promise<readonly string[]> {
    return this.#ask(traverseQuestion(name, ask.requester.client), ask)
  }

  lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]> {
    return this.#each(names, (name) => nameQuestion(name, ask.requester.client), ask)
  }

  lookupId(id: Pmid, ask: Ask): Promise<readonly string[]> {
    return this.#ask(idQuestion(id, ask.requester.client), ask)
  }

  descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]> {
    return this.#each(
      ids,
      (id) => ({
        pdu: encodeDescReq(id, ask.requester.client),
        replyType: PDU_DESC,
        on: `PMID ${pmidStr(id)}`,
        read: decodeDesc,
      }),
      ask,
    )
  }

  instances(indom: Indom, query: InstanceQuery, ask: Ask): Promise<Instances> {
    return this.#ask(instancesQuestion(indom, query, ask.requester.client), ask)
  }

  text(query: TextQuery, ask: Ask): Promise<string> {
    return this.#ask(textQuestion(query, ask.requester.client), ask)
  }

  labels(query: LabelQuery, ask: Ask): Promise<readonly LabelSet[]> {
    return this.#ask(labelsQuestion(query, ask.requester.client), ask)
  }

  fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    const { client, context } = ask.requester
    return this.#ask(
      {
        pdu: encodeFetch(context, ids, client),
        replyType: PDU_RESULT,
        on: this.name,
        needsProfile: true,
        most: ids.length,
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
        on: this.name,
        read: () => 0,
      },
      ask,
    )
  }

  /** Tells the agent who a client is (PCP_ATTR_*), when it asked for that. */
  attribute(client: number, key: number, value: string): void {
    if ((this.flags & (PDU_FLAG_AUTH | PDU_FLAG_CONTAINER)) === 0) return
    // Encoded here: what cannot be encoded is the caller's error, not that of a later request.
    const pdu = encodeAgentAttr(key, value, client)
    this.#requests.tell({ client, isEnd: false, send: () => this.#connection.send(pdu) })
  }

  /** The slot may be used by another client afterwards, so its profile is forgotten as well. */
  endClient(client: number): void {
    const send = (): void => {
      this.#connection.send(encodeError(NOTCONN, client))
      if (this.#client === client) this.#profile = undefined
    }
    this.#requests.tell({ client, isEnd: true, send })
  }

  subscribe(listener: (event: SourceEvent) => void): () => void {
    return this.#listeners.subscribe(listener)
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  async #ask<T>(question: Question<T>, ask: Ask): Promise<T> {
    if (this.lostBy !== undefined) throw new PcpError('PM_ERR_NOAGENT', this.lostBy.message)
    const prepare = (): void => {
      if (question.needsProfile === true) this.#sendProfile(ask.requester)
    }
    try {
      const isAlone = question.replyType !== PDU_RESULT
      const request = { ...question, isAlone, prepare, onRefusal: this.#onRefusal }
      return await this.#requests.ask(request, ask.signal)
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /** One request after the other: agents take one item each. */
  async #each<I, T>(
    items: readonly I[],
    questionOf: (item: I) => Question<T>,
    ask: Ask,
  ): Promise<readonly Outcome<T>[]> {
    const outcomes: Outcome<T>[] = []
    for (const item of items) {
      try {
        outcomes.push(await this.#ask(questionOf(item), ask))
      } catch (error) {
        if (this.lostBy !== undefined || ask.signal?.aborted === true) throw error
        outcomes.push(PcpError.from(error))
      }
    }
    return outcomes
  }

  /** What clients are told: an agent that went away is PM_ERR_IPC, one that is not ready PM_ERR_AGAIN. */
  #explain(error: unknown): PcpError {
    const known = PcpError.from(error)
    if (known.status === NOTREADY)
      return new PcpError('PM_ERR_AGAIN', `${this.name} is not ready`, { cause: known })
    if (known !== this.lostBy || known.code === 'PM_ERR_TIMEOUT' || known.code === 'PM_ERR_IPC') return known
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
    // News, not an answer: the true one is still to come and would be taken for that of the next request.
    else if (status === READY)
      throw new PcpError('PM_ERR_IPC', `${this.name} says it is ready when asked something`)
  }

  #becomeNotReady(): void {
    if (!this.#isReady) return
    this.#isReady = false
    this.#requests.hold(new PcpError('PM_ERR_AGAIN', `${this.name} is not ready`))
    this.#listeners.emit({ type: 'notready' })
  }

  /** Nothing is under way: only the news that the agent is ready makes sense, and a stray 'all is well' is harmless. */
  #onUnsolicited(pdu: Uint8Array): void {
    const type = pduType(pdu)
    const status = type === PDU_ERROR ? decodeError(pdu).status : undefined
    if (status === READY && !this.#isReady) {
      this.#isReady = true
      this.#requests.release()
      this.#listeners.emit({ type: 'ready' })
    } else if (status !== 0) {
      const what = status === undefined ? pduName(type) : `status ${status}`
      throw new PcpError('PM_ERR_IPC', `Unexpected ${what} that nobody asked for`)
    }
  }
}
