/** PduConnection: PDUs over a socket or a pair of pipes. docs/formats/wire.md §1 */
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { PcpError } from '../model/errors.ts'
import { Framer } from '../wire/framer.ts'
import { pduType } from '../wire/pdu.ts'
import { countPdu, newPduCounters, type PduCounters } from './counters.ts'
import { deadline } from './wait.ts'

/** The two directions of a connection: one socket twice, or two pipes. */
export interface PduStream {
  readonly readable: Readable
  readonly writable: Writable
  /** Write each PDU separately, for peers that mishandle several PDUs in one write. */
  readonly writesPdusSeparately?: boolean
  /** Maps an error of the stream to the error of the connection; default: the system's text. */
  readonly mapError?: (error: Error, name: string) => PcpError
}

/** Observes the PDUs of one connection while `isOn`; when off it costs one property read. docs/reference/pmcd.md */
export interface PduObserver {
  readonly isOn: boolean
  /** Called with each PDU before it is sent. It must not be kept. */
  sent(pdu: Uint8Array): void
  /** Called with each received PDU before it is processed. It borrows the socket's buffer. */
  received(pdu: Uint8Array): void
}

/** Options of `PduConnection`. */
export interface PduConnectionOptions {
  /** Name of the peer in messages: `pmcd at localhost:44321`. */
  readonly name: string
  /** Length of the largest PDU accepted; default: 2^31 - 1. */
  readonly limit?: number
  /** Remedy appended to the error for a larger PDU; the error is then PM_ERR_TOOBIG instead of PM_ERR_IPC. */
  readonly limitAdvice?: string
  /** Timeout for the rest of an incomplete PDU, in milliseconds; default: none. */
  readonly incompleteMs?: number
  /** Output queue limit in bytes; the connection ends with ENOBUFS beyond it. Default 64 MiB. */
  readonly maxQueued?: number
  /** Stop reading while the output queue is long. For servers, whose output is caused by their input. */
  readonly backpressure?: boolean
  /** Called with the bytes held for incomplete PDUs and for output the peer has not taken, whenever they change. */
  readonly onHeld?: (bytes: number) => void
  /** Counters shared with other connections, updated besides the connection's own. */
  readonly counters?: PduCounters
  /** Observes every PDU while `isOn`. */
  readonly watch?: PduObserver
}

const MAX_QUEUED = 64 * 2 ** 20
/** With back-pressure, reading stops while more bytes than this wait to be sent. */
const PAUSE_ABOVE = 256 * 1024
/** Output larger than this is written immediately instead of at the end of the tick. */
const FLUSH_ABOVE = 64 * 1024
/** How long a close waits for the peer to take remaining output. */
const CLOSE_MS = 2000

/**
 * Sends and receives whole PDUs. PDUs arrive synchronously, in order, and borrow the socket's buffer. PDUs sent within
 * one tick leave in one write. The connection ends once, with one error: PM_ERR_EOF after an orderly close by either
 * side, PM_ERR_IPC for malformed input, or an errno from the system.
 */
export class PduConnection {
  readonly name: string
  /** PDUs of this connection. */
  readonly counters: PduCounters = newPduCounters()
  #stream: PduStream
  readonly #options: PduConnectionOptions
  readonly #framer: Framer
  #onPdu: ((pdu: Uint8Array) => void) | undefined
  readonly #closeListeners: ((error: PcpError) => void)[] = []
  #closedBy: PcpError | undefined
  /** PDUs to send with the next flush, and their bytes. */
  #out: Uint8Array[] = []
  #outBytes = 0
  /** Creates the stream that replaces this one; when set, nothing more is sent over the old one. */
  #upgradeTo: ((stream: PduStream) => PduStream) | undefined
  #isFlushDue = false
  #isReceiving = false
  #isPaused = false
  #isBlocked = false
  /** Bytes last passed to `onHeld`. */
  #held = 0
  /** Whether a PDU has arrived since the timer was checked; if so, a different PDU is incomplete now. */
  #hasReceived = false
  #cancelIncomplete: (() => void) | undefined

  /** Holds received PDUs until `onPdu` is called. */
  constructor(stream: PduStream, options: PduConnectionOptions) {
    this.#stream = stream
    this.#options = options
    this.name = options.name
    this.#framer = new Framer((pdu) => this.#receive(pdu), options.limit)
    this.#framer.pause()
    this.#listen()
    this.#advance()
  }

  #listen(): void {
    const { readable, writable } = this.#stream
    readable
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('error', this.#onError)
      .on('close', this.#onEnd)
    if ((writable as unknown) !== readable) writable.on('error', this.#onError)
    writable.on('drain', this.#onDrain)
  }

  #stopListening(): void {
    const { readable, writable } = this.#stream
    readable.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError)
    readable.off('close', this.#onEnd)
    writable.off('error', this.#onError).off('drain', this.#onDrain)
  }

  /** Sets the receiver of PDUs, replacing any earlier one. */
  onPdu(listener: (pdu: Uint8Array) => void): void {
    const isFirst = this.#onPdu === undefined
    this.#onPdu = listener
    if (isFirst) process.nextTick(() => this.#advance())
  }

  /** Calls `listener` once with the reason when the connection ends; at the next tick if it has ended already. */
  onClose(listener: (error: PcpError) => void): void {
    const closedBy = this.#closedBy
    if (closedBy === undefined) this.#closeListeners.push(listener)
    else process.nextTick(listener, closedBy)
  }

  /** Why the connection ended, or undefined while it is open. */
  get closedBy(): PcpError | undefined {
    return this.#closedBy
  }

  /** Bytes waiting to be sent. */
  get queued(): number {
    return this.#outBytes + this.#stream.writable.writableLength
  }

  /** Sends a PDU, which must not be changed afterwards. Does nothing after the end. */
  send(pdu: Uint8Array): void {
    if (this.#closedBy !== undefined) return
    const type = pduType(pdu)
    countPdu(this.counters.sent, type)
    if (this.#options.counters !== undefined) countPdu(this.#options.counters.sent, type)
    if (this.#options.watch?.isOn === true) this.#options.watch.sent(pdu)
    this.#out.push(pdu)
    this.#outBytes += pdu.length
    if (this.queued > (this.#options.maxQueued ?? MAX_QUEUED)) {
      this.destroy(new PcpError('ENOBUFS', `${this.name} does not take its ${this.queued} bytes`))
    } else if (this.#outBytes > FLUSH_ABOVE) {
      // Many replies to one chunk of requests: back-pressure, which stops the rest of the chunk, needs a write.
      this.flush()
    } else if (!this.#isFlushDue && !this.#isReceiving) {
      this.#isFlushDue = true
      process.nextTick(flush, this)
    }
  }

  /** Writes the PDUs that `send` collected; called automatically at the end of the tick. */
  flush(): void {
    this.#isFlushDue = false
    const out = this.#out
    const bytes = this.#outBytes
    if (out.length === 0 || this.#closedBy !== undefined || this.#upgradeTo !== undefined) return
    this.#out = []
    this.#outBytes = 0
    const { writable, writesPdusSeparately = false } = this.#stream
    if (writesPdusSeparately) {
      for (const pdu of out) writable.write(pdu)
    } else if (bytes <= FLUSH_ABOVE) {
      // One copy is cheaper than passing each small PDU through the stream and a system call separately.
      writable.write(out.length === 1 ? out[0]! : Buffer.concat(out, bytes))
    } else {
      writable.cork()
      for (const pdu of out) writable.write(pdu)
      writable.uncork()
    }
    if (this.#options.backpressure === true && writable.writableLength > PAUSE_ABOVE) {
      this.#isBlocked = true
      this.#advance()
    }
    this.#count()
  }

  /** Output that the system takes immediately is not counted; 'drain' follows when the rest is gone. */
  #count(): void {
    const { onHeld } = this.#options
    if (onHeld === undefined) return
    const { writable } = this.#stream
    const held = this.#framer.bytes + (writable.writableNeedDrain ? writable.writableLength : 0)
    if (held === this.#held) return
    this.#held = held
    onHeld(held)
  }

  /** Delivers no PDUs until `resume`, not even those of a chunk already received. */
  pause(): void {
    this.#isPaused = true
    this.#advance()
  }

  /** Delivers PDUs again. */
  resume(): void {
    this.#isPaused = false
    this.#advance()
  }

  /**
   * Continues over a stream made from the present one (TLS). PDUs sent before still leave over the old stream; bytes
   * behind the last received PDU are the first that the new stream reads. Does nothing after the end.
   */
  upgrade(make: (stream: PduStream) => PduStream): void {
    this.flush()
    this.#framer.pause()
    this.#upgradeTo = make
    // Within a chunk the framer does not know yet which bytes remain.
    if (!this.#isReceiving) this.#switch(make)
  }

  #switch(make: (stream: PduStream) => PduStream): void {
    this.#upgradeTo = undefined
    if (this.#closedBy !== undefined) return
    this.#stopListening()
    const { readable } = this.#stream
    readable.pause()
    for (const chunk of this.#framer.takeRemaining().reverse()) readable.unshift(Buffer.from(chunk))
    this.#stream = make(this.#stream)
    this.#isBlocked = false
    this.#listen()
    process.nextTick(() => this.#advance())
  }

  /**
   * Sends queued PDUs, then closes; resolves when closed. Listeners receive PM_ERR_EOF. Input is discarded for up to
   * `lingerMs` or until the peer closes: closing with unread input resets the connection, which can overtake our last PDU.
   */
  async close(lingerMs = 0): Promise<void> {
    this.flush()
    this.#finish(new PcpError('PM_ERR_EOF', `The connection to ${this.name} was closed`))
    await this.#flushAndDestroy(lingerMs)
  }

  /** Closes immediately, discarding queued PDUs. Listeners receive `error`. */
  destroy(error?: PcpError): void {
    this.#finish(error ?? new PcpError('PM_ERR_EOF', `The connection to ${this.name} was dropped`))
    this.#stream.readable.destroy()
    this.#stream.writable.destroy()
  }

  #receive(pdu: Uint8Array): void {
    this.#hasReceived = true
    const type = pduType(pdu)
    countPdu(this.counters.received, type)
    if (this.#options.counters !== undefined) countPdu(this.#options.counters.received, type)
    if (this.#options.watch?.isOn === true) this.#options.watch.received(pdu)
    this.#onPdu!(pdu)
  }

  /** Runs the framer on new or retained input; PDUs sent in response leave in one write. */
  #feed(chunk?: Uint8Array): void {
    if (this.#closedBy !== undefined) return
    const isOuter = !this.#isReceiving
    this.#isReceiving = true
    try {
      if (chunk === undefined) this.#framer.resume()
      else this.#framer.push(chunk)
    } catch (error) {
      // Only framing errors are the peer's fault; any other error is a listener's bug and must surface.
      if (!(error instanceof PcpError)) throw error
      this.destroy(this.#withAdvice(error))
    } finally {
      if (isOuter) this.#isReceiving = false
    }
    if (this.#upgradeTo !== undefined && isOuter) this.#switch(this.#upgradeTo)
    if (isOuter) {
      this.flush()
      this.#count()
    }
    if (this.#options.incompleteMs !== undefined) this.#watchIncomplete(this.#options.incompleteMs)
  }

  #withAdvice(error: PcpError): PcpError {
    const { limitAdvice } = this.#options
    const isLimit = error.code === 'PM_ERR_TOOBIG'
    const code = isLimit && limitAdvice === undefined ? 'PM_ERR_IPC' : error.code
    const advice = isLimit && limitAdvice !== undefined ? `; ${limitAdvice}` : ''
    return new PcpError(code, `${this.name}: ${error.message}${advice}`, { cause: error })
  }

  /** Times an incomplete PDU from the arrival of its first bytes, and only while reading. */
  #watchIncomplete(ms: number): void {
    if (this.#hasReceived || !this.#framer.hasPartial) this.#stopWatching()
    this.#hasReceived = false
    if (this.#framer.hasPartial && this.#isReading && this.#closedBy === undefined)
      this.#cancelIncomplete ??= deadline(ms, () =>
        this.destroy(new PcpError('PM_ERR_TIMEOUT', `${this.name} did not complete a PDU within ${ms} ms`)),
      )
  }

  #stopWatching(): void {
    this.#cancelIncomplete?.()
    this.#cancelIncomplete = undefined
  }

  get #isReading(): boolean {
    return !this.#isPaused && !this.#isBlocked && this.#onPdu !== undefined && this.#upgradeTo === undefined
  }

  /** Applies pause, back-pressure and the presence of a listener to framer and stream. */
  #advance(): void {
    if (this.#closedBy !== undefined) return
    if (this.#isReading) {
      this.#feed()
      if (this.#isReading) this.#stream.readable.resume()
    } else {
      this.#framer.pause()
      this.#stream.readable.pause()
      this.#stopWatching()
    }
  }

  readonly #onData = (chunk: Uint8Array): void => this.#feed(chunk)

  readonly #onDrain = (): void => {
    this.#count()
    if (!this.#isBlocked) return
    this.#isBlocked = false
    this.#advance()
  }

  readonly #onEnd = (): void => {
    if (this.#closedBy !== undefined) return
    const error = this.#framer.hasPartial
      ? new PcpError('PM_ERR_IPC', `${this.name} closed the connection in the middle of a PDU`)
      : new PcpError('PM_ERR_EOF', `${this.name} closed the connection`)
    this.flush()
    this.#finish(error)
    void this.#flushAndDestroy()
  }

  /** Flushes output for a limited time, then destroys both directions. */
  async #flushAndDestroy(lingerMs = 0): Promise<void> {
    const { readable, writable } = this.#stream
    if (lingerMs > 0) readable.resume() // no listener is left
    if (!writable.destroyed && !writable.writableFinished) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, CLOSE_MS)
        const done = (): void => {
          clearTimeout(timer)
          resolve()
        }
        writable.once('close', done)
        writable.end(done)
      })
    }
    if (lingerMs > 0 && !readable.destroyed) await ended(readable, lingerMs)
    readable.destroy()
    writable.destroy()
  }

  readonly #onError = (error: Error): void => {
    const { mapError } = this.#stream
    this.destroy(mapError === undefined ? PcpError.from(error, this.name) : mapError(error, this.name))
  }

  #finish(error: PcpError): void {
    if (this.#closedBy !== undefined) return
    this.#closedBy = error
    this.#out = []
    this.#outBytes = 0
    this.#stopWatching()
    this.#framer.pause()
    for (const listener of this.#closeListeners.splice(0)) listener(error)
  }
}

/** Resolves when a stream closes, or after `ms`. */
function ended(readable: Readable, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    readable.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function flush(connection: PduConnection): void {
  connection.flush()
}

/** Returns the stream of a socket, with small writes sent without delay. */
export function socketStream(socket: Socket): PduStream {
  socket.setNoDelay(true)
  return { readable: socket, writable: socket }
}
