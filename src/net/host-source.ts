/** HostSource: a remote collector as a MetricSource. docs/formats/wire.md §10, §11 */
import type { MetricDesc } from '../model/desc.ts'
import { type Outcome, PcpError, statusOf } from '../model/errors.ts'
import { type Indom, PM_ID_NULL, type Pmid, pmidStr } from '../model/ids.ts'
import type { LabelSet } from '../model/labels.ts'
import type { Profile } from '../model/profile.ts'
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
import type { FetchResult, ValueSet } from '../model/values.ts'
import { PDU_FLAG_DESCS, PDU_FLAG_HIGHRES, PDU_FLAG_LABELS } from '../wire/creds.ts'
import { decodeDesc, decodeDescs, encodeDescIds, encodeDescReq } from '../wire/desc.ts'
import { encodeFetch, encodeHighResFetch } from '../wire/fetch.ts'
import {
  MAX_CLIENT_PDU,
  PDU_DESC,
  PDU_DESCS,
  PDU_ERROR,
  PDU_HIGHRES_RESULT,
  PDU_PMNS_IDS,
  PDU_RESULT,
  pduName,
  pduType,
  round4,
  textSize,
} from '../wire/pdu.ts'
import { decodePmnsIds, encodePmnsNames } from '../wire/pmns.ts'
import { encodeProfile } from '../wire/profile.ts'
import { decodeResult, encodeResult } from '../wire/result.ts'
import type { PduConnection } from './connection.ts'
import type { PduCounters } from './counters.ts'
import { type DialOptions, type DialResult, dial, replyLimitsOf, timeoutMs } from './dial.ts'
import {
  childrenRequest,
  idRequest,
  instancesRequest,
  labelsRequest,
  nameRequest,
  textRequest,
  traverseRequest,
} from './encoded-requests.ts'
import { type HostSpec, parseHostSpec } from './host-spec.ts'
import { type Request, RequestQueue } from './request-queue.ts'
import { SourceListeners } from './source-listeners.ts'

const REQUEST_MS = 10_000
/** Size limit of one message that looks up names; PCP's library has the same. */
const NAMES_BYTES = 63 * 1024
/** Descriptors requested in one message. */
const MAX_DESC_IDS = 8192
/** Limits on single-item requests and on parts of long lists that one call has in flight, leaving room for others. */
const ITEMS_AT_ONCE = 1000
const PARTS_AT_ONCE = 256
/** Statuses a collector rejects a PROFILE with; a FETCH never fails with these while its profile is valid. */
const PROFILE_REFUSALS: ReadonlySet<number> = new Set(
  (['PM_ERR_PERMISSION', 'PM_ERR_IPC', 'EAGAIN'] as const).map(statusOf),
)

/** Options of the connection and its requests. */
export interface HostSourceOptions extends DialOptions {
  /** Limit on requests without a reply; further requests fail with EAGAIN. Default 65,536. */
  readonly maxRequests?: number
}

/**
 * A connection to a collector. Requests are pipelined; replies arrive in order. One connection may serve several
 * contexts (`requester.context`), each with its own profile. When the connection ends, pending requests reject with the
 * reason and listeners receive 'lost'. To reconnect, create a new HostSource.
 */
export class HostSource implements MetricSource {
  readonly spec: HostSpec
  /** PDU_FLAG_* that the collector offers. */
  readonly features: number
  /** The address reached: `localhost:44321`, or the path of a unix socket. */
  readonly address: string
  /** Whether the connection is a unix socket. */
  readonly isUnix: boolean
  /** Run directory of a collector that was found, for `DialOptions`. */
  readonly runDir: string | undefined
  readonly #connection: PduConnection
  readonly #requests: RequestQueue
  readonly #itemsAtOnce: number
  readonly #listeners = new SourceListeners()
  /** The profile the collector has for each context. */
  readonly #profiles = new Map<number, Profile>()
  /** PMCD_* bits not yet delivered to each context. */
  readonly #changes = new Map<number, number>()

  /** Takes over a dialed connection. `env` gives PMCD_REQUEST_TIMEOUT. */
  constructor(spec: HostSpec, dialed: DialResult, options: HostSourceOptions = {}) {
    this.spec = spec
    this.features = dialed.features
    this.address = dialed.address
    this.isUnix = dialed.isUnix
    this.runDir = dialed.runDir
    this.#connection = dialed.connection
    this.#requests = new RequestQueue(dialed.connection, {
      depth: Number.POSITIVE_INFINITY,
      timeoutMs: timeoutMs(options.env?.['PMCD_REQUEST_TIMEOUT'], REQUEST_MS),
      toleratesOddStatus: false,
      ...(options.maxRequests === undefined ? {} : { maxRequests: options.maxRequests }),
      replyLimits: replyLimitsOf(options),
      onUnsolicited: (pdu) => {
        throw new PcpError('PM_ERR_IPC', `Unexpected ${pduName(pduType(pdu))} without a request`)
      },
    })
    this.#itemsAtOnce = Math.max(1, Math.min(ITEMS_AT_ONCE, options.maxRequests ?? ITEMS_AT_ONCE))
    dialed.connection.onClose((error) => this.#listeners.emit({ type: 'lost', error }))
  }

  /** Connects to the collector of a host specification. Rejects like `dial` and `parseHostSpec`. */
  static async connect(spec: string | HostSpec, options: HostSourceOptions = {}): Promise<HostSource> {
    const parsed = typeof spec === 'string' ? parseHostSpec(spec, options.env) : spec
    return new HostSource(parsed, await dial(parsed, options), options)
  }

  /** PDUs sent and received. */
  get counters(): PduCounters {
    return this.#connection.counters
  }

  /** Why the connection ended, or undefined while it is open. */
  get closedBy(): PcpError | undefined {
    return this.#connection.closedBy
  }

  children(name: string, ask: Ask): Promise<readonly Child[]> {
    return this.#ask(childrenRequest(name, ask.requester.context), ask)
  }

  traverse(name: string, ask: Ask): Promise<readonly string[]> {
    return this.#ask(traverseRequest(name, ask.requester.context), ask)
  }

  async lookupNames(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]> {
    // Collectors cannot decode an empty name.
    const real = names.filter((name) => name !== '')
    const found =
      real.length === 1 ? [await this.#lookupName(real[0]!, ask)] : await this.#lookupMany(real, ask)
    let next = 0
    return names.map((name) =>
      name === '' ? new PcpError('PM_ERR_NAME', '"": Unknown metric name') : found[next++]!,
    )
  }

  /** Returns an error reply as the outcome of this name; throws when the connection ends. */
  async #lookupName(name: string, ask: Ask): Promise<Outcome<Pmid>> {
    try {
      return await this.#ask(nameRequest(name, ask.requester.context), ask)
    } catch (error) {
      return this.#asItem(error, ask)
    }
  }

  async #lookupMany(names: readonly string[], ask: Ask): Promise<readonly Outcome<Pmid>[]> {
    const parts = await inBatches(partsOf(names), this.#partsAtOnce, (part) =>
      this.#ask<readonly Pmid[]>(
        {
          pdu: encodePmnsNames(part, undefined, ask.requester.context),
          replyType: PDU_PMNS_IDS,
          subject: `${part.length} names`,
          maxItems: part.length,
          read: (reply) => ofLength(decodePmnsIds(reply).ids, part.length),
        },
        ask,
      ),
    )
    // The reply has no reasons for failures: those names are looked up one at a time.
    return inBatches<Pmid, Outcome<Pmid>>(parts.flat(), this.#itemsAtOnce, (id, i) =>
      id === PM_ID_NULL ? this.#lookupName(names[i]!, ask) : id,
    )
  }

  lookupId(id: Pmid, ask: Ask): Promise<readonly string[]> {
    return this.#ask(idRequest(id, ask.requester.context), ask)
  }

  async descs(ids: readonly Pmid[], ask: Ask): Promise<readonly Outcome<MetricDesc>[]> {
    if (ids.length < 2 || (this.features & PDU_FLAG_DESCS) === 0)
      return inBatches(ids, this.#itemsAtOnce, (id) => this.#desc(id, ask))
    const parts: (readonly Pmid[])[] = []
    for (let at = 0; at < ids.length; at += MAX_DESC_IDS) {
      const part = ids.slice(at, at + MAX_DESC_IDS)
      // A collector answers a single invalid id with an error instead of a list, so these are fetched one at a time.
      if (part.length > 1) parts.push(part)
    }
    const found = await inBatches<readonly Pmid[], readonly MetricDesc[]>(parts, this.#partsAtOnce, (part) =>
      this.#ask(
        {
          pdu: encodeDescIds(part, ask.requester.context),
          replyType: PDU_DESCS,
          subject: `${part.length} descriptors`,
          maxItems: part.length,
          read: (reply) => ofLength(decodeDescs(reply), part.length),
        },
        ask,
      ),
    )
    const descs = found.flat()
    return inBatches<Pmid, Outcome<MetricDesc>>(ids, this.#itemsAtOnce, (id, i) => {
      const desc = descs[i]
      return desc === undefined || desc.pmid === PM_ID_NULL ? this.#desc(id, ask) : desc
    })
  }

  get #partsAtOnce(): number {
    return Math.min(PARTS_AT_ONCE, this.#itemsAtOnce)
  }

  async #desc(id: Pmid, ask: Ask): Promise<Outcome<MetricDesc>> {
    try {
      return await this.#ask(
        {
          pdu: encodeDescReq(id, ask.requester.context),
          replyType: PDU_DESC,
          subject: `PMID ${pmidStr(id)}`,
          read: decodeDesc,
        },
        ask,
      )
    } catch (error) {
      return this.#asItem(error, ask)
    }
  }

  instances(indom: Indom, query: InstanceQuery, ask: Ask): Promise<Instances> {
    return this.#ask(instancesRequest(indom, query, ask.requester.context), ask)
  }

  text(query: TextQuery, ask: Ask): Promise<string> {
    return this.#ask(textRequest(query, ask.requester.context), ask)
  }

  labels(query: LabelQuery, ask: Ask): Promise<readonly LabelSet[]> {
    if ((this.features & PDU_FLAG_LABELS) === 0)
      return Promise.reject(new PcpError('PM_ERR_NOLABELS', `pmcd at ${this.address} knows no labels`))
    const question = labelsRequest(query, ask.requester.context)
    return this.#ask(
      question.needsProfile === true ? { ...question, ...this.#profileFirst(ask) } : question,
      ask,
    )
  }

  fetch(ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
    if (ids.length === 0) return Promise.reject(new PcpError('PM_ERR_TOOSMALL', 'A fetch of no metrics'))
    const { context } = ask.requester
    const isHighRes = (this.features & PDU_FLAG_HIGHRES) !== 0
    const { prepare, onRefusal } = this.#profileFirst(ask)
    return this.#ask(
      {
        pdu: isHighRes ? encodeHighResFetch(context, ids, context) : encodeFetch(context, ids, context),
        replyType: isHighRes ? PDU_HIGHRES_RESULT : PDU_RESULT,
        subject: `${ids.length} metrics`,
        maxItems: ids.length,
        prepare,
        onRefusal,
        read: (reply) => {
          const { timestamp, sets } = decodeResult(reply)
          ofLength(sets, ids.length)
          // An aborted fetch discards its result and must leave the changes for the next one.
          const changes = ask.signal?.aborted === true ? 0 : this.#takeChanges(context)
          return { timestamp, changes, sets }
        },
        onState: (bits) => this.#addChanges(bits),
      },
      ask,
    )
  }

  async store(sets: readonly ValueSet[], ask: Ask): Promise<void> {
    await this.#ask(
      {
        pdu: encodeResult({ sec: 0, nsec: 0 }, sets, ask.requester.context),
        replyType: PDU_ERROR,
        subject: `Store of ${sets.length} metrics`,
        read: () => 0,
      },
      ask,
    )
  }

  subscribe(listener: (event: SourceEvent) => void): () => void {
    return this.#listeners.subscribe(listener)
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  #ask<T>(request: Request<T>, ask: Ask): Promise<T> {
    const { pdu, subject } = request
    if (pdu.length > MAX_CLIENT_PDU) {
      const text = `${subject}: the request has ${pdu.length} bytes, collectors accept ${MAX_CLIENT_PDU}; split it`
      return Promise.reject(new PcpError('PM_ERR_TOOBIG', text))
    }
    return this.#requests.send(request, ask.signal)
  }

  /**
   * A collector answers a PROFILE only to refuse it. The refusal arrives instead of the next reply, and all later replies
   * are then off by one, so the connection must end.
   */
  #profileFirst(ask: Ask): Required<Pick<Request<unknown>, 'prepare' | 'onRefusal'>> {
    let hasSent = false
    return {
      prepare: () => {
        hasSent = this.#sendProfile(ask.requester)
      },
      onRefusal: (status) => {
        if (hasSent && PROFILE_REFUSALS.has(status))
          throw PcpError.fromStatus(status, `Profile of context ${ask.requester.context}`)
      },
    }
  }

  /** Returns an error about one item as its outcome; throws errors of the connection. */
  #asItem(error: unknown, ask: Ask): PcpError {
    if (error instanceof PcpError && this.closedBy === undefined && ask.signal?.aborted !== true) return error
    throw error
  }

  /** Returns whether the profile had to be sent. */
  #sendProfile({ context, profile }: Requester): boolean {
    if (this.#profiles.get(context) === profile) return false
    this.#connection.send(encodeProfile(context, profile, context))
    this.#profiles.set(context, profile)
    return true
  }

  /** A collector reports changes once per connection; they are recorded for every context on it. */
  #addChanges(bits: number): void {
    for (const context of this.#profiles.keys())
      this.#changes.set(context, (this.#changes.get(context) ?? 0) | bits)
    this.#listeners.emit({ type: 'changed', changes: bits })
  }

  #takeChanges(context: number): number {
    const changes = this.#changes.get(context) ?? 0
    if (changes !== 0) this.#changes.delete(context)
    return changes
  }
}

/** Sends requests for items in batches of `atOnce`. */
async function inBatches<I, T>(
  items: readonly I[],
  atOnce: number,
  ask: (item: I, i: number) => T | Promise<T>,
): Promise<readonly T[]> {
  if (items.length <= atOnce) return Promise.all(items.map(ask))
  const answers: T[] = []
  for (let at = 0; at < items.length; at += atOnce) {
    const batch = items.slice(at, at + atOnce).map((item, k) => ask(item, at + k))
    answers.push(...(await Promise.all(batch)))
  }
  return answers
}

/** Splits names into lists that fit into one PDU each. */
function partsOf(names: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = []
  let room = 0
  for (const name of names) {
    const size = 4 + round4(textSize(name))
    if (room < size) {
      parts.push([])
      room = NAMES_BYTES
    }
    parts.at(-1)!.push(name)
    room -= size
  }
  return parts
}

function ofLength<T>(items: readonly T[], length: number): readonly T[] {
  if (items.length !== length)
    throw new PcpError('PM_ERR_IPC', `A reply of ${items.length} items to a request of ${length}`)
  return items
}
