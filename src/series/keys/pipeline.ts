/**
 * Many commands to a key server without waiting for each reply: encoded into one buffer for each server, sent in larger pieces, with a
 * limit for those on the way.
 */
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { PcpError } from '../../model/errors.ts'
import { type Clock, SYSTEM_CLOCK } from '../../pmapi/clock.ts'
import { isTransient, type KeyClient } from './client.ts'
import { type Command, CommandBuffer, type EncodedCommands, type ReplyHandler } from './command-buffer.ts'
import type { ServerLink } from './link.ts'
import { ErrorReply, ignoreTexts } from './replies.ts'
import { slotOf } from './slots.ts'
import { redirection } from './topology.ts'

/** Bytes that are sent together. */
const PIECE_BYTES = 1 << 16
/** Default limit of bytes without a reply. */
const MOST_BYTES = 1 << 20
/** Size of buffers: a piece, and what a record may add to it. */
const BUFFER_BYTES = 1 << 17
const RETRY_MS = doublingDelays(50, 1000)

/** Options of a pipeline. */
export interface PipelineOptions {
  /** Most bytes on the way; default 1 MB. */
  readonly mostBytes?: number | undefined
  /** For waits before commands are repeated, and their end. */
  readonly clock?: Clock | undefined
}

/** A command to repeat, and the server that has its key for the moment. */
interface Repeated {
  readonly bytes: Buffer
  readonly asks?: ServerLink
}

/** Sends commands that need no reply. After an error, `room` and `flush` throw it, and nothing more is sent. */
export class KeyPipeline {
  readonly #client: KeyClient
  readonly #mostBytes: number
  readonly #clock: Clock
  readonly #buffers = new Map<ServerLink, CommandBuffer>()
  /** Buffers to use again: those of this size, whose commands are done. */
  readonly #free: Buffer[] = []
  readonly #allocate = (least: number): Buffer =>
    least <= BUFFER_BYTES
      ? (this.#free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES))
      : Buffer.allocUnsafeSlow(least)
  #onTheWay = 0
  #repeated: Repeated[] = []
  #needsRefresh = false
  #failure: PcpError | undefined
  #wake: (() => void) | undefined
  #refused = 0

  constructor(client: KeyClient, { mostBytes = MOST_BYTES, clock = SYSTEM_CLOCK }: PipelineOptions = {}) {
    this.#client = client
    this.#mostBytes = mostBytes
    this.#clock = clock
  }

  /** Number of samples that the server has refused, because it had them or later ones. */
  get refused(): number {
    return this.#refused
  }

  /** Bytes that were sent and not yet acknowledged. */
  get onTheWay(): number {
    return this.#onTheWay
  }

  /** Adds a command whose first argument is its key. */
  add(command: Command, onReply?: ReplyHandler): void {
    this.bufferOf(slotOf(String(command[1]))).add(command, onReply)
  }

  /** Returns the buffer for commands with keys of a slot; it is sent by `room` and `flush`. */
  bufferOf(slot: number): CommandBuffer {
    const link = this.#client.linkOf(slot)
    let buffer = this.#buffers.get(link)
    if (buffer === undefined) {
      buffer = new CommandBuffer(this.#allocate)
      this.#buffers.set(link, buffer)
    }
    return buffer
  }

  /** Sends larger pieces, and waits if too much is on the way. Throws errors of earlier commands. */
  room(): Promise<void> | undefined {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#repeated.length > 0) return this.#waitFor(this.#mostBytes >> 1)
    this.#sendFrom(PIECE_BYTES)
    return this.#onTheWay >= this.#mostBytes ? this.#waitFor(this.#mostBytes >> 1) : undefined
  }

  /** Sends everything and waits until it is acknowledged. Throws errors of earlier commands. */
  async flush(): Promise<void> {
    do {
      if (this.#failure !== undefined) throw this.#failure
      this.#sendFrom(1)
      await this.#waitFor(0)
      // Replies may have led to further commands.
    } while (this.#isBuffered())
  }

  #isBuffered(): boolean {
    for (const { count } of this.#buffers.values()) if (count > 0) return true
    return false
  }

  #sendFrom(least: number): void {
    for (const [link, buffer] of this.#buffers)
      if (buffer.length >= least) {
        if (buffer.count > 0) this.#send(link, buffer.take())
        // A server that lost all of its keys gets no more commands.
        if (least <= 1) this.#buffers.delete(link)
      }
  }

  /** Waits until at most so many bytes are on the way, and commands to repeat have been repeated. */
  async #waitFor(most: number): Promise<void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#onTheWay > most)
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      else if (this.#repeated.length > 0) await this.#repeat()
      else return
    }
  }

  #send(link: ServerLink, { bytes, offsets, handlers }: EncodedCommands, asks = false): void {
    const count = offsets.length
    let answered = 0
    this.#onTheWay += bytes.length
    const done = (): void => {
      this.#onTheWay -= bytes.length
      if (bytes.buffer.byteLength === BUFFER_BYTES) this.#free.push(Buffer.from(bytes.buffer))
      this.#wake?.()
    }
    // A copy, because the buffer is used again.
    const commandAt = (n: number): Buffer =>
      Buffer.from(bytes.subarray(offsets[n]!, offsets[n + 1] ?? bytes.length))
    link.send({
      bytes,
      count,
      // The identifiers of samples are known.
      decode: ignoreTexts,
      onReply: (reply, n) => {
        answered = n + 1
        handlers.get(n)?.(reply)
        if (reply instanceof ErrorReply && !(asks && n === 0)) this.#refuse(reply, commandAt(n), link)
        if (answered === count) done()
      },
      onFailure: (error) => {
        if (this.#client.isCluster && !this.#client.isClosed) {
          // Another server takes over the keys of this one.
          this.#needsRefresh = true
          for (let n = answered; n < count; n++)
            if (!(asks && n === 0)) this.#repeated.push({ bytes: commandAt(n) })
        } else this.#failure ??= error
        done()
      },
    })
  }

  #refuse(reply: ErrorReply, bytes: Buffer, link: ServerLink): void {
    if (isTransient(reply)) {
      const to = reply.kind === 'ASK' ? redirection(reply.message, link.server) : undefined
      if (to === undefined) this.#needsRefresh = true
      this.#repeated.push(to === undefined ? { bytes } : { bytes, asks: this.#client.linkTo(to.server) })
    } else if (isOlderSample(reply)) this.#refused++
    else this.#failure ??= this.#client.replyError(reply)
  }

  /** Repeats commands in order, after all others are acknowledged: the samples of a stream must not overtake each other. */
  async #repeat(): Promise<void> {
    const backoff = new Backoff({ delaysMs: RETRY_MS })
    const started = this.#clock.now()
    for (let round = 0; ; round++) {
      // Later commands for the same keys may be buffered for a server that has them no more.
      this.#sendFrom(1)
      while (this.#onTheWay > 0)
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      if (this.#failure !== undefined) throw this.#failure
      if (this.#repeated.length === 0) return
      if (this.#clock.now() - started > this.#client.patienceMs) {
        this.#failure = new PcpError(
          'ETIMEDOUT',
          `Key server ${this.#client.name}: ${this.#repeated.length} commands were refused for ${Math.round(this.#client.patienceMs / 1000)} s; check the state of the cluster`,
        )
        throw this.#failure
      }
      // One redirection is followed immediately, but not servers that redirect to each other.
      if (this.#needsRefresh || round > 0)
        await this.#clock.sleep(backoff.failed(this.#clock.now()), undefined)
      if (this.#needsRefresh) {
        this.#needsRefresh = false
        await this.#client.refresh().catch(() => undefined) // tried again in the next turn
      }
      const repeated = this.#repeated
      this.#repeated = []
      for (const { bytes, asks } of repeated) {
        const buffer = new CommandBuffer()
        if (asks !== undefined) buffer.add(['ASKING'])
        buffer.encoded(bytes)
        this.#send(asks ?? this.#client.linkOf(slotOf(keyOf(bytes))), buffer.take(), asks !== undefined)
      }
    }
  }
}

/** A sample that the stream has already, or that is older than its last one. */
function isOlderSample({ message: reply }: ErrorReply): boolean {
  return reply.startsWith('ERR The ID specified in XADD is equal or smaller')
}

/** Returns the first argument of an encoded command. */
function keyOf(bytes: Buffer): string {
  // *N $LENGTH NAME $LENGTH KEY
  let at = bytes.indexOf(10) + 1
  at = bytes.indexOf(10, at) + 1
  at = bytes.indexOf(10, at) + 2
  const end = bytes.indexOf(13, at)
  return bytes.toString('utf8', end + 2, end + 2 + Number(bytes.toString('latin1', at, end)))
}
