/** A receiver of Remote Write on loopback, which keeps all samples, and fails where the test wants it. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Decoded, decodeRequest, decompressed } from './decode.ts'

/** A request, decoded. */
export interface Received extends Decoded {
  readonly headers: IncomingHttpHeaders
  readonly version: 1 | 2
}

/** Answer of the receiver; `hang` never answers, `cut` closes the connection. */
export type Answer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'hang'
  | 'cut'

/** Options of a receiver. */
export interface ReceiverOptions {
  readonly port?: number
  readonly server?: Server
  /** Versions that it reads; default both. */
  readonly versions?: readonly (1 | 2)[]
  /** Writes all of a request or nothing, and refuses samples that are not later than those before, as Prometheus does. */
  readonly isStrict?: boolean
  /** Replaces the answer to the n-th request, counted from 0. */
  readonly answer?: ((n: number, request: Received) => Answer | undefined) | undefined
  /** Called after a request was written, before it is answered. */
  readonly onWritten?: (receiver: Receiver) => void
}

/** See above. */
export class Receiver implements AsyncDisposable {
  /** Requests that were written. */
  readonly requests: Received[] = []
  /** Number of all requests. */
  count = 0
  /** Values by series and time; NaN as bits. */
  readonly values: Map<string, Map<number, string>> = new Map()
  /** Samples that contradict one of the same time. */
  contradictions = 0
  /** Requests refused as they are too late. */
  refusals = 0
  readonly #last = new Map<string, number>()
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #options: ReceiverOptions

  static async start(options: ReceiverOptions = {}): Promise<Receiver> {
    const receiver = new Receiver(options)
    await once(receiver.#server.listen(options.port ?? 0, '127.0.0.1'), 'listening')
    return receiver
  }

  private constructor(options: ReceiverOptions) {
    this.#options = options
    this.#server = options.server ?? createServer()
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    this.#server.on('request', (request: IncomingMessage, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const answer = this.#answer(request.headers, Buffer.concat(chunks))
        if (answer === 'cut') request.socket.destroy()
        else if (answer !== 'hang') response.writeHead(answer.status, answer.headers).end(answer.body)
      })
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.port}/api/v1/write`)
  }

  /** Number of samples, each counted once. */
  get size(): number {
    return [...this.values.values()].reduce((sum, { size }) => sum + size, 0)
  }

  #answer(headers: IncomingHttpHeaders, body: Buffer): Answer {
    const { answer, versions = [1, 2] } = this.#options
    const version = headers['content-type']?.includes('v2.Request') === true ? 2 : 1
    const received: Received = { ...decodeRequest(decompressed(body), version), headers, version }
    const n = this.count++
    const other = answer?.(n, received)
    if (other !== undefined) return other
    return versions.includes(version) ? this.#write(received) : { status: 415, body: 'unsupported' }
  }

  /** Returns whether a request has a sample that is older than one before, or contradicts it. */
  #isLate({ series }: Received): boolean {
    const last = new Map<string, number>()
    for (const { labels, samples } of series) {
      const key = keyOf(labels)
      const values = this.values.get(key)
      for (const { time, value, bits } of samples) {
        const before = last.get(key) ?? this.#last.get(key) ?? Number.NEGATIVE_INFINITY
        const isSame = time === before && values?.get(time) === textOf(value, bits)
        if (time < before || (time === before && !isSame)) return true
        last.set(key, time)
      }
    }
    for (const [key, time] of last) this.#last.set(key, time)
    return false
  }

  #write(received: Received): Answer {
    if (this.#options.isStrict === true && this.#isLate(received)) {
      this.refusals++
      return { status: 400, headers: written(received, 0), body: 'out of order sample' }
    }
    this.requests.push(received)
    let samples = 0
    for (const series of received.series) {
      const key = keyOf(series.labels)
      const values = this.values.get(key) ?? new Map<number, string>()
      this.values.set(key, values)
      for (const { time, value, bits } of series.samples) {
        const text = textOf(value, bits)
        if (values.has(time) && values.get(time) !== text) this.contradictions++
        values.set(time, text)
        samples++
      }
    }
    this.#options.onWritten?.(this)
    return { status: 204, headers: written(received, samples) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** Returns a series as text: `name{label=value}`. */
export function keyOf({ __name__, ...labels }: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  return `${__name__}{${pairs.join(',')}}`
}

function textOf(value: number, bits: string): string {
  return Number.isNaN(value) ? bits : String(value)
}

/** Returns the header with the number of written samples, which only 2.0 has. */
function written({ version }: Received, samples: number): Record<string, string> {
  return version === 2 ? { 'X-Prometheus-Remote-Write-Samples-Written': String(samples) } : {}
}
