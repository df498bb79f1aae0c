/** Requests that pmproxy answers without node's server, on connections that go over to it. docs/pmproxy.md */
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

let server: WebServer
beforeAll(async () => {
  server = await startWebServer(['pmcd', 'sample', 'simple'])
})
afterAll(async () => server.close())

/** A connection whose answers are read one by one. */
class Talk {
  readonly #socket: Socket
  #got = ''
  #heard: () => void = () => undefined

  constructor() {
    this.#socket = connect({ host: '127.0.0.1', port: server.proxy.port })
    this.#socket.on('data', (chunk) => {
      this.#got += chunk.toString('latin1')
      this.#heard()
    })
  }

  say(text: string): void {
    this.#socket.write(text, 'latin1')
  }

  /** The next answer; `hasBody`: not one to HEAD. */
  async answer(hasBody = true): Promise<string> {
    for (;;) {
      const head = this.#got.indexOf('\r\n\r\n') + 4
      const length = hasBody ? Number(/content-length: (\d+)/i.exec(this.#got.slice(0, head))?.[1]) : 0
      if (head > 3 && this.#got.length >= head + length) {
        const answer = this.#got.slice(0, head + length)
        this.#got = this.#got.slice(head + length)
        return answer
      }
      await new Promise<void>((resolve) => {
        this.#heard = resolve
      })
    }
  }

  end(): void {
    this.#socket.destroy()
  }
}

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
/** Without what differs from answer to answer: times, and the context's number with its digits. */
const timeless = (answer: string): string =>
  answer.replace(/Date: .*|"context":\d+|Content-Length: \d+|"timestamp":[\d.]+/g, '')

test.each([
  '/pmapi/metric?names=sample.long.one,sample.colour',
  '/pmapi/children?prefix=sample',
  '/pmapi/fetch?names=no.such',
  '/pmapi/nothing',
  '/pmapi/1/fetch?names=sample.long.one',
  '/series/query?expr=a',
])('%s is answered as by node', async (path) => {
  const talk = new Talk()
  talk.say(get(path))
  const quick = await talk.answer()
  talk.say(get(path, 'TE: trailers\r\n'))
  expect(timeless(quick)).toBe(timeless(await talk.answer()))
  talk.end()
})

test('text that is not ASCII, and what is compressed, has its length in bytes', async () => {
  const talk = new Talk()
  talk.say(get('/pmapi/children?prefix=sample&client=%E2%82%AC'))
  expect(await talk.answer()).toContain('\xe2\x82\xac')
  talk.say(get('/metrics?names=sample', 'Accept-Encoding: gzip\r\n'))
  const compressed = await talk.answer()
  expect(compressed).toContain('\r\nContent-Encoding: gzip\r\n')
  expect(compressed).toContain('\r\n\r\n\x1f\x8b')
  talk.say(get('/pmapi/fetch?names=sample.long.one'))
  expect(await talk.answer()).toMatch(/^HTTP\/1\.1 200 /)
  talk.end()
})

test('a connection goes on with whatever HTTP has', async () => {
  const talk = new Talk()
  const one = get('/pmapi/fetch?names=sample.long.one')
  for (let i = 0; i < 3; i++) {
    talk.say(one)
    expect(await talk.answer()).toContain('"value":1}')
  }
  // Two at once, the second of them in pieces.
  talk.say(one + one.slice(0, 10))
  expect(await talk.answer()).toContain('"value":1}')
  talk.say(one.slice(10))
  expect(await talk.answer()).toContain('"value":1}')
  talk.say(one.replace('GET', 'HEAD'))
  expect(await talk.answer(false)).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  talk.end()
})

test('a request that comes before the answer to the one before it is answered after that', async () => {
  const talk = new Talk()
  talk.say(get('/metrics?names=sample'))
  setImmediate(() => talk.say(get('/pmapi/fetch?names=sample.long.one')))
  expect(await talk.answer()).toContain('# HELP sample_')
  expect(await talk.answer()).toContain('"value":1}')
  talk.end()
})
