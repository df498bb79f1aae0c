/** Compares our pmproxy with PCP's in front of the same collector: identifiers, exposed values, and PCP's clients through ours. docs/reference/pmproxy.md */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Candidate, hasReference, startReference } from '../../bench/macro/lib/collectors.ts'
import { DEFAULT_CONFIG } from '../../src/pmproxy/config.ts'
import { type RunningProxy, startProxy } from '../../src/pmproxy/server.ts'
import { loadConfig } from '../../src/sys/config.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { askWeb, type WebAnswer } from '../lib/web-server.ts'
import { REFERENCE_PROXY, ReferenceProxy } from './lib/reference-proxy.ts'

const isInstalled = hasReference() && existsSync(REFERENCE_PROXY)
if (!isInstalled) console.log('pmproxy interop skipped: PCP is not installed')

/** Keeps the connection alive, because the reference truncates large replies otherwise. */
const ask = (port: number, target: string): Promise<WebAnswer> =>
  askWeb(port, target, { headers: { Connection: 'keep-alive' } })

describe.skipIf(!isInstalled)('beside PCP', () => {
  let collector: Candidate
  let ours: RunningProxy
  let theirs: ReferenceProxy
  beforeAll(async () => {
    collector = await startReference([2, 60])
    const env = { ...process.env, PMCD_PORT: String(collector.port) }
    theirs = await ReferenceProxy.start(env)
    ours = await startProxy({
      config: DEFAULT_CONFIG,
      ports: [0],
      variables: loadConfig(env).variables,
      log: { ...logOnFd(2, { progname: 'pmproxy', host: 'vm' }), notice: () => undefined },
    })
  })
  afterAll(async () => {
    await ours.close()
    await theirs.stop()
    await collector.stop()
  })

  test('series have the same identifiers as in PCP', async () => {
    const series = async (each: number): Promise<Map<string, string>> => {
      const { text } = await ask(each, '/pmapi/metric?prefix=kernel')
      const { metrics } = JSON.parse(text) as { metrics: { name: string; series: string }[] }
      return new Map(metrics.map(({ name, series }) => [name, series]))
    }
    const [a, b] = [await series(ours.port), await series(theirs.port)]
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
    const [a, b] = [await lines(ours.port), await lines(theirs.port)]
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
