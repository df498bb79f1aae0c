/** Load of HTTP requests on connections that stay open, from a process of its own; see load.ts. */
import { type ChildProcess, fork } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { LOAD_ARGUMENT } from './load.ts'
import { quantile } from './report.ts'

/** What to ask, on how many connections, for how long. */
export interface HttpJob {
  readonly port: number
  readonly clients: number
  /** Path and query. */
  readonly target: string
  readonly ms: number
}

/** What came of a job. */
export interface HttpMeasured {
  /** Answers a second, of all connections together. */
  readonly rate: number
  readonly p50: number
  readonly p99: number
  /** Answers other than 200. */
  readonly refusals: number
  /** Bytes of an answer, headers included. */
  readonly bytes: number
}

/** A process that makes load. */
export class HttpLoad {
  readonly #child: ChildProcess = fork(process.argv[1]!, [LOAD_ARGUMENT], { execArgv: [] })

  /** Connects, asks, disconnects. */
  run(job: HttpJob): Promise<HttpMeasured> {
    return new Promise((resolve) => {
      this.#child.once('message', (message) => resolve(message as HttpMeasured))
      this.#child.send(job)
    })
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}

/** Does jobs for the process that forked this one. */
export function makeHttpLoad(): void {
  process.on('message', async (job: HttpJob) => {
    process.send!(await measure(job))
  })
}

async function measure({ port, clients, target, ms }: HttpJob): Promise<HttpMeasured> {
  const times: number[] = []
  let refusals = 0
  let bytes = 0
  const until = performance.now() + ms
  const one = async (): Promise<void> => {
    const client = await HttpClient.open(port)
    while (performance.now() < until) {
      const begun = performance.now()
      const { status, length } = await client.get(target)
      times.push(performance.now() - begun)
      bytes = length
      if (status !== 200) refusals++
    }
    client.close()
  }
  const begun = performance.now()
  await Promise.all(Array.from({ length: clients }, one))
  const seconds = (performance.now() - begun) / 1000
  times.sort((a, b) => a - b)
  return {
    rate: times.length / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    refusals,
    bytes,
  }
}

const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')

/** A client that knows where an answer ends and no more, so that it costs less than what it measures. */
export class HttpClient {
  readonly #socket: Socket
  #parts: Buffer[] = []
  #size = 0
  #end = -1
  #isChunked = false
  #status = 0
  #done: ((answer: { status: number; length: number; body: string }) => void) | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  static open(port: number): Promise<HttpClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () =>
        resolve(new HttpClient(socket)),
      )
      socket.once('error', reject)
    })
  }

  get(target: string): Promise<{ status: number; length: number; body: string }> {
    this.#parts = []
    this.#size = 0
    this.#end = -1
    this.#isChunked = false
    return new Promise((resolve) => {
      this.#done = resolve
      this.#socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#parts.push(chunk)
    this.#size += chunk.length
    if (this.#status === 0 || (this.#end < 0 && !this.#isChunked)) this.#readHead()
    const isWhole = this.#isChunked
      ? this.#tail().equals(LAST_CHUNK)
      : this.#end >= 0 && this.#size >= this.#end
    if (!isWhole) return
    const [status, length] = [this.#status, this.#size]
    this.#status = 0
    const body = Buffer.concat(this.#parts).toString()
    this.#done?.({ status, length, body: body.slice(body.indexOf('\r\n\r\n') + 4) })
  }

  #readHead(): void {
    const text = Buffer.concat(this.#parts).toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) return
    this.#status = Number(text.slice(9, 12))
    const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1]
    if (length === undefined) this.#isChunked = true
    else this.#end = end + 4 + Number(length)
  }

  #tail(): Buffer {
    let tail = this.#parts.at(-1)!
    if (tail.length < LAST_CHUNK.length) tail = Buffer.concat(this.#parts.slice(-2))
    return tail.subarray(-LAST_CHUNK.length)
  }
}
