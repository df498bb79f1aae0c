/** What a service says over a socket: all the time, or when it is asked. docs/guide/agent-data.md */
import type { Socket } from 'node:net'
import { onAbort } from '../../base/on-abort.ts'
import { Retry } from '../../base/retry.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { LineSplitter } from './lines.ts'

/** Where a service is: a unix socket, or a TCP port. */
export type ServiceAddress = { readonly path: string } | { readonly port: number; readonly host?: string }

/** How a service is listened to. */
export interface SocketFeedOptions {
  readonly address: ServiceAddress
  /** Hears of each line. */
  readonly onLine: (line: string) => void
  /** The connection is there: to say what is wanted, by `send`. */
  readonly onConnect?: (send: (text: string) => void) => void
  /** A longer line loses its end; default 65536 bytes. */
  readonly maxLineBytes?: number
}

/** How a service is asked. */
export interface AskOptions {
  /** Gives up waiting. */
  readonly signal?: AbortSignal
  /** A longer answer is an error (EFBIG); default 16 MB. */
  readonly maxBytes?: number
  /** Is this the whole answer? For services that leave the connection open; default: when they close it. */
  readonly isComplete?: (text: string) => boolean
}

const LONGEST_LINE = 65_536
/** A connection that lasted so long worked: after it the next attempt is made immediately. */
const SETTLED_MS = 10_000
const MAX_BYTES = 16 * 1024 * 1024

/**
 * Keeps a connection to a service and hears its lines. A connection that was lost, or refused, is tried again: at once,
 * then after 1, 2, 4... 60 seconds until the service says something. It keeps no process alive.
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

  /** Why there is no connection; undefined while there is one. */
  get error(): PcpError | undefined {
    return this.#error
  }

  /** How often it was connected. */
  get connections(): number {
    return this.#connections
  }

  /** Connects, unless it is connected. */
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
      // A server that sends a line and closes is not asked in a tight loop.
      if (performance.now() - startedAt >= SETTLED_MS) this.#retry.succeeded()
      this.#retry.later()
    })
  }

  /** Ends the connection. */
  close(): void {
    this.#isClosed = true
    this.#retry.close()
    this.#socket?.destroy()
  }
}

/**
 * Connects, sends a request, and gives the answer. Made for a `BackgroundReading`. Rejects with the system's error, EFBIG
 * for an answer that is too long, ECONNRESET for one that is not complete, EINTR when `signal` gives up.
 */
export function askService(
  address: ServiceAddress,
  request: string,
  options: AskOptions = {},
): Promise<string> {
  const { signal, maxBytes = MAX_BYTES, isComplete } = options
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) throw new PcpError('EINTR', `${nameOf(address)} was not asked`)
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
