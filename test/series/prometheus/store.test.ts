/** Queries over recorded answers of Prometheus 2.42 and VictoriaMetrics 1.79. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { prometheusServer } from '../../../src/series/prometheus/client.ts'
import { PrometheusStore, type PrometheusStoreOptions } from '../../../src/series/prometheus/store.ts'
import { evaluate } from '../../../src/series/query/evaluate.ts'
import { parseQuery } from '../../../src/series/query/parse.ts'
import { ValueBudget } from '../../../src/series/value-budget.ts'
import { makeZone } from '../../../src/time/zone.ts'
import { answerOf, KNOWN, NOW_MS, openFleet, QUERIES } from './fleet.ts'
import { type Exchange, type LocalServer, replay, serve } from './recorded.ts'

const VECTORS = new URL('../../vectors/prometheus/', import.meta.url)

function open(url: string, options: PrometheusStoreOptions = {}): PrometheusStore {
  return new PrometheusStore(prometheusServer(url), {
    known: async () => KNOWN,
    now: () => NOW_MS,
    ...options,
  })
}

describe.each(['prometheus', 'victoria-metrics'])('%s', (name) => {
  const exchanges = JSON.parse(readFileSync(new URL(`${name}.json`, VECTORS), 'utf8')) as Exchange[]
  const archives = openFleet()
  let server: LocalServer
  let store: PrometheusStore

  beforeAll(async () => {
    server = await replay(exchanges)
    store = open(server.url)
  })

  afterAll(async () => {
    await store.close()
    await server.close()
    await archives.close()
  })

  it.each(QUERIES)('%s', async (query) => {
    expect(await answerOf(store, query)).toEqual(await answerOf(archives.store, query))
  })
})

/** Runs `use` with a store whose server answers by a function. */
async function withServer<T>(
  answer: Parameters<typeof serve>[0],
  use: (store: PrometheusStore, server: LocalServer) => Promise<T>,
  options: PrometheusStoreOptions = {},
): Promise<T> {
  const server = await serve(answer)
  const store = open(server.url, options)
  try {
    return await use(store, server)
  } finally {
    await store.close()
    await server.close()
  }
}

function succeed(data: unknown): string {
  return JSON.stringify({ status: 'success', data })
}

const LOAD = { __name__: 'demo_load', hostname: 'db1', machineid: 'm', instid: '1', instname: 'one' }

/** Answers with one series, and a number of values in the span of a query. */
function oneSeries(
  values: (fromMs: number, toMs: number) => readonly [number, string][],
): Parameters<typeof serve>[0] {
  return (path, parameters, response) => {
    const of = new URLSearchParams(parameters)
    if (path.endsWith('/series')) return response.end(succeed([LOAD]))
    const [, span] = /\[(\d+)ms\]$/.exec(of.get('query') ?? '') ?? []
    const toMs = Number(of.get('time')) * 1000
    const result = [{ metric: LOAD, values: values(toMs - Number(span) + 1, toMs) }]
    return response.end(succeed({ resultType: 'matrix', result }))
  }
}

test('a query that names a metric requests this metric alone', async () => {
  await withServer(
    oneSeries(() => []),
    async (store, { requests }) => {
      await answerOf(store, 'demo.load{hostname=="db1" && agent=="x"}[count:1]')
      expect(requests.filter((each) => each.includes('/series?'))).toHaveLength(2)
      for (const each of requests) expect(each).toMatch(/__name__=~?"demo_load["|]/)
      expect(requests[0]).toContain('hostname="db1"')
      expect(requests[0]).toContain('agent="x"')
    },
  )
})

test('the values of several hosts come with one request', async () => {
  const hosts = ['a', 'b', 'c'].map((hostname) => ({ ...LOAD, hostname, machineid: hostname }))
  const rows = hosts.map((metric) => ({ metric, values: [[NOW_MS / 1000 - 5, '1']] }))
  await withServer(
    (path, _, response) =>
      response.end(succeed(path.endsWith('/series') ? hosts : { resultType: 'matrix', result: rows })),
    async (store, { requests }) => {
      const answer = await evaluate(store, parseQuery('demo.load[count:1]'), {
        now: () => NOW_MS,
        zone: makeZone('UTC'),
      })
      expect(answer).toMatchObject({ kind: 'values', series: [{}, {}, {}] })
      expect(requests.filter((each) => each.includes('/query?'))).toHaveLength(1)
    },
  )
})

test('hidden metrics are excluded by each request', async () => {
  await withServer(
    (path, _, response) => response.end(succeed(path.endsWith('/series') ? [LOAD] : ['one'])),
    async (store, { requests }) => {
      await store.names('instance')
      await store.names('label')
      await store.withName('instance', 'one')
      await store.labels('0'.repeat(40))
      expect(requests).not.toHaveLength(0)
      for (const each of requests) expect(each).toContain('__name__!~"proc_.*"')
    },
    { hidden: 'proc_.*' },
  )
})

test('an answer that is too large is requested in parts', async () => {
  const every = 1000
  const values = (fromMs: number, toMs: number): [number, string][] => {
    const from = Math.max(Math.ceil(fromMs / every), NOW_MS / every - 3600)
    const to = Math.min(Math.floor(toMs / every), NOW_MS / every)
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => [((from + i) * every) / 1000, '1'])
  }
  await withServer(
    oneSeries(values),
    async (store, { requests }) => {
      const [id] = await store.withName('metric', 'demo.load')
      const window = { start: { sec: NOW_MS / 1000 - 3600, nsec: 0 } }
      const samples = await store.samples(id!, window, new ValueBudget())
      expect(samples).toHaveLength(3601)
      expect(samples[0]!.sec).toBe(NOW_MS / 1000 - 3600)
      expect(requests.length).toBeGreaterThan(4)
    },
    { limits: { maxBytes: 20_000 } },
  )
})

test('values are limited by the budget of the query', async () => {
  const values = (_: number, toMs: number): [number, string][] => [[toMs / 1000, '1']]
  await withServer(oneSeries(values), async (store) => {
    const [id] = await store.withName('metric', 'demo.load')
    await expect(store.samples(id!, { samples: 3 }, new ValueBudget(2))).rejects.toMatchObject({
      code: 'E2BIG',
    })
  })
})

test('a server with more than can be listed', async () => {
  const many = Array.from({ length: 1000 }, (_, i) => ({ ...LOAD, hostname: `h${i}` }))
  await withServer(
    (_, __, response) => response.end(succeed(many)),
    async (store) => {
      await expect(store.desc('0'.repeat(40))).rejects.toThrow(/too many series.*query by name or label/s)
    },
    { limits: { maxBytes: 10_000 } },
  )
})

test.each([
  [401, 'no', 'EACCES', /401 no: the server wants other credentials/],
  [403, '', 'EACCES', /403/],
  [400, '{"status":"error","errorType":"bad_data","error":"parse error"}', 'EINVAL', /400 parse error/],
  [422, '{"status":"error","error":"too many samples"}', 'E2BIG', /422 too many samples/],
  [429, 'slow down', 'EBUSY', /429 slow down: try again later/],
  [503, '', 'EBUSY', /503: try again later/],
  [500, '<html>', 'EPROTO', /500 <html>: not an answer of Prometheus/],
  [302, '', 'EPROTO', /302/],
  [200, '{"status":"success","data":', 'EPROTO', /not an answer of Prometheus/],
  [200, '{"status":"success","data":{"a":1}}', 'EPROTO', /no label sets/],
  [200, '{"status":"success","data":[{"__name__":5}]}', 'EPROTO', /no label sets/],
  [200, '[]', 'EPROTO', /not an answer/],
])('status %i with %s is %s', async (status, body, code, message) => {
  await withServer(
    (_, __, response) => response.writeHead(status).end(body),
    async (store) => {
      const failed = await store.withName('metric', 'demo.load').catch((error: unknown) => error)
      expect(failed).toMatchObject({ code, message: expect.stringMatching(message) as string })
    },
  )
})

test.each([
  ['{"resultType":"vector","result":[]}', /no a? ?matrix/],
  ['{"resultType":"matrix","result":[{"metric":{},"values":[["x","1"]]}]}', /no values/],
  ['{"resultType":"matrix","result":[{"values":[]}]}', /no values/],
])('malformed values %s', async (data, message) => {
  await withServer(
    (path, _, response) =>
      response.end(path.endsWith('/series') ? succeed([LOAD]) : `{"status":"success","data":${data}}`),
    async (store) => {
      await expect(answerOf(store, 'demo.load[count:1]')).rejects.toThrow(message)
    },
  )
})

test('a server that is away or silent', async () => {
  const server = await serve(() => undefined)
  await server.close()
  await expect(open(server.url).names('metric')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await withServer(
    () => undefined,
    async (store) => {
      await expect(store.names('metric')).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    },
    { limits: { timeoutMs: 20 } },
  )
})

test('closing a store ends its requests', async () => {
  let isAsked: () => void = () => {}
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  await withServer(
    () => isAsked(),
    async (store) => {
      const names = store.names('metric').catch((error: unknown) => error)
      await asked
      await store.close()
      expect(await names).toMatchObject({ code: 'ECANCELED' })
    },
  )
})

test('a failed list is requested again', async () => {
  let count = 0
  await withServer(
    (_, __, response) => (count++ === 0 ? response.writeHead(500).end() : response.end(succeed(['a']))),
    async (store) => {
      await expect(store.names('metric')).rejects.toThrow('500')
      expect(await store.names('metric')).toEqual(['a'])
    },
  )
})

test('a metric without known semantics may be a counter; a gauge is not', async () => {
  const made = { __name__: 'made_up', hostname: 'db1', machineid: 'm' }
  const [before, after] = [NOW_MS / 1000 - 20, NOW_MS / 1000 - 10]
  const answer =
    (metadata: Record<string, unknown>): Parameters<typeof serve>[0] =>
    (path, _, response) => {
      if (path.endsWith('/metadata')) return response.end(succeed(metadata))
      if (path.endsWith('/series')) return response.end(succeed([made]))
      const values = [
        [before, '10'],
        [after, '40'],
      ]
      return response.end(succeed({ resultType: 'matrix', result: [{ metric: made, values }] }))
    }
  const query = 'rate(made_up[count:2])'
  await withServer(answer({}), async (store) => {
    const found = await evaluate(store, parseQuery(query), { now: () => NOW_MS, zone: makeZone('UTC') })
    expect(found.kind === 'values' && found.series[0]?.samples.map(({ values }) => values)).toEqual([[3]])
  })
  const gauge = { made_up: [{ type: 'gauge', help: '', unit: '' }] }
  await withServer(answer(gauge), async (store) => {
    await expect(answerOf(store, query)).rejects.toThrow('counter semantics required')
  })
})
