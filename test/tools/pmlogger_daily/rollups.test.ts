/** Rollups in the directories of pmlogger_daily: made where there are some, removed with their archives. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { columnsPath, HOUR, MINUTE, rollupBytes, rollupPath } from '../../../src/series/columns/places.ts'
import { openReporter } from '../../../src/tools/lib/admin/reporter.ts'
import { parseOptions } from '../../../src/tools/lib/options.ts'
import { cull } from '../../../src/tools/pmlogger_daily/cull.ts'
import type { DirectoryJob } from '../../../src/tools/pmlogger_daily/job.ts'
import { renewRollups } from '../../../src/tools/pmlogger_daily/rollups.ts'
import { OPTIONS, settingsOf } from '../../../src/tools/pmlogger_daily/settings.ts'
import { writeHost } from '../../series/lib.ts'
import { testIo } from '../run-tool.ts'

const NOW = Date.UTC(2026, 10, 22, 12)

let directory = ''
let dir = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'daily-rollups-'))
  dir = join(directory, 'here')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

function jobOf(args: readonly string[] = [], current: string | undefined = undefined) {
  const io = { ...testIo('pmlogger_daily', args), now: () => NOW }
  const settings = settingsOf(parseOptions(OPTIONS, io), io)
  const reporter = openReporter(io, {
    showsOnly: settings.showsOnly,
    verbosity: 0,
    logPath: undefined,
    subject: 'logging',
    warnsWithColon: true,
  })
  const instance = { where: { file: 'control', line: 1 }, host: 'here' } as DirectoryJob['instance']
  const job: DirectoryJob = {
    instance,
    dir,
    settings,
    policy: settings.policy,
    reporter,
    io,
    owner: undefined,
    current,
  }
  return { job, io }
}

/** Writes an archive that was changed some days ago. */
function archive(file: string, days: number): string {
  const base = writeHost(directory, 'here', { file })
  const time = NOW / 1000 - days * 86_400
  for (const part of ['meta', 'index', '0']) utimesSync(`${base}.${part}`, time, time)
  return base
}

test('rollups are made where there is a directory for them, and not of the current archive', async () => {
  const [old, current] = [archive('20261120', 2), archive('20261122', 0)]
  const { job } = jobOf([], '20261122')
  await renewRollups(job)
  expect(existsSync(join(dir, 'rollups'))).toBe(false)
  mkdirSync(join(dir, 'rollups'))
  const shown = jobOf(['-N'])
  await renewRollups(shown.job)
  expect(shown.io.printed.stdout).toContain(`pmseries --directory ${dir} --rollups`)
  expect(readdirSync(join(dir, 'rollups'))).toEqual([])
  await renewRollups(job)
  for (const path of [columnsPath(old), rollupPath(old, MINUTE), rollupPath(old, HOUR)])
    expect(existsSync(path), path).toBe(true)
  expect(rollupBytes(current)).toBe(0)
})

test('without a known recorder, archives that changed in the last ten minutes are left alone', async () => {
  const [old, recent] = [archive('20261120', 2), archive('20261122', 0.001)]
  mkdirSync(join(dir, 'rollups'))
  await renewRollups(jobOf().job)
  expect([old, recent].map((base) => existsSync(columnsPath(base)))).toEqual([true, false])
})

test('a failure is a warning', async () => {
  const base = archive('20261120', 2)
  mkdirSync(join(dir, 'rollups'))
  writeFileSync(`${base}.0`, 'damaged')
  const { job, io } = jobOf([], 'none')
  await renewRollups(job)
  expect(io.printed.stdout).toContain(`Cannot make rollups of ${base}`)
  expect(readdirSync(join(dir, 'rollups'))).toEqual([])
})

test('rollups are removed with archives that are too old or too large', async () => {
  const bases = ['20261101', '20261118', '20261119'].map((file, i) => archive(file, [21, 4, 3][i]!))
  mkdirSync(join(dir, 'rollups'))
  await renewRollups(jobOf().job)
  await cull(jobOf(['-k', '14']).job)
  expect(bases.map(rollupBytes).map((bytes) => bytes > 0)).toEqual([false, true, true])
  const files = ['meta', 'index', '0'].reduce((sum, part) => sum + statSync(`${bases[2]}.${part}`).size, 0)
  // The files of both archives are smaller than the limit; with their rollups they are not.
  await cull(jobOf(['-k', 'never', '-d', `${2 * files + rollupBytes(bases[2]!)}b`]).job)
  expect(bases.map(rollupBytes).map((bytes) => bytes > 0)).toEqual([false, false, true])
})
