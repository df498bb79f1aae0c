/** Requests of public clients, and how they read the answers: grafana-pcp's Vector and bpftrace data sources, Prometheus. docs/reference/pmproxy.md */
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { monotonicMs } from '../../src/sys/monotonic.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

const GRAFANA = 'http://grafana.example:3000'

let server: WebServer
let hostspec: string
/** Offset of the server's clock from this process's. */
let aheadMs = 0
beforeAll(async () => {
  server = await startWebServer(
    ['pmcd', 'sample', 'simple', 'linux'],
    {
      allowsStore: true,
      allowedHeaders: ['X-Grafana-Device-ID'],
      origins: [GRAFANA],
      hosts: ['127.0.0.1', '127.0.0.1:1'],
    },
    { proxy: { clock: () => monotonicMs() + aheadMs } },
  )
  hostspec = `pcp://127.0.0.1:${server.collector.port}`
})
afterAll(() => server.close())

interface Failure {
  readonly message: string
  readonly success: false
}
interface Metadata {
  readonly name: string
  readonly indom?: string
  readonly type: string
  readonly sem: string
  readonly units: string
  readonly labels: Readonly<Record<string, unknown>>
  readonly 'text-help': string
}
interface Values {
  readonly timestamp: number
  readonly values: readonly {
    readonly name: string
    readonly instances: readonly { readonly instance: number | null; readonly value: number | string }[]
  }[]
}

/** Sends a request like the data sources: every parameter encoded, and a content type without content. */
async function ask<T>(
  route: string,
  parameters: Readonly<Record<string, string | number>>,
): Promise<{ status: number; data: T }> {
  const query = Object.entries(parameters).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  )
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/plain, */*' }
  const { status, text } = await server.ask(`/pmapi/${route}?${query.join('&')}`, { headers })
  return { status, data: JSON.parse(text) as T }
}

async function newContext(polltimeout = 30): Promise<number> {
  const { data } = await ask<{ context: number; labels: object }>('context', { hostspec, polltimeout })
  expect(data.labels).toMatchObject({ hostname: 'vm' })
  return data.context
}

test('a browser permits requests of a Grafana page', async () => {
  const preflight = await server.ask('/pmapi/fetch?context=1&names=pmcd.version', {
    method: 'OPTIONS',
    headers: {
      Origin: GRAFANA,
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'content-type,x-grafana-device-id',
    },
  })
  expect(preflight.status).toBe(200)
  expect(preflight.headers['access-control-allow-origin']).toBe(GRAFANA)
  expect(preflight.headers['access-control-allow-methods']).toContain('GET')
  const allowed = preflight.headers['access-control-allow-headers']!.toLowerCase().split(', ')
  expect(allowed).toEqual(expect.arrayContaining(['content-type', 'x-grafana-device-id']))
  for (const target of ['/pmapi/context', '/pmapi/1/fetch?names=pmcd.version']) {
    const answer = await server.ask(target, { headers: { Origin: GRAFANA } })
    expect(answer.headers['access-control-allow-origin'], target).toBe(GRAFANA)
  }
})

test('the test button and a variable of a dashboard read the first value', async () => {
  const context = await newContext()
  const { data } = await ask<Values>('fetch', { context, names: 'pmcd.version' })
  expect(data.values[0]!.instances.map(({ value }) => value.toString())).toEqual([
    expect.stringMatching(/^\d+\.\d+/),
  ])
})

test('a panel: metadata, values under the requested names, instances by number', async () => {
  const context = await newContext()
  const names = ['kernel.all.load', 'hinv.ncpu', 'kernel.all.cpu.user', 'mem.physmem', 'no.such.metric']
  const { data } = await ask<{ metrics: (Metadata | Failure)[] }>('metric', {
    context,
    names: names.join(','),
  })
  const known = data.metrics.filter((each): each is Metadata => !('success' in each))
  expect(known.map(({ name, type, sem, units, indom }) => [name, type, sem, units, indom])).toEqual([
    ['kernel.all.load', 'float', 'instant', 'none', '60.2'],
    ['hinv.ncpu', 'u32', 'discrete', 'none', undefined],
    ['kernel.all.cpu.user', 'u64', 'counter', 'millisec', undefined],
    ['mem.physmem', 'u64', 'discrete', 'Kbyte', undefined],
  ])
  const asked = known.map(({ name }) => name)
  const { data: fetched } = await ask<Values>('fetch', { context, names: asked.join(',') })
  expect(Math.abs(fetched.timestamp * 1000 - Date.now())).toBeLessThan(60_000)
  expect(fetched.values.map(({ name }) => name).sort()).toEqual([...asked].sort())
  const indom = await ask<{
    instances: { instance: number; name: string; labels: object }[]
    labels: object
  }>('indom', { context, name: 'kernel.all.load' })
  const byNumber = new Map(indom.data.instances.map(({ instance, name }) => [instance, name]))
  const load = fetched.values.find(({ name }) => name === 'kernel.all.load')!
  expect(load.instances.map(({ instance }) => byNumber.get(instance!))).toEqual([
    '1 minute',
    '5 minute',
    '15 minute',
  ])
  const singular = fetched.values.find(({ name }) => name === 'hinv.ncpu')!
  expect(singular.instances).toEqual([{ instance: null, value: expect.any(Number) }])
})

test('expressions are derived once per context, and again in the successor of an expired one', async () => {
  const derived = {
    name: 'derived_0cc175b9c0f1b6a831c399e269772661',
    expr: 'sample.long.ten + sample.long.one',
  }
  let context = await newContext(2)
  expect((await ask('derive', { context, ...derived })).data).toMatchObject({ success: true })
  aheadMs += 2100
  const gone = (await ask<Failure>('fetch', { context, names: derived.name })).data
  expect(gone.message).toMatch(/(?:unknown|expired) context identifier/)
  context = await newContext()
  expect((await ask('derive', { context, ...derived })).data).toMatchObject({ success: true })
  const again = await ask<Failure>('derive', { context, ...derived })
  expect(again.data.message).toContain('Duplicate per-context derived metric name')
  const { data } = await ask<Values>('fetch', { context, names: derived.name })
  expect(data.values).toMatchObject([{ name: derived.name, instances: [{ instance: null, value: 11 }] }])
})

test('completion walks the name space and shows help, without creating a context', async () => {
  const root = await ask<{ leaf: string[]; nonleaf: string[] }>('children', { hostspec, prefix: '' })
  expect(root.data.nonleaf).toEqual(expect.arrayContaining(['kernel', 'pmcd', 'sample']))
  const { data } = await ask<{ leaf: string[]; nonleaf: string[] }>('children', {
    hostspec,
    prefix: 'sample.long',
  })
  const names = data.leaf.map((leaf) => `sample.long.${leaf}`)
  const described = await ask<{ metrics: Metadata[] }>('metric', { hostspec, names: names.join(',') })
  expect(described.data.metrics.map(({ name }) => name)).toEqual(names)
  for (const metric of described.data.metrics) expect(metric['text-help'], metric.name).not.toBe('')
  const indom = await ask<{ instances: object[] }>('indom', { hostspec, name: 'sample.colour' })
  expect(indom.data.instances).toHaveLength(3)
})

test('hosts are specified as in dashboards: with a container, without a port, and invalid', async () => {
  const context = (spec: string): Promise<{ status: number; data: { context?: number; message?: string } }> =>
    ask('context', { hostspec: spec, polltimeout: 11 })
  expect((await context(`${hostspec}?container=web`)).data.context).toBeGreaterThan(0)
  expect((await context(`127.0.0.1:${server.collector.port}`)).data.context).toBeGreaterThan(0)
  const refused = await context('pcp://127.0.0.1:1')
  expect(refused).toMatchObject({
    status: 400,
    data: { message: 'cannot connect to PMCD: Connection refused' },
  })
})

test('bpftrace: a script is stored unchanged, and read back in the same context', async () => {
  const context = await newContext()
  const script =
    'kprobe:do_nanosleep { @[comm] = count(); printf("%d + %s\\n", pid, comm) } // 100 % é & more=yes'
  const stored = await ask('store', { context, name: 'sample.string.write_me', value: script })
  expect(stored.data).toMatchObject({ success: true })
  const { data } = await ask<Values>('fetch', { context, names: 'sample.string.write_me' })
  expect(data.values[0]!.instances[0]!.value).toBe(script)
})

/** Headers of Prometheus 3. */
const SCRAPE = {
  'User-Agent': 'Prometheus/3.5.0',
  Accept:
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;escaping=allow-utf-8;q=0.3,*/*;q=0.2',
  'Accept-Encoding': 'gzip',
  'X-Prometheus-Scrape-Timeout-Seconds': '10',
}
const SAMPLE =
  /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)(?: (-?\d+))?$/

test.each([
  '/metrics',
  '/metrics?times=true&target=sample,kernel',
  '/pmapi/metrics?names=kernel.all&filter=*.intr',
])('Prometheus reads every line of %s', async (target) => {
  const { status, headers, body } = await server.ask(target, { headers: SCRAPE })
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('text/plain')
  expect(headers['content-encoding']).toBe('gzip')
  const lines = gunzipSync(body).toString().split('\n')
  expect(lines.pop()).toBe('')
  const types = new Map<string, string>()
  const series = new Set<string>()
  let family = ''
  for (const line of lines) {
    const [, type = '', kind = ''] = /^# TYPE (\S+) (counter|gauge)$/.exec(line) ?? []
    if (type !== '') {
      expect(types.has(type), `${type} has one type`).toBe(false)
      types.set(type, kind)
      family = type
    }
    if (line.startsWith('#')) continue
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
    expect(name, line).toBe(family)
    expect(Number.isNaN(Number(value)) && !/^(?:NaN|[+-]Inf)$/.test(value!), line).toBe(false)
    const id = `${name}{${labels}}`
    expect(series.has(id), `${id} comes once`).toBe(false)
    series.add(id)
    const labelNames = [...labels.matchAll(/(\w+)="/g)].map(([, each]) => each)
    expect(new Set(labelNames).size, line).toBe(labelNames.length)
  }
  expect(series.size).toBeGreaterThan(10)
})
