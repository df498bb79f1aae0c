/** serveAgent: serves a MetricSource as an agent over a collector's connection. docs/formats/wire.md §7 */
import { MAX_DELAY_MS } from '../base/after.ts'
import { PcpError, statusOf } from '../model/errors.ts'
import { ALL_INSTANCES } from '../model/profile.ts'
import type { Ask, Credentials, MetricSource, Requester, SourceEvent } from '../model/source.ts'
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
import { decodeError, encodeError } from '../wire/error.ts'
import type { FetchPdu } from '../wire/fetch.ts'
import * as wire from '../wire/pdu.ts'
import { decodeProfile } from '../wire/profile.ts'
import type { PduConnection } from './connection.ts'
import { nextPdu } from './next-pdu.ts'
import { PduServer } from './pdu-server.ts'
import { AGENT_REQUESTS, type SourceRequest } from './serve-source.ts'

/** Options of `serveAgent`. */
export interface ServeAgentOptions {
  /** PDU_FLAG_AUTH and PDU_FLAG_CONTAINER to receive the attributes of clients; default 0. */
  readonly flags?: number
  /** Timeout for the collector's answer to our CREDS in milliseconds; default: none. */
  readonly handshakeMs?: number
  /** Called with the error of each failed request; the collector receives the same error. */
  readonly onFailure?: (error: PcpError, pduName: string) => void
}

const NOTCONN = statusOf('PM_ERR_NOTCONN')
const NOTREADY = statusOf('PM_ERR_PMDANOTREADY')

/**
 * Sends CREDS to the collector, then answers its requests from `source` until the connection ends. Resolves after an
 * orderly end, else rejects with PM_ERR_IPC and the like. Closes the connection but not the source.
 */
export async function serveAgent(
  source: MetricSource,
  connection: PduConnection,
  options: ServeAgentOptions = {},
): Promise<void> {
  // Subscribes to the source now, so that changes during the handshake are not missed.
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

/** Policy of an agent's server: the collector's clients and whether the agent is ready. */
class AgentServer {
  readonly #source: MetricSource
  readonly #connection: PduConnection
  readonly #server: PduServer<MetricSource, Ask>
  readonly #unsubscribe: () => void
  /** Clients by slot, with their latest profile. */
  readonly #clients = new Map<number, Requester>()
  #isNotReady = false
  #saidNotReady = false

  constructor(source: MetricSource, connection: PduConnection, { onFailure }: ServeAgentOptions) {
    this.#source = source
    this.#connection = connection
    this.#server = new PduServer(
      {
        source,
        requests: AGENT_REQUESTS,
        isSerial: true,
        repliesToRequestsOnly: true,
        admit: (type) => {
          if (this.#isNotReady && AGENT_REQUESTS.has(type)) throw new PcpError('PM_ERR_PMDANOTREADY')
        },
        handleOther: (type, pdu) => this.#notice(type, pdu),
        identify: (row, pdu, query) => this.#identify(row, pdu, query),
        failed: (error, type) => {
          if (error.status === NOTREADY && AGENT_REQUESTS.has(type)) this.#saidNotReady = true
          onFailure?.(error, wire.pduName(type))
        },
      },
      connection,
    )
    this.#unsubscribe = source.subscribe((event) => this.#onEvent(event))
  }

  /** Takes a PDU; requests are answered in sequence. */
  receive(pdu: Uint8Array): void {
    this.#server.receive(pdu)
  }

  close(): void {
    this.#unsubscribe()
    this.#server.close()
    for (const client of this.#clients.keys()) this.#source.endClient?.(client)
    this.#clients.clear()
  }

  /** Takes PDUs without a reply: client attributes, and types that agents ignore. */
  #notice(type: number, pdu: Uint8Array): true {
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
        return true
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

  #identify({ isFetch }: SourceRequest, pdu: Uint8Array, query: unknown): Ask {
    const known = this.#clientOf(wire.pduFrom(pdu))
    if (isFetch !== true) return { requester: known }
    const { context } = query as FetchPdu
    return { requester: context === known.context ? known : { ...known, context } }
  }

  #onEvent(event: SourceEvent): void {
    if (event.type === 'changed') {
      this.#server.addChanges(event.changes)
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

/** Sets an id from decimal text. Other text makes the id unknown; Number('') would make the client root. */
function withId(known: Credentials, key: 'uid' | 'gid' | 'pid', text: string): Credentials {
  const { [key]: _, ...rest } = known
  return /^\d+$/.test(text) ? { ...rest, [key]: Number(text) } : rest
}
