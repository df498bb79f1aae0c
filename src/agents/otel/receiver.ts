/** Receives metrics of applications: OTLP over HTTP. https://opentelemetry.io/docs/specs/otlp/#otlphttp */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { PcpError } from '../../model/errors.ts'
import { protectDescriptorReserve } from '../../net/listen.ts'
import type { IngestResult } from './families.ts'
import { metricsOf, type OtlpMetric } from './otlp.ts'
import { EXPORT_METRICS } from './otlp-fields.ts'
import { decodeMessage } from './protobuf.ts'

/** Options of the receiver. */
export interface ReceiverOptions {
  readonly address: string
  /** 0 for any free port. */
  readonly port: number
  readonly take: (metrics: readonly OtlpMetric[], bytes: number) => IngestResult
  /** Called when a request is refused, with the HTTP status. */
  readonly onRefused: (status: number, why: string) => void
  /** Called when listening fails, once per reason. */
  readonly warn: (text: string) => void
}

const PATH = '/v1/metrics'
/** Most bytes of a request, before and after decompression. */
const MAX_BODY: number = 4 * 1024 * 1024
const MAX_DECODED: number = 16 * 1024 * 1024
const MAX_CONNECTIONS = 128
const REQUEST_MS = 10_000
/** Interval of attempts to listen on a port in use by another process. */
const RETRY_MS = 10_000
/** google.rpc.Code of an invalid request. */
const INVALID_ARGUMENT = 3

type Encoding = 'json' | 'protobuf'

/** A refused request. */
class Refusal extends Error {
  readonly status: number

  constructor(status: number, why: string) {
    super(why)
    this.status = status
  }
}

/** The server, which retries to listen until it succeeds. */
export class Receiver {
  readonly #options: ReceiverOptions
  #server: Server | undefined
  #retry: NodeJS.Timeout | undefined
  #isClosed = false
  #said = ''

  constructor(options: ReceiverOptions) {
    this.#options = options
    this.#listen()
  }

  /** The port it listens on; 0 while it does not. */
  get port(): number {
    const address = this.#server?.address() as AddressInfo | null | undefined
    return address?.port ?? 0
  }

  /** Closes all connections. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    this.#server?.close()
    this.#server?.closeAllConnections()
  }

  #listen(): void {
    const { createServer } = process.getBuiltinModule('node:http')
    const { address, port, warn } = this.#options
    const server = createServer(
      { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS / 2, maxHeaderSize: 16_384 },
      (request, response) => void this.#answer(request, response),
    )
    server.maxConnections = MAX_CONNECTIONS
    protectDescriptorReserve(server)
    server.on('error', (error) => {
      server.close()
      if (this.#isClosed) return
      const text = `Cannot receive on ${address} port ${port}: ${PcpError.from(error).message}`
      if (text !== this.#said) warn(`${text}; retrying every ${RETRY_MS / 1000} seconds`)
      this.#said = text
      this.#retry = setTimeout(() => this.#listen(), RETRY_MS)
      this.#retry.unref()
    })
    server.listen(port, address)
    server.unref()
    this.#server = server
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let encoding: Encoding = 'json'
    try {
      encoding = checkRequest(request)
      const bytes = await readBody(request)
      const taken = this.#options.take(metricsOf(decode(bytes, encoding)), bytes.length)
      send(response, 200, encoding, success(taken, encoding))
    } catch (error) {
      const status = error instanceof Refusal ? error.status : statusOf(error)
      const why = error instanceof Error ? error.message : String(error)
      this.#options.onRefused(status, why)
      if (status === 405) response.setHeader('allow', 'POST')
      // The rest of an oversized request is not read: the connection is closed after the answer.
      if (!request.complete) response.setHeader('connection', 'close')
      send(response, status, encoding, failure(why, encoding))
    }
  }
}

/** Invalid bytes are the client's fault; other errors are ours. */
function statusOf(error: unknown): number {
  return error instanceof PcpError && error.code === 'PM_ERR_CONV' ? 400 : 500
}

function checkRequest(request: IncomingMessage): Encoding {
  const path = (request.url ?? '').split('?', 1)[0]
  if (path !== PATH) throw new Refusal(404, `There is nothing at ${path}: metrics are sent to ${PATH}`)
  if (request.method !== 'POST') throw new Refusal(405, `${request.method} is not POST`)
  // Browsers send the page's origin with every POST, even after DNS rebinding.
  const { origin } = request.headers
  if (origin !== undefined) throw new Refusal(403, `Web pages may not send metrics (origin ${origin})`)
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'application/json') return 'json'
  if (type === 'application/x-protobuf') return 'protobuf'
  throw new Refusal(415, `"${type}" is neither application/json nor application/x-protobuf`)
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY) throw tooLong(MAX_BODY)
  const chunks: Buffer[] = []
  let received = 0
  let decoded = 0
  request.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received > MAX_BODY) request.destroy(tooLong(MAX_BODY))
  })
  try {
    for await (const chunk of decompressed(request) as AsyncIterable<Buffer>) {
      decoded += chunk.length
      if (decoded > MAX_DECODED) throw tooLong(MAX_DECODED)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(400, `The request cannot be read: ${PcpError.from(error).message}`)
  }
  return Buffer.concat(chunks)
}

function decompressed(request: IncomingMessage): Readable {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return request
  const zlib = process.getBuiltinModule('node:zlib')
  const decoder =
    encoding === 'gzip' ? zlib.createGunzip() : encoding === 'deflate' ? zlib.createInflate() : undefined
  if (decoder === undefined)
    throw new Refusal(415, `Content encoding "${encoding}" is neither gzip nor deflate`)
  request.once('error', (error) => decoder.destroy(error))
  return request.pipe(decoder)
}

function tooLong(bytes: number): Refusal {
  return new Refusal(413, `The request is longer than ${bytes} bytes`)
}

function decode(bytes: Uint8Array, encoding: Encoding): unknown {
  if (encoding === 'protobuf') return decodeMessage(bytes, EXPORT_METRICS)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw new PcpError('PM_ERR_CONV', `The request is not JSON: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** ExportMetricsServiceResponse: number of rejected points, and why. */
function success({ rejected, why = '' }: IngestResult, encoding: Encoding): Uint8Array {
  if (encoding === 'json')
    return Buffer.from(
      rejected === 0
        ? '{}'
        : JSON.stringify({ partialSuccess: { rejectedDataPoints: String(rejected), errorMessage: why } }),
    )
  if (rejected === 0) return new Uint8Array(0)
  return block(1, Buffer.concat([numberField(1, rejected), block(2, Buffer.from(why))]))
}

/** google.rpc.Status */
function failure(why: string, encoding: Encoding): Uint8Array {
  if (encoding === 'json') return Buffer.from(JSON.stringify({ code: INVALID_ARGUMENT, message: why }))
  return Buffer.concat([numberField(1, INVALID_ARGUMENT), block(2, Buffer.from(why))])
}

function numberField(field: number, value: number): Uint8Array {
  return Buffer.concat([varint(field << 3), varint(value)])
}

function block(field: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes])
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Uint8Array.of(...bytes, rest)
}

function send(response: ServerResponse, status: number, encoding: Encoding, body: Uint8Array): void {
  if (response.destroyed) return
  response.writeHead(status, {
    'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
    'content-length': body.length,
  })
  response.end(body)
}
