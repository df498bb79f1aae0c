/**
 * The least client that fetches: one socket, one request in flight, replies counted but not decoded, so that what is
 * measured is the collector. The PDUs are written by hand: the bench must not depend on the codec it measures.
 */
import { connect, type Socket } from 'node:net'

/** A connection that has shaken hands and sent its profile. */
export class RawClient {
  readonly #socket: Socket
  #buffered: Buffer = Buffer.alloc(0)
  #waiting: ((pdu: Buffer) => void) | undefined
  #onReply: (() => void) | undefined
  #missing = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#take(chunk))
  }

  static async open(port: number): Promise<RawClient> {
    const client = new RawClient(connect(port, '127.0.0.1'))
    await client.#next()
    client.#socket.write(words(0x700c, [1, 0x01020000]))
    client.#socket.write(words(0x7002, [0, 0, 0, 0]))
    return client
  }

  /** PMIDs of metrics. */
  async lookup(names: readonly string[]): Promise<number[]> {
    const parts: Buffer[] = [ints([names.reduce((sum, name) => sum + name.length + 1, 0), 0, names.length])]
    for (const name of names)
      parts.push(ints([name.length]), Buffer.from(name.padEnd((name.length + 3) & ~3, '~')))
    const body = Buffer.concat(parts)
    this.#socket.write(Buffer.concat([ints([12 + body.length, 0x700e, 0]), body]))
    const reply = await this.#next()
    if (reply.readInt32BE(4) !== 0x700d)
      throw new Error(`lookup of ${names.join(' ')} failed: ${reply.readInt32BE(12)}`)
    return names.map((_, i) => reply.readUInt32BE(20 + 4 * i))
  }

  /** One fetch, its reply whole; for checking that there are values. */
  fetchOnce(pmids: readonly number[]): Promise<Buffer> {
    this.#socket.write(words(0x7014, [0, 0, 0, pmids.length, ...pmids]))
    return this.#next()
  }

  /** Fetches one after another for `ms`; resolves to fetches a second. */
  fetchFor(pmids: readonly number[], ms: number): Promise<number> {
    const request = words(0x7014, [0, 0, 0, pmids.length, ...pmids])
    return new Promise((resolve) => {
      let count = 0
      const start = process.hrtime.bigint()
      const end = start + BigInt(ms) * 1_000_000n
      this.#onReply = () => {
        count++
        const time = process.hrtime.bigint()
        if (time < end) {
          this.#socket.write(request)
        } else {
          this.#onReply = undefined
          resolve(count / (Number(time - start) / 1e9))
        }
      }
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #next(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#waiting = resolve
      this.#socket.once('error', reject)
    })
  }

  #take(chunk: Buffer): void {
    if (this.#onReply !== undefined) {
      if (this.#missing === 0) this.#missing = chunk.readInt32BE(0)
      this.#missing -= chunk.length
      if (this.#missing === 0) this.#onReply()
      return
    }
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
  return ints([12 + 4 * body.length, type, 0, ...body])
}
