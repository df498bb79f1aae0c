/** TCP connections of exporters. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onAbort } from '../../../base/on-abort.ts'
import { withSignal } from '../../../base/with-signal.ts'
import { PcpError } from '../../../model/errors.ts'
import { cannotSend } from './problem.ts'

/** Address of a server. */
export interface TcpServer {
  readonly host: string
  readonly port: number
}

/** Limits of an exchange with a server. */
export interface TcpLimits {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Longest answer in bytes. */
const MAX_ANSWER_BYTES = 65_536

/** Parses a port number. Throws PM_ERR_GENERIC with the name of the setting. */
export function portOf(key: string, text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port
  throw new PcpError('PM_ERR_GENERIC', `${key}: ${text}: expected a port number, 1 to 65535`)
}

/** A connection that stays open between samples, and is opened again after a failure. */
export class TcpStream {
  readonly #server: TcpServer
  #socket: Socket | undefined

  constructor(server: TcpServer) {
    this.#server = server
  }

  /** Sends bytes; resolves when they are handed to the system. Rejects with PM_ERR_GENERIC; they may have been sent in part then. */
  async send(bytes: Uint8Array, { timeoutMs, signal }: TcpLimits): Promise<void> {
    try {
      await withSignal({ signals: [signal], timeoutMs }, async (within) => {
        if (this.#socket?.writable !== true) this.#socket = await opened(this.#server, within)
        const socket = this.#socket
        await aborting(
          within,
          new Promise<void>((resolve, reject) => {
            socket.write(bytes, (error) => (error == null ? resolve() : reject(error)))
          }),
        )
      })
    } catch (error) {
      this.#socket?.destroy()
      this.#socket = undefined
      throw cannotSend(nameOf(this.#server), error, timeoutMs)
    }
  }

  /** Closes the connection after everything was sent. Rejects with PM_ERR_GENERIC on failure. */
  async close({ timeoutMs, signal }: TcpLimits): Promise<void> {
    const socket = this.#socket
    this.#socket = undefined
    if (socket === undefined || socket.destroyed) return
    try {
      await withSignal({ signals: [signal], timeoutMs }, async (within) => {
        const closed = once(socket, 'close', { signal: within })
        socket.resume().end()
        await closed
      })
    } catch (error) {
      if (!signal.aborted) throw cannotSend(nameOf(this.#server), error, timeoutMs)
    } finally {
      socket.destroy()
    }
  }
}

/** Sends bytes and resolves to the answer until the server closes. Rejects with PM_ERR_GENERIC, also if the answer is too long. */
export async function exchange(
  server: TcpServer,
  bytes: Uint8Array,
  { timeoutMs, signal }: TcpLimits,
): Promise<Uint8Array> {
  let socket: Socket | undefined
  try {
    return await withSignal({ signals: [signal], timeoutMs }, async (within) => {
      socket = await opened(server, within)
      return await aborting(within, answerOf(socket, bytes))
    })
  } catch (error) {
    throw cannotSend(nameOf(server), error, timeoutMs)
  } finally {
    socket?.destroy()
  }
}

async function answerOf(socket: Socket, bytes: Uint8Array): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  socket.write(bytes)
  for await (const chunk of socket as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > MAX_ANSWER_BYTES) throw new Error('the answer is too long')
  }
  return Buffer.concat(chunks)
}

async function opened({ host, port }: TcpServer, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect', { signal })
  } catch (error) {
    socket.destroy()
    throw error
  }
  // Failures are noticed by the next write.
  return socket.on('error', () => {})
}

/** Rejects when the signal is aborted, even if the work never ends. */
async function aborting<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const unlink = onAbort(signal, () => reject(signal.reason as Error))
    work.then(resolve, reject).finally(unlink)
  })
}

function nameOf({ host, port }: TcpServer): string {
  return `${host}:${port}`
}
