/** Our pmproxy beside PCP's, in front of the same collector: the same requests, the same answers; and PCP's clients through ours. docs/pmproxy.md */
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Candidate, freePort, hasReference, startReference } from '../../bench/macro/lib/collectors.ts'
import { DEFAULT_CONFIG } from '../../src/pmproxy/config.ts'
import { type RunningProxy, startProxy } from '../../src/pmproxy/server.ts'
import { loadConfig } from '../../src/sys/config.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { askWeb, type WebAnswer } from '../lib/web-server.ts'

const REFERENCE = '/usr/lib/pcp/bin/pmproxy'
const isInstalled = hasReference() && existsSync(REFERENCE)
if (!isInstalled) console.log('pmproxy interop skipped: PCP is not installed')

/** The reference cuts large answers short for who wants the connection closed. */
const ask = (port: number, target: string): Promise<WebAnswer> =>
  askWeb(port, target, { headers: { Connection: 'keep-alive' } })

/** What an answer is compared by: defects of the reference, and what changes meanwhile, taken out. */
function normal(value: unknown, key = ''): unknown {
  if (key === 'context' || key === 'timestamp') return typeof value
  // Of instance domains with labels of their own 6.0.3 leaves those out here, unlike its pminfo.
  if (key === 'series') return 'ID'
  // Expressions of PCP's files, numbered in the order in which they are found.
  if (key === 'pmid') return String(value).replace(/^511\..*/, 'derived')
  if (key.startsWith('text-')) return String(value).trim()
  if (key === 'value') return typeof value === 'number' ? 'number' : value
  // 6.0.3 leaves the labels of domains and clusters out of some answers.
  if (key === 'labels') return Object.keys(value as object).includes('hostname')
  if (Array.isArray(value))
    return value.map((each) => normal(each)).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => name !== 'code' && name !== 'status')
  return Object.fromEntries(
    entries.map(([name, each]) => [name, normal(each, name)]).sort(([a], [b]) => (a! < b! ? -1 : 1)),
  )
}

const NAMES =
  'kernel.all.load,hinv.ncpu,mem.physmem,disk.dev.read,kernel.uname.release,network.interface.in.bytes,kernel.all.cpu.user'
const REQUESTS = [
  '/pmapi/CONTEXT/context',
  `/pmapi/CONTEXT/metric?names=${NAMES}`,
  '/pmapi/CONTEXT/metric?prefix=kernel.all',
  '/pmapi/CONTEXT/metric?prefix=mem',
  '/pmapi/CONTEXT/metric?names=disk',
  '/pmapi/CONTEXT/metric?name=no.such',
  `/pmapi/CONTEXT/fetch?names=${NAMES}`,
  '/pmapi/CONTEXT/fetch?pmids=60.2.0,60.0.32',
  '/pmapi/CONTEXT/fetch?name=no.such',
  '/pmapi/CONTEXT/fetch?names=no.such,hinv.ncpu',
  '/pmapi/CONTEXT/children?prefix=kernel',
  '/pmapi/CONTEXT/children?prefix=disk.dev',
  '/pmapi/CONTEXT/children?prefix=no.such',
  '/pmapi/CONTEXT/indom?name=kernel.all.load',
  '/pmapi/CONTEXT/indom?indom=60.2&iname=5%20minute',
  '/pmapi/CONTEXT/indom?indom=60.2&iname=1*&match=glob',
  '/pmapi/CONTEXT/indom?indom=60.2&instance=15',
  '/pmapi/CONTEXT/indom?name=hinv.ncpu',
  '/pmapi/CONTEXT/profile?expr=del&indom=60.2',
  '/pmapi/CONTEXT/profile?expr=add&indom=60.2&instance=5',
  '/pmapi/CONTEXT/fetch?name=kernel.all.load',
  '/pmapi/CONTEXT/derive?name=web.double&expr=hinv.ncpu*2',
  '/pmapi/CONTEXT/fetch?name=web.double',
  '/pmapi/CONTEXT/derive?name=web.double&expr=hinv.ncpu*2',
  '/pmapi/CONTEXT/derive?name=web.wrong&expr=hinv.ncpu*',
  '/pmapi/1/fetch?names=hinv.ncpu',
  '/pmapi/context?hostspec=127.0.0.1:1',
  '/pmapi/context?hostspec=127.0.0.1:xyz',
  '/pmapi/context?polltimeout=xyz',
  '/pmapi/_fetch?name=hinv.ncpu',
  '/pmapi/_context',
]

describe.skipIf(!isInstalled)('beside PCP', () => {
  let collector: Candidate
  let ours: RunningProxy
  let dir: string
  let port: number
  let stop: () => Promise<void>
  beforeAll(async () => {
    collector = await startReference([2, 60])
    dir = mkdtempSync(join(tmpdir(), 'pmproxy-interop-'))
    port = await freePort()
    const env = { ...process.env, PMCD_PORT: String(collector.port) }
    const child = spawn(
      REFERENCE,
      ['-f', '-t', '-A', '-p', String(port), '-s', join(dir, 's'), '-l', join(dir, 'log')],
      { env, cwd: dir, stdio: 'ignore' },
    )
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    stop = async () => {
      child.kill('SIGTERM')
      await gone
    }
    ours = await startProxy({
      config: DEFAULT_CONFIG,
      ports: [0],
      variables: loadConfig(env).variables,
      log: { ...logOnFd(2, { progname: 'pmproxy', host: 'vm' }), notice: () => undefined },
    })
    for (let attempt = 0; attempt < 100; attempt++) {
      const isUp = await ask(port, '/pmapi/context').then(
        () => true,
        () => false,
      )
      if (isUp) break
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })
  afterAll(async () => {
    await ours.close()
    await stop()
    await collector.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  test('the same requests have the same answers', async () => {
    const contexts = await Promise.all(
      [ours.port, port].map(
        async (each) =>
          (JSON.parse((await ask(each, '/pmapi/context?polltimeout=120')).text) as { context: number })
            .context,
      ),
    )
    let bytes = 0
    for (const request of REQUESTS) {
      const [a, b] = await Promise.all(
        [ours.port, port].map((each, i) => ask(each, request.replace('CONTEXT', String(contexts[i])))),
      )
      bytes += a!.body.length
      expect({ request, status: a!.status, body: normal(JSON.parse(a!.text)) }).toEqual({
        request,
        status: b!.status,
        body: normal(JSON.parse(b!.text)),
      })
    }
    console.log(`${REQUESTS.length} requests answered as by PCP, ${bytes} bytes`)
  })

  test('series have the identifiers that PCP gives them', async () => {
    const series = async (each: number): Promise<Map<string, string>> => {
      const { text } = await ask(each, '/pmapi/metric?prefix=kernel')
      const { metrics } = JSON.parse(text) as { metrics: { name: string; series: string }[] }
      return new Map(metrics.map(({ name, series }) => [name, series]))
    }
    const [a, b] = [await series(ours.port), await series(port)]
    const different = [...a].filter(([name, id]) => b.get(name) !== id)
    console.log(`${a.size} identifiers, ${different.length} different`)
    expect(different).toEqual([])
  })

  test('exposed values have the same names, types and instances', async () => {
    const lines = async (each: number): Promise<string[]> => {
      const { text } = await ask(
        each,
        '/metrics?names=kernel.all.load,kernel.all.cpu,hinv.ncpu,disk.dev.read',
      )
      return text
        .split('\n')
        .map((line) => line.replace(/\{.*instname="([^"]*)".*\} .*/, '{$1}').replace(/\{[^}]*=.*\} .*/, ''))
        .sort()
    }
    const [a, b] = [await lines(ours.port), await lines(port)]
    console.log(`${a.length} lines`)
    expect(a).toEqual(b)
  })

  test("PCP's clients reach the collector through ours, by name", async () => {
    const run = async (
      command: string,
      args: readonly string[],
      more: NodeJS.ProcessEnv = {},
    ): Promise<string> =>
      (await promisify(execFile)(command, args, { env: { ...process.env, ...more } })).stdout
    const through = `localhost:${collector.port}@localhost:${ours.port}`
    expect(await run('/usr/bin/pminfo', ['-h', through, '-f', 'hinv.ncpu'])).toMatch(/value \d+/)
    const proxy = { PMPROXY_HOST: 'localhost', PMPROXY_PORT: String(ours.port) }
    const probed = await run(
      '/usr/bin/pmprobe',
      ['-h', `localhost:${collector.port}`, 'kernel.all.load'],
      proxy,
    )
    expect(probed).toBe('kernel.all.load 3\n')
    console.log(`${ours.statistics.proxied} connections forwarded`)
  })
})
