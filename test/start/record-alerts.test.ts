/** Alerts of the user's own rules, evaluated over a made-up archive: holdoffs, intervals, other branches, lost connections. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Alert, readAlerts } from '../../src/alerts/events.ts'
import { RESUME_SEC } from '../../src/alerts/tracker.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { bytesSource } from '../../src/base/byte-source.ts'
import { PM_SEM_INSTANT, PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { Context } from '../../src/pmapi/context.ts'
import { newCounts } from '../../src/pmie/replay-run.ts'
import { deliver } from '../../src/rules/host.ts'
import { archiveHosts } from '../../src/rules/hosts.ts'
import { loadRules } from '../../src/rules/load.ts'
import { replay } from '../../src/rules/replay.ts'
import { AlertLog } from '../../src/start/alert-log.ts'
import { recordAlerts } from '../../src/start/start-alerts.ts'
import { UTC } from '../../src/time/zone.ts'

const START = 1_700_000_000
const STEP = 10
/** The level is high for half an hour, then low. */
const [HIGH_SEC, LENGTH] = [1800, 3000]

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'record-alerts-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Opens an archive of a level: 10, and after half an hour 0. */
async function opened(): Promise<Context> {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'made', timezone: 'UTC', pid: 1 })
  made.addMetric('made.level', { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT })
  for (let t = 0; t <= LENGTH; t += STEP) {
    made.put('made.level', t <= HIGH_SEC ? 10 : 0)
    made.write({ sec: START + t, nsec: 0 })
  }
  made.close()
  const files = new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
  return await openArchive('made', {
    files: {
      isDirectory: (path) => path === '.',
      list: () => [...files.keys()],
      open: (path) => bytesSource(files.get(path.replace(/^\.\//, ''))!),
    },
    env: {},
  })
}

interface Recorded {
  /** Name, beginning, end and worst value; times since the start. */
  readonly alerts: readonly unknown[]
  /** The log's time after the evaluations at a time since the start. */
  readonly touchedAt: ReadonlyMap<number, number>
}

/** Evaluates rules; the collector is away from the first time of `lost` up to before the second one, since the start. */
async function recorded(text: string, lost: readonly [number, number] = [0, 0]): Promise<Recorded> {
  const context = await opened()
  const problems: string[] = []
  const { signal } = new AbortController()
  const reporter = {
    print: (line: string) => problems.push(line),
    log: (_: string, line: string) => problems.push(line),
  }
  const hosts = archiveHosts([{ name: 'made', context }])
  const { tasks } = await loadRules([{ name: 'own', text }], STEP, {
    ...{ hosts, reporter, signal },
    zone: UTC,
    showsPlaces: true,
  })
  const path = join(dir, 'alerts.jsonl')
  const record = recordAlerts(new AlertLog(path), { tasks, isDefault: false }, reporter, () => START * 1000)
  const touchedAt = new Map<number, number>()
  const window = { origin: { sec: START, nsec: 0 }, finish: { sec: START + LENGTH, nsec: 0 } }
  const turn = { shouldYield: () => false, yield: async () => undefined }
  await replay(tasks, window, signal, turn, (task, { sec }) => {
    const t = sec - START
    if (t >= lost[0] && t < lost[1]) for (const { ready } of task.hosts) deliver(ready.feeds, undefined)
    const done = task.evaluate(sec, { counts: newCounts(), file: 'own', perform: () => true })
    expect(done).toBeUndefined()
    record(task, sec)
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats !== undefined) touchedAt.set(t, stats.mtimeMs / 1000 - START)
  })
  await context.close()
  expect(problems).toEqual([])
  const shown = ({ rule, at, until, value }: Alert): unknown[] => [
    rule,
    at - START,
    until === null ? null : until - START,
    value,
  ]
  return { alerts: readAlerts(readFileSync(path, 'utf8')).map(shown), touchedAt }
}

test('a rule that stays true is one alert, whatever the holdoff of its action', async () => {
  const { alerts } = await recorded('held = made.level > 5 -> print 10 min "%v";')
  expect(alerts).toEqual([['held', 0, HIGH_SEC, 10]])
})

test('a rule with a long interval beside one with a short one is one alert', async () => {
  const { alerts } = await recorded(
    'delta = 200 sec; slow = made.level > 5 -> print "%v";\ndelta = 10 sec; fast = made.level > 6 -> print "%v";',
  )
  expect(alerts).toEqual([
    ['slow', 0, HIGH_SEC, 10],
    ['fast', 0, HIGH_SEC, 10],
  ])
})

test('only conditions raise alerts: no other branch, and no action without a condition', async () => {
  const { alerts } = await recorded(`
    branches = ruleset made.level > 50 -> print "a" else made.level > 5 -> print "b %v"
      unknown -> print "c" otherwise -> print "d";
    never = ruleset made.level > 50 -> print "a" unknown -> print "c" otherwise -> print "d";
    early = ruleset all_sample (made.level @0..290 > 50) -> print "a" unknown -> print "c";
    always = print "e";
    expression = made.level > 5;
  `)
  expect(alerts).toEqual([['branches', 0, HIGH_SEC, 10]])
})

test('while no values arrive, alerts stay active and the log keeps the time of the last evaluation', async () => {
  const { alerts, touchedAt } = await recorded('level = made.level > 5 -> print "%v";', [600, 1200])
  expect(alerts).toEqual([['level', 0, HIGH_SEC, 10]])
  expect([590, 600, 1190, 1200].map((t) => touchedAt.get(t))).toEqual([590, 590, 590, 1200])
})

test('an alert that does not return after an interruption ends at the last evaluation before it', async () => {
  const rule = 'level = made.level > 5 -> print "%v";'
  const { alerts } = await recorded(rule, [1700, 2000])
  expect(alerts).toEqual([['level', 0, 1690, 10]])
  expect(2000 + RESUME_SEC).toBeLessThan(LENGTH)
})

test('a rule that needs no values is evaluated without any', async () => {
  const { alerts } = await recorded('ever = $hour >= 0 -> print "now";', [0, LENGTH + STEP])
  expect(alerts).toEqual([['ever', 0, null, null]])
})
