/** Rollups of a tree: made, renewed, removed; readable as Parquet; never trusted if stale or damaged. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PcpError } from '../../../src/model/errors.ts'
import { DamagedColumns } from '../../../src/series/archives/column-samples.ts'
import { ArchiveSeries } from '../../../src/series/archives/store.ts'
import { HEAD_BYTES, TAIL_BYTES } from '../../../src/series/columns/file.ts'
import { type MaintainResult, maintainRollups } from '../../../src/series/columns/maintain.ts'
import { columnsPath, HOUR, MINUTE, rollupPath } from '../../../src/series/columns/places.ts'
import { ValueBudget } from '../../../src/series/value-budget.ts'
import { seed } from '../../lib/seed.ts'
import { START, writeHost } from '../lib.ts'
import { withChecksums } from './checksums.ts'

let directory = ''

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'series-'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

const maintain = (isColumnsOnly = false): Promise<MaintainResult> =>
  maintainRollups([directory], { nowMs: Date.now(), isActive: () => false, isColumnsOnly })

async function valuesOf(warnings: PcpError[] = []): Promise<number> {
  const store = new ArchiveSeries([directory], { onWarning: (warning) => warnings.push(warning) })
  const [id] = await store.withName('metric', 'demo.count')
  const samples = await store.samples(id!, { start: { sec: 0, nsec: 0 } }, new ValueBudget())
  await store.close()
  return samples.reduce((sum, { values }) => sum + Number(values[0]), 0)
}

async function rowsOf(path: string): Promise<Record<string, unknown>[]> {
  const bytes = readFileSync(path)
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
  expect(parquetMetadata(file).key_value_metadata?.map(({ key }) => key)).toContain('pcp.metrics')
  return await parquetReadObjects({ file })
}

test('minutes and hours of each instance, ordered by metric', async () => {
  const base = writeHost(directory, 'db1', { samples: 13 })
  expect(await maintain()).toEqual({ built: [base], removed: [], problems: [] })
  const minutes = await rowsOf(rollupPath(base, MINUTE))
  expect(minutes.map(({ metric, instance }) => `${metric} ${instance}`)).toEqual([
    ...['demo.count null', 'demo.count null', 'demo.count null'],
    ...['demo.load one', 'demo.load two', 'demo.load one', 'demo.load two', 'demo.load one', 'demo.load two'],
  ])
  // The first sample is 20 seconds after a full minute.
  const [first, second] = minutes
  expect(first).toMatchObject({ host: 'db1', count: 4, min: 0, max: 150, mean: 75, first: 0, last: 150 })
  expect(first).toMatchObject({
    time: new Date((START - 20) * 1000),
    last_time: new Date((START + 30) * 1000),
  })
  expect(first).toMatchObject({ increase: 150, seconds: 30 })
  expect(second).toMatchObject({
    count: 6,
    increase: 300,
    seconds: 60,
    first_time: new Date((START + 40) * 1000),
  })
  const hours = await rowsOf(rollupPath(base, HOUR))
  expect(hours.map(({ metric, count }) => `${metric} ${count}`)).toEqual([
    'demo.count 13',
    'demo.load 13',
    'demo.load 13',
  ])
  expect(hours[1]).toMatchObject({ increase: null, instance: 'one', min: 0, max: 12 })
})

test('nothing is done twice, and a changed archive is done again', async () => {
  const base = writeHost(directory, 'db1')
  await maintain(true)
  expect((await maintain(true)).built).toEqual([])
  expect((await maintain()).built).toEqual([base])
  expect((await maintain()).built).toEqual([])
  for (const part of ['meta', 'index', '0']) rmSync(`${base}.${part}`)
  writeHost(directory, 'db1', { first: 1000 })
  expect(await valuesOf()).toBe(6750)
  expect((await maintain()).built).toEqual([base])
  expect(await valuesOf()).toBe(6750)
})

test('archives that may still grow are left alone', async () => {
  writeHost(directory, 'db1')
  expect((await maintainRollups([directory], { nowMs: Date.now() })).built).toEqual([])
  expect((await maintainRollups([directory], { nowMs: Date.now() + 600_001 })).built).toHaveLength(1)
})

test('rollups of archives that are gone are removed', async () => {
  const base = writeHost(directory, 'db1')
  await maintain()
  writeFileSync(join(dirname(columnsPath(base)), 'notes.txt'), 'mine')
  renameSync(`${base}.meta`, join(directory, 'db1', 'other.meta'))
  renameSync(`${base}.0`, join(directory, 'db1', 'other.0'))
  rmSync(`${base}.index`)
  const { removed, built } = await maintain(true)
  expect(removed).toHaveLength(3)
  expect(built).toEqual([join(directory, 'db1', 'other')])
  expect(readdirSync(dirname(columnsPath(base))).sort()).toEqual(['notes.txt', 'other.columns'])
})

test('damaged files are reported, and the archive is read instead', async () => {
  const base = writeHost(directory, 'db1')
  await maintain(true)
  const path = columnsPath(base)
  const whole = readFileSync(path)
  let reported = 0
  for (let at = seed % 3; at < whole.length; at += 3) {
    const bytes = Buffer.from(whole)
    bytes[at]! ^= 0x41
    writeFileSync(path, bytes)
    const warnings: PcpError[] = []
    expect(await valuesOf(warnings), `byte ${at}`).toBe(750)
    reported += warnings.length
  }
  expect(reported).toBeGreaterThan(0)
  for (let size = 0; size < whole.length; size += 37) {
    writeFileSync(path, whole.subarray(0, size))
    expect(await valuesOf(), `${size} bytes`).toBe(750)
  }
})

test('values that cannot be decoded are reported once a query, and the archive is read instead', async () => {
  const base = writeHost(directory, 'db1')
  await maintain(true)
  const path = columnsPath(base)
  const whole = readFileSync(path)
  const stamp = whole.subarray(-28, -8)
  let reported = 0
  for (let at = HEAD_BYTES; at < whole.length - TAIL_BYTES; at++) {
    const bytes = Uint8Array.from(whole)
    bytes[at] = 0xff
    writeFileSync(path, withChecksums(bytes, stamp))
    const warnings: PcpError[] = []
    const sum = await valuesOf(warnings)
    if (warnings.length > 0) expect(sum, `byte ${at}`).toBe(750)
    expect(warnings.every(({ code }) => code === 'PM_ERR_LOGREC')).toBe(true)
    reported += warnings.filter((each) => each instanceof DamagedColumns).length
  }
  expect(reported).toBeGreaterThan(0)
})

test('a directory instead of a columns file is reported', async () => {
  const base = writeHost(directory, 'db1')
  mkdirSync(columnsPath(base), { recursive: true })
  const warnings: PcpError[] = []
  expect(await valuesOf(warnings)).toBe(750)
  expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('it is not a file')])
})

test('a failure leaves no file and does not stop the rest', async () => {
  const bad = writeHost(directory, 'db1')
  const good = writeHost(directory, 'db2')
  cpSync(`${good}.index`, `${bad}.0`)
  const { built, problems } = await maintain(true)
  expect(built).toEqual([good])
  expect(problems).toEqual([expect.stringContaining(bad)])
  expect(existsSync(columnsPath(bad))).toBe(false)
})
