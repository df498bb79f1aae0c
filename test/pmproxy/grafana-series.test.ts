/** Grafana's data source PCP Valkey and its search work on the archives of this server. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GrafanaSource } from '../lib/grafana.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'
import { START, writeHost } from '../series/lib.ts'

let server: WebServer
let directory = ''

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'grafana-'))
  for (const host of ['db1', 'db2']) writeHost(directory, host)
  server = await startWebServer(['simple'], { archiveDirs: [directory] })
})

afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true, force: true })
})

test('a panel shows metrics without and with instances, of one host or all', async () => {
  const source = new GrafanaSource(server.ask)
  expect(await source.test()).toBe(true)
  const [count, ...more] = await source.query('demo.count{hostname == "db2"}', START, START + 60, 10)
  expect(more).toEqual([])
  expect(count).toMatchObject({ metric: 'demo.count', labels: { hostname: 'db2' }, semantics: 'counter' })
  expect(count!.values.at(-1)).toEqual([(START + 50) * 1000, '250'])
  const loads = await source.query('demo.load', START, START + 60, 0)
  expect(loads.map(({ instance, labels }) => `${labels['hostname']} ${instance}`).sort()).toEqual([
    'db1 one',
    'db1 two',
    'db2 one',
    'db2 two',
  ])
  for (const { values } of loads) expect(values.length).toBeGreaterThan(1)
  const one = await source.query('demo.load{instance.name == "one"}', START, START + 60, 10)
  expect(one.length).toBeGreaterThan(0)
})

test('long lists of identifiers are sent as POST without a content type', async () => {
  const source = new GrafanaSource(server.ask, 64)
  const short = new GrafanaSource(server.ask)
  expect(await source.query('demo.*', START, START + 60, 10)).toEqual(
    await short.query('demo.*', START, START + 60, 10),
  )
  expect(source.methods).toContain('POST /series/values')
  expect(short.methods.filter((each) => each.startsWith('POST'))).toEqual([])
})

test('variables of dashboards list metrics, labels and their values', async () => {
  const source = new GrafanaSource(server.ask)
  expect(await source.metricNames('')).toContain('demo.count')
  expect(await source.metricNames('demo.l*')).toEqual(['demo.load'])
  expect(await source.labelNames('')).toContain('hostname')
  expect(await source.labelNames('host*')).toEqual(['hostname'])
  expect([...(await source.labelValues('hostname'))].sort()).toEqual(['db1', 'db2'])
})

test('errors have the message that a panel shows', async () => {
  const source = new GrafanaSource(server.ask)
  await expect(source.query('demo.count{', START, START + 60, 10)).rejects.toThrow(
    /cannot parse given string/,
  )
  await expect(source.query('no.such', START, START + 60, 10)).rejects.toThrow(/cannot find any series/)
})

test('its search finds, completes and describes metrics', async () => {
  const source = new GrafanaSource(server.ask)
  expect(await source.request('/search/suggest', { query: 'dem', limit: '10' })).toContain('demo.count')
  const text = await source.request<{ total: number; results: { name: string; type: string }[] }>(
    '/search/text',
    {
      query: 'demo.load',
      highlight: 'name',
      offset: '0',
      limit: '10',
      field: 'name,oneline,helptext',
      return: 'name,type,indom',
      type: 'metric,indom,instance',
    },
  )
  expect(text.total).toBeGreaterThan(0)
  expect(text.results[0]!.type).toBe('metric')
  const about = await source.request<{ results: { name: string }[] }>('/search/indom', { query: '77.1' })
  expect(about.results.map(({ name }) => name)).toContain('one')
})
