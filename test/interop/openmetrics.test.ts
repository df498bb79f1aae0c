/** Compares the openmetrics agent with PCP's own, which is written in Python, over the documents of PCP's test suite. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { bundleDaemon } from '../lib/bundle-tools.ts'
import { hasReference, launch, run, type TestCollector } from './lib/programs.ts'

const SUITE = '/var/lib/pcp/testsuite/openmetrics'
const THEIRS = '/var/lib/pcp/pmdas/openmetrics/pmdaopenmetrics.python'
const isThere = hasReference && existsSync(`${SUITE}/samples`) && existsSync(THEIRS)
if (!isThere) console.log('openmetrics: PCP, its agent or its test suite is not installed')

/** PCP's agent needs the Python package `requests`, which may be missing: this replaces the parts used for files. */
const REQUESTS = 'class Session:\n    pass\n'

/** Expected differences: what PCP's agent does. */
const KNOWN = {
  'labels with quotes or backslashes': 'writes invalid JSON, so that the labels are lost',
  'units of names with "milliseconds"': 'knows seconds and microseconds only',
} as const
type Reason = keyof typeof KNOWN

let dir: string
let theirs: TestCollector
let ours: TestCollector

function configure(): void {
  const config = join(dir, 'config.d')
  mkdirSync(config)
  for (const file of readdirSync(`${SUITE}/samples`)) {
    if (!file.endsWith('.txt')) continue
    const filters = file.startsWith('labelfiltering')
      ? 'FILTER: EXCLUDE LABEL uninteresting\nFILTER: EXCLUDE LABEL removeme\nFILTER: EXCLUDE LABEL def\nFILTER: OPTIONAL LABEL someoptionallabel\n'
      : ''
    const nickname = basename(file, '.txt').replace(/[.-]/g, '_')
    writeFileSync(join(config, `${nickname}.url`), `file://${SUITE}/samples/${file}\n${filters}`)
  }
  // Scripts that call curl need a network, and files where QA puts them.
  const isUsed = (path: string): boolean => !/curl|GNUmakefile/.test(basename(path))
  cpSync(`${SUITE}/scripts`, config, { recursive: true, filter: isUsed })
  const metadata = 'METADATA: metric1 u32 some_indom counter Kbyte / sec\nFILTER: EXCLUDE METRIC metric2\n'
  writeFileSync(join(config, 'declared.url'), `file://${SUITE}/samples/simple_metric.txt\n${metadata}`)
}

/** Starts a collector of PCP with one additional agent. */
async function start(name: string, command: string): Promise<TestCollector> {
  const port = await freePort()
  const at = mkdtempSync(join(dir, `${name}-`))
  const pmcd = 'pmcd 2 dso pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so'
  writeFileSync(join(at, 'pmcd.conf'), `${pmcd}\nopenmetrics 144 pipe binary ${command} -l ${at}/agent.log\n`)
  writeFileSync(join(at, 'pmns'), 'root { openmetrics 144:*:*\npmcd }\npmcd { version 2:0:3 }\n')
  const files = ['-c', `${at}/pmcd.conf`, '-n', `${at}/pmns`, '-s', `${at}/socket`, '-l', `${at}/pmcd.log`]
  return launch('/usr/lib/pcp/bin/pmcd', ['-f', '-p', String(port), ...files], port, at)
}

const names = async (collector: TestCollector): Promise<string[]> =>
  (await run('pminfo', ['-h', collector.host, 'openmetrics'])).stdout
    .split('\n')
    .filter((name) => name !== '')
    .sort()

beforeAll(async () => {
  if (!isThere) return
  dir = mkdtempSync(join(tmpdir(), 'openmetrics-interop-'))
  configure()
  mkdirSync(join(dir, 'python'))
  writeFileSync(join(dir, 'python', 'requests.py'), REQUESTS)
  mkdirSync(join(dir, 'theirs', 'config', 'pmda'), { recursive: true })
  const program = join(dir, 'pmdaopenmetrics.cjs')
  await bundleDaemon(program, 'openmetrics')
  const config = join(dir, 'config.d')
  theirs = await start(
    'theirs',
    `notready /usr/bin/env PCP_VAR_DIR=${dir}/theirs PYTHONPATH=${dir}/python /usr/bin/pmpython ${THEIRS} -c ${config}`,
  )
  ours = await start(
    'ours',
    `/usr/bin/env PCP_VAR_DIR=${dir}/ours PCP_OPENMETRICS_CONFIG=${config} ${process.execPath} ${program} -d 144`,
  )
  await vi.waitFor(
    async () => {
      const isOurs = (name: string): boolean => !name.startsWith('openmetrics.control')
      const expected = (await names(theirs)).filter(isOurs)
      expect(expected.length).toBeGreaterThan(1000)
      expect((await names(ours)).filter(isOurs)).toEqual(expected)
    },
    { timeout: 60_000, interval: 500 },
  )
})

afterAll(async () => {
  await theirs?.stop()
  await ours?.stop()
  if (isThere) rmSync(dir, { recursive: true })
})

/** Returns why two lines of pminfo may differ; undefined if they must not. */
function reasonFor(their: string, our: string): Reason | undefined {
  const withoutLabels = (line: string): string => line.replace(/labels \{.*\}$/, 'labels')
  if (withoutLabels(their) === withoutLabels(our) && /\\/.test(our.replace(/.*labels/, '')))
    return 'labels with quotes or backslashes'
  if (their.replace('Units: none', 'Units: millisec') === our) return 'units of names with "milliseconds"'
  return undefined
}

describe.runIf(isThere)("beside PCP's openmetrics agent", () => {
  test('metrics have the same names, numbers, descriptors, texts, instances, labels and values', async () => {
    const all = (await names(theirs)).filter((name) => !name.startsWith('openmetrics.control'))
    const show = async (collector: TestCollector): Promise<string[]> =>
      (await run('pminfo', ['-h', collector.host, '-b', '100000', '-mdtTlf', ...all])).stdout.split('\n')
    const [their, our] = [await show(theirs), await show(ours)]
    const found = new Map<Reason, number>()
    expect(our.length).toBe(their.length)
    for (const [i, line] of their.entries()) {
      if (line === our[i]) continue
      const reason = reasonFor(line, our[i]!)
      if (reason === undefined) expect(our[i]).toBe(line)
      else found.set(reason, (found.get(reason) ?? 0) + 1)
    }
    const instances = their.filter((line) => /^ {4}(?:inst \[|value )/.test(line)).length
    console.log(
      `openmetrics: ${all.length} metrics with ${instances} values, ${their.length} lines the same but for`,
      [...found].map(([reason, count]) => `${count} (${reason}: PCP's agent ${KNOWN[reason]})`).join(', '),
    )
    expect(instances).toBeGreaterThan(3000)
  })

  test('its own metrics have the same numbers and descriptors, and there are more of them', async () => {
    const rows = async (collector: TestCollector): Promise<string[]> => {
      const { stdout } = await run('pminfo', ['-h', collector.host, '-md', 'openmetrics.control'])
      return stdout
        .split('\n\n')
        .map((block) => block.trim())
        .filter((block) => block !== '')
    }
    const [their, our] = [await rows(theirs), await rows(ours)]
    expect(their.length).toBe(6)
    expect(our).toEqual(expect.arrayContaining(their))
  })

  test('numbers are kept in the same files: each agent continues where the other stopped', async () => {
    const files = (at: string): string[] => readdirSync(join(dir, at, 'config', 'pmda')).sort()
    expect(files('ours')).toEqual(files('theirs'))
    const compared = await run('diff', ['-r', join(dir, 'theirs'), join(dir, 'ours')])
    expect(compared.stdout).toBe('')
    console.log(`openmetrics: ${files('ours').length} files of numbers are the same to the byte`)
  })
})
