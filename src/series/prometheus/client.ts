/** Requests to the HTTP API of Prometheus, VictoriaMetrics, Mimir or Thanos. https://prometheus.io/docs/prometheus/latest/querying/api/ */
import { PcpError } from '../../model/errors.ts'
import { basicAuthorization, HttpClient, type HttpRequest } from '../../net/http-client.ts'

/** The address of a server, and the credentials for it. */
export interface PrometheusServer {
  /** Prefix of the API's paths, without `/api/v1`. */
  readonly url: URL
  /** Value of the header Authorization. */
  readonly authorization?: string | undefined
  /** Certificates of authorities to trust instead of the system's, as PEM. */
  readonly ca?: string | undefined
}

/** Limits of a request. */
export interface ClientLimits {
  readonly timeoutMs: number
  /** Bytes of an answer after decompression. */
  readonly maxBytes: number
}

const LIMITS: ClientLimits = { timeoutMs: 30_000, maxBytes: 64 * 1024 * 1024 }

/** Parameters of a request, of which some are given several times. */
export type Parameters = readonly (readonly [name: string, value: string])[]

const MOST_SOCKETS = 8
/** Most characters of an error text of the server that are shown. */
const SHOWN_CHARS = 300

/** Parses the URL of a server, with an account if it has one. EINVAL for another text. */
export function prometheusServer(text: string, more: Omit<PrometheusServer, 'url'> = {}): PrometheusServer {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new PcpError(
      'EINVAL',
      `${text.replace(/^(\w+:\/\/)?.*@/s, '$1')}: not a URL: use http://HOST:PORT or https://...`,
    )
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  const own = url.username === '' ? undefined : basicAuthorization(login)
  url.username = ''
  url.password = ''
  url.search = ''
  url.hash = ''
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return { url, authorization: more.authorization ?? own, ca: more.ca }
}

/** A client that keeps its connections open between requests. */
export class PrometheusClient {
  readonly #server: PrometheusServer
  readonly #limits: ClientLimits
  readonly #closed = new AbortController()
  readonly #client: HttpClient

  constructor(server: PrometheusServer, limits: Partial<ClientLimits> = {}) {
    this.#server = server
    this.#limits = { ...LIMITS, ...limits }
    this.#client = new HttpClient({ tls: { ca: server.ca }, maxSockets: MOST_SOCKETS })
  }

  /** The server's address, without credentials. */
  get url(): string {
    return this.#server.url.href
  }

  /**
   * Requests a path below `/api/v1/` and returns the `data` of the answer. `isLong` sends the parameters as a form, because a
   * URL is limited. EBUSY if the server is overloaded, EACCES if it refuses the credentials, E2BIG if the answer or the
   * query is too large for either side, EINVAL if the server rejects the query, EPROTO for another answer, ETIMEDOUT.
   */
  async request(path: string, parameters: Parameters, isLong = true): Promise<unknown> {
    const request = { ...this.#requestOf(path, parameters, isLong), signal: this.#closed.signal }
    const answer = await this.#client.exchange(request, this.#limits).catch((error: unknown) => {
      throw this.#problemOf(error)
    })
    return this.#dataOf(answer.status, answer.body.toString('utf8'))
  }

  /** Aborts requests and closes connections; idempotent. */
  close(): void {
    this.#closed.abort(new PcpError('ECANCELED', `${this.url}: closed`))
    this.#client.close()
  }

  #requestOf(path: string, parameters: Parameters, isLong: boolean): HttpRequest {
    const { authorization } = this.#server
    const url = new URL(`api/v1/${path}`, this.#server.url)
    const form = new URLSearchParams(
      parameters.map(([name, value]): [string, string] => [name, value]),
    ).toString()
    if (!isLong) url.search = form
    const headers: Record<string, string> = { accept: 'application/json', 'accept-encoding': 'gzip' }
    if (authorization !== undefined) headers['authorization'] = authorization
    if (isLong) headers['content-type'] = 'application/x-www-form-urlencoded'
    return { method: isLong ? 'POST' : 'GET', url, headers, body: isLong ? form : undefined }
  }

  #problemOf(error: unknown): PcpError {
    const { url } = this
    if (this.#closed.signal.aborted) return this.#closed.signal.reason as PcpError
    if (error instanceof Error && error.name === 'TimeoutError')
      return new PcpError(
        'ETIMEDOUT',
        `${url}: no answer within ${this.#limits.timeoutMs / 1000} s: select less`,
        {
          cause: error,
        },
      )
    // A name with several addresses: they usually fail for one reason.
    const { code, message } = PcpError.from(error instanceof AggregateError ? error.errors[0] : error)
    const remedy = code === 'E2BIG' ? 'select less' : 'is this the address of a Prometheus server?'
    return new PcpError(code, `${url}: ${message}: ${remedy}`, { cause: error })
  }

  #dataOf(status: number, text: string): unknown {
    let answer: { status?: unknown; data?: unknown; error?: unknown } | undefined
    try {
      answer = JSON.parse(text) as typeof answer
    } catch {
      answer = undefined
    }
    if (status === 200 && answer?.status === 'success' && answer.data !== undefined) return answer.data
    const why = typeof answer?.error === 'string' ? answer.error : text
    const shown = why.slice(0, SHOWN_CHARS).replaceAll(/\s+/g, ' ').trim()
    const what = `${this.url}: ${status}${shown === '' ? '' : ` ${shown}`}`
    if (status === 401 || status === 403)
      throw new PcpError('EACCES', `${what}: the server wants other credentials`)
    if (status === 429 || status === 503) throw new PcpError('EBUSY', `${what}: try again later`)
    if (status === 422) throw new PcpError('E2BIG', what)
    if (status === 400) throw new PcpError('EINVAL', what)
    throw new PcpError('EPROTO', `${what}: not an answer of Prometheus`)
  }
}
