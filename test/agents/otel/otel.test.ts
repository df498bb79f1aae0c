/** The agent over loopback HTTP: names, instances, labels, deltas, staleness, refusals. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agent as definition } from '../../../src/agents/otel/index.ts'
import { isError } from '../../../src/model/errors.ts'
import { PM_INDOM_NULL, type Pmid } from '../../../src/model/ids.ts'
import { LABEL_INSTANCES, LABEL_ITEM } from '../../../src/model/labels.ts'
import { PM_TYPE_DOUBLE, semStr, typeStr } from '../../../src/model/types.ts'
import { unitsStr } from '../../../src/model/units.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { makeSingular } from '../../../src/model/value-writer.ts'
import { type AgentSource, openAgent } from '../../../src/pmda/open-agent.ts'
import { ASK, ROOT_ASK } from '../../lib/agent-catalogue.ts'
import { eventually } from '../../lib/eventually.ts'
import { metricsRequest, point, request } from './requests.ts'

const NO_INSTANCES = { ids: [] as readonly number[], names: [] as readonly string[] }

let root: string
let agent: AgentSource
let url: string
let nowMs: number
let log: string[]

const idOf = async (name: string): Promise<Pmid> => {
  const [id] = await agent.lookupNames([name], ASK)
  if (id === undefined || isError(id)) throw new Error(`${name}: ${id?.code}`)
  return id
}

async function show(name: string): Promise<string> {
  const id = await idOf(name)
  const [desc] = await agent.descs([id], ASK)
  if (desc === undefined || isError(desc)) throw new Error(name)
  const { sets } = await agent.fetch([id], ASK)
  const { ids, names } =
    desc.indom === PM_INDOM_NULL ? NO_INSTANCES : await agent.instances(desc.indom, undefined, ASK)
  return valuesOf(sets[0]!, desc.type)
    .map(({ inst, value }) => (inst < 0 ? String(value) : `${names[ids.indexOf(inst)]}=${value}`))
    .join(', ')
}

async function describeMetric(name: string): Promise<string> {
  const [desc] = await agent.descs([await idOf(name)], ASK)
  if (desc === undefined || isError(desc)) throw new Error(name)
  return `${typeStr(desc.type)} ${semStr(desc.sem)} ${unitsStr(desc.units) || 'none'}`
}

const received = async (): Promise<string[]> =>
  (await agent.traverse('otel', ASK)).filter((name) => !name.startsWith('otel.control'))

async function post(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body:
      body instanceof Uint8Array ? Buffer.from(body) : typeof body === 'string' ? body : JSON.stringify(body),
  })
}

function open(): AgentSource {
  return openAgent(definition, {
    root,
    env: { PCP_OTEL_PORT: '0', PCP_VAR_DIR: '/var' },
    clock: () => nowMs,
    log: (_level, text) => log.push(text),
  })
}

async function listening(): Promise<void> {
  await eventually(async () => expect(await show('otel.control.port')).not.toBe('0'))
  url = `http://127.0.0.1:${await show('otel.control.port')}/v1/metrics`
}

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'otel-'))
  nowMs = 1_700_000_000_000
  log = []
  agent = open()
  await listening()
})

afterEach(async () => {
  await agent.close()
  rmSync(root, { recursive: true })
})

describe('metrics', () => {
  test('gauges and sums have one metric, named as they are', async () => {
    const response = await post(
      metricsRequest({
        metrics: [
          { name: 'cpu.load-avg', unit: '1', gauge: { dataPoints: [point({ asDouble: 1.5 })] } },
          {
            name: 'http.requests',
            unit: '{request}',
            description: 'Requests so far\nof all routes',
            sum: {
              isMonotonic: true,
              aggregationTemporality: 2,
              dataPoints: [point({ asInt: '7', attributes: { 'http.route': '/a b', code: 200 } })],
            },
          },
          {
            name: 'queue.size',
            unit: 'By',
            sum: { aggregationTemporality: 2, dataPoints: [point({ asInt: 3 })] },
          },
        ],
      }),
    )
    expect([response.status, await response.text()]).toEqual([200, '{}'])
    expect(await received()).toEqual(['otel.cpu.load_avg', 'otel.http.requests', 'otel.queue.size'])
    expect(await show('otel.cpu.load_avg')).toBe('0 service_name:shop=1.5')
    expect(await show('otel.http.requests')).toBe('0 code:200 http_route:/a b service_name:shop=7')
    expect(await describeMetric('otel.cpu.load_avg')).toBe('DOUBLE instant none')
    expect(await describeMetric('otel.http.requests')).toBe('DOUBLE counter count')
    expect(await describeMetric('otel.queue.size')).toBe('DOUBLE instant byte')
    const text = (level: 'oneline' | 'help'): Promise<string> =>
      idOf('otel.http.requests').then((id) => agent.text({ kind: 'metric', id, level }, ASK))
    expect(await text('oneline')).toBe('Requests so far')
    expect(await text('help')).toContain('of all routes')
  })

  test('attributes of resource, scope and point are labels', async () => {
    await post(
      metricsRequest({
        resource: {
          'service.name': 'shop',
          'service.instance.id': 'i-1',
          'host.name': 'h',
          'os.type': 'linux',
        },
        scope: { name: 'io.http', version: '1.2' },
        metrics: [
          {
            name: 'x',
            gauge: { dataPoints: [point({ asInt: 1, attributes: { ok: true, 'a.b': ['c', 1] } })] },
          },
        ],
      }),
    )
    const id = await idOf('otel.x')
    const [desc] = await agent.descs([id], ASK)
    if (desc === undefined || isError(desc)) throw new Error()
    const [set] = await agent.labels({ level: LABEL_INSTANCES, id: desc.indom }, ASK)
    expect(JSON.parse(set!.json)).toEqual({
      a_b: ['c', 1],
      ok: true,
      host_name: 'h',
      os_type: 'linux',
      otel_scope_name: 'io.http',
      otel_scope_version: '1.2',
      service_instance_id: 'i-1',
      service_name: 'shop',
    })
    expect(await show('otel.x')).toBe(
      '0 a_b:["c",1] ok:true otel_scope_name:io.http service_instance_id:i-1 service_name:shop=1',
    )
    const [item] = await agent.labels({ level: LABEL_ITEM, id }, ASK)
    expect(JSON.parse(item!.json)).toEqual({ otel_kind: 'gauge' })
  })

  test('a histogram has count, sum, extremes and buckets that add up', async () => {
    await post(
      metricsRequest({
        metrics: [
          {
            name: 'latency',
            unit: 'ms',
            histogram: {
              aggregationTemporality: 2,
              dataPoints: [
                point({
                  count: '6',
                  sum: 33,
                  min: 1,
                  max: 20,
                  explicitBounds: [5, 10],
                  bucketCounts: ['3', '2', '1'],
                }),
              ],
            },
          },
        ],
      }),
    )
    expect(await received()).toEqual(
      ['count', 'sum', 'min', 'max', 'bucket'].map((leaf) => `otel.latency.${leaf}`),
    )
    const s = 'service_name:shop'
    expect(await show('otel.latency.bucket')).toBe(`0 ${s} le:5=3, 1 ${s} le:10=5, 2 ${s} le:+Inf=6`)
    expect(await show('otel.latency.count')).toBe(`0 ${s}=6`)
    expect(await show('otel.latency.sum')).toBe(`0 ${s}=33`)
    expect([await show('otel.latency.min'), await show('otel.latency.max')]).toEqual([
      `0 ${s}=1`,
      `0 ${s}=20`,
    ])
    expect(await describeMetric('otel.latency.sum')).toBe('DOUBLE counter millisec')
    expect(await describeMetric('otel.latency.bucket')).toBe('U64 counter count')
    expect(await describeMetric('otel.latency.max')).toBe('DOUBLE instant millisec')
  })

  test('buckets that are not sent any more disappear', async () => {
    const send = (explicitBounds: number[]): Promise<Response> =>
      post(
        metricsRequest({
          metrics: [
            {
              name: 'h',
              histogram: {
                aggregationTemporality: 2,
                dataPoints: [
                  point({ count: 1, explicitBounds, bucketCounts: [1, ...explicitBounds.map(() => 0)] }),
                ],
              },
            },
          ],
        }),
      )
    await send([1, 2])
    await send([2])
    const s = 'service_name:shop'
    expect(await show('otel.h.bucket')).toBe(`1 ${s} le:2=1, 2 ${s} le:+Inf=1`)
    await send([1, 2])
    expect(await show('otel.h.bucket')).toBe(`0 ${s} le:1=1, 1 ${s} le:2=1, 2 ${s} le:+Inf=1`)
  })

  test('a summary has quantiles', async () => {
    await post(
      metricsRequest({
        metrics: [
          {
            name: 'rpc',
            unit: 's',
            summary: {
              dataPoints: [
                point({
                  count: 4,
                  sum: 2,
                  quantileValues: [
                    { quantile: 0.5, value: 0.4 },
                    { quantile: 1, value: 0.9 },
                  ],
                }),
              ],
            },
          },
        ],
      }),
    )
    expect(await show('otel.rpc.quantile')).toBe(
      '0 service_name:shop quantile:0.5=0.4, 1 service_name:shop quantile:1=0.9',
    )
    expect(await describeMetric('otel.rpc.quantile')).toBe('DOUBLE instant sec')
  })

  test('exponential histograms are counted up to powers of two', async () => {
    const send = (positive: object, scale: number, time: number): Promise<Response> =>
      post(
        metricsRequest({
          metrics: [
            {
              name: 'e',
              exponentialHistogram: {
                aggregationTemporality: 1,
                dataPoints: [
                  {
                    ...point({ count: 4, sum: 9 }),
                    timeUnixNano: String(time),
                    scale,
                    zeroCount: 1,
                    positive,
                  },
                ],
              },
            },
          ],
        }),
      )
    // At scale 0 bucket 0 ends at 2, bucket 1 at 4.
    await send({ offset: 0, bucketCounts: [1, 2] }, 0, 1)
    const s = 'service_name:shop'
    expect(await show('otel.e.bucket')).toBe(`0 ${s} le:0=1, 1 ${s} le:2=2, 2 ${s} le:4=4, 3 ${s} le:+Inf=4`)
    // At scale 3 bucket 8 is the first that ends above 2; deltas add up at the coarser of the scales.
    await send({ offset: 7, bucketCounts: [1, 2] }, 3, 2)
    expect(await show('otel.e.bucket')).toBe(`0 ${s} le:0=2, 1 ${s} le:2=4, 2 ${s} le:4=8, 3 ${s} le:+Inf=8`)
  })

  test('deltas add up; a repeated point is counted once and reported', async () => {
    const send = async (value: number, time: number): Promise<string> => {
      const dataPoints = [{ ...point({ asInt: value }), timeUnixNano: String(time) }]
      const sum = { isMonotonic: true, aggregationTemporality: 1, dataPoints }
      return (await post(metricsRequest({ metrics: [{ name: 'd', sum }] }))).text()
    }
    expect(await send(5, 10)).toBe('{}')
    expect(await send(3, 20)).toBe('{}')
    expect(JSON.parse(await send(3, 20))).toMatchObject({ partialSuccess: { rejectedDataPoints: '1' } })
    expect(await show('otel.d')).toBe('0 service_name:shop=8')
    expect(await show('otel.control.rejected')).toBe('1')
    expect(await show('otel.control.last_problem')).toContain('d: The point is not newer')
  })

  test('names that are in each other way get another place', async () => {
    const gauge = { gauge: { dataPoints: [point({ asInt: 1 })] } }
    const names = ['a.b', 'a', 'a.b.c', '9x.y/z']
    await post(metricsRequest({ metrics: names.map((name) => ({ name, ...gauge })) }))
    await post(metricsRequest({ metrics: [{ name: 'a.b', unit: 's', ...gauge }] }))
    expect(await received()).toEqual(['otel.a.b', 'otel.a.value', 'otel.a_b_c', 'otel.x9x.y_z', 'otel.a_b'])
  })
})

describe('time', () => {
  test('a series without points is gone after a while, and keeps its number', async () => {
    const send = (name: string): Promise<Response> =>
      post(
        metricsRequest({
          resource: { 'service.name': name },
          metrics: [{ name: 'x', gauge: { dataPoints: [point({ asInt: 1 })] } }],
        }),
      )
    await send('one')
    await send('two')
    nowMs += 200_000
    await send('two')
    nowMs += 150_000
    expect(await show('otel.x')).toBe('1 service_name:two=1')
    expect(await show('otel.control.series')).toBe('1')
    await agent.store([makeSingular(await idOf('otel.control.stale'), PM_TYPE_DOUBLE, 100)], ROOT_ASK)
    nowMs += 2000
    expect(await show('otel.x')).toBe('')
    await send('one')
    expect(await show('otel.x')).toBe('0 service_name:one=1')
  })

  test('numbers stay from one life of the agent to the next', async () => {
    const gauge = { gauge: { dataPoints: [point({ asInt: 1 })] } }
    await post(
      metricsRequest({
        metrics: [
          { name: 'first', ...gauge },
          { name: 'second', ...gauge },
        ],
      }),
    )
    const id = await idOf('otel.second')
    await agent.close()
    agent = open()
    await listening()
    await post(
      metricsRequest({ resource: { 'service.name': 'new' }, metrics: [{ name: 'second', ...gauge }] }),
    )
    expect(await idOf('otel.second')).toBe(id)
    expect(await show('otel.second')).toBe('1 service_name:new=1')
  })
})

describe('requests', () => {
  const body = metricsRequest({ metrics: [{ name: 'x', gauge: { dataPoints: [point({ asDouble: 2.5 })] } }] })

  test('may be compressed', async () => {
    const text = Buffer.from(JSON.stringify(body))
    expect((await post(gzipSync(text), { 'content-encoding': 'gzip' })).status).toBe(200)
    expect((await post(deflateSync(text), { 'content-encoding': 'deflate' })).status).toBe(200)
    expect(await show('otel.x')).toBe('0 service_name:shop=2.5')
  })

  test('may be protocol buffers, and are answered in kind', async () => {
    const response = await post(request('protobuf', body), { 'content-type': 'application/x-protobuf' })
    expect(response.headers.get('content-type')).toBe('application/x-protobuf')
    expect((await response.arrayBuffer()).byteLength).toBe(0)
    expect(await show('otel.x')).toBe('0 service_name:shop=2.5')
  })

  test.each<[string, number, unknown, Record<string, string>]>([
    ['no JSON', 400, '{', {}],
    ['not an object', 400, '[1]', {}],
    ['an invalid list', 400, '{"resourceMetrics":{"a":1}}', {}],
    ['no temporality', 400, metricsRequest({ metrics: [{ name: 'x', sum: { dataPoints: [] } }] }), {}],
    [
      'bytes that are not protocol buffers',
      400,
      new Uint8Array([10, 200, 1]),
      { 'content-type': 'application/x-protobuf' },
    ],
    ['bytes that are not compressed', 400, '{}', { 'content-encoding': 'gzip' }],
    ['a web page', 403, '{}', { origin: 'http://localhost:4318' }],
    ['another type', 415, 'x', { 'content-type': 'text/plain' }],
    ['another compression', 415, 'x', { 'content-encoding': 'zstd' }],
    ['too many bytes', 413, 'x'.repeat(5 * 1024 * 1024), {}],
    [
      'too many bytes after decompression',
      413,
      gzipSync(Buffer.alloc(20 * 1024 * 1024)),
      { 'content-encoding': 'gzip' },
    ],
  ])('%s: %i', async (_what, status, sent, headers) => {
    const response = await post(sent, headers)
    expect(response.status).toBe(status)
    await response.arrayBuffer()
    expect(await show('otel.control.refused')).toBe('1')
    expect((await post(body)).status).toBe(200)
  })

  test('elsewhere and otherwise are refused', async () => {
    expect((await fetch(url)).status).toBe(405)
    expect((await fetch(url.replace('metrics', 'traces'), { method: 'POST' })).status).toBe(404)
  })
})

test('a port in use is logged', async () => {
  const port = await show('otel.control.port')
  const second = openAgent(definition, {
    root,
    env: { PCP_OTEL_PORT: port, PCP_VAR_DIR: '/var' },
    log: (_level, text) => log.push(text),
  })
  await eventually(() => expect(log.length).toBe(1))
  expect(log[0]).toContain(`Cannot receive on 127.0.0.1 port ${port}`)
  await second.close()
})

test('options of the daemon are stronger than variables', async () => {
  await agent.close()
  agent = openAgent(definition, {
    root,
    env: { PCP_OTEL_PORT: 'none', PCP_OTEL_ADDRESS: '192.0.2.1', PCP_VAR_DIR: '/var' },
    options: { address: '127.0.0.1', port: '0' },
  })
  await eventually(async () => expect(await show('otel.control.port')).not.toBe('0'))
})

test('an invalid port is refused', () => {
  expect(() => openAgent(definition, { root, env: { PCP_OTEL_PORT: 'x' } })).toThrow('The port is "x"')
})
