/**
 * Rules tried on 14 days at 10 s: this code in one process, as the page's worker runs it, and `pmie -a` of the reference, in turn. Counts
 * firings of both, and processor time, because real time depends on other load on the machine.
 * `npm run bench -- rules [--days N] [--rounds N]`
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Archive } from '../../src/archive/archive.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U64 } from '../../src/model/types.ts'
import { archiveContext } from '../../src/rules/archive-context.ts'
import { firings } from '../../src/rules/firings.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { EventLoopTurn } from '../../src/sys/event-loop.ts'
import { UTC } from '../../src/time/zone.ts'
import { table } from './lib/report.ts'

const { values } = parseArgs({
  options: { days: { type: 'string', default: '14' }, rounds: { type: 'string', default: '3' } },
})
const START = 1_700_000_000
const DISKS = 16
const OTHERS = 25

/** Writes loads, disks, and 400 values of other metrics, every 10 s. */
function writeDays(base: string, days: number): void {
  const made = new ArchiveImport(archiveOutput(base, { bufferBytes: 1 << 20 }), {
    version: 2,
    hostname: 'bench',
    timezone: 'UTC',
    pid: 1,
  })
  const load = made.addMetric('kernel.all.load', { type: PM_TYPE_FLOAT, indom: 'averages' })
  const idle = made.addMetric('kernel.all.cpu.idle', { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, units: 'ms' })
  const counter = { type: PM_TYPE_U64, sem: PM_SEM_COUNTER, units: 'count', indom: 'disks' }
  const total = made.addMetric('disk.dev.total', counter)
  const others = Array.from({ length: OTHERS }, (_, i) =>
    made.addMetric(`other.metric${i}`, { type: PM_TYPE_DOUBLE, indom: 'disks' }),
  )
  const names = Array.from({ length: DISKS }, (_, i) => `disk${i}`)
  const totals = names.map(() => 0)
  let idleMs = 0
  for (let n = 0; n <= days * 8640; n++) {
    const level = 3 + 2 * Math.sin(n / 100) + Math.sin(n / 7)
    for (const [name, factor] of [
      ['1 minute', 1],
      ['5 minute', 0.9],
      ['15 minute', 0.8],
    ] as const)
      made.put(load, level * factor, name)
    idleMs += Math.round(10_000 * (1 - level / 8))
    made.put(idle, idleMs)
    for (const [i, name] of names.entries()) {
      totals[i]! += Math.round(1000 + 900 * Math.sin(n / (50 + i)))
      made.put(total, totals[i]!, name)
      for (const other of others) made.put(other, level + i, name)
    }
    made.write({ sec: START + 10 * n, nsec: 0 })
  }
  made.close()
}

const RULES: readonly (readonly [name: string, text: string, delta: number])[] = [
  ['load, 10 s', `some_inst (kernel.all.load #'1 minute' > 4) -> print "load" " %v";`, 10],
  ['load, 1 min', `some_inst (kernel.all.load #'1 minute' > 4) -> print "load" " %v";`, 60],
  ['all disks, 10 s', 'all_inst (disk.dev.total > 100 count/sec) -> print "disks" " %i";', 10],
  ['some disk, 1 min', 'some_inst (disk.dev.total > 150 count/sec) -> print "disk" " %i %v";', 60],
  [
    'CPU and disks over 5 samples, 10 s',
    'all_sample (kernel.all.cpu.idle @0..4 < 0.5) && some_inst (disk.dev.total > 150 count/sec) -> print 5 min "busy %v";',
    10,
  ],
]

/** Returns the processor time of the reference in milliseconds, and its actions. */
function reference(args: readonly string[]): { readonly ms: number; readonly actions: number } | undefined {
  if (!existsSync('/usr/bin/pmie')) return undefined
  const script = `TIMEFORMAT='%3U %3S'; time "$@"`
  const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', '/usr/bin/pmie', ...args], {
    env: { PATH: '/usr/bin:/bin', TZ: 'UTC' },
    maxBuffer: 1 << 30,
  })
  const [, user, system] = /([\d.]+) ([\d.]+)\n$/.exec(String(stderr)) ?? []
  return { ms: 1000 * (Number(user) + Number(system)), actions: String(stdout).split('\n').length - 1 }
}

const directory = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
try {
  const base = join(directory, 'days')
  writeDays(base, Number(values.days))
  const rows: string[][] = []
  for (const [name, text, deltaSec] of RULES) {
    const file = join(directory, 'rules')
    writeFileSync(file, text)
    const [real, ours, theirs]: [number[], number[], number[]] = [[], [], []]
    let counts = ''
    for (let round = 0; round < Number(values.rounds); round++) {
      const start = performance.now()
      const before = process.cpuUsage()
      // Opening is part of it; values of this version's default interpolation are not the reference's, so the earlier one is used.
      const context = archiveContext(Archive.open(base, archiveFiles()), { nearest: false })
      const answer = await firings(
        context,
        { text, deltaSec },
        { name: 'days', zone: UTC, turn: new EventLoopTurn() },
      )
      const { user, system } = process.cpuUsage(before)
      real.push(performance.now() - start)
      ours.push((user + system) / 1000)
      const other = reference(['-q', '-a', base, '-t', String(deltaSec), '-c', file])
      if (other !== undefined) theirs.push(other.ms)
      counts = `${answer.rules.reduce((sum, rule) => sum + rule.count, 0)} / ${other?.actions ?? '-'}`
    }
    const [mine, other] = [Math.min(...ours), Math.min(...theirs)]
    rows.push([
      name,
      `${Math.min(...real).toFixed(0)} ms`,
      `${mine.toFixed(0)} ms`,
      theirs.length === 0 ? '' : `${other.toFixed(0)} ms`,
      theirs.length === 0 ? '' : `${(other / mine).toFixed(1)} times`,
      counts,
    ])
  }
  console.log(table([['rule', 'real time', 'processor time', 'reference', 'less', 'firings'], ...rows]))
} finally {
  rmSync(directory, { recursive: true, force: true })
}
