/** Requests to a receiver of Remote Write. */
import { HttpClient, type TlsFiles } from '../net/http-client.ts'

/** Answer of a receiver. */
export interface PostAnswer {
  readonly status: number
  /** Returns a header, by its name in lower case. */
  readonly header: (name: string) => string | undefined
  /** Beginning of the body, on one line. */
  readonly text: string
}

/** One request. */
export interface Post {
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Most bytes of an answer that are read. */
const ANSWER_BYTES = 4096
/** Most characters of an answer that are shown. */
const SHOWN_CHARS = 300

/** Sends requests to one address. */
export class PostClient {
  readonly url: URL
  readonly #client: HttpClient

  constructor(url: URL, tls: TlsFiles = {}) {
    this.url = url
    this.#client = new HttpClient({ tls })
  }

  /** Resolves to the answer, whatever its status. Rejects with Node's error, a TimeoutError, or the reason of the signal. */
  async post({ body, headers, timeoutMs, signal }: Post): Promise<PostAnswer> {
    const request = { method: 'POST', url: this.url, body, headers, signal } as const
    const limits = { timeoutMs, maxBytes: ANSWER_BYTES, isStartEnough: true }
    const { status, header, body: answer } = await this.#client.exchange(request, limits)
    const text = answer.toString('utf8').replaceAll(/\s+/g, ' ').trim().slice(0, SHOWN_CHARS)
    return { status, header, text }
  }

  /** Closes idle connections. */
  close(): void {
    this.#client.close()
  }
}
