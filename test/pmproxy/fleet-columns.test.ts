/** The fleet from columns files: the same answers as from records, which are read where a file is missing, stale or damaged. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createArchive } from '../../src/archive.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_INSTANT,
  PM_TYPE_DOUBLE,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../src/model/types.ts'
import { Fleet, type FleetRequest } from '../../src/pmproxy/fleet/fleet.ts'
import { ReadingTime } from '../../src/pmproxy/fleet/reading-time.ts'
import { placeAt } from '../../src/series/archives/files.ts'
import { buildColumns } from '../../src/series/columns/build.ts'
import { maintainRollups } from '../../src/series/columns/maintain.ts'
import { columnsPath } from '../../src/series/columns/places.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { FLEET_START, writeFleetHost } from '../lib/fleet-archives.ts'
import { generator } from '../lib/generator.ts'
import { seed } from '../lib/seed.ts'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'fleet-columns-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const ample = (): ReadingTime => new ReadingTime(new AbortController().signal, 60_000)

/** Runs a test with a fleet that remembers nothing. */
async function withFleet<T>(act: (fleet: Fleet) => Promise<T>): Promise<T> {
  const fleet = new Fleet([directory], () => archiveFiles())
  try {
    return await act(fleet)
  } finally {
    fleet.close()
  }
}

const request = (name: string, rest: Partial<FleetRequest> = {}): FleetRequest => ({
  ...{
    name,
    isFigure: !name.includes('.'),
    start: FLEET_START,
    step: 60,
    buckets: 40,
    top: 3,
    seesProcesses: false,
  },
  ...rest,
})

const HOSTS = ['a', 'b']
const VALUES = indom(77, 1)
const METRICS = ['demo.counter', 'demo.level', 'demo.small', 'demo.rare']

/** Writes two archives of a host: counters that are reset and wrap, instances that come and go, marks, late and missing samples. */
function writeRandom(host: string, random: (below: number) => number): void {
  mkdirSync(join(directory, host))
  let sec = FLEET_START
  for (const file of ['day1', 'day2']) {
    const made = createArchive(join(directory, host, file), { hostname: host })
    const about = { units: '', indom: VALUES }
    made.addMetric('demo.counter', { ...about, pmid: pmid(77, 0, 1), type: PM_TYPE_U64, sem: PM_SEM_COUNTER })
    made.addMetric('demo.level', {
      ...about,
      pmid: pmid(77, 0, 2),
      type: PM_TYPE_DOUBLE,
      sem: PM_SEM_INSTANT,
    })
    made.addMetric('demo.small', { pmid: pmid(77, 0, 3), type: PM_TYPE_U32, sem: PM_SEM_COUNTER, units: '' })
    made.addMetric('demo.rare', {
      pmid: pmid(77, 0, 4),
      type: PM_TYPE_DOUBLE,
      sem: PM_SEM_INSTANT,
      units: '',
    })
    for (const inst of [1, 2, 3]) made.addInstance(VALUES, `i${inst}`, inst)
    const grown = [0, 0, 0, 2 ** 53]
    for (let i = 0; i < 250; i++) {
      sec += 5 + (random(40) === 0 ? random(120) : 0)
      if (random(60) === 0) made.mark()
      for (const inst of [1, 2, 3]) {
        grown[inst] = random(50) === 0 ? 0 : grown[inst]! + random(1000)
        if (random(12) > 0) made.put('demo.counter', BigInt(grown[inst]!), inst)
        made.put('demo.level', random(9) === 0 ? Number.NaN : random(1000) / 7, inst)
      }
      made.put('demo.small', (grown[1]! * 1000) % 2 ** 32)
      if (i % 100 === 0) made.put('demo.rare', i)
      made.write({ sec, nsec: random(1e9) })
    }
    made.close()
  }
}

/** Makes the columns files of the archives that are not the newest of their host. */
async function rollUp(): Promise<readonly string[]> {
  const { built, problems } = await maintainRollups([directory], {
    ...{ nowMs: Date.now(), isActive: (base: string) => base.endsWith('day2'), isColumnsOnly: true },
  })
  expect(problems).toEqual([])
  return built
}

test('answers from columns files and from records of the growing archive equal those from records alone', async () => {
  const random = generator(seed)
  for (const host of HOSTS) writeRandom(host, random)
  const requests = METRICS.flatMap((name) =>
    Array.from({ length: 4 }, () => {
      const step = [1, 5, 7, 60, 300, 3600][random(6)]!
      const start = FLEET_START + random(2000)
      return request(name, {
        ...{ start, step, buckets: 1 + random(Math.min(100, Math.ceil(3000 / step))) },
        aggregate: (['sum', 'mean', 'max', 'min', undefined] as const)[random(5)],
        instance: name.endsWith('r') && random(3) === 0 ? `i${1 + random(3)}` : undefined,
      })
    }),
  )
  const answers = async (): Promise<unknown[]> => {
    const found: unknown[] = []
    for (const one of requests) found.push(await withFleet((fleet) => fleet.range(one, ample())))
    return found
  }
  const fromRecords = await answers()
  expect(await rollUp()).toHaveLength(HOSTS.length)
  expect(isDeepStrictEqual(await answers(), fromRecords)).toBe(true)
})

test('figures with a gap, and health, are the same', async () => {
  const gap = { from: 130, to: 150 }
  for (const name of HOSTS)
    writeFleetHost(directory, { name, samples: 250, busy: (i) => (i % 50) / 50, gap, labels: { rack: name } })
  const finish = FLEET_START + 2490
  const answers = (): Promise<unknown[]> =>
    withFleet(async (fleet) => [
      await fleet.health(finish, { start: FLEET_START, finish }, ample()),
      ...(await Promise.all(
        ['cpu', 'load', 'memory', 'disk'].map((id) => fleet.range(request(id), ample())),
      )),
    ])
  const fromRecords = await answers()
  await rollUp()
  expect(await answers()).toEqual(fromRecords)
})

/** Writes an archive of load 1, with a columns file of load 9 that claims to be of it. Returns its base. */
async function writeMarked(): Promise<string> {
  const write = (name: string, value: number): string => {
    mkdirSync(join(directory, name), { recursive: true })
    const base = join(directory, name, 'day1')
    const made = createArchive(base, { hostname: name })
    made.addMetric('demo.level', {
      pmid: pmid(77, 0, 2),
      type: PM_TYPE_DOUBLE,
      sem: PM_SEM_INSTANT,
      units: '',
    })
    for (let i = 0; i <= 240; i++) {
      made.put('demo.level', value)
      made.write({ sec: FLEET_START + 10 * i, nsec: 0 })
    }
    made.close()
    return base
  }
  const base = write('a', 1)
  const other = write('.other', 9)
  mkdirSync(dirname(columnsPath(base)))
  await buildColumns(other, placeAt(base)!.content, columnsPath(base))
  return base
}

const levelOf = (rest: Partial<FleetRequest> = {}): Promise<number> =>
  withFleet(async (fleet) => (await fleet.range(request('demo.level', rest), ample())).cells[0]!)

test('long windows are read from columns files, short ones from records', async () => {
  await writeMarked()
  expect(await levelOf()).toBe(9)
  expect(await levelOf({ buckets: 5 })).toBe(1)
})

test('a columns file of an earlier state of the archive, or a damaged one, is not used', async () => {
  const base = await writeMarked()
  const bytes = readFileSync(columnsPath(base))
  const damaged = Buffer.from(bytes)
  damaged[20]! ^= 0xff
  writeFileSync(columnsPath(base), damaged)
  expect(await levelOf()).toBe(1)
  writeFileSync(columnsPath(base), bytes)
  expect(await levelOf()).toBe(9)
  utimesSync(`${base}.0`, 1, 1)
  expect(await levelOf()).toBe(1)
})
