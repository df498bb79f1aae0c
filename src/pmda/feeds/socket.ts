/** Reads from a service over a socket, continuously or once per reading. docs/how-to/agent-data.md */
import type { Socket } from 'node:net'
import { onAbort } from '../../base/on-abort.ts'
import { Retry } from '../../base/retry.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { LineSplitter } from './lines.ts'

/** Address of a service: a unix socket or a TCP port. */
export type ServiceAddress = { readonly path: string } | { readonly port: number; readonly host?: string }

/** Options of a feed from a service. */
export interface SocketFeedOptions {
  readonly address: ServiceAddress
  /** Called for each line. */
  readonly onLine: (line: string) => void
  /** Called when connected, to send a request if the service needs one. */
  readonly onConnect?: (send: (text: string) => void) => void
  /** Longer lines are truncated; default 65536 bytes. */
  readonly maxLineBytes?: number
}

/** Options of a single request. */
export interface QueryOptions {
  /** Aborts the request. */
  readonly signal?: AbortSignal
  /** A longer answer is an error (EFBIG); default 16 MB. */
  readonly maxBytes?: number
  /** Whether the answer is complete, for services that leave the connection open. Default: complete when the service closes it. */
  readonly isComplete?: (text: string) => boolean
}

const LONGEST_LINE = 65_536
/** A connection that lasted this long was working: after it the next attempt is made immediately. */
const SETTLED_MS = 10_000
const MAX_BYTES = 16 * 1024 * 1024

/**
 * Keeps a connection to a service and passes on its lines. A lost or refused connection is retried: immediately, then
 * after 1, 2, 4... 60 seconds until the service sends a line. It keeps no process alive.
 */
export class SocketFeed {
  readonly #options: SocketFeedOptions
  readonly #retry: Retry
  #socket: Socket | undefined
  #isClosed = false
  #connections = 0
  #error: PcpError | undefined = new PcpError('PM_ERR_AGAIN', 'Not connected yet')

  constructor(options: SocketFeedOptions) {
    this.#options = options
    this.#retry = new Retry(() => this.start())
  }

  /** Reason of a missing connection; undefined while connected. */
  get error(): PcpError | undefined {
    return this.#error
  }

  /** Number of connections made. */
  get connections(): number {
    return this.#connections
  }

  /** Connects unless connected. */
  start(): void {
    if (this.#socket !== undefined || this.#isClosed) return
    const { address, onLine, onConnect, maxLineBytes = LONGEST_LINE } = this.#options
    const socket = connect(address)
    socket.unref()
    this.#socket = socket
    let failure: PcpError | undefined
    const lines = new LineSplitter(maxLineBytes, onLine)
    const startedAt = performance.now()
    socket.once('connect', () => {
      this.#connections++
      this.#error = undefined
      onConnect?.((text) => socket.write(text))
    })
    socket.on('data', (piece) => lines.push(piece))
    socket.once('error', (error) => {
      failure = PcpError.from(error)
    })
    socket.once('close', () => {
      lines.finish()
      this.#socket = undefined
      this.#error = failure ?? new PcpError('ECONNRESET', `${nameOf(address)} closed the connection`)
      if (this.#isClosed) return
      // A server that sends a line and closes must not be reconnected in a tight loop.
      if (performance.now() - startedAt >= SETTLED_MS) this.#retry.succeeded()
      this.#retry.schedule()
    })
  }

  /** Closes the connection. */
  close(): void {
    this.#isClosed = true
    this.#retry.close()
    this.#socket?.destroy()
  }
}

/**
 * Connects, sends a request and resolves to the answer, for a `BackgroundReading`. Rejects with the system's error, EFBIG
 * for an answer that is too long, ECONNRESET for an incomplete one, EINTR if `signal` is aborted.
 */
export function queryService(
  address: ServiceAddress,
  request: string,
  options: QueryOptions = {},
): Promise<string> {
  const { signal, maxBytes = MAX_BYTES, isComplete } = options
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true)
      throw new PcpError('EINTR', `${nameOf(address)}: request aborted before it was sent`)
    const socket = connect(address)
    const pieces: Uint8Array[] = []
    let size = 0
    const settle = (finish: () => void): void => {
      stop()
      socket.destroy()
      finish()
    }
    const fail = (error: PcpError): void => settle(() => reject(error))
    const stop = onAbort(signal, () =>
      fail(new PcpError('EINTR', `${nameOf(address)} did not answer in time`)),
    )
    const text = (): string => decodeText(Buffer.concat(pieces))
    socket.once('connect', () => socket.write(request))
    socket.on('data', (piece) => {
      size += piece.length
      pieces.push(piece)
      if (size > maxBytes)
        fail(new PcpError('EFBIG', `${nameOf(address)} answered more than ${maxBytes} bytes`))
      else if (isComplete?.(text()) === true) settle(() => resolve(text()))
    })
    socket.once('end', () => {
      if (isComplete === undefined) settle(() => resolve(text()))
      else fail(new PcpError('ECONNRESET', `${nameOf(address)} closed the connection within its answer`))
    })
    socket.on('error', (error) => fail(PcpError.from(error)))
  })
}

function connect(address: ServiceAddress): Socket {
  const { connect: open } = process.getBuiltinModule('node:net')
  return 'path' in address ? open(address.path) : open(address.port, address.host ?? '127.0.0.1')
}

function nameOf(address: ServiceAddress): string {
  return 'path' in address ? address.path : `${address.host ?? '127.0.0.1'}:${address.port}`
}
