/** Posting firings to a web address, without ever holding up an evaluation. docs/pmie.md */
import type { Voice } from './problems.ts'

/** Waiting and under way at most; what comes when there are so many is dropped, and said. */
const MAX_WAITING = 64
const MAX_UNDER_WAY = 4
/** Longest that one may take. */
const TIMEOUT_MS = 10_000

interface Post {
  readonly url: string
  readonly body: string
}

/** A queue of posts. */
export class Webhooks {
  readonly #voice: Voice
  readonly #waiting: Post[] = []
  readonly #underWay = new Set<Promise<void>>()
  #isClosed = false

  constructor(voice: Voice) {
    this.#voice = voice
  }

  /** Posts a line of JSON some time soon; false where the address is none, or too many wait. */
  post(url: string, body: string): boolean {
    if (!/^https?:\/\/[^/]/.test(url)) {
      this.#voice.notice('error', `webhook: "${url}" is no address: it must begin with http:// or https://`)
      return false
    }
    if (this.#isClosed || this.#waiting.length >= MAX_WAITING) {
      this.#voice.notice('warning', `webhook: ${MAX_WAITING} messages wait, one for ${url} is dropped`)
      return false
    }
    this.#waiting.push({ url, body })
    this.#next()
    return true
  }

  /** Waits for what is under way; what waits is sent as well. */
  async close(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.race(this.#underWay)
    this.#isClosed = true
  }

  #next(): void {
    while (this.#underWay.size < MAX_UNDER_WAY) {
      const post = this.#waiting.shift()
      if (post === undefined) return
      const sent = send(post).catch((error: unknown) => {
        this.#voice.notice('error', `webhook: ${post.url}: ${(error as Error).message}`)
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
