/** Compares our collector with the reference's, both with the reference's C agents: clients see the same. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCollector } from '../../src/pmcd/collector.ts'
import { agentFromConfig } from '../../src/pmcd/open-agents.ts'
import type { Collector } from '../../src/pmcd/options.ts'
import { loadPmns } from '../../src/pmns/load.ts'
import { readHostLabels } from '../../src/routing/host-labels.ts'
import { parseConfig } from '../../src/routing/pmcd-conf.ts'
import { loadConfig } from '../../src/sys/config.ts'
import { type Log, logOnFd } from '../../src/sys/log.ts'
import { defaultPmnsPath, pmnsFiles } from '../../src/sys/pmns-files.ts'
import { hasReference, run, startReference, type TestCollector } from './lib/programs.ts'

/** Agents to compare, without `root`, of which a machine can have only one. */
const AGENTS = ['pmcd', 'proc', 'sample', 'linux', 'simple']
/** Subtrees without metrics that our agents and the reference describe differently. */
const SUBTREES = [
  'sample',
  'simple',
  'kernel',
  'mem',
  'network',
  'disk',
  'filesys',
  'hinv',
  'proc.psinfo',
  'cgroup',
]

describe.runIf(hasReference)("our collector with the reference's agents", () => {
  let theirs: TestCollector
  let ours: Collector
  let dir: string
  const lines: string[] = []

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'pcp-ts-agents-'))
    theirs = await startReference(AGENTS)
    const { variables } = loadConfig({})
    const log: Log = {
      ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
      notice: (level, text) => lines.push(`${level}: ${text}`),
      line: (text) => lines.push(text),
    }
    const { agents } = parseConfig(readFileSync('/etc/pcp/pmcd/pmcd.conf', 'utf8'))
    const hostname = (await run('pminfo', ['-h', theirs.host, '-f', 'pmcd.hostname'])).stdout.match(
      /"(.*)"/,
    )![1]!
    ours = await startCollector({
      agents: agents.filter(({ name }) => name !== 'root').map(agentFromConfig),
      pmns: loadPmns(defaultPmnsPath(variables), pmnsFiles(variables)),
      ports: [0],
      socketPath: join(dir, 'pmcd.socket'),
      hostname,
      log,
      agentDir: dir,
      credsTimeoutSec: 60, // starting a process is slow on a busy machine
      variables,
      readLabels: () => readHostLabels({ sysconfDir: variables['PCP_SYSCONF_DIR']!, hostname, root: '/' }),
    })
  })
  afterAll(async () => {
    await ours?.close()
    await theirs?.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  const both = async (command: string, ...args: string[]): Promise<[string[], string[]]> => {
    const outputs = [theirs.host, `localhost:${ours.port}`].map((host) => run(command, ['-h', host, ...args]))
    const [a, b] = (await Promise.all(outputs)).map(({ stdout, stderr }) => `${stdout}${stderr}`.split('\n'))
    return [a!, b!]
  }

  test('the installed pmcd.conf works unchanged', () => {
    const table = lines.join('\n')
    for (const name of AGENTS) expect(table).toMatch(new RegExp(`^${name} +\\d+ `, 'm'))
    const missing = lines.filter((line) => line.includes('no built-in agent replaces'))
    console.log(`pmcd.conf: ${missing.length} shared objects without an agent of ours, logged and left out`)
  })

  test('names, descriptors, instances and texts are the same, line by line', async () => {
    let metrics = 0
    let compared = 0
    for (const subtree of SUBTREES) {
      const [a, b] = await both('pminfo', '-dmtT', subtree)
      // sample.secret.foo.bar.max.redirect is a metric of pmcd, which both describe differently.
      const own = /^sample\.secret\.foo\.bar\.max\.redirect[\s\S]*?(?=^sample\.)/m
      const strip = (text: string[]): string[] => text.join('\n').replace(own, '').split('\n')
      expect(strip(b)).toEqual(strip(a))
      metrics += a.filter((line) => / PMID: /.test(line)).length
      compared += a.length
    }
    console.log(`pminfo -dmtT: ${metrics} metrics, ${compared} lines compared`)
    expect(metrics).toBeGreaterThan(1000)
  })

  test('labels are the same', async () => {
    const [a, b] = await both('pminfo', '-l', 'sample', 'simple', 'hinv')
    console.log(`pminfo -l: ${a.length} lines compared`)
    // That metric of pmcd is excluded: its instances are the configured agents, which differ.
    const sorted = (text: string[]): string[] =>
      text.filter((line) => !line.includes('"agent":"pmcd"')).sort()
    expect(sorted(b)).toEqual(sorted(a))
  })

  test('constant values are the same, and other values exist', async () => {
    const [a, b] = await both(
      'pminfo',
      '-f',
      'hinv',
      'simple.color',
      'sample.bin',
      'sample.string',
      'sample.longlong',
    )
    const steady = (text: string[]): string[] =>
      text.filter((line) => !/MHz|clock|bogo|rapid|inst \[\d+ or "(red|green|blue)/.test(line))
    console.log(`pminfo -f: ${a.length} lines`)
    expect(steady(b).length).toBe(steady(a).length)
    const [counts, ourCounts] = await both(
      'pmprobe',
      'sample',
      'simple',
      'kernel',
      'mem',
      'filesys',
      'network',
    )
    console.log(`pmprobe: ${counts.length} metrics have the same number of values`)
    const expected = counts.filter(
      (line) => !/^sample\.secret\.foo\.bar\.max|^sample\.dodgey|^sample\.pdu|^sample\.percontext/.test(line),
    )
    const given = new Set(ourCounts)
    const different = expected.filter((line) => !given.has(line))
    expect(different).toEqual([])
  })

  test('stores reach the agents', async () => {
    const host = `localhost:${ours.port}`
    const stored = await run('pmstore', ['-h', host, 'sample.write_me', '77'])
    expect(stored.stdout).toMatch(/new value=77/)
    expect((await run('pminfo', ['-h', host, '-f', 'sample.write_me'])).stdout).toContain('value 77')
    const refused = await run('pmstore', ['-h', host, 'sample.long.one', '5'])
    expect(`${refused.stdout}${refused.stderr}`).toMatch(/No permission|Bad input/)
  })

  test('the collector waits for an agent that is not ready', async () => {
    const host = `localhost:${ours.port}`
    await run('pmstore', ['-h', host, 'sample.not_ready', '5'])
    const waiting = await run('pminfo', ['-h', host, '-f', 'sample.long.one'])
    expect(`${waiting.stdout}${waiting.stderr}`).toContain('Try again')
    for (;;) {
      const { stdout } = await run('pminfo', ['-h', host, '-f', 'sample.long.one'])
      if (stdout.includes('value 1')) break
    }
  })
})
