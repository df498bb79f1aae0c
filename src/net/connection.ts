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
  /** Write each PDU by itself, where what is written together arrives together. */
  readonly writesSingly?: boolean
  /** What an error of the stream means, on the connection of this name; default: what the system says. */
  readonly explain?: (error: Error, name: string) => PcpError
}

/** Watches the PDUs of one connection while it is on; off, it costs the connection a field read. docs/pmcd.md */
export interface PduWatch {
  readonly isOn: boolean
  /** A PDU is about to be sent. It must not be kept. */
  sent(pdu: Uint8Array): void
  /** A PDU arrived and has not been looked at. It borrows the socket's buffer. */
  received(pdu: Uint8Array): void
}

/** How a connection behaves. */
export interface PduConnectionOptions {
  /** Who is at the other end, for messages: `pmcd at localhost:44321`. */
  readonly name: string
  /** Length of the largest PDU accepted; default: what 31 bits allow. */
  readonly limit?: number
  /** Ends the message about a larger one, which is then PM_ERR_TOOBIG instead of PM_ERR_IPC: what to do. */
  readonly limitAdvice?: string
  /** Time for the rest of a PDU that has begun, in milliseconds; default: no limit. */
  readonly incompleteMs?: number
  /** Bytes that may wait to be sent before the connection is given up with ENOBUFS; default 64 MiB. */
  readonly maxQueued?: number
  /** Stop reading while much waits to be sent. For servers, whose output follows from their input. */
  readonly backpressure?: boolean
  /** Hears how many bytes this process holds of PDUs in pieces and of ones that the peer does not take, when that changes. */
  readonly onHeld?: (bytes: number) => void
  /** Counts that other connections share; the connection's own are counted anyway. */
  readonly counters?: PduCounters
  /** Hears every PDU while it is on. */
  readonly watch?: PduWatch
}

const MAX_QUEUED = 64 * 2 ** 20
/** With backpressure, reading stops while more than this waits to be sent. */
const PAUSE_ABOVE = 256 * 1024
/** More than this does not wait for the end of the tick. */
const FLUSH_ABOVE = 64 * 1024
/** How long a close waits for the peer to take what is still to be sent. */
const CLOSE_MS = 2000

/**
 * Sends and receives whole PDUs. PDUs arrive synchronously, in order, and borrow the socket's buffer. What is sent
 * within one tick leaves in one write. It ends once, with one error: PM_ERR_EOF when either side closed in order,
 * PM_ERR_IPC when the bytes make no sense, an errno when the system says so.
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
  /** Makes the stream that is to follow this one; nothing more is sent over this one then. */
  #upgradeTo: ((stream: PduStream) => PduStream) | undefined
  #isFlushDue = false
  #isReceiving = false
  #isPaused = false
  #isBlocked = false
  /** What `onHeld` heard last. */
  #held = 0
  /** Has a PDU come since the timer was looked at? Then what is incomplete now is another one. */
  #hasReceived = false
  #cancelIncomplete: (() => void) | undefined

  /** PDUs are kept back until `onPdu` is called. */
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

  /** Hears PDUs, one listener at a time: a later one replaces an earlier one. */
  onPdu(listener: (pdu: Uint8Array) => void): void {
    const isFirst = this.#onPdu === undefined
    this.#onPdu = listener
    if (isFirst) process.nextTick(() => this.#advance())
  }

  /** Hears, once, that the connection ended and why; at the next tick when it has ended already. */
  onClose(listener: (error: PcpError) => void): void {
    const closedBy = this.#closedBy
    if (closedBy === undefined) this.#closeListeners.push(listener)
    else process.nextTick(listener, closedBy)
  }

  /** Why it ended, or undefined while it is open. */
  get closedBy(): PcpError | undefined {
    return this.#closedBy
  }

  /** Bytes waiting to be sent. */
  get queued(): number {
    return this.#outBytes + this.#stream.writable.writableLength
  }

  /** Sends a PDU, which must not be changed any more. Does nothing after the end. */
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
      // Many replies to the requests of one chunk: only what is written can block, and so stop the rest of the chunk.
      this.flush()
    } else if (!this.#isFlushDue && !this.#isReceiving) {
      this.#isFlushDue = true
      process.nextTick(flush, this)
    }
  }

  /** Writes what `send` collected; called by itself at the end of the tick. */
  flush(): void {
    this.#isFlushDue = false
    const out = this.#out
    const bytes = this.#outBytes
    if (out.length === 0 || this.#closedBy !== undefined || this.#upgradeTo !== undefined) return
    this.#out = []
    this.#outBytes = 0
    const { writable, writesSingly = false } = this.#stream
    if (writesSingly) {
      for (const pdu of out) writable.write(pdu)
    } else if (bytes <= FLUSH_ABOVE) {
      // Copying is cheaper than a buffer of its own for each small PDU on its way through stream and system call.
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

  /** What the system takes at once is not counted: a drain says when the rest is gone. */
  #count(): void {
    const { onHeld } = this.#options
    if (onHeld === undefined) return
    const { writable } = this.#stream
    const held = this.#framer.bytes + (writable.writableNeedDrain ? writable.writableLength : 0)
    if (held === this.#held) return
    this.#held = held
    onHeld(held)
  }

  /** Gives no more PDUs until `resume`, not even those that came in the same chunk. */
  pause(): void {
    this.#isPaused = true
    this.#advance()
  }

  /** Gives PDUs again. */
  resume(): void {
    this.#isPaused = false
    this.#advance()
  }

  /**
   * Goes on over another stream that is made of the present one: TLS. What was sent so far still leaves over the present
   * one; what came behind the last PDU is the first that the new one reads. Does nothing after the end.
   */
  upgrade(make: (stream: PduStream) => PduStream): void {
    this.flush()
    this.#framer.pause()
    this.#upgradeTo = make
    // In the middle of a chunk the framer does not know yet what it leaves.
    if (!this.#isReceiving) this.#switch(make)
  }

  #switch(make: (stream: PduStream) => PduStream): void {
    this.#upgradeTo = undefined
    if (this.#closedBy !== undefined) return
    this.#stopListening()
    const { readable } = this.#stream
    readable.pause()
    for (const chunk of this.#framer.takeRest().reverse()) readable.unshift(Buffer.from(chunk))
    this.#stream = make(this.#stream)
    this.#isBlocked = false
    this.#listen()
    process.nextTick(() => this.#advance())
  }

  /**
   * Sends what is queued, then closes; resolves when closed. Listeners hear PM_ERR_EOF. For `lingerMs`, or until the peer
   * closes, what it still sends is dropped: bytes that nobody reads make the end a reset, which can overtake a last word.
   */
  async close(lingerMs = 0): Promise<void> {
    this.flush()
    this.#finish(new PcpError('PM_ERR_EOF', `The connection to ${this.name} was closed`))
    await this.#shut(lingerMs)
  }

  /** Ends at once, dropping what is queued. Listeners hear `error`. */
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

  /** Runs the framer, on what it keeps when there is nothing new; what its PDUs make us send leaves in one write. */
  #feed(chunk?: Uint8Array): void {
    if (this.#closedBy !== undefined) return
    const isOuter = !this.#isReceiving
    this.#isReceiving = true
    try {
      if (chunk === undefined) this.#framer.resume()
      else this.#framer.push(chunk)
    } catch (error) {
      // Only framing errors are the peer's fault; anything else is a bug of a listener and must be seen.
      if (!(error instanceof PcpError)) throw error
      this.destroy(this.#explained(error))
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

  #explained(error: PcpError): PcpError {
    const { limitAdvice } = this.#options
    const isLimit = error.code === 'PM_ERR_TOOBIG'
    const code = isLimit && limitAdvice === undefined ? 'PM_ERR_IPC' : error.code
    const advice = isLimit && limitAdvice !== undefined ? `; ${limitAdvice}` : ''
    return new PcpError(code, `${this.name}: ${error.message}${advice}`, { cause: error })
  }

  /** The time for the rest of a PDU runs from when its beginning came, and only while we read. */
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

  /** Brings framer and stream into the state that pause, backpressure and listeners ask for. */
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
    void this.#shut()
  }

  /** Lets the peer take what is written, for a while, then gives up both directions. */
  async #shut(lingerMs = 0): Promise<void> {
    const { readable, writable } = this.#stream
    if (lingerMs > 0) readable.resume() // nobody listens any more
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
    const { explain } = this.#stream
    this.destroy(explain === undefined ? PcpError.from(error, this.name) : explain(error, this.name))
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

/** Resolves when a stream is over, or after a time. */
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

/** A connection over one socket; small writes are not delayed. */
export function socketStream(socket: Socket): PduStream {
  socket.setNoDelay(true)
  return { readable: socket, writable: socket }
}
