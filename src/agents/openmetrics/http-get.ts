/** Fetches documents by HTTP, with redirections, compression, and limits on time and size. docs/reference/agents/openmetrics.md */
import type * as Http from 'node:http'
import type * as Https from 'node:https'
import type { Readable } from 'node:stream'
import { PcpError } from '../../model/errors.ts'
import { tooLong } from './limits.ts'

/** A server's answer. */
export interface Document {
  /** The status of HTTP. */
  readonly status: number
  readonly text: string
}

/** Options of a request. */
export interface GetOptions {
  readonly headers: Readonly<Record<string, string>>
  /** Aborts the request. */
  readonly signal: AbortSignal
  /** Bytes of the document after decompression. */
  readonly maxBytes: number
}

const MAX_REDIRECTS = 5
const ACCEPT = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'

/** An HTTP client that keeps connections open between requests. */
export class HttpClient {
  #http: Http.Agent | undefined
  #https: Https.Agent | undefined

  /** Fetches a document, whatever its status. Throws a PcpError if there is no answer or it is too big. */
  async get(address: string, options: GetOptions): Promise<Document> {
    let url = new URL(address)
    let { headers } = options
    for (let redirects = 0; ; redirects++) {
      const response = await this.#request(url, headers, options.signal)
      const status = response.statusCode ?? 0
      const { location } = response.headers
      if (status < 300 || status >= 400 || location === undefined) {
        return { status, text: await readText(response, options) }
      }
      response.destroy()
      if (redirects === MAX_REDIRECTS) throw failure(url, `more than ${MAX_REDIRECTS} redirections`)
      const next = redirected(url, location)
      // Headers that identify the agent are only for the configured host.
      if (next.origin !== url.origin) headers = withoutSecrets(headers)
      url = next
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.#http?.destroy()
    this.#https?.destroy()
  }

  #request(
    url: URL,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Http.IncomingMessage> {
    const isSecure = url.protocol === 'https:'
    // Both modules have the same function; each needs its own kind of Agent.
    const get = isSecure
      ? process.getBuiltinModule('node:https').get
      : (process.getBuiltinModule('node:http').get as typeof Https.get)
    const agent = this.#agentFor(isSecure)
    return new Promise((resolve, reject) => {
      const request = get(url, {
        agent,
        signal,
        headers: { accept: ACCEPT, 'accept-encoding': 'gzip, deflate', ...lowerCase(headers) },
      })
      request.once('response', resolve)
      request.once('error', (error) => reject(failure(url, reasonOf(error, signal), error)))
    })
  }

  #agentFor(isSecure: boolean): Https.Agent {
    const options = { keepAlive: true, maxFreeSockets: 64, timeout: 60_000 }
    if (isSecure) {
      this.#https ??= new (process.getBuiltinModule('node:https').Agent)(options)
      return this.#https
    }
    this.#http ??= new (process.getBuiltinModule('node:http').Agent)(options)
    return this.#http as Https.Agent
  }
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function withoutSecrets(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^(?:accept.*|user-agent)$/i.test(name)),
  )
}

function redirected(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href))
    throw failure(from, `redirection to "${location}", which is not a URL`)
  const next = new URL(location, from)
  if (next.protocol !== 'http:' && next.protocol !== 'https:')
    throw failure(from, `redirection to ${next.protocol}, which is not HTTP`)
  return next
}

async function readText(response: Http.IncomingMessage, { maxBytes, signal }: GetOptions): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const body = decoded(response)
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) throw tooLong(maxBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    response.destroy()
    if (signal.aborted) throw new PcpError('ETIMEDOUT', 'The document did not come in time', { cause: error })
    throw PcpError.from(error)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The decompressed body. */
function decoded(response: Http.IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? 'identity').toLowerCase().trim()
  if (encoding === 'identity' || encoding === '') return response
  const zlib = process.getBuiltinModule('node:zlib')
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? zlib.createGunzip()
      : encoding === 'deflate'
        ? zlib.createInflate()
        : encoding === 'br'
          ? zlib.createBrotliDecompress()
          : undefined
  if (decoder === undefined) {
    response.destroy()
    throw new PcpError('PM_ERR_CONV', `The document is encoded as "${encoding}", which is not known`)
  }
  response.once('error', (error) => decoder.destroy(error))
  return response.pipe(decoder)
}

function reasonOf(error: Error, signal: AbortSignal): string {
  return signal.aborted ? 'no answer in time' : error.message
}

function failure(url: URL, why: string, cause?: unknown): PcpError {
  return new PcpError('ECONNREFUSED', `${url.origin}: ${why}`, { cause })
}
