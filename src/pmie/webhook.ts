/** Posts firings to a URL without delaying evaluations. docs/reference/pmie.md */
import type { Reporter } from '../rules/problems.ts'

/** Limits of waiting and active posts. Further ones are dropped with a warning. */
const MAX_WAITING = 64
const MAX_UNDER_WAY = 4
/** Timeout of one post. */
const TIMEOUT_MS = 10_000

interface Post {
  readonly url: string
  readonly body: string
}

/** A queue of posts. */
export class Webhooks {
  readonly #reporter: Reporter
  readonly #waiting: Post[] = []
  readonly #underWay = new Set<Promise<void>>()
  #isClosed = false

  constructor(reporter: Reporter) {
    this.#reporter = reporter
  }

  /** Queues a line of JSON; returns false if the URL is invalid or the queue is full. */
  post(url: string, body: string): boolean {
    if (!/^https?:\/\/[^/]/.test(url)) {
      this.#reporter.log('error', `webhook: invalid URL "${url}": must begin with http:// or https://`)
      return false
    }
    if (this.#isClosed || this.#waiting.length >= MAX_WAITING) {
      this.#reporter.log(
        'warning',
        `webhook: dropped a message for ${url}: ${MAX_WAITING} messages are waiting`,
      )
      return false
    }
    this.#waiting.push({ url, body })
    this.#next()
    return true
  }

  /** Sends the waiting posts and waits for all to complete. */
  async close(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.race(this.#underWay)
    this.#isClosed = true
  }

  #next(): void {
    while (this.#underWay.size < MAX_UNDER_WAY) {
      const post = this.#waiting.shift()
      if (post === undefined) return
      const sent = send(post).catch((error: unknown) => {
        this.#reporter.log('error', `webhook: ${post.url}: ${(error as Error).message}`)
      })
      const done = sent.then(() => {
        this.#underWay.delete(done)
        this.#next()
      })
      this.#underWay.add(done)
    }
  }
}

async function send({ url, body }: Post): Promise<void> {
  const isSecure = url.startsWith('https:')
  const { request } = isSecure
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http')
  await new Promise<void>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const asked = request(url, { method: 'POST', headers, signal }, (answer) => {
      const { statusCode = 0 } = answer
      answer.resume()
      answer.on('error', reject)
      answer.on('end', () => {
        if (statusCode >= 200 && statusCode < 300) resolve()
        else reject(new Error(`answered with status ${statusCode}`))
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
