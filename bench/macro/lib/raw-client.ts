/**
 * A minimal client that fetches: one socket, one request in flight, replies counted but not decoded, so that the benchmark
 * measures the collector. PDUs are written by hand, because the benchmark must not depend on the codec it measures.
 */
import { connect, type Socket } from 'node:net'

const ERROR = 0x7000
const PROFILE = 0x7002
const CREDS = 0x700c
const PMNS_IDS = 0x700d
const PMNS_NAMES = 0x700e
const PMNS_TRAVERSE = 0x7010
const HIGHRES_FETCH = 0x7014
const HIGHRES_RESULT = 0x7015
const HEADER = 12

/** A connection after the handshake and the profile. */
export class RawClient {
  /** Replies to fetches that were neither a RESULT nor a state change of names or agents. */
  refusals = 0
  readonly #socket: Socket
  #buffered: Buffer = Buffer.alloc(0)
  #waiting: ((pdu: Buffer) => void) | undefined
  #onReply: (() => void) | undefined
  #onEnd: ((error: Error) => void) | undefined
  /** Why the connection ended. */
  #ended: Error | undefined
  /** Missing bytes of the current reply. */
  #missing = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#take(chunk))
    const ended = (error: Error): void => {
      this.#ended ??= error
      this.#onEnd?.(this.#ended)
    }
    socket.on('error', ended)
    socket.on('close', () => ended(new Error('The collector closed the connection')))
  }

  /** Connects to a port of this host, or to a unix socket, through which the collector knows the user. */
  static async open(at: number | string): Promise<RawClient> {
    const client = new RawClient(typeof at === 'number' ? connect(at, '127.0.0.1') : connect(at))
    const challenge = await client.#next()
    if (challenge.readInt32BE(4) !== ERROR || challenge.readInt32BE(12) < 0)
      throw new Error(`not let in: ${challenge.readInt32BE(12)}`)
    client.#socket.write(words(CREDS, [1, 0x01020000]))
    client.#socket.write(words(PROFILE, [0, 0, 0, 0]))
    return client
  }

  /** Returns the PMIDs of metrics. Rejects if one is unknown. */
  async lookup(names: readonly string[]): Promise<number[]> {
    const found = await this.lookupKnown(names)
    if (found.size < names.length)
      throw new Error(`unknown metrics: ${names.filter((name) => !found.has(name)).join(' ')}`)
    return [...found.values()]
  }

  /** Returns the PMIDs of known metrics. */
  async lookupKnown(names: readonly string[]): Promise<Map<string, number>> {
    const found = new Map<string, number>()
    // Requests are limited to 64 KB.
    for (let at = 0; at < names.length; at += 500) {
      const some = names.slice(at, at + 500)
      const parts: Buffer[] = [ints([some.reduce((sum, name) => sum + name.length + 1, 0), 0, some.length])]
      for (const name of some)
        parts.push(ints([name.length]), Buffer.from(name.padEnd((name.length + 3) & ~3, '~')))
      const body = Buffer.concat(parts)
      this.#socket.write(Buffer.concat([ints([HEADER + body.length, PMNS_NAMES, 0]), body]))
      const reply = await this.#next()
      if (reply.readInt32BE(4) !== PMNS_IDS) continue
      for (const [i, name] of some.entries()) {
        const pmid = reply.readUInt32BE(20 + 4 * i)
        if (pmid !== 0xffff_ffff) found.set(name, pmid)
      }
    }
    return found
  }

  /** Returns the names of all metrics. */
  async names(): Promise<string[]> {
    this.#socket.write(words(PMNS_TRAVERSE, [0, 0]))
    const reply = await this.#next()
    const names: string[] = []
    for (let left = reply.readInt32BE(20), at = 24; left > 0; left--) {
      const length = reply.readInt32BE(at)
      names.push(reply.toString('latin1', at + 4, at + 4 + length))
      at += 4 + ((length + 3) & ~3)
    }
    return names
  }

  /** Fetches once and returns the whole reply, to check that there are values. */
  fetchOnce(pmids: readonly number[]): Promise<Buffer> {
    this.#socket.write(words(HIGHRES_FETCH, [0, 0, 0, pmids.length, ...pmids]))
    return this.#next()
  }

  /** Fetches repeatedly for `ms` milliseconds and adds each latency. Returns whether the connection lasted. */
  fetchFor(pmids: readonly number[], ms: number, latencies: number[]): Promise<boolean> {
    if (this.#ended !== undefined) return Promise.resolve(false)
    const request = words(HIGHRES_FETCH, [0, 0, 0, pmids.length, ...pmids])
    return new Promise((resolve) => {
      let sent = performance.now()
      const end = sent + ms
      this.#onEnd = () => resolve(false)
      this.#onReply = () => {
        const time = performance.now()
        latencies.push(time - sent)
        sent = time
        if (time < end) this.#socket.write(request)
        else this.#finish(resolve)
      }
      this.#socket.write(request)
    })
  }

  /** Like `fetchFor`, with a fetch every `everyMs`, the first after `delayMs`. A late reply delays the next fetch. */
  fetchEvery(
    pmids: readonly number[],
    ms: number,
    everyMs: number,
    delayMs: number,
    latencies: number[],
  ): Promise<boolean> {
    if (this.#ended !== undefined) return Promise.resolve(false)
    const request = words(HIGHRES_FETCH, [0, 0, 0, pmids.length, ...pmids])
    return new Promise((resolve) => {
      let due = performance.now() + delayMs
      let sent = 0
      const end = performance.now() + ms
      const ask = (): void => {
        sent = performance.now()
        this.#socket.write(request)
      }
      this.#onEnd = () => resolve(false)
      this.#onReply = () => {
        const time = performance.now()
        latencies.push(time - sent)
        due = Math.max(due + everyMs, time)
        if (due < end) setTimeout(ask, due - time)
        else this.#finish(resolve)
      }
      setTimeout(ask, delayMs)
    })
  }

  close(): void {
    this.#onEnd = undefined
    this.#socket.destroy()
  }

  #finish(resolve: (isWell: boolean) => void): void {
    this.#onReply = undefined
    resolve(true)
  }

  #next(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended)
      this.#waiting = resolve
      this.#onEnd = reject
    })
  }

  #take(chunk: Buffer): void {
    if (this.#onReply !== undefined) this.#count(chunk)
    else this.#collect(chunk)
  }

  #count(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      const left = chunk.length - at
      if (this.#missing === 0) {
        const type = chunk.readInt32BE(at + 4)
        this.#missing = chunk.readInt32BE(at)
        // State changes arrive before the reply.
        const isNews = type === ERROR && chunk.readInt32BE(at + 12) > 0
        if (isNews && left >= this.#missing) {
          at += this.#missing
          this.#missing = 0
          continue
        }
        if (type !== HIGHRES_RESULT) this.refusals++
      }
      const used = Math.min(left, this.#missing)
      this.#missing -= used
      at += used
      if (this.#missing === 0) this.#onReply?.()
    }
  }

  #collect(chunk: Buffer): void {
    this.#buffered = Buffer.concat([this.#buffered, chunk])
    if (this.#buffered.length < 4 || this.#buffered.length < this.#buffered.readInt32BE(0)) return
    const size = this.#buffered.readInt32BE(0)
    const pdu = this.#buffered.subarray(0, size)
    this.#buffered = this.#buffered.subarray(size)
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.(pdu)
  }
}

function ints(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeInt32BE(value | 0, 4 * i)
  return bytes
}

function words(type: number, body: readonly number[]): Buffer {
  return ints([HEADER + 4 * body.length, type, 0, ...body])
}
