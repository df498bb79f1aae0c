/** Sends metrics to a collector of OpenTelemetry, with retries on request. https://opentelemetry.io/docs/specs/otlp/#otlphttp */
import { setTimeout as sleep } from 'node:timers/promises'
import { EXPORT_METRICS, EXPORT_RESPONSE } from '../../agents/otel/otlp-fields.ts'
import { decodeMessage } from '../../agents/otel/protobuf.ts'
import { encodeMessage } from '../../agents/otel/protobuf-encode.ts'
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { PcpError } from '../../model/errors.ts'
import type { OtlpRequest } from '../../model/otlp.ts'
import { retryAfterMs } from '../../net/http-client.ts'
import { type HttpAnswer, type HttpServer, httpServer, requestHttp } from '../lib/send/http.ts'

/** Encodings of requests and answers. */
export type OtlpEncoding = 'json' | 'protobuf'

/** How a collector is reached. */
export interface CollectorOptions {
  /** Without a path, `/v1/metrics` is added. */
  readonly url: string
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** A bearer token instead of an account. */
  readonly token?: string | undefined
  readonly encoding: OtlpEncoding
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Waits before a request is sent again; default: this time. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/** Statuses after which a request may be sent again. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504])
/** Attempts for one request, and the longest time to wait before one. */
const MOST_ATTEMPTS = 5
const LONGEST_WAIT_MS = 30_000
/** Most characters of the collector's reasons that are shown. */
const SHOWN_CHARS = 300

/** A collector. */
export class OtlpCollector {
  readonly #options: CollectorOptions
  readonly #server: HttpServer
  readonly #path: string

  /** PM_ERR_GENERIC for an invalid URL. */
  constructor(options: CollectorOptions) {
    this.#options = options
    const { url, authorization } = httpServer(options.url, options.user, options.password)
    const whole = new URL(url)
    const path = whole.pathname.replace(/\/$/, '')
    this.#path = `${path === '' ? 'v1/metrics' : path.slice(1)}${whole.search}`
    const token = options.token === undefined ? undefined : `Bearer ${options.token}`
    this.#server = { url: `${whole.origin}/`, authorization: token ?? authorization }
  }

  /** The address to which requests are sent. */
  get url(): string {
    return `${this.#server.url}${this.#path}`
  }

  /**
   * Sends a request. PM_ERR_GENERIC if it does not arrive, is refused, or some of its values are. Messages name the collector
   * and its reason.
   */
  async send(request: OtlpRequest): Promise<void> {
    const { encoding, timeoutMs, signal, wait = waitFor } = this.#options
    const body =
      encoding === 'json' ? JSON.stringify(request) : Buffer.from(encodeMessage(request, EXPORT_METRICS))
    const type = encoding === 'json' ? 'application/json' : 'application/x-protobuf'
    const backoff = new Backoff({ delaysMs: doublingDelays(1000, LONGEST_WAIT_MS) })
    for (let attempt = 1; ; attempt++) {
      const answer = await requestHttp(this.#server, {
        ...{ method: 'POST', path: this.#path, type, body, timeoutMs, signal },
      })
      const { status, retryAfter } = answer
      if (status >= 200 && status < 300) return this.#checkSuccess(answer.body)
      if (!RETRIED.has(status) || attempt === MOST_ATTEMPTS) throw this.#refusal(answer)
      const asked = retryAfterMs(retryAfter, Date.now())
      if (asked !== undefined && asked > LONGEST_WAIT_MS) throw this.#refusal(answer)
      await wait(asked ?? backoff.failed(performance.now()), signal)
    }
  }

  /** Throws if the collector rejected some of the values. */
  #checkSuccess(body: Uint8Array): void {
    const { rejectedDataPoints = 0, errorMessage = '' } = this.#partialSuccess(body)
    const rejected = String(rejectedDataPoints)
    if (!/^[1-9]\d*$/.test(rejected)) return
    const why = errorMessage === '' ? '' : `: ${shown(String(errorMessage))}`
    throw new PcpError('PM_ERR_GENERIC', `${this.url} rejected ${rejected} values${why}`)
  }

  #partialSuccess(body: Uint8Array): { rejectedDataPoints?: unknown; errorMessage?: unknown } {
    if (body.length === 0) return {}
    try {
      const answer =
        this.#options.encoding === 'json'
          ? (JSON.parse(new TextDecoder().decode(body)) as { partialSuccess?: object } | null)
          : (decodeMessage(body, EXPORT_RESPONSE) as { partialSuccess?: object })
      return answer?.partialSuccess ?? {}
    } catch {
      return {} // the status means that the values were accepted
    }
  }

  #refusal({ status, statusText, body }: HttpAnswer): PcpError {
    const text = shown(new TextDecoder().decode(body))
    return new PcpError(
      'PM_ERR_GENERIC',
      `cannot send to ${this.url}: ${`${status} ${statusText} ${text}`.trim()}`,
    )
  }
}

function shown(text: string): string {
  return text.slice(0, SHOWN_CHARS).replaceAll(/[^\x20-\x7e\xa0-\uffff]+/g, ' ')
}

function waitFor(ms: number, signal: AbortSignal): Promise<unknown> {
  return sleep(ms, undefined, { signal })
}
