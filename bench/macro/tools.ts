/**
 * Monitoring tools as whole processes, ours and the reference's in turn: with an archive of many samples, and with the least possible work.
 * Reports the lowest CPU time of all rounds, because real time depends on other load on the machine.
 * `npm run bench -- tools [--samples N] [--rounds N] [--tool NAME]`
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { table } from './lib/report.ts'

const { values } = parseArgs({
  options: {
    samples: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    tool: { type: 'string', default: '' },
  },
})
const top = process.cwd()
const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
const archive = join(dir, 'long')
const env: NodeJS.ProcessEnv = { ...process.env, TZ: 'UTC', PCP_DERIVED_CONFIG: '' }
delete env['NODE_EXTRA_CA_CERTS']

/** Writes sixteen disks with two counters, four levels, and the metrics of pmstat, ten seconds apart. */
function writeArchive(samples: number): void {
  const made = new ArchiveImport(archiveOutput(archive, { bufferBytes: 1 << 20 }), {
    version: 2,
    hostname: 'bench',
    timezone: 'UTC',
    pid: 1,
  })
  const counters = ['read', 'write'].map((name) =>
    made.addMetric(`disk.dev.${name}`, { type: 3, sem: 1, units: 'count', indom: 'disks' }),
  )
  const levels = ['a', 'b', 'c', 'd'].map((name) => made.addMetric(`level.${name}`, { type: 5 }))
  const load = made.addMetric('kernel.all.load', { type: 4, indom: 'averages' })
  const system = ['disk.all.read', 'disk.all.write', 'kernel.all.intr', 'kernel.all.pswitch'].map((name) =>
    made.addMetric(name, { type: 3, sem: 1, units: 'count' }),
  )
  for (let n = 0; n < samples; n++) {
    made.put(load, 1 + Math.sin(n / 10), '1 minute')
    for (const [i, counter] of system.entries()) made.put(counter, n * (100 + i))
    for (const counter of counters)
      for (let disk = 0; disk < 16; disk++)
        made.put(counter, n * (disk + 7), `sd${String.fromCharCode(97 + disk)}`)
    for (const [i, level] of levels.entries()) made.put(level, Math.sin(n / (i + 3)))
    made.write({ sec: 1_700_000_000 + n * 10, nsec: 0 })
  }
  made.close()
}

interface Job {
  readonly name: string
  readonly tool: string
  readonly args: readonly string[]
}

const RULES = join(dir, 'rules')
const RULES_TEXT = `
some_inst disk.dev.read > 2 count/sec && avg_inst disk.dev.write > 1 -> print "busy" " %i=%v";
avg_sample level.a @0..9 > 0.5 -> print "high %v";
sum_inst (disk.dev.read + disk.dev.write) > 30 -> syslog 1 hour "all %v";
ruleset level.b > 0.9 -> print "b" else level.c > 0.9 -> print "c" otherwise -> print "none";
`

const METRICS = ['disk.dev.read', 'disk.dev.write', 'level']
const JOBS: readonly Job[] = [
  { name: 'pmrep, all records', tool: 'pmrep', args: ['-a', archive, '-u', '-p', ...METRICS] },
  {
    name: 'pmrep, interpolated CSV',
    tool: 'pmrep',
    args: ['-a', archive, '-t', '10', '-o', 'csv', ...METRICS],
  },
  { name: 'pmrep, two samples', tool: 'pmrep', args: ['-a', archive, '-t', '10', '-s', '2', 'level'] },
  { name: 'pmie, rules over all', tool: 'pmie', args: ['-q', '-a', archive, '-t', '10', '-c', RULES] },
  {
    name: 'pmie, with values',
    tool: 'pmie',
    args: ['-q', '-V', '-a', archive, '-t', '10', '-c', RULES],
  },
  {
    name: 'pmie, a minute',
    tool: 'pmie',
    args: ['-q', '-a', archive, '-t', '10', '-T', '1min', '-c', RULES],
  },
  { name: 'pmie, rules checked', tool: 'pmie', args: ['-C', '-a', archive, '-c', RULES] },
  {
    name: 'pmstat, all',
    tool: 'pmstat',
    args: ['-a', archive, '-t', '10', '-s', String(Number(values.samples) - 2)],
  },
  { name: 'pmstat, five lines', tool: 'pmstat', args: ['-a', archive, '-t', '10', '-s', '5'] },
  { name: 'pmdumptext, all', tool: 'pmdumptext', args: ['-a', archive, '-t', '10', ...METRICS] },
  {
    name: 'pmdumptext, five lines',
    tool: 'pmdumptext',
    args: ['-a', archive, '-t', '10', '-s', '5', 'level.a'],
  },
]

/** Returns the user and system CPU time of a command in milliseconds, as reported by bash. */
function timed(program: string, args: readonly string[]): number {
  const { status, stderr } = spawnSync(
    'bash',
    ['-c', `TIMEFORMAT='%3U %3S'; time "$@"`, 'bash', program, ...args],
    {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const [, user, system] = /([\d.]+) ([\d.]+)\n$/.exec(String(stderr)) ?? []
  if (status !== 0 || user === undefined) throw new Error(`${program} ${args.join(' ')}: ${String(stderr)}`)
  return 1000 * (Number(user) + Number(system))
}

try {
  writeArchive(Number(values.samples))
  writeFileSync(RULES, RULES_TEXT)
  const rows: string[][] = []
  for (const { name, tool, args } of JOBS) {
    if (values.tool !== '' && values.tool !== tool) continue
    const [ours, theirs] = [join(top, 'bin', tool), join('/usr/bin', tool)]
    const times: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] }
    for (let round = 0; round < Number(values.rounds); round++) {
      times.ours.push(timed(ours, args))
      if (existsSync(theirs)) times.theirs.push(timed(theirs, args))
    }
    const [mine, other] = [Math.min(...times.ours), Math.min(...times.theirs)]
    const ratio = times.theirs.length === 0 ? '' : `${(other / mine).toFixed(1)} times`
    rows.push([
      name,
      `${mine.toFixed(0)} ms`,
      times.theirs.length === 0 ? '' : `${other.toFixed(0)} ms`,
      ratio,
    ])
  }
  console.log(table([['processor time of', 'ours', 'reference', 'less'], ...rows]))
} finally {
  rmSync(dir, { recursive: true, force: true })
}
