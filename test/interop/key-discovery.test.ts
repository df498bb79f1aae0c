/** Archives that grow are in the key server a moment later, for PCP's pmseries and for Grafana. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { Archive } from '../../src/archive/archive.ts'
import { ArchiveWriter } from '../../src/archive/write/writer.ts'
import { indom, PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_TYPE_U64 } from '../../src/model/types.ts'
import { makeSet, makeSingular } from '../../src/model/value-writer.ts'
import { configOf } from '../../src/pmproxy/config.ts'
import { parseIni } from '../../src/pmproxy/ini.ts'
import { KeyClient } from '../../src/series/keys/client.ts'
import { KeyLoader } from '../../src/series/keys/loader.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { tool as pmseriesTool } from '../../src/tools/pmseries/index.ts'
import { bundleProgram } from '../lib/bundle-tools.ts'
import { eventually } from '../lib/eventually.ts'
import { GrafanaSource } from '../lib/grafana.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'
import { testIo } from '../tools/run-tool.ts'

const hasServer = spawnSync('redis-server', ['--version']).status === 0
const hasPcp = spawnSync('/usr/bin/pmseries', ['--version']).status === 0
if (!hasServer) console.warn('skipped: redis-server is missing')

const PASSWORD = 'secret'
const cleanUps: (() => unknown)[] = []
let dir = ''
let port = 0

const built = mkdtempSync(join(tmpdir(), 'keys-program-'))
const program = join(built, 'discovery-thread.cjs')
beforeAll(() => bundleProgram(program, { file: 'src/pmproxy/keys/discovery-thread.ts' }))
afterAll(() => rmSync(built, { recursive: true }))

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'keys-'))
  mkdirSync(join(dir, 'archives'))
  port = await freePort()
})

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  rmSync(dir, { recursive: true, force: true })
})

/** Starts a key server, which keeps its data across restarts with `saves`. */
async function startServer({ password, saves = false }: { password?: string; saves?: boolean } = {}) {
  const login = password === undefined ? [] : ['--requirepass', password]
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '']
  const child = spawn('redis-server', [...args, '--appendonly', saves ? 'yes' : 'no', ...login], {
    stdio: 'pipe',
  })
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      if (/Ready to accept connections/.test(chunk.toString())) resolve()
    })
  })
  let isStopped = false
  const stop = async (): Promise<void> => {
    if (isStopped) return
    isStopped = true
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  cleanUps.push(stop)
  await ready
  return { stop }
}

async function startProxy(settings = ''): Promise<WebServer> {
  const archives = join(dir, 'archives')
  const ini = parseIni(`[keys]\nservers = 127.0.0.1:${port}\n${settings}`)
  const config = { ...configOf(ini, {}, () => undefined), archiveDirs: [archives] }
  const server = await startWebServer(['simple'], config, { proxy: { discoveryProgram: program } })
  cleanUps.push(() => server.close())
  return server
}

const COUNT = pmid(77, 0, 1)
const LOAD = pmid(77, 0, 2)
const HIDDEN = pmid(3, 0, 1)
const LOADS = indom(77, 1)

/** An archive that is being written, of now. */
function newArchive(host: string) {
  mkdirSync(join(dir, 'archives', host))
  const base = join(dir, 'archives', host, 'today')
  const start = Math.floor(Date.now() / 1000) - 60
  const writer = ArchiveWriter.create(archiveOutput(base), { hostname: host, timezone: 'UTC', pid: 7 })
  cleanUps.push(() => writer.close())
  const counter = { type: PM_TYPE_U64, indom: PM_INDOM_NULL, sem: PM_SEM_COUNTER, units: 0x00100000 }
  writer.desc({ ...counter, pmid: COUNT }, ['demo.count'])
  writer.desc({ ...counter, pmid: HIDDEN }, ['proc.hidden'])
  writer.desc({ pmid: LOAD, type: PM_TYPE_DOUBLE, indom: LOADS, sem: PM_SEM_INSTANT, units: 0 }, [
    'demo.load',
  ])
  let count = 0
  return {
    start,
    /** Writes the next record with these instances, numbered from 1. */
    write(...instances: readonly string[]): void {
      count++
      const at = { sec: start + count, nsec: 0 }
      const ids = instances.map((_, i) => i + 1)
      if (ids.length > 0) writer.instances(at, LOADS, ids, instances)
      writer.result(at, [
        makeSingular(COUNT, PM_TYPE_U64, BigInt(100 * count)),
        makeSingular(HIDDEN, PM_TYPE_U64, 1n),
        makeSet(
          LOAD,
          PM_TYPE_DOUBLE,
          ids,
          ids.map(() => count),
        ),
      ])
    },
  }
}

const pmseries = (...args: string[]): string =>
  execFileSync('/usr/bin/pmseries', ['-h', '127.0.0.1', '-p', String(port), ...args], { encoding: 'utf8' })

describe.skipIf(!hasServer)('with a key server', () => {
  test('Grafana and PCP see the written values, with metrics and instances that appear later', async () => {
    await startServer()
    const archive = newArchive('db1')
    archive.write('one')
    const server = await startProxy()
    const grafana = new GrafanaSource(server.ask)
    await eventually(async () => expect(await grafana.metricNames('')).toContain('demo.count'))
    archive.write('one')
    archive.write('one', 'two words')
    const shown = await eventually(async () => {
      const found = await grafana.query('demo.load{hostname == "db1"}', archive.start, archive.start + 60, 0)
      expect(found.map(({ instance }) => instance).sort()).toEqual(['one', 'two words'])
      expect(found.find(({ instance }) => instance === 'one')!.values).toHaveLength(2)
      return found
    })
    expect(shown[0]).toMatchObject({ metric: 'demo.load', semantics: 'instant', labels: { hostname: 'db1' } })
    expect(await grafana.metricNames('')).not.toContain('proc.hidden')
    expect(await grafana.labelValues('hostname')).toEqual(['db1'])
    expect(server.notices).toContain(`info: Archives are loaded into key server 127.0.0.1:${port}`)
    if (!hasPcp) return
    const [id, ...values] = pmseries('-t', 'demo.count{hostname=="db1"}[count:5]').trim().split('\n')
    expect(id).toMatch(/^[0-9a-f]{40}$/)
    expect(values.map((line) => line.trim().split(' ')[1])).toEqual(['300', '200'])
    expect(pmseries('-m')).not.toContain('proc')
    expect(pmseries('-a', id!)).toContain('Semantics: counter')
  })

  test('users without a name see no processes; calculations of pmseries are known', async () => {
    await startServer()
    const archive = newArchive('db1')
    archive.write('one')
    archive.write('one')
    const run = async (...args: string[]): Promise<string> => {
      const io = testIo('pmseries', ['-h', '127.0.0.1', '-p', String(port), ...args])
      expect(await pmseriesTool.run(io)).toBe(0)
      return io.printed.stdout.trim()
    }
    const client = await KeyClient.open([{ host: '127.0.0.1', port }], {})
    cleanUps.push(() => client.close())
    const path = join(dir, 'archives', 'db1', 'today')
    const reader = Archive.open(path, archiveFiles())
    await (await KeyLoader.open(client)).load(reader, path)
    reader.close()
    const hidden = await run('proc.hidden')
    expect(hidden).toMatch(/^[0-9a-f]{40}$/)
    const sum = await run('demo.count + demo.count')
    const server = await startProxy('[discover]\nenabled = false\n')
    expect(await server.json('/series/metrics')).toEqual(expect.not.arrayContaining(['proc.hidden']))
    expect(await server.json('/series/query?expr=proc.hidden')).toEqual([])
    expect(await server.json(`/series/values?series=${hidden}&samples=1`)).toEqual([])
    const values = await server.json<{ value: string }[]>(`/series/values?series=${sum}&samples=1`)
    expect(values.map(({ value }) => Number(value))).toEqual([400])
  })

  test('records from before, during and after an outage are there; archives answer meanwhile', async () => {
    const archive = newArchive('db1')
    archive.write('one')
    const server = await startProxy()
    await eventually(() => expect(server.notices.join()).toContain('records are loaded when it is back'))
    const grafana = new GrafanaSource(server.ask)
    expect(await grafana.metricNames('')).toContain('demo.count')
    archive.write('one')
    const { stop } = await startServer({ saves: true })
    const values = async (): Promise<readonly string[]> => {
      const [found] = await grafana.query('demo.count', archive.start, archive.start + 60, 0)
      return found!.values.map(([, value]) => value)
    }
    const counted = (what: RegExp): number => server.notices.filter((each) => what.test(each)).length
    await eventually(() => expect(counted(/Archives are loaded into/)).toBe(1))
    await eventually(async () => expect(await values()).toContain('200'))
    await stop()
    archive.write('one')
    await eventually(() => expect(counted(/records are loaded when it is back/)).toBe(2))
    archive.write('one')
    await startServer({ saves: true })
    archive.write('one')
    await eventually(() => expect(counted(/Archives are loaded into/)).toBe(2))
    await eventually(async () => {
      // Until the key server is in use again, archives answer.
      const [id] = await grafana.request<string[]>('/series/query', { expr: 'demo.count' })
      const lines = execFileSync(
        'redis-cli',
        ['-p', String(port), 'XRANGE', `pcp:values:series:${id}`, '-', '+'],
        {
          encoding: 'utf8',
        },
      )
      expect(lines.match(/^\d00$/gm)).toEqual(['200', '300', '400', '500'])
    })
  })

  test('a password is sent; a wrong one is a notice', async () => {
    await startServer({ password: PASSWORD })
    const archive = newArchive('db1')
    archive.write('one')
    const wrong = await startProxy('password = wrong\n')
    await eventually(() => expect(wrong.notices.join()).toMatch(/check the user and password/))
    const server = await startProxy(`password = ${PASSWORD}\n`)
    await eventually(() => expect(server.notices.join()).toContain('Archives are loaded into key server'))
  })
})
