/**
 * Commands that change archives lose and duplicate nothing when killed. `npm run kills` kills each of them 1,000 times;
 * PCP_TS_KILLS and PCP_TS_SEED repeat a finding.
 */
import { rmSync, writeSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { killCommand } from '../lib/kills/kill-rounds.ts'
import { bundlePrograms } from '../lib/kills/place.ts'
import { killRecorder } from '../lib/kills/recorder.ts'
import { SCENARIOS } from '../lib/kills/scenarios.ts'

const KILLS = Number(process.env['PCP_TS_KILLS'] ?? 9)
const SEED = Number(process.env['PCP_TS_SEED'] ?? Date.now() % 2 ** 31)
/** Time limit for hangs: a kill takes about a second. */
const TIMEOUT_MS = 120_000 + KILLS * 60_000

let programs: string
beforeAll(async () => {
  programs = await bundlePrograms()
})
afterAll(() => rmSync(programs, { recursive: true, force: true }))

/** Prints progress for runs that take hours. */
const onProgress = (name: string) => (kills: number) => {
  if (process.env['PCP_TS_KILLS'] !== undefined) writeSync(2, `${name}: ${kills} of ${KILLS} kills\n`)
}

for (const scenario of SCENARIOS)
  test(`${scenario.name}: ${KILLS} kills keep every record (seed ${SEED})`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const options = { kills: KILLS, seed: SEED, onProgress: onProgress(scenario.name) }
    const report = await killCommand(scenario, programs, options)
    expect(report.failures).toEqual([])
    expect(report.kills).toBe(KILLS)
  })

test(`pmlogger: ${KILLS} kills keep every record (seed ${SEED})`, { timeout: TIMEOUT_MS }, async () => {
  const report = await killRecorder(programs, {
    kills: KILLS,
    seed: SEED,
    onProgress: onProgress('pmlogger'),
  })
  expect(report.failures).toEqual([])
  expect(report.kills).toBe(KILLS)
  expect(report.records).toBeGreaterThan(KILLS)
  expect(report.snapshots).toBeGreaterThan(0)
})
