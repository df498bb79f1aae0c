/**
 * One pmlogger that records many collectors: are all records there, and what does a collector cost?
 * `npm run bench -- farm [--collectors N] [--daemons N] [--sec N] [--interval SEC] [--dir DIR]`.
 *
 * A few collectors simulate many: each is recorded many times, into separate archives. Three rows of the
 * farm are broken, which must not affect the others: an unused port, a collector that is killed halfway, and a
 * stopped one, which accepts requests but never answers.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { labelSize } from '../../src/archive/label.ts'
import { secondsBetween } from '../../src/base/timestamp.ts'
import { PcpError } from '../../src/model/errors.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { type Candidate, startOurs } from './lib/collectors.ts'
import { freePort } from './lib/free-port.ts'
import { cpuMs, residentMb } from './lib/memory.ts'
import { quantile } from './lib/report.ts'

const METRICS = ['kernel.all', 'mem.util', 'disk.dev', 'network.interface', 'pmcd.pdu_in']
/** Share of an interval by which a record may be off before it counts as late. */
const TOLERANCE = 0.05

interface Row {
  readonly name: string
  readonly port: number
}

/** Contents of an archive, without the first and the last record. */
interface Found {
  readonly name: string
  readonly records: number
  /** Seconds between records. */
  readonly gaps: readonly number[]
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      collectors: { type: 'string', default: '500' },
      daemons: { type: 'string', default: '5' },
      sec: { type: 'string', default: '60' },
      interval: { type: 'string', default: '10' },
      dir: { type: 'string' },
    },
  })
  const [count, daemons, sec, interval] = [
    values.collectors,
    values.daemons,
    values.sec,
    values.interval,
  ].map(Number) as [number, number, number, number]
  const dir = values.dir ?? mkdtempSync(join(tmpdir(), 'pcp-ts-farm-'))
  mkdirSync(dir, { recursive: true })
  const collectors: Candidate[] = []
  try {
    for (let i = 0; i < daemons + 2; i++) collectors.push(await startOurs(process.cwd()))
    const good = collectors.slice(0, daemons)
    const [victim, sleeper] = collectors.slice(daemons) as [Candidate, Candidate]
    const rows = Array.from({ length: count }, (_, i) => ({ name: `c${i}`, port: good[i % daemons]!.port }))
    const broken = [
      { name: 'nobody', port: await freePort() },
      { name: 'victim', port: victim.port },
      { name: 'sleeper', port: sleeper.port },
    ]
    const farm = startFarm(dir, [...broken, ...rows], interval)
    const startedMs = await firstRecords(dir, rows, farm)
    console.log(`${count} collectors by ${daemons} daemons, every ${interval} s, ${METRICS.join(' ')}`)
    console.log(`the last archive had its first values after ${(startedMs / 1000).toFixed(1)} s`)
    const before = cpuMs(farm.pid!)
    const start = performance.now()
    await sleep((sec * 1000) / 2)
    process.kill(victim.pid, 'SIGKILL')
    process.kill(sleeper.pid, 'SIGSTOP')
    await sleep((sec * 1000) / 2)
    const [cpu, elapsed] = [cpuMs(farm.pid!) - before, performance.now() - start]
    const mb = residentMb(farm.pid!)
    console.log(`resident ${mb.toFixed(0)} MB, ${((mb * 1024) / count).toFixed(0)} KB a collector`)
    console.log(
      `CPU      ${((cpu / elapsed) * 100).toFixed(1)} % of one, ${((cpu / elapsed / count) * interval * 1000).toFixed(2)} ms a collector and interval`,
    )
    const stopping = performance.now()
    farm.kill('SIGTERM')
    await once(farm, 'exit')
    console.log(
      `ended    after ${((performance.now() - stopping) / 1000).toFixed(1)} s, status ${farm.exitCode}`,
    )
    report(await Promise.all(rows.map(({ name }) => look(dir, name))), sec, interval)
    for (const { name } of broken)
      console.log(
        `${name.padEnd(8)} ${existsSync(join(dir, `${name}.0`)) ? (await look(dir, name)).records : 'no'} records`,
      )
  } finally {
    // A stopped process only reacts to SIGKILL.
    for (const { pid } of collectors.slice(daemons)) killQuietly(pid)
    await Promise.all(collectors.map((collector) => collector.stop()))
    if (values.dir === undefined) rmSync(dir, { recursive: true })
  }
}

function startFarm(dir: string, rows: readonly Row[], interval: number): ChildProcess {
  writeFileSync(join(dir, 'all.conf'), `log on ${interval} sec { ${METRICS.join(' ')} }\n`)
  writeFileSync(
    join(dir, 'farm'),
    rows.map(({ name, port }) => `localhost:${port} ${name} all.conf\n`).join(''),
  )
  const args = [join(process.cwd(), 'bin', 'pmlogger'), '--farm', 'farm', '-V', '3', '-l', 'farm.log']
  const env = { ...process.env }
  delete env['NODE_EXTRA_CA_CERTS']
  return spawn(process.execPath, args, { cwd: dir, env, stdio: ['ignore', 'inherit', 'inherit'] })
}

/** Waits until every archive has values; resolves to the elapsed milliseconds. */
async function firstRecords(dir: string, rows: readonly Row[], farm: ChildProcess): Promise<number> {
  const start = performance.now()
  const waiting = new Set(rows.map(({ name }) => name))
  while (waiting.size > 0) {
    await sleep(200)
    if (farm.exitCode !== null || farm.signalCode !== null)
      throw new Error(`The farm ended: ${readFileSync(join(dir, 'farm.log'), 'utf8').slice(-1000)}`)
    for (const name of waiting) if (hasValues(join(dir, `${name}.index`))) waiting.delete(name)
  }
  return performance.now() - start
}

/** Checks whether the index has more entries than those of the label and the prologue. */
function hasValues(path: string): boolean {
  const entrySize = 32
  return existsSync(path) && readFileSync(path).length > labelSize(3) + entrySize
}

async function look(dir: string, name: string): Promise<Found> {
  const context = await openArchive(join(dir, name))
  const archive = context.archive!
  archive.setMode('forward', archive.start)
  const times: { sec: number; nsec: number }[] = []
  for (;;) {
    try {
      const { sets, timestamp } = archive.fetchRecord()
      // The prologue has five metrics, a mark none.
      if (sets.length > 5) times.push(timestamp)
    } catch (error) {
      if (PcpError.from(error).code !== 'PM_ERR_EOL') throw error
      break
    }
  }
  await context.close()
  return {
    name,
    records: times.length,
    gaps: times.slice(1).map((time, i) => secondsBetween(times[i]!, time)),
  }
}

function report(found: readonly Found[], sec: number, interval: number): void {
  const least = Math.min(...found.map(({ records }) => records))
  const gaps = found.flatMap(({ gaps: each }) => each).sort((a, b) => a - b)
  const missing = gaps.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / interval) - 1), 0)
  const late = gaps.filter((gap) => Math.abs(gap - interval) > interval * TOLERANCE).length
  const off = gaps.map((gap) => Math.abs(gap - interval) * 1000).sort((a, b) => a - b)
  console.log(
    `archives ${found.length}, with ${least} records or more of ${Math.floor(sec / interval) + 1} due`,
  )
  console.log(
    `records  ${gaps.length + found.length}, ${missing} missing, ${late} more than ${TOLERANCE * 100} % off the beat; off by ${quantile(off, 0.5).toFixed(1)} ms as a rule, ${quantile(off, 0.99).toFixed(0)} ms for 1 in 100, ${quantile(off, 1).toFixed(0)} ms at worst`,
  )
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it was killed already
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

await main()
