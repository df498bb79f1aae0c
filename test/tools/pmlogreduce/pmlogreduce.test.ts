import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import { RecordReader } from '../../../src/archive/reader.ts'
import { statusOf } from '../../../src/model/errors.ts'
import {
  PM_SEM_COUNTER,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_AGGREGATE,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../../src/model/types.ts'
import { valuesOf } from '../../../src/model/value-set.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { archiveOutput } from '../../../src/sys/archive-output.ts'
import { tool } from '../../../src/tools/pmlogreduce/index.ts'
import { testIo } from '../run-tool.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmlogreduce-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

/** Makes an archive of 100 s, with a record every 10 s, values of `rare` only at 0 and 60 s, and a mark after 80 s. */
function make(): string {
  const base = join(dir, 'in')
  const archive = new ArchiveImport(archiveOutput(base), { hostname: 'h', timezone: 'UTC', pid: 7 })
  archive.addMetric('count', { type: PM_TYPE_U32, sem: PM_SEM_COUNTER })
  archive.addMetric('signed', { type: PM_TYPE_32, sem: PM_SEM_COUNTER, indom: 'd' })
  archive.addMetric('rare', { sem: 4 })
  archive.addMetric('blob', { type: PM_TYPE_AGGREGATE })
  archive.addText('count', 'oneline', 'A count')
  archive.addLabels({ site: 'roof' })
  for (let sec = 0; sec <= 100; sec += 10) {
    archive.put('count', sec * 2)
    archive.put('signed', -sec, 'x')
    if (sec % 60 === 0) archive.put('rare', sec)
    archive.put('blob', new Uint8Array(4))
    archive.write({ sec: 1000 + sec, nsec: 0 })
    if (sec === 80) archive.mark()
  }
  archive.close()
  return base
}

async function reduce(...args: string[]): Promise<{ status: number; stderr: string; out: string }> {
  return reduceInput(make(), {}, ...args)
}

async function reduceInput(
  input: string,
  env: Record<string, string>,
  ...args: string[]
): Promise<{ status: number; stderr: string; out: string }> {
  const out = join(dir, 'out')
  rmSync(`${out}.0`, { force: true })
  rmSync(`${out}.meta`, { force: true })
  rmSync(`${out}.index`, { force: true })
  const io = testIo('pmlogreduce', [...args, input, out], env)
  const status = await tool.run(io)
  return { status, stderr: io.printed.stderr, out }
}

function records(base: string): unknown[] {
  const archive = Archive.open(base, archiveFiles())
  const reader = new RecordReader(archive)
  const found: unknown[] = []
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const row: Record<string, unknown> = {}
    for (const set of record.toResult().sets) {
      const { type } = archive.metadata.descs.get(set.pmid)!
      row[archive.metadata.names.namesOf(set.pmid)[0]!] = valuesOf(set, type).map(({ value }) => value)
    }
    found.push([record.sec - 1000, record.count === 0 ? 'mark' : row])
  }
  archive.close()
  return found
}

test('samples at an interval, leaving out metrics without values in it', async () => {
  const { status, stderr, out } = await reduce('-t', '25')
  expect([status, stderr]).toEqual([0, 'pmlogreduce: blob: Warning: skipping AGGREGATE metric\n'])
  expect(records(out)).toEqual([
    [0, { count: [0], signed: [0], rare: [0] }],
    [25, { count: [50], signed: [-25] }],
    [50, { count: [100], signed: [-50] }],
    [75, { count: [150], signed: [-75], rare: [60] }],
    [80, 'mark'],
    [100, { count: [], signed: [], rare: [] }], // no rate across a mark
  ])
})

test('counters are extended to 64 bits, texts and labels are kept', async () => {
  const { metadata } = Archive.open((await reduce()).out, archiveFiles())
  const type = (name: string): number | undefined => metadata.descs.get(metadata.names.idOf(name)!)?.type
  expect([type('count'), type('signed')]).toEqual([PM_TYPE_U64, PM_TYPE_64])
  expect(metadata.text({ kind: 'metric', id: metadata.names.idOf('count')!, level: 'oneline' })).toBe(
    'A count',
  )
  expect(metadata.labels({ level: 1, id: 0xffffffff }, undefined)[0]?.json).toBe('{"site":"roof"}')
})

/** Makes an archive with a counter that decreases, a gauge, a metric that stops, and text with counter semantics. */
function makeOdd(): string {
  const base = join(dir, 'odd')
  const archive = new ArchiveImport(archiveOutput(base), { hostname: 'h', timezone: 'UTC', pid: 7 })
  archive.addMetric('back', { type: PM_TYPE_U32, sem: PM_SEM_COUNTER })
  archive.addMetric('gauge', {})
  archive.addMetric('stops', {})
  archive.addMetric('text', { type: PM_TYPE_STRING, sem: PM_SEM_COUNTER })
  for (let sec = 0; sec <= 40; sec += 10) {
    archive.put('back', sec === 0 ? 4_294_967_290 : 4 + sec)
    archive.put('gauge', sec)
    archive.put('text', `${sec}`)
    if (sec <= 10) archive.put('stops', sec)
    archive.write({ sec: 1000 + sec, nsec: 0 })
  }
  archive.close()
  return base
}

test('metrics that stopped or have an error are in every record', async () => {
  const { out } = await reduceInput(makeOdd(), {}, '-t', '20')
  const archive = Archive.open(out, archiveFiles())
  const reader = new RecordReader(archive)
  const statuses: unknown[] = []
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const { sets } = record.toResult()
    const of = (name: string): number | undefined =>
      sets.find(({ pmid }) => pmid === archive.metadata.names.idOf(name))?.status
    statuses.push([record.sec - 1000, of('back'), of('stops'), of('text')])
  }
  archive.close()
  const error = statusOf('PM_ERR_TYPE')
  expect(statuses).toEqual([
    [0, 1, 1, error],
    [20, 1, 0, error],
    [40, 1, 0, error],
  ])
})

test('the environment controls counter wraps and interpolation', async () => {
  const odd = makeOdd()
  const at6 = async (env: Record<string, string>): Promise<unknown> =>
    records((await reduceInput(odd, env, '-S', '6s', '-s', '1')).out)[0]
  expect(await at6({})).toMatchObject([6, { back: [1_717_986_924], gauge: [10] }])
  expect(await at6({ PCP_INTERP_EARLIER: '1' })).toMatchObject([6, { gauge: [0] }])
  expect(await at6({ PCP_COUNTER_WRAP: '1' })).toMatchObject([6, { back: [6] }])
})

test('-s counts written records, not empty samples', async () => {
  // Discrete and recorded once, so later samples are empty.
  const base = join(dir, 'once')
  const archive = new ArchiveImport(archiveOutput(base), { hostname: 'h', timezone: 'UTC', pid: 7 })
  archive.addMetric('once', { sem: 4 })
  for (const sec of [0, 50, 100]) {
    archive.put('once', sec)
    archive.write({ sec: 1000 + sec, nsec: 0 })
  }
  archive.close()
  const { out, stderr } = await reduceInput(base, {}, '-t', '10', '-s', '2', '-v', '1', '-Z', 'UTC')
  expect(records(out)).toEqual([
    [0, { once: [0] }],
    [50, { once: [50] }],
  ])
  expect(stderr).toBe('pmlogreduce: New log volume 1, at 00:17:30.000000000\n')
})

test('stops after a number of samples, and begins volumes', async () => {
  const { stderr, out } = await reduce('-t', '10', '-s', '5', '-v', '2', '-Z', 'UTC')
  expect(records(out).length).toBe(5)
  expect(existsSync(`${out}.2`)).toBe(true)
  expect(stderr).toContain('pmlogreduce: New log volume 1, at 00:17:00.000000000\n')
})

test('overwrites no files and leaves none behind', async () => {
  const base = make()
  const io = testIo('pmlogreduce', [base, base])
  expect(await tool.run(io)).toBe(1)
  expect(io.printed.stderr).toContain('already exists, not over-written')
  expect(readdirSync(dir).sort()).toEqual(['in.0', 'in.index', 'in.meta'])
})

test.each([
  [
    ['-A', '0'],
    'Invalid time window specified: 0\n^ -- alignment specified by -A switch could not be applied\n\n',
  ],
  [['-s', '-1'], '-s requires numeric argument\n'],
  [['-z', '-Z', 'UTC'], 'at most one of -Z and/or -z allowed\n'],
])('invalid arguments are reported: %j', async (words, text) => {
  const { status, stderr } = await reduce(...words)
  expect(status).toBe(1)
  expect(stderr.startsWith(`pmlogreduce: ${text}`)).toBe(true)
})
