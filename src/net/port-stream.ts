/** portStream: a PduConnection stream between two threads. docs/decisions/worker-agents.md */
import { Duplex } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'
import type { PduStream } from './connection.ts'

/** Unread bytes in flight to the peer; further writes wait, as for a full socket buffer. */
const WINDOW = 2 ** 20
/** Bytes read before the peer is notified; a notification per PDU would double the messages. */
const REPORT = WINDOW / 4

/**
 * Returns a stream over a message port and takes ownership of the port. Bytes arrive in order and are copied once. The
 * stream ends with the peer's stream, with the port and with the peer's thread.
 */
export function portStream(port: MessagePort): PduStream {
  const stream = new PortStream(port)
  return { readable: stream, writable: stream }
}

/**
 * Messages on the port: a Uint8Array of data; a number of bytes read; null for the end.
 *
 *     write ──bytes──► push            `ahead` grows with each write and falls with each report: at WINDOW
 *     ahead ◄──count── read            the write callback waits
 */
class PortStream extends Duplex {
  readonly #port: MessagePort
  /** Bytes the peer has not reported as read. */
  #ahead = 0
  /** Bytes we have read and not reported. */
  #unreported = 0
  #written: (() => void) | undefined

  constructor(port: MessagePort) {
    super()
    this.#port = port
    port.on('message', (message: unknown) => this.#take(message))
    port.on('close', () => this.#end())
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    // Transferring detaches the memory, which the writer may still use, so a copy is transferred.
    const bytes = new Uint8Array(chunk)
    this.#port.postMessage(bytes, [bytes.buffer])
    this.#ahead += chunk.length
    if (this.#ahead < WINDOW) done()
    else this.#written = done
  }

  override _final(done: () => void): void {
    this.#port.postMessage(null)
    done()
  }

  override _read(): void {
    if (this.#unreported < REPORT) return
    this.#port.postMessage(this.#unreported)
    this.#unreported = 0
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.close()
    done(error)
  }

  #take(message: unknown): void {
    if (message instanceof Uint8Array) {
      this.#unreported += message.length
      this.push(message)
    } else if (typeof message === 'number') {
      this.#ahead -= message
      if (this.#ahead < WINDOW) this.#goOn()
    } else {
      this.push(null)
    }
  }

  #goOn(): void {
    const written = this.#written
    this.#written = undefined
    written?.()
  }

  /** The port closed: pending writes are dropped with the peer. */
  #end(): void {
    if (!this.readableEnded && !this.destroyed) this.push(null)
    this.#goOn()
  }
}
