/**
 * A logger that writes 100 results a second is killed at random moments: what it leaves must be an archive without a gap.
 * Volumes of 20 results, and instances that come and go, put kills into volume switches, metadata and index writes.
 * `npm run kills` does it 500 times; otherwise a few times.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { Archive } from '../../src/archive/archive.ts'
import { labelSize } from '../../src/archive/label.ts'
import { secondsBetween } from '../../src/base/timestamp.ts'
import { isError, PcpError } from '../../src/model/errors.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import { extract } from '../../src/model/value-set.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { Context } from '../../src/pmapi/context.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { bundleTools } from '../lib/bundle-tools.ts'

const KILLS = Number(process.env['PCP_TS_KILLS'] ?? 10)
const SEED = Number(process.env['PCP_TS_SEED'] ?? Date.now() % 2 ** 31)
/** Loggers at work at the same time, each with a collector of its own. */
const PARALLEL = 2
/** Milliseconds from the first record until the kill, at most. */
const LIFE_MS = 1500
/** How often the instances change. */
const CHANGE_MS = 40
const NUMFETCH = pmid(253, 0, 0)
const DYNAMIC = indom(29, 7)
const PMLOGCHECK = '/usr/bin/pmlogcheck'

let dir: string
let changing: NodeJS.Timeout
const collectors: ChildProcess[] = []

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pmlogger-kills-'))
  await bundleTools(dir, { pmcd: 'pmcd.ts', pmlogger: 'pmlogger.ts' })
  writeFileSync(
    join(dir, 'pcp.conf'),
    ['RUN', 'TMP', 'SYSCONF', 'VAR', 'PMDAS'].map((name) => `PCP_${name}_DIR=${dir}\n`).join('') +
      `PCP_PMCDCONF_PATH=${dir}/pmcd.conf\n`,
  )
  writeFileSync(
    join(dir, 'root'),
    'root { sample simple }\nsample { ordinal 29:0:156 dynamic 29:0:78 }\nsimple { numfetch 253:0:0 }\n',
  )
  writeFileSync(
    join(dir, 'pmcd.conf'),
    'sample 29 dso sample_init /lib/pmda_sample.so\nsimple 253 dso simple_init /lib/pmda_simple.so\n',
  )
  writeFileSync(join(dir, 'l.conf'), 'log on 10 msec { simple.numfetch sample.ordinal sample.dynamic }\n')
  mkdirSync(join(dir, 'sample'))
  let round = 0
  changing = setInterval(() => changeInstances(round++), CHANGE_MS)
}, 120_000)
afterAll(() => {
  clearInterval(changing)
  for (const collector of collectors) collector.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

/** Other instances of sample.dynamic: three of ten, which move by one each round. */
function changeInstances(round: number): void {
  const ids = [0, 1, 2].map((i) => (round + i) % 10)
  const path = join(dir, 'sample', 'dynamic.indom')
  writeFileSync(`${path}.new`, ids.map((id) => `${id} instance-${id}\n`).join(''))
  renameSync(`${path}.new`, path)
}

/** Starts a collector; resolves to its port. */
async function startCollector(): Promise<number> {
  const port = await freePort()
  const log = `pmcd-${port}.log`
  const socket = join(dir, `${port}.socket`)
  collectors.push(start('pmcd', '-f', '-p', String(port), '-s', socket, '-n', 'root', '-l', log))
  const text = (): string => (existsSync(join(dir, log)) ? readFileSync(join(dir, log), 'utf8') : '')
  while (!text().includes(`${port} inet`)) await pause(20)
  return port
}

function start(name: string, ...args: string[]): ChildProcess {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PCP_CONF: join(dir, 'pcp.conf'),
    PCP_PMDAS_DIR: dir,
    PMLOGGER_LOCAL: '1',
    PMLOGGER_PORT: '0',
  }
  delete env['NODE_EXTRA_CA_CERTS']
  return spawn(process.execPath, [join(dir, `${name}.cjs`), ...args], { cwd: dir, env, stdio: 'ignore' })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Numbers from 0 to 1 that follow from a seed. */
function* randoms(seed: number): Generator<number> {
  let state = seed >>> 0
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    yield state / 2 ** 32
  }
}

/** Starts a logger and kills it so long after its archive begins; says what is wrong with what is left. */
async function killOne(port: number, base: string, lifeMs: number): Promise<string[]> {
  const logger = start(
    'pmlogger',
    '-h',
    `localhost:${port}`,
    '-c',
    'l.conf',
    '-l',
    `${base}.log`,
    '-v',
    '20',
    '-V',
    '3',
    base,
  )
  const gone = once(logger, 'exit')
  while (!existsSync(join(dir, `${base}.index`))) await pause(2)
  await pause(lifeMs)
  logger.kill('SIGKILL')
  await gone
  return problemsOf(base)
}

async function problemsOf(base: string): Promise<string[]> {
  const path = join(dir, base)
  // Killed before the first record was complete: there is nothing to read yet.
  if ((statSync(`${path}.0`, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    hit.first++
    return []
  }
  const problems: string[] = []
  const context = await openArchive(path, { onWarning: ({ message }) => problems.push(message) }).catch(
    (error) => {
      const { code, message } = PcpError.from(error)
      if (code !== 'PM_ERR_NODATA') problems.push(message)
      return undefined
    },
  )
  if (context === undefined) return problems
  problems.push(...gapsIn(context))
  takeNote(path)
  await context.close()
  if (existsSync(PMLOGCHECK)) {
    const { stdout, stderr, status } = spawnSync(PMLOGCHECK, [path], { encoding: 'utf8' })
    // A volume that was just begun is told of, and is fine.
    const told = (stdout + stderr)
      .split('\n')
      .filter((line) => line !== '' && !/contains no PCP data$/.test(line))
    if (status !== 0 || told.length > 0) problems.push(`pmlogcheck: ${status} ${told.join('; ')}`)
  }
  return problems
}

let results = 0
let volumes = 0
/** Changes of instances in what was left. */
let snapshots = 0
/** Kills that hit before the first record, behind a volume's label, between metadata and their record, between a record and its index entry. */
const hit = { first: 0, volume: 0, metadata: 0, index: 0 }

/** Counts in the midst of what a kill came. */
function takeNote(path: string): void {
  const archive = Archive.open(path, archiveFiles())
  const { index, volumes } = archive.members[0]!
  const last = volumes.at(-1)!
  if (statSync(last.path).size <= labelSize(3)) hit.volume++
  else if (!index?.volume.includes(last.number)) hit.index++
  const seen = archive.metadata.snapshots(DYNAMIC)
  snapshots += seen.length
  const newest = seen.at(-1)
  const end = archive.end()
  if (newest !== undefined && !isError(end) && secondsBetween(end, newest) > 0) hit.metadata++
  archive.close()
}

/** Nobody else fetches: the agent's count of fetches grows by one with every record. */
function gapsIn(context: Context): string[] {
  const control = context.archive!
  control.setMode('forward', control.start)
  let last: number | undefined
  for (;;) {
    try {
      const set = control.fetchRecord().sets.find((candidate) => candidate.pmid === NUMFETCH)
      results++
      if (set === undefined || set.status < 1) continue
      const count = Number(extract(set, 0, PM_TYPE_U32))
      if (last !== undefined && count !== last + 1) return [`the record after ${last} is ${count}`]
      last = count
    } catch (error) {
      const { code, message } = PcpError.from(error)
      return code === 'PM_ERR_EOL' ? [] : [message]
    }
  }
}

test(`${KILLS} kills leave archives without a gap (seed ${SEED})`, { timeout: 3_600_000 }, async () => {
  const random = randoms(SEED)
  const failures: string[] = []
  let done = 0
  const worker = async (): Promise<void> => {
    const port = await startCollector()
    while (done < KILLS) {
      const base = `a${done++}`
      const lifeMs = random.next().value! * LIFE_MS
      const problems = await killOne(port, base, lifeMs)
      failures.push(...problems.map((problem) => `${base} after ${lifeMs.toFixed(1)} ms: ${problem}`))
      const files = readdirSync(dir).filter((name) => name.startsWith(`${base}.`))
      volumes += files.length - 3
      if (problems.length === 0) for (const name of files) rmSync(join(dir, name))
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  console.log(
    `kills: ${KILLS}, seed ${SEED}: ${results} records in ${volumes} volumes with ${snapshots} changes of instances read back; ` +
      `${hit.first} before the first record, ${hit.volume} behind the label of a volume, ` +
      `${hit.metadata} between metadata and record, ${hit.index} between record and index entry`,
  )
  expect(failures).toEqual([])
  expect(snapshots).toBeGreaterThan(KILLS)
  expect(results).toBeGreaterThan(KILLS)
})
