/** What collectors receive, read back by our own receiver, whose decoders are tested with requests of OpenTelemetry's SDK. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { metricsOf, type OtlpMetric } from '../../../src/agents/otel/otlp.ts'
import { EXPORT_METRICS, EXPORT_RESPONSE } from '../../../src/agents/otel/otlp-fields.ts'
import { decodeMessage } from '../../../src/agents/otel/protobuf.ts'
import { encodeMessage } from '../../../src/agents/otel/protobuf-encode.ts'
import { otlpRequest } from '../../../src/model/otlp.ts'
import { OtlpCollector, type OtlpEncoding } from '../../../src/tools/pcp2opentelemetry/collector.ts'
import { tool } from '../../../src/tools/pcp2opentelemetry/index.ts'
import { type LocalServer, serve } from '../../series/prometheus/recorded.ts'
import { onDisk, sampleArchive } from '../archive-runner.ts'
import { type Printed, testIo } from '../run-tool.ts'

const stored = onDisk(sampleArchive())
const dir = mkdtempSync(join(tmpdir(), 'pcp2opentelemetry-'))
afterAll(() => {
  stored.remove()
  rmSync(dir, { recursive: true })
})

const METRICS = ['t.counter', 't.instances', 't.discrete', 't.text']

async function run(...args: string[]): Promise<Printed & { readonly status: number }> {
  const io = testIo(tool.name, ['-a', stored.path, ...args], { PCP_SYSCONF_DIR: '/none', HOME: '/none' })
  const status = await tool.run(io)
  return { status, ...io.printed }
}

/** Returns points as texts: metric, kind, instance, start and time in seconds since the first, and value. */
function points(metrics: readonly OtlpMetric[], first: number): readonly string[] {
  const seconds = (time: bigint): number => Number(time / 1_000_000_000n) - first
  return metrics.flatMap(({ name, kind, points: all }) =>
    all.map(({ attributes, start, time, value }) => {
      const instance = Object.fromEntries(attributes)['instname']
      const since = kind === 'sum' ? `${seconds(start)}-` : ''
      return `${name}${instance === undefined ? '' : `[${String(instance)}]`} ${kind} ${since}${seconds(time)} ${value}`
    }),
  )
}

function firstTime(metrics: readonly OtlpMetric[]): number {
  return Number(metrics[0]!.points[0]!.time / 1_000_000_000n)
}

test('a line for each sample: sums with their start, which a reset moves, and gauges', async () => {
  const { status, stdout, stderr } = await run(...METRICS)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const samples = stdout
    .trimEnd()
    .split('\n')
    .map((line) => metricsOf(JSON.parse(line)))
  const all = samples.flatMap((each) => points(each, firstTime(samples[0]!)))
  expect(all.slice(0, 4)).toEqual([
    't.counter sum 0-0 0',
    't.instances[one] gauge 0 0',
    't.instances[two words] gauge 0 0',
    't.discrete gauge 0 0',
  ])
  expect(all.filter((each) => each.startsWith('t.counter'))).toEqual([
    't.counter sum 0-0 0',
    't.counter sum 0-10 100',
    't.counter sum 0-15 120',
    't.counter sum 0-35 140',
    't.counter sum 0-50 1000',
    't.counter sum 0-60 1200',
    't.counter sum 60-65 100',
    't.counter sum 60-70 150',
  ])
  const [counter] = samples[0]!
  const about = { isMonotonic: true, temporality: 'cumulative', unit: '{count}', description: 'counts' }
  expect(counter).toMatchObject(about)
  expect(Object.fromEntries(counter!.points[0]!.attributes)).toMatchObject({
    semantics: 'counter',
    type: 'u32',
  })
})

test('values are texts, or numbers with -E', async () => {
  expect((await run('-s', '1', 't.counter', 't.discrete')).stdout).toMatch(/"asInt":"0".*"asDouble":"0"/)
  expect((await run('-s', '1', '-E', 't.counter', 't.discrete')).stdout).toMatch(/"asInt":0.*"asDouble":0/)
})

type Answer = (request: IncomingMessage, response: ServerResponse, count: number) => void

/** Runs `use` with a collector that answers by a function, and records bodies. */
async function withCollector<T>(
  answer: Answer,
  use: (url: string, bodies: readonly Uint8Array[], server: LocalServer) => Promise<T>,
): Promise<T> {
  const bodies: Uint8Array[] = []
  const server = await serve(
    (_, __, response, request) => answer(request, response, server.requests.length),
    bodies,
  )
  try {
    return await use(server.url, bodies, server)
  } finally {
    await server.close()
  }
}

test.each(['json', 'protobuf'])('a collector gets %s', async (encoding) => {
  await withCollector(
    (request, response) => {
      expect(request.method).toBe('POST')
      expect(request.url).toBe('/v1/metrics')
      expect(request.headers['content-type']).toBe(
        `application/${encoding === 'json' ? 'json' : 'x-protobuf'}`,
      )
      expect(request.headers.authorization).toBe('Bearer secret')
      response.end()
    },
    async (url, bodies) => {
      const token = join(dir, 'token')
      writeFileSync(token, 'secret\n')
      const options = ['--encoding', encoding, '--token-file', token, '-s', '2']
      const { status, stdout, stderr } = await run('-u', url, ...options, ...METRICS)
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(stdout).toBe(`Sending 4 archived metrics to ${url}/v1/metrics...\n(Ctrl-C to stop)\n`)
      const requests = bodies.map((body) =>
        metricsOf(
          encoding === 'json'
            ? JSON.parse(Buffer.from(body).toString())
            : decodeMessage(body, EXPORT_METRICS),
        ),
      )
      expect(requests.map((each) => points(each, firstTime(requests[0]!)))).toEqual([
        [
          't.counter sum 0-0 0',
          't.instances[one] gauge 0 0',
          't.instances[two words] gauge 0 0',
          't.discrete gauge 0 0',
        ],
        [
          't.counter sum 0-10 100',
          't.instances[one] gauge 10 100',
          't.instances[two words] gauge 10 200',
          't.discrete gauge 10 100',
        ],
      ])
    },
  )
})

test('requests that SDKs sent are the same after decoding and encoding', () => {
  const bytes = readFileSync(new URL('../../vectors/agents/otel/request.pb', import.meta.url))
  const decoded = decodeMessage(bytes, EXPORT_METRICS)
  expect(decodeMessage(encodeMessage(decoded, EXPORT_METRICS), EXPORT_METRICS)).toEqual(decoded)
})

const REQUEST = otlpRequest([], { sec: 1, nsec: 5 }, [], { cumulative: 2 })

function collector(
  url: string,
  encoding: OtlpEncoding = 'json',
): { readonly collector: OtlpCollector; readonly waits: number[] } {
  const waits: number[] = []
  const { signal } = new AbortController()
  const wait = async (ms: number): Promise<void> => void waits.push(ms)
  return { collector: new OtlpCollector({ url, encoding, timeoutMs: 5000, signal, wait }), waits }
}

test.each([429, 502, 503, 504])('a request is sent again after %i', async (status) => {
  const answer: Answer = (_, response, count) =>
    void (count < 3 ? response.writeHead(status, { 'retry-after': '7' }).end() : response.end('{}'))
  await withCollector(answer, async (url, _, { requests }) => {
    const { collector: to, waits } = collector(url)
    await to.send(REQUEST)
    expect(requests).toHaveLength(3)
    expect(waits).toEqual([7000, 7000])
  })
})

test('waits grow without Retry-After, and end', async () => {
  await withCollector(
    (_, response) => void response.writeHead(503).end('full'),
    async (url, _, { requests }) => {
      const { collector: to, waits } = collector(url)
      await expect(to.send(REQUEST)).rejects.toThrow(/cannot send to .*\/v1\/metrics: 503 .*full/)
      expect(requests).toHaveLength(5)
      expect(waits).toHaveLength(4)
      expect(waits[3]).toBeGreaterThan(waits[0]!)
    },
  )
})

test.each([
  [400, {}],
  [503, { 'retry-after': '86400' }],
])('status %i with %o is not repeated', async (status, headers) => {
  await withCollector(
    (_, response) => void response.writeHead(status, headers).end('no'),
    async (url, _, { requests }) => {
      const { collector: to } = collector(`${url}/own/path`)
      await expect(to.send(REQUEST)).rejects.toThrow(new RegExp(`/own/path: ${status}`))
      expect(requests).toEqual([expect.stringContaining('/own/path?')])
    },
  )
})

describe('partial success', () => {
  const partial = { partialSuccess: { rejectedDataPoints: '3', errorMessage: 'too\u001bold' } }

  test.each(['json', 'protobuf'] as const)('of %s is reported', async (encoding) => {
    const body = encoding === 'json' ? JSON.stringify(partial) : encodeMessage(partial, EXPORT_RESPONSE)
    await withCollector(
      (_, response) => void response.end(body),
      async (url, _, { requests }) => {
        const { collector: to } = collector(url, encoding)
        await expect(to.send(REQUEST)).rejects.toThrow(/metrics rejected 3 values: too old$/)
        expect(requests).toHaveLength(1)
      },
    )
  })

  test.each(['', '{}', 'ok', 'null', '{"partialSuccess":{"errorMessage":"hint"}}'])(
    '%s is success',
    async (body) => {
      await withCollector(
        (_, response) => void response.end(body),
        async (url) => {
          await collector(url).collector.send(REQUEST)
        },
      )
    },
  )
})

test('a failed sample is reported, and the status is 1', async () => {
  await withCollector(
    (_, response, count) => void response.writeHead(count === 1 ? 400 : 200).end(),
    async (url) => {
      const { status, stderr } = await run('-H', '-u', url, '-s', '2', 't.counter')
      expect(status).toBe(1)
      expect(stderr).toMatch(/cannot send to .*400 Bad Request, continuing\n.*1 of 2 messages were not sent/)
    },
  )
})

test.each([
  [['-u', 'collector:4318'], /not a URL/],
  [['-u', 'http://x', '--encoding', 'xml'], /encoding: xml: use json or protobuf/],
  [['-u', 'http://x', '--token-file', '/none'], /\/none: No such file/],
])('%j is an error', async (args, message) => {
  const { status, stderr } = await run(...args, 't.counter')
  expect(status).toBe(1)
  expect(stderr).toMatch(message)
})
