/** portStream: bytes between two threads, as the stream of a PduConnection. docs/decisions/worker-agents.md */
import { Duplex } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'
import type { PduStream } from './connection.ts'

/** Bytes that may be on their way to a peer that does not read; what is written then waits, as before a full socket. */
const WINDOW = 2 ** 20
/** Bytes read before the peer hears of it: a message for each PDU would double their number. */
const REPORT = WINDOW / 4

/**
 * A connection over a message port, which it takes over. Bytes arrive in order and are copied once; the stream ends
 * when the peer's does, when the port is closed, and when the thread of the peer ends.
 */
export function portStream(port: MessagePort): PduStream {
  const stream = new PortStream(port)
  return { readable: stream, writable: stream }
}

/**
 * What goes through the port: bytes; a number, of bytes that were read; null, the end.
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
    // Memory that is sent away is gone here: whoever wrote this may keep it, so a copy goes.
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

  /** Nobody reads any more: what still waits to be written is lost with the peer. */
  #end(): void {
    if (!this.readableEnded && !this.destroyed) this.push(null)
    this.#goOn()
  }
}
