/** Delivery to receivers that are away, busy, slow or do not like what they get. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { Batch, type SeriesSamples } from '../../src/remote-write/batch.ts'
import { PostClient } from '../../src/remote-write/http.ts'
import { Sender, type SenderOptions } from '../../src/remote-write/sender.ts'
import { seriesOf } from '../../src/remote-write/series.ts'
import { type Answer, Receiver, type ReceiverOptions } from './receiver.ts'

const NOW = Date.UTC(2026, 0, 1)

/** A sender whose waits take no time, and what it did. */
function senderTo(
  url: URL,
  options: Partial<SenderOptions> = {},
): Disposable & { readonly sender: Sender; readonly waits: number[]; readonly lines: string[] } {
  const waits: number[] = []
  const lines: string[] = []
  const client = new PostClient(url)
  const sender = new Sender(client, {
    protocol: 'auto',
    headers: () => ({}),
    timeoutMs: 60_000,
    delaysMs: [100, 200, 400],
    wait: async (ms) => void waits.push(ms),
    now: () => NOW,
    report: (line) => lines.push(line.replace(url.href, 'URL')),
    ...options,
  })
  return { sender, waits, lines, [Symbol.dispose]: () => client.close() }
}

/** One sample of each of some series. */
function series(count: number): readonly SeriesSamples[] {
  const batch = new Batch({ samples: 1e6, bytes: 1e9 })
  for (let i = 0; i < count; i++) {
    const family = { name: `m${i}`, isCounter: false, unit: '', help: 'Help' }
    batch.add(seriesOf(family, new Map([['l', 'x']])), 1000, i)
  }
  return [...batch.requests()][0]!
}

const signal = new AbortController().signal
const first =
  (...answers: readonly Answer[]): ReceiverOptions['answer'] =>
  (n) =>
    answers[n]

test('sends 2.0 to a receiver that reads it', async () => {
  await using receiver = await Receiver.start()
  using made = senderTo(receiver.url, { headers: () => ({ 'X-Scope-OrgID': 'tenant' }) })
  await made.sender.send(series(3), signal)
  expect(receiver.requests.map(({ headers, version }) => [version, headers['x-scope-orgid']])).toEqual([
    [2, 'tenant'],
  ])
  expect(receiver.requests[0]!.headers).toMatchObject({
    'content-encoding': 'snappy',
    'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    'x-prometheus-remote-write-version': '2.0.0',
    'user-agent': expect.stringMatching(/^pcp-ts\//),
  })
  expect(made.sender.counts).toMatchObject({ samples: 3, requests: 1, retries: 0, refused: 0 })
  expect(made.lines).toEqual([])
})

test('falls back to 1.0 after 415, and describes each metric once', async () => {
  await using receiver = await Receiver.start({ versions: [1] })
  using made = senderTo(receiver.url)
  await made.sender.send(series(2), signal)
  await made.sender.send(series(3), signal)
  expect(receiver.requests.map(({ version }) => version)).toEqual([1, 1])
  expect(receiver.requests[0]!.headers).toMatchObject({
    'content-type': 'application/x-protobuf',
    'x-prometheus-remote-write-version': '0.1.0',
  })
  expect(receiver.requests.map(({ metadata }) => Object.keys(metadata))).toEqual([['m0', 'm1'], ['m2']])
  expect(receiver.count).toBe(3)
  expect(made.lines).toEqual(['URL: the receiver reads only Remote Write 1.0'])
})

test.each([
  ['success without its headers', { status: 204 }],
  ['400', { status: 400, body: 'cannot decode' }],
] as const)('takes %s before any success for a receiver of 1.0', async (_, answer) => {
  await using receiver = await Receiver.start({
    answer: (_n, { version }) => (version === 2 ? answer : undefined),
  })
  using made = senderTo(receiver.url)
  await made.sender.send(series(2), signal)
  expect(receiver.requests.map((each) => each.version)).toEqual([1])
  expect(made.sender.version).toBe(1)
  expect(made.sender.counts).toMatchObject({ samples: 2, refused: 0 })
})

test('does not fall back after a success, or if 2.0 is demanded', async () => {
  await using receiver = await Receiver.start({
    answer: (n) => (n === 1 ? { status: 400 } : undefined),
  })
  using made = senderTo(receiver.url)
  await made.sender.send(series(1), signal)
  await made.sender.send(series(1), signal)
  expect(made.sender.version).toBe(2)
  expect(made.sender.counts.refused).toBe(1)
  await using old = await Receiver.start({ versions: [1] })
  using strict = senderTo(old.url, { protocol: 2 })
  await strict.sender.send(series(1), signal)
  expect(strict.sender.version).toBe(2)
  expect(strict.sender.counts.refused).toBe(1)
})

test('waits for Retry-After, and longer after each failure', async () => {
  const later = new Date(NOW + 90_000).toUTCString()
  const answer = first(
    { status: 429, headers: { 'Retry-After': '7' } },
    { status: 503, headers: { 'Retry-After': later } },
    { status: 500 },
    { status: 429, headers: { 'Retry-After': '99999999' } },
    { status: 401, body: 'who are you?' },
  )
  await using receiver = await Receiver.start({ answer: (n, request) => answer?.(n, request) })
  using made = senderTo(receiver.url)
  await made.sender.send(series(2), signal)
  expect(made.waits.slice(0, 2)).toEqual([7000, 90_000])
  expect(made.waits[2]).toBeGreaterThanOrEqual(400)
  expect(made.waits[2]).toBeLessThan(600)
  expect(made.waits[3]).toBe(600_000)
  expect(made.waits).toHaveLength(5)
  expect(receiver.size).toBe(2)
  expect(made.sender.counts).toMatchObject({ samples: 2, retries: 5, refused: 0 })
  expect(made.lines.at(-1)).toBe('URL: sending again')
  expect(made.lines).toContain('URL: 401 who are you?, retrying')
})

test('repeats a request whose connection is cut or refused', async () => {
  const port = await freePort()
  let receiver: Receiver | undefined
  const client = senderTo(new URL(`http://127.0.0.1:${port}/`), {
    wait: async () => {
      receiver ??= await Receiver.start({ port, answer: first('cut') })
    },
  })
  await client.sender.send(series(2), signal)
  expect(receiver?.size).toBe(2)
  expect(client.sender.counts).toMatchObject({ samples: 2, retries: 2 })
  expect(client.lines[0]).toMatch(/^URL: connect: Connection refused, retrying$|Connection refused/)
  client[Symbol.dispose]()
  await receiver?.[Symbol.asyncDispose]()
})

test('requests to a silent receiver are repeated', async () => {
  await using receiver = await Receiver.start({ answer: first('hang', 'hang') })
  using made = senderTo(receiver.url, { timeoutMs: 20 })
  await made.sender.send(series(2), signal)
  expect(made.sender.counts).toMatchObject({ samples: 2, retries: 2 })
  expect(made.lines[0]).toBe('URL: no answer within 0.02 s, retrying')
})

test('divides a request to find the bad series, and skips it', async () => {
  await using receiver = await Receiver.start({
    answer: (_, request) =>
      request.series.some(({ labels }) => labels['__name__'] === 'm700')
        ? { status: 400, body: 'bad' }
        : undefined,
  })
  using made = senderTo(receiver.url, { protocol: 2 })
  await made.sender.send(series(1000), signal)
  expect(receiver.size).toBe(999)
  expect(made.sender.counts).toMatchObject({ samples: 999, refused: 1 })
  expect(made.lines).toEqual(['URL: 400 bad: such samples are skipped'])
})

test('a request that is bad throughout is given up after a bounded number of attempts', async () => {
  await using receiver = await Receiver.start({ answer: () => ({ status: 422, body: 'no' }) })
  using made = senderTo(receiver.url, { protocol: 1 })
  await made.sender.send(series(1000), signal)
  expect(made.sender.counts).toMatchObject({ samples: 0, refused: 1000 })
  expect(receiver.count).toBe(65)
  expect(made.lines).toHaveLength(1)
})

test('a request too large for the receiver is divided', async () => {
  await using receiver = await Receiver.start({
    answer: (_, request) => (request.series.length > 30 ? { status: 413 } : undefined),
  })
  using made = senderTo(receiver.url, { protocol: 1 })
  await made.sender.send(series(100), signal)
  expect(receiver.size).toBe(100)
  expect(made.sender.counts.refused).toBe(0)
})

test('a refusal after a possibly written attempt is not reported', async () => {
  await using receiver = await Receiver.start({ answer: first('cut', { status: 400, body: 'out of order' }) })
  using made = senderTo(receiver.url, { protocol: 1 })
  await made.sender.send(series(1), signal)
  expect(made.sender.counts).toMatchObject({ refused: 0, repeated: 1 })
})

test('counts samples that a receiver of 2.0 did not write', async () => {
  const partly = { 'X-Prometheus-Remote-Write-Samples-Written': '3' }
  const answer = first({ status: 204, headers: partly }, { status: 400, headers: partly, body: 'too old' })
  await using receiver = await Receiver.start({ answer: (n, request) => answer?.(n, request) })
  using made = senderTo(receiver.url)
  await made.sender.send(series(5), signal)
  expect(made.sender.counts).toMatchObject({ unwritten: 2 })
  await made.sender.send(series(5), signal)
  expect(made.sender.counts).toMatchObject({ samples: 8, unwritten: 2, refused: 2 })
  expect(made.lines).toEqual(['URL: wrote only 3 of 5 samples', 'URL: 400 too old: such samples are skipped'])
})

test('an interruption ends it', async () => {
  const controller = new AbortController()
  await using receiver = await Receiver.start({
    answer: () => {
      controller.abort(new Error('interrupted'))
      return 'hang'
    },
  })
  using made = senderTo(receiver.url)
  await expect(made.sender.send(series(1), controller.signal)).rejects.toThrow('interrupted')
})

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
