/** Load of HTTP requests on connections that stay open, from a process of its own; see load.ts. */
import { type ChildProcess, fork } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { LOAD_ARGUMENT, runJob } from './load.ts'
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
  /** Connections that the server closed, or on which it left a request unanswered to the end. */
  readonly losses: number
  /** Bytes of an answer, headers included. */
  readonly bytes: number
}

/** A process that makes load. */
export class HttpLoad {
  readonly #child: ChildProcess = fork(process.argv[1]!, [LOAD_ARGUMENT], { execArgv: [] })

  /** Connects, asks, disconnects. */
  run(job: HttpJob): Promise<HttpMeasured> {
    return runJob(this.#child, job)
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}

/** How long a server may take for an answer before the client gives up on it, ms. */
const PATIENCE_MS = 5000

/** Does jobs for the process that forked this one. */
export function makeHttpLoad(): void {
  process.on('message', async (job: HttpJob) => {
    process.send!(await measure(job))
  })
}

async function measure({ port, clients, target, ms }: HttpJob): Promise<HttpMeasured> {
  const times: number[] = []
  let refusals = 0
  let losses = 0
  let bytes = 0
  const begun = performance.now()
  const until = begun + ms
  let last = begun
  const one = async (): Promise<void> => {
    const client = await HttpClient.open(port)
    try {
      while (performance.now() < until) {
        const asked = performance.now()
        const { status, length } = await client.get(target)
        last = performance.now()
        times.push(last - asked)
        bytes = length
        if (status !== 200) refusals++
      }
    } catch {
      losses++
    } finally {
      client.close()
    }
  }
  await Promise.all(Array.from({ length: clients }, one))
  // To the last answer: those who waited in vain must not make the others slower than they were.
  const seconds = (last - begun) / 1000
  times.sort((a, b) => a - b)
  return {
    rate: times.length / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    refusals,
    losses,
    bytes,
  }
}

const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')

/** An answer; `length` is of headers and body. */
export interface HttpAnswer {
  readonly status: number
  readonly length: number
  readonly body: string
}

/** A client that knows where an answer ends and no more, so that it costs less than what it measures. */
export class HttpClient {
  readonly #socket: Socket
  #parts: Buffer[] = []
  #size = 0
  #end = -1
  #isChunked = false
  #status = 0
  #done: ((answer: HttpAnswer) => void) | undefined
  #failed: ((error: Error) => void) | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#failed?.(new Error('The server closed the connection')))
    socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  }

  static open(port: number): Promise<HttpClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () =>
        resolve(new HttpClient(socket)),
      )
      socket.once('error', reject)
    })
  }

  /** Asks and waits for the answer, which does not come on a connection that is closed. */
  get(target: string): Promise<HttpAnswer> {
    this.#parts = []
    this.#size = 0
    this.#end = -1
    this.#isChunked = false
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('The connection is closed'))
      this.#done = resolve
      this.#failed = reject
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

  /** The last bytes, which may have come in any number of pieces. */
  #tail(): Buffer {
    let tail = this.#parts.at(-1)!
    for (let i = this.#parts.length - 2; i >= 0 && tail.length < LAST_CHUNK.length; i--)
      tail = Buffer.concat([this.#parts[i]!, tail])
    return tail.subarray(-LAST_CHUNK.length)
  }
}
