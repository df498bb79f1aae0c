/** /series and /search of a pmproxy whose series are on a Prometheus server. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWebServer, type WebServer } from '../lib/web-server.ts'
import { type LocalServer, serve } from '../series/prometheus/recorded.ts'

const HOST = { hostname: 'db1', machineid: 'm', agent: 'linux' }
const LOAD = [
  { __name__: 'kernel_all_load', ...HOST, instid: '1', instname: '1 minute' },
  { __name__: 'kernel_all_load', ...HOST, instid: '5', instname: '5 minute' },
]
const AT = Math.floor(Date.now() / 1000) - 60

let prometheus: LocalServer
let web: WebServer

beforeAll(async () => {
  prometheus = await serve((path, _, response) => {
    const answers: Record<string, unknown> = {
      '/api/v1/series': LOAD,
      '/api/v1/query': {
        resultType: 'matrix',
        result: LOAD.map((metric, i) => ({ metric, values: [[AT, String(i + 0.5)]] })),
      },
      '/api/v1/metadata': { kernel_all_load: [{ type: 'gauge', help: 'load averages', unit: '' }] },
    }
    return response.end(JSON.stringify({ status: 'success', data: answers[path] ?? ['kernel_all_load'] }))
  })
  web = await startWebServer(['simple'], { prometheus: { url: prometheus.url } })
})

afterAll(async () => {
  await web.close()
  await prometheus.close()
})

const query = (expr: string): string => `/series/query?expr=${encodeURIComponent(expr)}`

test('queries, values and metadata', async () => {
  const [id] = await web.json<string[]>(query('kernel.all.load{hostname=="db1"}'))
  const values = await web.json<{ timestamp: number; value: string; instance: string }[]>(
    query('kernel.all.load[count:1]'),
  )
  expect(values.map(({ timestamp, value }) => [Math.floor(timestamp), value])).toEqual([
    [AT * 1000, '5.000000e-01'],
    [AT * 1000, '1.500000e+00'],
  ])
  expect(await web.json(`/series/descs?series=${id}`)).toMatchObject([
    { series: id, pmid: '60.2.0', indom: '60.2', semantics: 'instant', type: 'float', units: 'none' },
  ])
  expect(await web.json(`/series/metrics?series=${id}`)).toEqual([{ series: id, name: 'kernel.all.load' }])
  const names = { hostname: 'db1', machineid: 'm', agent: 'linux' }
  expect(await web.json(`/series/labels?series=${values[0]!.instance}`)).toEqual([
    { series: values[0]!.instance, labels: names },
  ])
  expect(await web.json('/series/metrics')).toEqual(['kernel.all.load'])
})

test('help texts are found', async () => {
  expect(await web.json('/search/text?query=averages')).toMatchObject({
    results: [{ name: 'kernel.all.load', oneline: 'load averages' }],
  })
})

test('metrics of processes are excluded by each request', () => {
  const asked = prometheus.requests.filter((each) => !/\/(?:query|metadata)\?/.test(each))
  expect(asked).not.toEqual([])
  for (const each of asked) expect(each).toContain('__name__!~"(?:proc|hotproc|cgroup)_.*"')
})

test('a server that requires users requires them here', async () => {
  const strict = await startWebServer(['simple'], { prometheus: { url: prometheus.url }, requiresUser: true })
  try {
    expect((await strict.ask('/series/ping')).status).toBe(401)
  } finally {
    await strict.close()
  }
})

test('a Prometheus server that is away is an error of the request', async () => {
  const gone = await serve(() => undefined)
  await gone.close()
  const other = await startWebServer(['simple'], { prometheus: { url: gone.url } })
  try {
    const { status, text } = await other.ask(query('kernel.all.load'))
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject({
      success: false,
      message: 'Prometheus: Connection refused: is this the address of a Prometheus server?',
    })
  } finally {
    await other.close()
  }
})
