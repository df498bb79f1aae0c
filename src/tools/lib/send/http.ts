/** HTTP requests of exporters. */
import { withSignal } from '../../../base/with-signal.ts'
import { PcpError } from '../../../model/errors.ts'
import { basicAuthorization } from '../../../net/http-client.ts'
import { cannotSend } from './problem.ts'

/** The address of a server, and the account for it. */
export interface HttpServer {
  /** Without an account; a path ends with a slash. */
  readonly url: string
  /** Value of the header Authorization. */
  readonly authorization: string | undefined
}

/** One request. */
export interface HttpRequest {
  readonly method: 'POST' | 'PUT'
  /** Below the server's URL; '' for that itself. */
  readonly path?: string
  readonly type: string
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Statuses that are fine besides 200 to 299. */
  readonly accepts?: readonly number[]
}

/** An answer. */
export interface HttpAnswer {
  readonly status: number
  readonly statusText: string
  /** The header of this name. */
  readonly retryAfter: string | undefined
  /** The start of the body. */
  readonly body: Uint8Array
}

/** Most characters of an answer that are shown, and bytes that are read. */
const SHOWN_CHARS = 300
const READ_BYTES = 16_384

/** Parses a URL, whose account is used if there is no `user`. Throws PM_ERR_GENERIC if it is not one of HTTP. */
export function httpServer(text: string, user?: string, password?: string): HttpServer {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new PcpError(
      'PM_ERR_GENERIC',
      `${shown(text)}: not a URL: expected http://HOST:PORT or https://...`,
    )
  const name = user ?? decodeURIComponent(url.username)
  const secret = user === undefined ? decodeURIComponent(url.password) : (password ?? '')
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  url.username = ''
  url.password = ''
  return { url: url.href, authorization: name === '' ? undefined : basicAuthorization(`${name}:${secret}`) }
}

/** Hides the password of a text that is not a URL. */
function shown(text: string): string {
  return text.replace(/[^/@]*@/, '')
}

/** Sends a request. Rejects with PM_ERR_GENERIC if the server cannot be reached or refuses it; the message has its answer. */
export async function sendHttp(server: HttpServer, request: HttpRequest): Promise<void> {
  const { accepts = [], timeoutMs } = request
  const { status, statusText, body } = await requestHttp(server, request)
  if ((status >= 200 && status < 300) || accepts.includes(status)) return
  const text = new TextDecoder().decode(body).slice(0, SHOWN_CHARS).replaceAll(/\s+/g, ' ')
  throw cannotSend(server.url, new Error(`${status} ${statusText} ${text}`.trim()), timeoutMs)
}

/** Sends a request and returns the answer, whatever its status. Rejects with PM_ERR_GENERIC if the server cannot be reached. */
export async function requestHttp(
  { url, authorization }: HttpServer,
  request: HttpRequest,
): Promise<HttpAnswer> {
  const { method, path = '', type, body, timeoutMs, signal } = request
  const headers: Record<string, string> = { 'Content-Type': type }
  if (authorization !== undefined) headers['Authorization'] = authorization
  try {
    return await withSignal({ signals: [signal], timeoutMs }, async (within) => {
      const response = await fetch(`${url}${path}`, { method, headers, body, signal: within })
      const { status, statusText } = response
      const retryAfter = response.headers.get('retry-after') ?? undefined
      return { status, statusText, retryAfter, body: await beginningOf(response) }
    })
  } catch (error) {
    throw cannotSend(url, error, timeoutMs)
  }
}

/** Returns the start of an answer, and drops the rest. */
async function beginningOf({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= READ_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, READ_BYTES)
}
