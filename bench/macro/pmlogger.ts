/**
 * Cost of recording: CPU time and memory of pmlogger, ours and the reference's on the same collector at the same time,
 * and of one process that records many collectors. Some of our collectors simulate many, each with many
 * connections, which the logger cannot distinguish from separate collectors. `npm run bench -- pmlogger [--seconds N] [--farm N]
 * [--collectors N]`
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openArchive } from '../../src/pmapi/archive.ts'
import { type Candidate, startOurs } from './lib/collectors.ts'
import { residentMb } from './lib/memory.ts'
import { table } from './lib/report.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    farm: { type: 'string', default: '500' },
    collectors: { type: 'string', default: '4' },
  },
})
const seconds = Number(values.seconds)
const members = Number(values.farm)
const top = process.cwd()
const REFERENCE = '/usr/bin/pmlogger'
const METRICS = 'kernel.all kernel.percpu.cpu mem.util mem.vmstat disk.dev disk.all network.interface'
/** Milliseconds between the records of a single logger, and of a farm. */
const EVERY = 250
const FARM_EVERY = 10_000
/** Time over which a farm spreads its first records, ms. */
const SPREAD = 10_000

/** Returns the CPU time of all threads of a process so far, ms. */
function cpuMs(pid: number): number {
  const tasks = `/proc/${pid}/task`
  const nanos = readdirSync(tasks).map((task) =>
    Number(readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ')[0]),
  )
  return nanos.reduce((sum, each) => sum + each, 0) / 1e6
}

interface Logger {
  readonly name: string
  readonly archive: string
  readonly child: ChildProcess
}

function launch(name: string, command: string, dir: string, args: readonly string[]): Logger {
  const archive = join(dir, name)
  // With derived metrics, 6.0.3 complains about every record and dumps it, which takes most of its time.
  const env: NodeJS.ProcessEnv = { ...process.env, PCP_DERIVED_CONFIG: '' }
  delete env['NODE_EXTRA_CA_CERTS']
  const child = spawn(command, ['-l', join(dir, `${name}.log`), ...args], { env, cwd: dir, stdio: 'ignore' })
  return { name, archive, child }
}

async function stop({ child }: Logger): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await gone
}

/** Returns the number of an archive's records, and the longest gap between two of them in seconds. */
async function recorded(archive: string): Promise<{ records: number; gap: number }> {
  const context = await openArchive(archive)
  let records = 0
  let gap = 0
  let last = Number.NaN
  for (const { timestamp, sets } of context.archive!.records()) {
    if (sets.length === 0) continue
    const time = timestamp.sec + timestamp.nsec / 1e9
    if (time - last > gap) gap = time - last
    last = time
    records++
  }
  await context.close()
  return { records, gap }
}

/** Measures one collector, recorded by each logger. */
async function alone(dir: string, config: string, collector: Candidate): Promise<void> {
  const commands: [string, string][] = [['ours', join(top, 'bin', 'pmlogger')]]
  if (existsSync(REFERENCE)) commands.push(['reference', REFERENCE])
  const host = `localhost:${collector.port}`
  const loggers = commands.map(([name, command]) =>
    launch(name, command, dir, ['-h', host, '-c', config, '-t', `${EVERY}msec`, join(dir, name)]),
  )
  await sleep(5000)
  const before = loggers.map(({ child }) => cpuMs(child.pid!))
  await sleep(seconds * 1000)
  const samples = (seconds * 1000) / EVERY
  const rows = loggers.map(({ name, child, archive }, i) => [
    name,
    ((cpuMs(child.pid!) - before[i]!) / samples).toFixed(2),
    residentMb(child.pid!).toFixed(0),
    (statSync(`${archive}.0`).size / 1e6).toFixed(1),
  ])
  await Promise.all(loggers.map(stop))
  for (const [i, { archive }] of loggers.entries()) {
    const { records, gap } = await recorded(archive)
    rows[i]!.push(String(records), gap.toFixed(2))
  }
  const head = ['one collector', 'CPU ms a record', 'resident MB', 'archive MB', 'records', 'longest gap s']
  console.log(table([head, ...rows]))
}

/** Measures many collectors, recorded by one process. */
async function farm(dir: string, config: string, collectors: readonly Candidate[]): Promise<void> {
  const file = join(dir, 'farm')
  const archives = Array.from({ length: members }, (_, i) => join(dir, `farm-${i}`))
  const line = (archive: string, i: number): string =>
    `localhost:${collectors[i % collectors.length]!.port} ${archive} ${config} interval=${FARM_EVERY / 1000}sec label=host${i}\n`
  writeFileSync(file, archives.map(line).join(''))
  const logger = launch('farm', join(top, 'bin', 'pmlogger'), dir, ['--farm', file])
  const start = performance.now()
  while (!archives.every((archive) => existsSync(`${archive}.0`))) {
    if (logger.child.exitCode !== null) throw new Error('The farm has ended')
    await sleep(500)
  }
  const started = (performance.now() - start) / 1000
  const startCpu = cpuMs(logger.child.pid!)
  await sleep(Math.max(0, SPREAD - 1000 * started) + FARM_EVERY)
  const before = cpuMs(logger.child.pid!)
  const window = Math.max(seconds * 1000, 3 * FARM_EVERY)
  await sleep(window)
  const spent = cpuMs(logger.child.pid!) - before
  const resident = residentMb(logger.child.pid!)
  await stop(logger)
  const found = await Promise.all(archives.map(recorded))
  const records = found.map((each) => each.records)
  const least = Math.min(...records)
  const gap = Math.max(...found.map((each) => each.gap))
  console.log(
    `\n${members} collectors (${collectors.length} processes) in one process at ${FARM_EVERY / 1000} s:`,
  )
  console.log(
    `all begun after ${started.toFixed(0)} s (${(startCpu / members).toFixed(0)} ms of processor time each); then ` +
      `${((100 * spent) / window).toFixed(1)} % of a processor, ${(spent / ((members * window) / FARM_EVERY)).toFixed(2)} ms a record, ` +
      `${resident.toFixed(0)} MB resident (${(resident / members).toFixed(2)} a collector), ` +
      `${least} to ${Math.max(...records)} records each, longest gap ${gap.toFixed(2)} s`,
  )
}

const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
const collectors: Candidate[] = []
try {
  const config = join(dir, 'config')
  writeFileSync(config, `log mandatory on default {\n${METRICS.split(' ').join('\n')}\n}\n`)
  collectors.push(await startOurs(top))
  await alone(dir, config, collectors[0]!)
  if (members > 0) {
    while (collectors.length < Number(values.collectors)) collectors.push(await startOurs(top))
    await farm(dir, config, collectors)
  }
} finally {
  await Promise.all(collectors.map((collector) => collector.stop()))
  rmSync(dir, { recursive: true, force: true })
}
