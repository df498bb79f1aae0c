/** HTTP load on persistent connections from a separate process; see load.ts. */
import { type ChildProcess, fork } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { LOAD_ARGUMENT, runJob } from './load.ts'
import { quantile } from './report.ts'

/** A load: the request, connections, duration. */
export interface HttpJob {
  readonly port: number
  readonly clients: number
  /** Path and query. */
  readonly target: string
  readonly ms: number
}

/** Result of a job. */
export interface HttpMeasured {
  /** Responses per second over all connections. */
  readonly rate: number
  readonly p50: number
  readonly p99: number
  /** Responses other than 200. */
  readonly refusals: number
  /** Connections that the server closed, or on which a request was never answered. */
  readonly losses: number
  /** Size of a response in bytes, including headers. */
  readonly bytes: number
}

/** A load process. */
export class HttpLoad {
  readonly #child: ChildProcess = fork(process.argv[1]!, [LOAD_ARGUMENT], { execArgv: [] })

  /** Connects, runs the job and disconnects. */
  run(job: HttpJob): Promise<HttpMeasured> {
    return runJob(this.#child, job)
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}

/** Timeout of a response, ms. */
const PATIENCE_MS = 5000

/** Runs jobs for the parent process. */
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
  // Until the last response, so that requests without one do not lower the rate of the others.
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

/** A response; `length` includes headers and body. */
export interface HttpAnswer {
  readonly status: number
  readonly length: number
  readonly body: string
}

/** A minimal client that only finds the end of a response, so that it costs less than what it measures. */
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

  /** Sends a request and waits for the response. Does not resolve on a closed connection. */
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

  /** Returns the last bytes, across chunks. */
  #tail(): Buffer {
    let tail = this.#parts.at(-1)!
    for (let i = this.#parts.length - 2; i >= 0 && tail.length < LAST_CHUNK.length; i--)
      tail = Buffer.concat([this.#parts[i]!, tail])
    return tail.subarray(-LAST_CHUNK.length)
  }
}
