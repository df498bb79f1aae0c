/** HTTP requests to servers, over connections that stay open between them. */
import type * as Http from 'node:http'
import type * as Https from 'node:https'
import type { Readable } from 'node:stream'
import { withSignal } from '../base/with-signal.ts'
import { PcpError } from '../model/errors.ts'

/** Certificates as PEM: of authorities to trust instead of the system's, and of the client. */
export interface TlsFiles {
  readonly ca?: string | readonly string[] | undefined
  readonly cert?: string
  readonly key?: string
  readonly rejectUnauthorized?: false
}

/** Options of a client. */
export interface HttpClientOptions {
  readonly tls?: TlsFiles
  /** Unix socket of the server, instead of host and port of the URL. */
  readonly socketPath?: string | undefined
  /** Whether connections stay open; default true. Without, there is nothing to close. */
  readonly keepsOpen?: boolean
  /** Connections to a server; default any number. */
  readonly maxSockets?: number
}

/** A request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly signal?: AbortSignal | undefined
  /** Longest time without progress, in milliseconds. ETIMEDOUT. */
  readonly stalledMs?: number
}

/** Limits of a whole exchange. */
export interface ExchangeLimits {
  /** Until the end of the answer, in milliseconds: a TimeoutError. Default: any. */
  readonly timeoutMs?: number
  /** Bytes of an answer after decompression. */
  readonly maxBytes: number
  /** The start of a longer answer is enough; otherwise it is E2BIG. */
  readonly isStartEnough?: boolean
}

/** An answer. */
export interface HttpAnswer {
  readonly status: number
  /** Returns a header, by its name in lower case. */
  readonly header: (name: string) => string | undefined
  readonly body: Buffer
}

/** Sends requests. */
export class HttpClient {
  readonly #options: HttpClientOptions
  readonly #agents = new Map<string, Http.Agent>()

  constructor(options: HttpClientOptions = {}) {
    this.#options = options
  }

  /**
   * Resolves to the answer, whatever its status. Rejects with the reason of the signal, a TimeoutError, E2BIG, ETIMEDOUT or
   * Node's error.
   */
  async exchange(request: HttpRequest, limits: ExchangeLimits): Promise<HttpAnswer> {
    const { timeoutMs } = limits
    const sources = { signals: [request.signal], ...(timeoutMs === undefined ? {} : { timeoutMs }) }
    return await withSignal(sources, async (signal) => {
      const response = await this.open({ ...request, signal })
      try {
        const body = await bodyOf(response, limits)
        return { status: response.statusCode ?? 0, header: headerOf(response), body }
      } catch (error) {
        response.destroy()
        throw signal.aborted ? signal.reason : error
      }
    })
  }

  /** Resolves to a response whose body is not read yet. Errors as in `exchange`, but for the limits. */
  open({ method, url, headers, body, signal, stalledMs }: HttpRequest): Promise<Http.IncomingMessage> {
    const { socketPath } = this.#options
    const module = moduleOf(url)
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
    return new Promise((resolve, reject) => {
      let response: Http.IncomingMessage | undefined
      const sent = module.request(url, {
        method,
        agent: this.#agentOf(url) as Https.Agent,
        headers: { ...headers, ...length },
        ...(signal === undefined ? {} : { signal }),
        ...(socketPath === undefined ? {} : { socketPath }),
      })
      if (stalledMs !== undefined)
        sent.setTimeout(stalledMs, () =>
          (response ?? sent).destroy(new PcpError('ETIMEDOUT', `no answer in ${stalledMs / 1000} s`)),
        )
      sent.once('response', (begun) => {
        response = begun
        resolve(begun)
      })
      sent.on('error', (error) => reject(signal?.aborted ? (signal.reason as Error) : error))
      sent.end(body)
    })
  }

  /** Closes idle connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy()
  }

  #agentOf(url: URL): Http.Agent {
    const { tls = {}, keepsOpen = true, maxSockets } = this.#options
    let agent = this.#agents.get(url.protocol)
    if (agent === undefined) {
      const { ca, ...rest } = tls
      const authorities = typeof ca === 'string' ? [ca] : ca
      agent = new (moduleOf(url).Agent)({
        keepAlive: keepsOpen,
        ...rest,
        ...(authorities === undefined ? {} : { ca: [...authorities] }),
        ...(maxSockets === undefined ? {} : { maxSockets }),
      })
      this.#agents.set(url.protocol, agent)
    }
    return agent
  }
}

/** Returns the value of the header Authorization for `USER:PASSWORD`. */
export function basicAuthorization(login: string): string {
  return `Basic ${Buffer.from(login).toString('base64')}`
}

/** Returns the milliseconds of a header Retry-After: seconds, or a date; undefined for another text. */
export function retryAfterMs(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}

function moduleOf({ protocol }: URL): typeof Https {
  return protocol === 'https:'
    ? process.getBuiltinModule('node:https')
    : (process.getBuiltinModule('node:http') as unknown as typeof Https)
}

function headerOf({ headers }: Http.IncomingMessage): (name: string) => string | undefined {
  return (name) => {
    const value = headers[name]
    return Array.isArray(value) ? value[0] : value
  }
}

async function bodyOf(
  response: Http.IncomingMessage,
  { maxBytes, isStartEnough = false }: ExchangeLimits,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of decoded(response) as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size <= maxBytes) continue
    if (!isStartEnough) throw new PcpError('E2BIG', `the answer has more than ${maxBytes} bytes`)
    response.destroy()
    break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}

function decoded(response: Http.IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response
  const decoder = process.getBuiltinModule('node:zlib').createGunzip()
  response.once('error', (error) => decoder.destroy(error))
  return response.pipe(decoder)
}
