/** The control port: one pmlc over TCP, and one of the owner over the unix socket. docs/formats/wire.md §8 */
import type { Socket } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { type ErrorCode, PcpError, statusOf } from '../model/errors.ts'
import type { ValueSet } from '../model/values.ts'
import type { AccessTable, Admission } from '../net/access/table.ts'
import { PduConnection, socketStream } from '../net/connection.ts'
import { type Endpoint, type Listeners, listen } from '../net/listen.ts'
import { monotonicMs } from '../sys/monotonic.ts'
import { type PeerCredentials, peerCredentials } from '../sys/native/peer-credentials.ts'
import { decodeCreds, versionOf } from '../wire/creds.ts'
import { encodeError } from '../wire/error.ts'
import { decodeLogControl, PM_LOG_ADVISORY, PM_LOG_ENQUIRE, PM_LOG_MANDATORY } from '../wire/log-control.ts'
import {
  decodeLogRequest,
  LOG_REQUEST_NEWVOLUME,
  LOG_REQUEST_STATUS,
  LOG_REQUEST_SYNC,
} from '../wire/log-request.ts'
import { encodeLogStatus, encodeLogStatusV2, type LogStatus } from '../wire/log-status.ts'
import { PDU_CREDS, PDU_LOG_CONTROL, PDU_LOG_REQUEST, pduType } from '../wire/pdu.ts'
import { encodeResult } from '../wire/result.ts'
import { LOGGER_OPERATIONS, OP_ADVISORY, OP_MANDATORY } from './config.ts'
import { handleControlRequest } from './control-requests.ts'
import type { Logger } from './logger.ts'

/** First port tried. */
export const FIRST_PORT = 4330
/** Number of ports tried. */
const MAX_PORTS = 1000
/** Largest request in bytes, about ten thousand instances. */
const MAX_REQUEST = 256 * 1024
/** Time a rejected client has to read the error. */
const LINGER_MS = 1000
/** Rejected clients that may be reading their error at a time; more are disconnected without one. */
const MOST_LINGERING = 16
/** Time limit for receiving the rest of a request. */
const INCOMPLETE_MS = 5000
/** A client idle for this long is disconnected if another one connects. */
const IDLE_MS = 60_000
/** Latest version of the control protocol. */
export const CONTROL_VERSION = 3

type Transport = 'unix' | 'tcp'

const EVERYTHING = [...LOGGER_OPERATIONS.values()].reduce((bits, bit) => bits | bit, 0)

/** Options of the control port. */
export interface ControlOptions {
  /** First port to try, then the following ones. 0 lets the kernel choose. */
  readonly firstPort: number
  /** Listens only on loopback addresses. */
  readonly localOnly: boolean
  readonly socketPath: string
  readonly pid: number
  /** Highest version offered: 2 or 3. */
  readonly version: number
  readonly access: AccessTable
  /** Identifies clients of the unix socket. Default: through system calls. */
  readonly peers?: PeerCredentials
  /** Returns the current logger, if any. */
  readonly logger: () => Logger | undefined
  readonly zone: { readonly timezone: string; readonly zoneinfo: string }
  readonly log: (text: string) => void
  /** Monotonic milliseconds. Default: this process's clock. */
  readonly clock?: () => number
}

/** Listens for control clients. */
export class ControlServer {
  readonly #options: ControlOptions
  readonly #listeners: Listeners[] = []
  readonly #peers: PeerCredentials
  /** By transport, so that a client over TCP cannot lock out the owner. */
  readonly #clients = new Map<Transport, ControlClient>()
  #lingering = 0
  #port = 0

  private constructor(options: ControlOptions) {
    this.#options = options
    this.#peers = options.peers ?? peerCredentials()
  }

  /** Opens the TCP port and the unix socket. Failures are only logged: recording works without a control port. */
  static async open(options: ControlOptions): Promise<ControlServer> {
    const server = new ControlServer(options)
    await server.#listen()
    return server
  }

  /** The TCP port; 0 if none is open. */
  get port(): number {
    return this.#port
  }

  /** Disconnects the clients and stops listening. */
  async close(): Promise<void> {
    for (const listeners of this.#listeners.splice(0)) await listeners.close()
    for (const client of this.#clients.values()) await client.close()
  }

  async #listen(): Promise<void> {
    const { firstPort, localOnly, socketPath, log } = this.#options
    const onConnection = (socket: Socket, endpoint: Endpoint): void => this.#accept(socket, endpoint)
    const unix = await listen({ ports: [], socketPath, isPrivate: true, onConnection, log })
    this.#listeners.push(unix)
    const failed = unix.endpoints.find(({ error }) => error !== undefined)
    if (failed !== undefined) log(`GetPorts: unix domain socket failed: ${failed.error!.message}`)
    for (let i = 0; i < MAX_PORTS; i++) {
      const port = firstPort === 0 ? 0 : firstPort + i
      const listeners = await listen({ ports: [port], localOnly, retryMs: 0, onConnection, log })
      const inet = listeners.endpoints.find(({ family }) => family === 'inet')
      if (inet?.error === undefined) {
        this.#listeners.push(listeners)
        this.#port = inet?.port ?? 0
        return
      }
      await listeners.close()
    }
    log(
      `Warning: no port from ${firstPort} to ${firstPort + MAX_PORTS - 1} is free: pmlc can use the unix socket only`,
    )
  }

  #accept(socket: Socket, { family }: Endpoint): void {
    const { pid, access, version } = this.#options
    const transport: Transport = family === 'unix' ? 'unix' : 'tcp'
    const isUnix = transport === 'unix'
    const address = isUnix ? this.#options.socketPath : (socket.remoteAddress ?? '')
    const connection = new PduConnection(socketStream(socket), {
      name: `pmlc at ${address}`,
      limit: MAX_REQUEST,
      incompleteMs: INCOMPLETE_MS,
      backpressure: true,
    })
    const admission = access.check({ address: isUnix ? undefined : address })
    const problem = this.#problemOf(admission, transport, isUnix && !this.#isOwnerOrRoot(socket))
    if (problem !== undefined) {
      this.#refuse(connection, problem)
      return
    }
    const client = new ControlClient(
      connection,
      this.#options,
      admission,
      isUnix ? address : `host ${address}`,
    )
    this.#clients.set(transport, client)
    connection.onClose(() => {
      access.release(admission)
      this.#clients.delete(transport)
    })
    connection.send(encodeError(version, pid))
  }

  /** Returns why a client is rejected; undefined if it is admitted and counted. */
  #problemOf(admission: Admission, transport: Transport, isStranger: boolean): ErrorCode | undefined {
    if (isStranger || (admission.denied & EVERYTHING) === EVERYTHING) return 'PM_ERR_PERMISSION'
    const holder = this.#clients.get(transport)
    if (holder !== undefined && !holder.isIdle) return 'EADDRINUSE'
    holder?.drop()
    return this.#options.access.admit(admission) ? undefined : 'PM_ERR_CONNLIMIT'
  }

  #refuse(connection: PduConnection, problem: ErrorCode): void {
    if (this.#lingering >= MOST_LINGERING) {
      connection.destroy()
      return
    }
    this.#lingering++
    connection.onClose(() => {
      this.#lingering--
    })
    connection.send(encodeError(statusOf(problem), this.#options.pid))
    void connection.close(LINGER_MS)
  }

  /** Without peer credentials the socket's file mode, which lets only the owner connect, is the only check. */
  #isOwnerOrRoot(socket: Socket): boolean {
    if (this.#peers.problem() !== undefined) return isMainThread
    const { uid } = this.#peers.of(socket) ?? {}
    return uid !== undefined && (uid === 0 || uid === process.geteuid?.())
  }
}

/** One pmlc. Requests are processed one at a time; the next one is read after the reply. */
class ControlClient {
  readonly #connection: PduConnection
  readonly #options: ControlOptions
  readonly #denied: number
  readonly #address: string
  readonly #clock: () => number
  #version: number
  /** Time of the last reply or of the connection; undefined while a request is processed. */
  #idleSince: number | undefined

  constructor(connection: PduConnection, options: ControlOptions, admission: Admission, address: string) {
    this.#connection = connection
    this.#options = options
    this.#denied = admission.denied
    this.#address = address
    this.#clock = options.clock ?? monotonicMs
    this.#version = Math.min(2, options.version)
    this.#idleSince = this.#clock()
    connection.onPdu((pdu) => {
      connection.pause()
      this.#idleSince = undefined
      // The PDU shares the socket's buffer.
      void this.#answer(pdu.slice()).finally(() => {
        this.#idleSince = this.#clock()
        connection.resume()
      })
    })
  }

  get isIdle(): boolean {
    return this.#idleSince !== undefined && this.#clock() - this.#idleSince >= IDLE_MS
  }

  /** Disconnects the client. */
  drop(): void {
    this.#connection.destroy()
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  async #answer(pdu: Uint8Array): Promise<void> {
    const { pid } = this.#options
    try {
      const reply = await this.#reply(pdu)
      if (reply !== undefined) this.#connection.send(reply)
    } catch (error) {
      const { status, code } = PcpError.from(error)
      this.#connection.send(encodeError(status, pid))
      if (code === 'PM_ERR_IPC') await this.#connection.close(LINGER_MS)
    }
  }

  async #reply(pdu: Uint8Array): Promise<Uint8Array | undefined> {
    const { pid } = this.#options
    switch (pduType(pdu)) {
      case PDU_CREDS:
        this.#version = Math.min(versionOf(decodeCreds(pdu)).version, this.#options.version)
        return undefined
      case PDU_LOG_REQUEST:
        return this.#request(decodeLogRequest(pdu))
      case PDU_LOG_CONTROL: {
        const request = decodeLogControl(pdu)
        if (request.control === PM_LOG_MANDATORY) this.#demand(OP_MANDATORY)
        if (request.control === PM_LOG_ADVISORY) this.#demand(OP_ADVISORY)
        const logger = this.#logger()
        const { log } = this.#options
        const answer = (): Promise<ValueSet[]> => handleControlRequest(logger, request, log, this.#address)
        // Enquiries of other accounts do not delay the recording.
        const sets = await (request.control === PM_LOG_ENQUIRE ? answer() : logger.exclusively(answer))
        return encodeResult({ sec: 0, nsec: 0 }, sets, pid)
      }
      default:
        throw new PcpError('PM_ERR_IPC')
    }
  }

  async #request(request: number): Promise<Uint8Array> {
    const { pid, zone } = this.#options
    switch (request) {
      case LOG_REQUEST_NEWVOLUME:
        this.#demand(OP_MANDATORY)
        return encodeError(await this.#logger().switchVolume('pmlc request'), pid)
      case LOG_REQUEST_STATUS: {
        const status: LogStatus = this.#logger().status(zone)
        return this.#version >= 3 ? encodeLogStatus(status, pid) : encodeLogStatusV2(status, pid)
      }
      case LOG_REQUEST_SYNC:
        return encodeError(0, pid)
      default:
        throw new PcpError('PM_ERR_IPC')
    }
  }

  #demand(operation: number): void {
    if ((this.#denied & operation) !== 0) throw new PcpError('PM_ERR_PERMISSION')
  }

  #logger(): Logger {
    const logger = this.#options.logger()
    if (logger === undefined) throw new PcpError('EAGAIN', 'The logger is not ready')
    return logger
  }
}
