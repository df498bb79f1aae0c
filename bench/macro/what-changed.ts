/**
 * Ranking what changed: the speed for 2,000 series over an hour at 10 s, and how often the cause of the planted incidents is in the top five.
 * `npm run bench -- what-changed [--seeds 1-10] [--rounds N]`
 * `npm run bench -- what-changed --archive BASE`: the places of effects that are added to a recording of half an hour or more
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { changeInput } from '../../src/analysis/open-archive.ts'
import { whatChanged } from '../../src/analysis/what-changed.ts'
import { Archive } from '../../src/archive/archive.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_TYPE_U64 } from '../../src/model/types.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import type { Difficulty } from '../../test/analysis/lib/incident-archive.ts'
import { INCIDENTS } from '../../test/analysis/lib/incidents.ts'
import { random } from '../../test/analysis/lib/random.ts'
import { placeOf } from '../../test/analysis/lib/score.ts'
import { effectsTable } from './lib/planted-effects.ts'
import { median, table } from './lib/report.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1-5' },
    rounds: { type: 'string', default: '5' },
    archive: { type: 'string' },
  },
})
const START = 1_700_000_000
const HOUR = 3600
const METRICS = 80
const INSTANCES = Array.from({ length: 25 }, (_, i) => `instance${i}`)

/** Writes two hours of 2,000 series, half of them counters, of which a tenth change in the second hour. */
function writeHours(base: string): void {
  const rng = random(1)
  const made = new ArchiveImport(archiveOutput(base, { bufferBytes: 1 << 20 }), {
    hostname: 'bench',
    timezone: 'UTC',
    pid: 1,
  })
  const metrics = Array.from({ length: METRICS }, (_, i) =>
    made.addMetric(`bench.group${i % 9}.metric${i}`, {
      type: i % 2 === 0 ? PM_TYPE_U64 : PM_TYPE_DOUBLE,
      sem: i % 2 === 0 ? PM_SEM_COUNTER : PM_SEM_INSTANT,
      indom: 'bench.instances',
    }),
  )
  const totals = metrics.map(() => INSTANCES.map(() => 0))
  for (let second = 0; second <= 2 * HOUR; second += 10) {
    for (const [m, metric] of metrics.entries())
      for (const [i, instance] of INSTANCES.entries()) {
        const level = 1000 * rng.around(0.1) * (m % 10 === 3 && second > 1.2 * HOUR ? 2 : 1)
        totals[m]![i]! += Math.round(level)
        made.put(metric, m % 2 === 0 ? totals[m]![i]! : level, instance)
      }
    made.write({ sec: START + second, nsec: 0 })
  }
  made.close()
}

const DIFFICULTIES: readonly (readonly [name: string, difficulty: Difficulty])[] = [
  ['full effect', {}],
  ['two fifths of the effect', { strength: 0.4 }],
  ['a fifth of the effect', { strength: 0.2 }],
  ['over after 5 of 30 minutes', { lastsSec: 300 }],
]

async function speed(base: string): Promise<string> {
  const times: number[] = []
  let series = 0
  for (let round = 0; round < Number(values.rounds); round++) {
    // Opening is part of it, as nothing may be cached.
    const start = performance.now()
    const { archive, metrics } = changeInput(Archive.open(base, archiveFiles()))
    const span = { start: START + HOUR, finish: START + 2 * HOUR }
    series = (await whatChanged(archive, metrics, { span })).series
    times.push(performance.now() - start)
  }
  return `${series} series, two windows of an hour at 10 s: ${median(times).toFixed(0)} ms, first ${times[0]!.toFixed(0)} ms`
}

/** Counts the rows ranked without an incident; the model has small, unrelated changes all the time. */
async function falseAlarms(first: number, last: number): Promise<string> {
  const scores: number[] = []
  for (let seed = first; seed <= last; seed++) {
    const { report } = await placeOf(mkdtempSync(`${directory}/`), undefined, seed)
    scores.push(...report.changes.map(({ score }) => score))
  }
  const above = (least: number): number => scores.filter((score) => score >= least).length
  return `without an incident, ${last - first + 1} recordings: ${scores.length} changes, ${above(0.15)} of them clear (0.15), ${above(0.5)} above 0.5`
}

if (values.archive !== undefined) {
  console.log(await effectsTable(values.archive))
  process.exit()
}
const directory = mkdtempSync(join(tmpdir(), 'pcp-ts-bench-'))
try {
  const base = join(directory, 'hours')
  writeHours(base)
  console.log(await speed(base))
  const [first, last = first] = values.seeds.split('-').map(Number)
  const rows: string[][] = [
    ['incidents', 'seeds', 'in the top five', 'first', 'named in the top five rows', 'missed'],
  ]
  for (const [name, difficulty] of DIFFICULTIES) {
    const missed = new Map<string, number>()
    let [hits, tops, named] = [0, 0, 0]
    for (let seed = first!; seed <= last!; seed++)
      for (const incident of INCIDENTS) {
        const { place, row } = await placeOf(mkdtempSync(`${directory}/`), incident, seed, difficulty)
        if (place === 1) tops++
        if (row <= 5) named++
        if (place <= 5) hits++
        else missed.set(incident.name, (missed.get(incident.name) ?? 0) + 1)
      }
    const all = INCIDENTS.length * (last! - first! + 1)
    const which = [...missed].map(([incident, count]) => `${incident} ${count}`).join(', ')
    rows.push([name, values.seeds, `${hits} of ${all}`, String(tops), String(named), which || '-'])
  }
  console.log(table(rows))
  console.log(await falseAlarms(first!, last!))
} finally {
  rmSync(directory, { recursive: true })
}
