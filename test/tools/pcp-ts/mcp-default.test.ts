/** Without options, the server for assistants reads what `pcp-ts start` records, and its answers lead to the charts. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDirectories, hostArchiveDir, planDirectories } from '../../../src/start/directories.ts'
import { instanceFacts, type PublishedInstance, publishInstance } from '../../../src/start/instance.ts'
import type { StartOptions } from '../../../src/start/settings.ts'
import type { View } from '../../../src/ui/view/view.ts'
import { call, type Setting, writeSpike } from './mcp-client.ts'

const OPTIONS: StartOptions = {
  command: 'pcp-ts start',
  port: 44321,
  charts: true,
  alerts: false,
  webPort: 44323,
  webListen: undefined,
  dir: undefined,
  usesSystemDirs: false,
  agents: ['linux'],
  threads: [],
  listen: undefined,
  logsToOutput: false,
  records: true,
  keepDays: 14,
  keepBytes: 1e9,
}
const HOST = hostname()

let home: string
let published: PublishedInstance | undefined

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'mcp-default-'))
})
afterEach(() => {
  published?.close()
  published = undefined
  rmSync(home, { recursive: true, force: true })
})

/** Records an hour and publishes an instance, as `pcp-ts start` does; returns the environment of a command that uses it. */
async function running(options: StartOptions): Promise<Setting> {
  const env = { HOME: home, XDG_RUNTIME_DIR: home }
  const place = planDirectories(options.dir, env, '/bin', {})
  await createDirectories(place, options)
  if (options.records) {
    mkdirSync(hostArchiveDir(place))
    writeSpike(join(hostArchiveDir(place), 'day1'))
  }
  const charts = options.charts ? { port: 44999 } : undefined
  const facts = instanceFacts(
    { collector: { port: 44321, hasSocket: true }, charts },
    { options, agents: options.agents, place },
  )
  published = publishInstance(place.variables['PCP_RUN_DIR']!, facts, env)
  return { env: options.dir === undefined ? env : { ...env, PCP_CONF: place.confPath } }
}

const linkIn = (text: string): string => /^Chart: (.*)$/m.exec(text)?.[1] ?? ''

/** Returns the content of a compressed address. */
function shared(link: string): { readonly view: View; readonly width: number; readonly end: number } {
  const code = /^http:\/\/localhost:44999\/#v=(.*)$/.exec(link)![1]!
  return JSON.parse(String(inflateRawSync(Buffer.from(code, 'base64url'))))
}

test.each([
  ['the directories of the user', undefined],
  ['--dir and PCP_CONF', 'named'],
])('%s: the recorded archive comes first and has addresses of charts', async (_, dir) => {
  const setting = await running({ ...OPTIONS, dir: dir === undefined ? undefined : join(home, dir) })
  const { text } = await call('sources', {}, [], setting)
  const [, first, second] = text.split('\n')
  expect(first).toMatch(`archive:${HOST}  an archive of host ⟦spike⟧`)
  expect(second).toBe('host:local:  a collector: values of now')
  const answer = await call('query', { metrics: ['disk.total'] }, [], setting)
  expect(answer.text).toMatch(new RegExp(`^archive:${HOST}, `))
  expect(shared(linkIn(answer.text)).view.charts).toMatchObject([{ plots: [{ metric: 'disk.total' }] }])
})

test('without charts answers have no address; without recording the collector is the source', async () => {
  const silent = await running({ ...OPTIONS, charts: false })
  const answer = await call('query', { metrics: ['disk.total'] }, [], silent)
  expect(answer.text).toMatch(/disk\.total: mean/)
  expect(linkIn(answer.text)).toBe('')
  published!.close()
  const live = await running({ ...OPTIONS, dir: join(home, 'live'), records: false })
  expect((await call('sources', {}, [], live)).text).toContain('\nhost:local:  a collector')
})

test('questions about the past take the first archive, even after a host', async () => {
  const { env = {} } = await running({ ...OPTIONS, dir: join(home, 'named') })
  const args = ['-h', 'local:', '--directory', join(home, 'named')]
  const { text } = await call('sources', {}, args, { env })
  expect(text.split('\n')[1]).toBe('host:local:  a collector: values of now')
  for (const [name, given] of [
    ['what_changed', { from: '22:43:30' }],
    ['compare', { metrics: ['disk.total'], from: '22:43:30' }],
    ['processes_at', { at: '23:00' }],
    ['query', { metrics: ['disk.total'], from: '-10min' }],
  ] as const) {
    const answer = await call(name, given, args, { env })
    expect([answer.isError, answer.text.split('\n')[0]]).toEqual([
      false,
      expect.stringMatching(/^archive:archives\/\S+[,:] /),
    ])
  }
})

test('an address shows the processes of the instant, or a chart for each unit', async () => {
  const setting = await running(OPTIONS)
  const processes = await call('processes_at', { at: '23:00' }, [], setting)
  expect(linkIn(processes.text)).toBe(
    'http://localhost:44999/#page=processes&from=2023-11-14T22:00:00.000Z&to=2023-11-14T23:00:00.000Z&at=2023-11-14T23:00:00.000Z',
  )
  const metrics = ['disk.total', 'hotproc.psinfo.utime', 'hotproc.psinfo.stime', 'hotproc.psinfo.rss']
  for (const [name, given] of [
    ['query', { metrics }],
    ['compare', { metrics, from: '22:43:30' }],
  ] as const) {
    const { view, end } = shared(linkIn((await call(name, given, [], setting)).text))
    expect(view.charts.map(({ plots }) => plots.map(({ metric }) => metric))).toEqual([
      ['disk.total'],
      ['hotproc.psinfo.utime', 'hotproc.psinfo.stime'],
      ['hotproc.psinfo.rss'],
    ])
    expect(end).toBe(Date.parse('2023-11-14T23:13:20Z') / 1000)
  }
  const changed = await call('what_changed', { from: '22:43:30' }, [], setting)
  expect(shared(linkIn(changed.text))).toMatchObject({
    view: { charts: [{ plots: [{ metric: 'hotproc.psinfo.utime', instances: { text: '000012 hog' } }] }] },
    end: Date.parse('2023-11-14T23:13:20Z') / 1000,
  })
})
