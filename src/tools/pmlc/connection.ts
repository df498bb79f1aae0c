/** A control connection to a pmlogger. docs/formats/wire.md §8 */
import { connect as connectSocket, type Socket } from 'node:net'
import { PcpError } from '../../model/errors.ts'
import type { ValueSet } from '../../model/values.ts'
import { PduConnection, socketStream } from '../../net/connection.ts'
import { connectError } from '../../net/dial.ts'
import { nextPdu } from '../../net/next-pdu.ts'
import { waitFor } from '../../net/wait.ts'
import { encodeCreds } from '../../wire/creds.ts'
import { decodeError } from '../../wire/error.ts'
import { encodeLogControl, type LogControl } from '../../wire/log-control.ts'
import { encodeLogRequest, LOG_REQUEST_NEWVOLUME, LOG_REQUEST_STATUS } from '../../wire/log-request.ts'
import { decodeLogStatus, decodeLogStatusV2, type LogStatus } from '../../wire/log-status.ts'
import { PDU_ERROR, PDU_LOG_STATUS, PDU_LOG_STATUS_V2, PDU_RESULT, pduFrom, pduType } from '../../wire/pdu.ts'
import { REPLY_LIMITS } from '../../wire/reply-limits.ts'
import { decodeResult } from '../../wire/result.ts'

/** Address of a pmlogger's control port. */
export type ControlAddress = { readonly path: string } | { readonly host: string; readonly port: number }

const OWN_VERSION = 3

/** An open control connection; requests run one at a time. */
export class LoggerConnection {
  /** Process id of the logger. */
  readonly pid: number
  readonly #connection: PduConnection
  readonly #limitMs: number

  private constructor(connection: PduConnection, pid: number, limitMs: number) {
    this.#connection = connection
    this.pid = pid
    this.#limitMs = limitMs
  }

  /** Connects and negotiates the version. Rejects with ECONNREFUSED, PM_ERR_PERMISSION, EADDRINUSE if another client is connected... */
  static async open(place: ControlAddress, limitMs: number, signal: AbortSignal): Promise<LoggerConnection> {
    const socket = connectSocket({ ...place })
    const name = 'path' in place ? place.path : `${place.host}:${place.port}`
    await connected(socket, name, limitMs, signal)
    const connection = new PduConnection(socketStream(socket), {
      name: `pmlogger at ${name}`,
      limit: REPLY_LIMITS.pduBytes,
    })
    try {
      const hello = await nextPdu(connection, { ms: limitMs, signal })
      const { status } = decodeError(hello)
      if (status < 0) throw PcpError.fromStatus(status)
      connection.send(encodeCreds(0, process.pid, Math.min(status, OWN_VERSION)))
      return new LoggerConnection(connection, pduFrom(hello), limitMs)
    } catch (error) {
      connection.destroy()
      throw error
    }
  }

  /** Requests the logger's status. */
  async status(): Promise<LogStatus> {
    const reply = await this.#ask(encodeLogRequest(LOG_REQUEST_STATUS, process.pid))
    if (pduType(reply) === PDU_LOG_STATUS) return decodeLogStatus(reply)
    if (pduType(reply) === PDU_LOG_STATUS_V2) return decodeLogStatusV2(reply)
    throw refusalIn(reply)
  }

  /** Begins a new volume; resolves to its number. */
  async newVolume(): Promise<number> {
    const reply = await this.#ask(encodeLogRequest(LOG_REQUEST_NEWVOLUME, process.pid))
    const { status } = decodeError(reply)
    if (status < 0) throw PcpError.fromStatus(status)
    return status
  }

  /** Changes or queries states; the words of the value sets hold the state of each instance. */
  async control(request: LogControl): Promise<readonly ValueSet[]> {
    const reply = await this.#ask(encodeLogControl(request, process.pid))
    if (pduType(reply) !== PDU_RESULT) throw refusalIn(reply)
    return decodeResult(reply).sets
  }

  /** Closes the connection; idempotent. */
  close(): Promise<void> {
    return this.#connection.close()
  }

  async #ask(pdu: Uint8Array): Promise<Uint8Array> {
    this.#connection.send(pdu)
    const reply = await nextPdu(this.#connection, { ms: this.#limitMs })
    return reply.slice()
  }
}

function refusalIn(reply: Uint8Array): PcpError {
  return pduType(reply) === PDU_ERROR
    ? PcpError.fromStatus(decodeError(reply).status)
    : new PcpError('PM_ERR_IPC')
}

function connected(socket: Socket, name: string, ms: number, signal: AbortSignal): Promise<void> {
  const late = (): PcpError => new PcpError('ETIMEDOUT')
  return waitFor<void>({ ms, createTimeoutError: late, signal, what: `Connecting to ${name}` }, (end) => {
    const onConnect = (): void => end(undefined)
    const onError = (error: NodeJS.ErrnoException): void => end(connectError(error, name))
    socket.once('connect', onConnect).once('error', onError)
    return () => socket.off('connect', onConnect).off('error', onError)
  })
}
