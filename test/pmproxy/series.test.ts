/** /series of a server with archives. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { KnownExpressions } from '../../src/pmproxy/known-expressions.ts'
import { expressionId as idOf } from '../../src/series/ids.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'
import { START, writeHost } from '../series/lib.ts'

let server: WebServer
let directory = ''

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'series-'))
  for (const host of ['db1', 'db2']) writeHost(directory, host)
  server = await startWebServer(['simple'], { archiveDirs: [directory] })
})

afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true, force: true })
})

const query = (text: string): string => `/series/query?expr=${encodeURIComponent(text)}`

test('a query finds series, and values of an identifier are those of the query', async () => {
  const [id, ...more] = await server.json<string[]>(query('demo.count{hostname=="db2"}'))
  expect(more).toEqual([])
  const values = await server.json<object[]>(`/series/values?series=${id}&samples=1`)
  expect(values).toEqual([{ series: id, timestamp: (START + 50) * 1000, value: '250' }])
  expect(await server.json(query('demo.count{hostname=="db2"}[count:1]'))).toEqual(values)
})

test('values of a calculation are found by its identifier', async () => {
  const [id] = await server.json<string[]>(query('rate(demo.count{hostname=="db1"})'))
  const values = await server.json<{ value: string }[]>(`/series/values?series=${id}&samples=3`)
  expect(values.map(({ value }) => value)).toEqual(['5.000000', '5.000000'])
})

test('a calculation has a descriptor, its text as name, and the instances of its operands', async () => {
  const [id] = await server.json<string[]>(query('max(demo.load{hostname=="db1"}) + demo.load'))
  expect(await server.json(`/series/descs?series=${id}`)).toMatchObject([
    { source: '0'.repeat(40), pmid: '511.0.0', indom: '77.1', semantics: 'instant', type: 'double' },
  ])
  const [metric] = await server.json<{ name: string }[]>(`/series/metrics?series=${id}`)
  expect(metric!.name).toContain('max(demo.load')
  const [other] = await server.json<string[]>(query('demo.load{hostname=="db2"}'))
  const [own] = await server.json<string[]>(query('demo.load{hostname=="db1"}'))
  const instances = await server.json<{ series: string }[]>(`/series/instances?series=${id}`)
  const wanted = await server.json<object[]>(`/series/instances?series=${own},${other}`)
  expect(instances).toEqual(wanted.map((each) => ({ ...each, series: id })))
})

test('descriptors, instances, labels, names and sources', async () => {
  const [id] = await server.json<string[]>(query('demo.load{hostname=="db1"}'))
  const [desc] = await server.json<{ source: string }[]>(`/series/descs?series=${id}`)
  expect(desc).toMatchObject({
    series: id,
    indom: '77.1',
    semantics: 'instant',
    type: 'double',
    units: 'none',
  })
  const instances = await server.json<{ instance: string }[]>(`/series/instances?series=${id}`)
  expect(instances).toMatchObject([
    { name: 'one', id: 1 },
    { name: 'two', id: 2 },
  ])
  const one = instances[0]!.instance
  expect(await server.json(`/series/labels?series=${one}`)).toEqual([
    { series: one, labels: { hostname: 'db1' } },
  ])
  expect(await server.json('/series/labels?names=hostname')).toEqual({
    hostname: ['"db1"', '"db2"'].map((each) => JSON.parse(each)),
  })
  expect(await server.json(`/series/metrics?series=${id}&client=7`)).toEqual({
    client: '7',
    result: [{ series: id, name: 'demo.load' }],
  })
  const sources = await server.json<{ name: string }[]>(`/series/sources?source=${desc!.source}`)
  expect(sources.map(({ name }) => name)).toEqual([join(directory, 'db1', 'day1'), 'db1'])
})

test('invalid requests get status 400 and a reason', async () => {
  for (const [target, text] of [
    [query('bad['), 'cannot parse given string'],
    ['/series/values?series=zz', 'Invalid SID zz near offset 0'],
    [`/series/values?series=${'0'.repeat(40)}&samples=abc`, 'Invalid sample count requested - abc'],
    [query('rate(demo.load[count:2])'), 'counter semantics required'],
  ] as const) {
    const { status, text: body } = await server.ask(target)
    expect(status, target).toBe(400)
    expect(JSON.parse(body)).toMatchObject({ message: expect.stringContaining(text), success: false })
  }
  expect((await server.ask('/series/funcs')).status).toBe(400)
  expect((await server.ask('/series/query')).status).toBe(400)
  expect(await server.json(`/series/values?series=${'0'.repeat(40)}`)).toEqual([])
})

interface Found {
  readonly total: number
  readonly results: readonly Record<string, string>[]
}

test('search: all words, names before help, types, fields, highlighting, pages', async () => {
  const names = async (more: string): Promise<readonly (string | undefined)[]> =>
    (await server.json<Found>(`/search/text?${more}`)).results.map(({ name }) => name)
  expect(await names('query=load')).toEqual(['demo.load', 'demo.count'])
  expect(await names('query=load&field=name')).toEqual(['demo.load'])
  expect(await names('query=requests%20server')).toEqual(['demo.count'])
  expect(await names('query=request')).toEqual(['demo.count'])
  expect(await names('query=one&type=instance')).toEqual(['one'])
  expect(await names('query=nowhere')).toEqual([])
  const page = await server.json<Found>(
    '/search/text?query=load&limit=1&offset=1&return=name,oneline&highlight=name',
  )
  expect(page).toMatchObject({ total: 2, results: [{ name: 'demo.count', oneline: 'Number of requests' }] })
  const marked = await server.json<Found>('/search/text?query=load&limit=1&return=name&highlight=name')
  expect(marked.results).toEqual([{ name: 'demo.<b>load</b>' }])
})

test('search: suggestions, domains, sizes', async () => {
  expect(await server.json('/search/suggest?query=demo.l')).toEqual(['demo.load'])
  expect(await server.json('/search/suggest?query=co&limit=5')).toEqual(['demo.count'])
  const { results } = await server.json<Found>('/search/indom?query=77.1')
  expect(results.map(({ name }) => name)).toEqual(['one', 'two', '77.1', 'demo.load'])
  expect(await server.json('/search/info')).toMatchObject({ docs: 6 })
  for (const target of [
    '/search/text',
    '/search/text?query=',
    '/search/text?query=a&limit=x',
    '/search/nothing',
  ])
    expect((await server.ask(target)).status, target).toBe(400)
})

test('a thousand calculations are known, not more', () => {
  const known = new KnownExpressions()
  for (let i = 0; i < 2000; i++) known.add(`abs(m${i})`)
  const ids = Array.from({ length: 2000 }, (_, i) => known.of(idOf(`abs(m${i})`)) !== undefined)
  expect(ids.filter(Boolean)).toHaveLength(1000)
  expect(ids.at(-1)).toBe(true)
})
