/** Requests of senders to a server that receives archives. docs/decisions/push.md */
import { PcpError } from '../model/errors.ts'
import { HttpClient } from '../net/http-client.ts'
import type { PushTarget } from './target.ts'

/** A server's answer. */
export interface PushAnswer {
  readonly status: number
  /** The members of the JSON object; empty for anything else. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** A request to a server, as an interface for tests. */
export interface PushRequests {
  /** Throws a PcpError without an answer. */
  post(path: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<PushAnswer>
}

/** A server that makes no progress for this long has failed. */
const STALLED_MS = 60_000
const MAX_ANSWER = 1 << 20

/** A connection to one server, kept open between requests. */
export class PushClient implements PushRequests {
  readonly #target: PushTarget
  readonly #client: HttpClient
  readonly #signal: AbortSignal | undefined

  /** `ca`: certificates of authorities instead of the system's. */
  constructor(target: PushTarget, ca?: readonly string[], signal?: AbortSignal) {
    this.#target = target
    this.#client = new HttpClient({ tls: { ca }, socketPath: target.socketPath, maxSockets: 1 })
    this.#signal = signal
  }

  async post(path: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<PushAnswer> {
    const { url, authorization } = this.#target
    const request = {
      method: 'POST',
      url: new URL(`${url.pathname.replace(/\/$/, '')}${path}`, url),
      headers: {
        ...headers,
        'content-type': 'application/octet-stream',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body,
      stalledMs: STALLED_MS,
      signal: this.#signal,
    } as const
    try {
      const { status, body: text } = await this.#client.exchange(request, { maxBytes: MAX_ANSWER })
      return { status, fields: parseFields(text.toString('utf8')) }
    } catch (error) {
      throw PcpError.from(error, url.origin)
    }
  }

  /** Closes the connection. */
  close(): void {
    this.#client.close()
  }
}

/** Parses an answer, of which errors may be pages. */
export function parseFields(text: string): PushAnswer['fields'] {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as PushAnswer['fields'])
      : {}
  } catch {
    return {}
  }
}
