/** HTTP requests of exporters. */
import { withSignal } from '../../../base/with-signal.ts'
import { PcpError } from '../../../model/errors.ts'
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
  readonly body: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Statuses that are fine besides 200 to 299. */
  readonly accepts?: readonly number[]
}

/** Most characters of an answer that are shown. */
const SHOWN_CHARS = 300

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
  const login = Buffer.from(`${name}:${secret}`).toString('base64')
  return { url: url.href, authorization: name === '' ? undefined : `Basic ${login}` }
}

/** Hides the password of a text that is not a URL. */
function shown(text: string): string {
  return text.replace(/[^/@]*@/, '')
}

/** Sends a request. Rejects with PM_ERR_GENERIC if the server cannot be reached or refuses it; the message has its answer. */
export async function sendHttp({ url, authorization }: HttpServer, request: HttpRequest): Promise<void> {
  const { method, path = '', type, body, timeoutMs, signal, accepts = [] } = request
  const headers: Record<string, string> = { 'Content-Type': type }
  if (authorization !== undefined) headers['Authorization'] = authorization
  try {
    await withSignal({ signals: [signal], timeoutMs }, async (within) => {
      const response = await fetch(`${url}${path}`, { method, headers, body, signal: within })
      const text = await beginningOf(response)
      if (!response.ok && !accepts.includes(response.status))
        throw new Error(`${response.status} ${response.statusText} ${text}`.trim())
    })
  } catch (error) {
    throw cannotSend(url, error, timeoutMs)
  }
}

/** Returns the start of an answer on one line, and drops the rest. */
async function beginningOf({ body }: Response): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.length >= SHOWN_CHARS) break
  }
  return text.slice(0, SHOWN_CHARS).replaceAll(/\s+/g, ' ')
}
