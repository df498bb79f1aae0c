/** Power failures after every disk operation of a recorder: synced values are readable, each record once. */
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import type { OutputFiles } from '../../src/archive/write/output-files.ts'
import { PcpError } from '../../src/model/errors.ts'
import { indom as makeIndom, pmid as makePmid } from '../../src/model/ids.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import { extract } from '../../src/model/value-set.ts'
import { parseLoggerConfig } from '../../src/pmlogger/config.ts'
import { NO_COUNTS } from '../../src/pmlogger/counts.ts'
import { InternPool } from '../../src/pmlogger/pool.ts'
import { startLogger } from '../../src/pmlogger/start-logger.ts'
import { openLocal } from '../../src/routing/local-context.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { allCrashStates, type CrashState } from '../lib/crash-states.ts'
import { MemoryDisk } from '../lib/memory-disk.ts'
import { filesOf } from '../lib/memory-files.ts'
import { partOf, partsAgent } from '../lib/parts-agent.ts'

const SEED = Number(process.env['PCP_TS_SEED'] ?? 1)
const RANDOM = Number(process.env['PCP_TS_CRASHES'] ?? 2)
const COUNT = makePmid(251, 0, 0)
const PARTS = makeIndom(251, 1)
const SAMPLES = 30

/** Number of results that survive a power failure after a point of the journal. */
interface Durable {
  readonly point: number
  readonly results: number
}

/** Records a few results with syncs in between, and a final sync. */
async function record(disk: MemoryDisk): Promise<{ results: number; durable: Durable[] }> {
  const durable: Durable[] = []
  let results = 0
  let covered = 0
  const output = archiveOutput('/a', { disk, sync: true })
  const files: OutputFiles = {
    ...output,
    async syncNames() {
      covered = results
      await output.syncNames?.()
    },
  }
  const logger = await startLogger(
    {
      open: () => openLocal({ agents: [partsAgent()] }),
      source: 'local context',
      statements: parseLoggerConfig('log on 3 msec { parts.count parts.part }', 'f').statements,
      defaultDeltaMs: 60_000,
      files,
      archiveName: 'a',
      archivePath: '/a',
      version: 3,
      ownHost: 'vm',
      pid: 123,
      isPrimary: false,
      lingers: false,
      reports: false,
      port: () => 4330,
      log: { line: () => {}, notice: () => {} },
      pool: new InternPool(),
      syncMs: 20,
      endLimit: { kind: 'samples', count: SAMPLES },
      volumeLimit: { kind: 'samples', count: 11 },
      counts: {
        ...NO_COUNTS,
        recorded: () => results++,
        unsyncedAge: (ms) => {
          if (ms !== 0) durable.push({ point: disk.journal.length, results: covered })
        },
      },
    },
    new AbortController().signal,
  )
  await logger.ended
  durable.push({ point: disk.journal.length, results })
  return { results, durable }
}

/** Returns the values in a state after a power failure; the first `named` must have instance names. Throws the readers' errors. */
function read({ image }: CrashState, named: number): number[] {
  const files = filesOf(new MemoryDisk({ image }))
  const values: number[] = []
  const archive = Archive.open('/a', files)
  const reader = new RecordReader(archive)
  for (let one = reader.next(); one !== undefined; one = reader.next()) {
    const at = one.timestamp()
    const set = one.toResult().sets.find(({ pmid }) => pmid === COUNT)
    if (set === undefined) continue
    const value = Number(extract(set, 0, PM_TYPE_U32))
    values.push(value)
    if (values.length > named) continue
    const { names } = archive.metadata.instances(PARTS, undefined, at)
    if (!names.includes(partOf(value))) throw new PcpError('ENOENT', `${value}: instances are ${names}`)
  }
  const end = archive.end()
  if (end instanceof PcpError) throw end
  return values
}

test(`synced values survive a power failure at any point (seed ${SEED})`, async () => {
  const disk = new MemoryDisk()
  const { results, durable } = await record(disk)
  expect(results).toBe(SAMPLES)
  expect(durable.length).toBeGreaterThan(4)
  const problems: string[] = []
  let states = 0
  let readable = 0
  for (const state of allCrashStates(new MemoryDisk().image(), disk.journal, {
    seed: SEED,
    random: RANDOM,
  })) {
    states++
    const point = Number(/\d+/.exec(state.name)![0])
    const least = Math.max(0, ...durable.filter((one) => one.point <= point).map((one) => one.results))
    let values: number[] = []
    try {
      values = read(state, least)
      readable++
    } catch (error) {
      // Before the first sync there are no values to lose.
      if (durable.some((one) => one.point <= point))
        problems.push(`${state.name}: ${(error as Error).message}`)
      continue
    }
    const isOnce = values.every((value, i) => i === 0 || value === values[i - 1]! + 1)
    if (!isOnce || values.length < least)
      problems.push(`${state.name}: ${least} were synced, found ${values}`)
  }
  expect(problems.slice(0, 10)).toEqual([])
  expect(readable).toBeGreaterThan(states / 2)
  console.log(
    `power cuts: ${disk.journal.length} points, ${states} states, ${readable} with records, ${durable.length} syncs`,
  )
})
