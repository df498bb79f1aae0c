/**
 * Commands that change archives lose and duplicate nothing when killed. `npm run kills` kills each of them 1,000 times;
 * PCP_TS_KILLS and PCP_TS_SEED repeat a finding.
 */
import { rmSync, writeSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { killCommand } from '../lib/kills/kill-rounds.ts'
import { bundlePrograms } from '../lib/kills/place.ts'
import { killPush } from '../lib/kills/push.ts'
import { killRecorder } from '../lib/kills/recorder.ts'
import { SCENARIOS } from '../lib/kills/scenarios.ts'

const KILLS = Number(process.env['PCP_TS_KILLS'] ?? 3)
const SEED = Number(process.env['PCP_TS_SEED'] ?? Date.now() % 2 ** 31)
/** Kills of recorders that push take longer. */
const PUSH_KILLS = Number(process.env['PCP_TS_KILLS'] ?? 3)
const PUSH_SEED = Number(process.env['PCP_TS_SEED'] ?? 20)
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

test(`push: ${PUSH_KILLS} kills keep every record (seed ${PUSH_SEED})`, { timeout: TIMEOUT_MS }, async () => {
  const report = await killPush(programs, {
    kills: PUSH_KILLS,
    seed: PUSH_SEED,
    onProgress: onProgress('push'),
  })
  expect(report.failures).toEqual([])
  expect(report.kills).toBe(PUSH_KILLS)
  expect(report.records).toBeGreaterThan(PUSH_KILLS)
  expect(report.files).toBeGreaterThan(PUSH_KILLS)
})
