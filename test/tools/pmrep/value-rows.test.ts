/** Reports are the same from records as from value sets. -D, which traces fetches, makes pmrep fetch value sets. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clearDebug, traceTo } from '../../../src/model/debug.ts'
import { openArchive } from '../../../src/pmapi/archive.ts'
import { tool } from '../../../src/tools/pmrep/index.ts'
import {
  archive,
  desc,
  indom,
  mark,
  memoryFiles,
  result,
  type TestArchive,
  type TestSet,
} from '../../archive/build.ts'
import { testIo } from '../run-tool.ts'

const DOMAIN = (9 << 22) | 1
const INSTANCES = [3, 1, 200]
const COUNTER = 1

interface TestMetric {
  readonly type: number
  readonly sem: number
  readonly hasInstances: boolean
}

/** A metric's content in a record: values in hundredths of its type's range, an error, or nothing. */
type TestValues = readonly number[] | 'error' | 'nothing'

interface TestRecord {
  readonly gap: number
  readonly isMark: boolean
  readonly values: readonly TestValues[]
}

const aMetric: fc.Arbitrary<TestMetric> = fc.record({
  type: fc.integer({ min: 0, max: 5 }),
  sem: fc.constantFrom(COUNTER, COUNTER, 3, 4),
  hasInstances: fc.boolean(),
})

const someValues: fc.Arbitrary<TestValues> = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.integer({ min: -5, max: 105 }), { minLength: 0, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom('error' as const, 'nothing' as const) },
)

const aRecord: fc.Arbitrary<TestRecord> = fc.record({
  gap: fc.constantFrom(0, 0.5, 1, 2, 2, 2, 3.25, 30),
  isMark: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  values: fc.array(someValues, { minLength: 4, maxLength: 4 }),
})

/** Returns a value of a type, from 0 to its maximum and slightly outside. */
function numberOf(type: number, hundredths: number): number | bigint {
  if (type === 2 || type === 3) {
    const most = type === 2 ? 2n ** 63n - 1n : 2n ** 64n - 1n
    const value = (most * BigInt(hundredths)) / 100n
    return hundredths % 2 === 0 ? BigInt(hundredths) : BigInt.asIntN(64, value)
  }
  if (type < 2) return hundredths % 2 === 0 ? hundredths : Math.trunc((hundredths / 100) * 0x7fff_ffff) | 0
  return hundredths / 7
}

function setsOf(metrics: readonly TestMetric[], { values }: TestRecord): TestSet[] {
  return metrics.flatMap(({ type, hasInstances }, m): TestSet[] => {
    const some = values[m]!
    const pmid = (9 << 22) | (m + 1)
    if (some === 'nothing') return []
    if (some === 'error') return [{ pmid, type, values: -12357 }]
    if (type === 4) return [{ pmid, type: 0, values: bits(some, hasInstances) }]
    return [
      {
        pmid,
        type,
        values: some.slice(0, hasInstances ? 3 : 1).map((n, i) => [inst(i, hasInstances), numberOf(type, n)]),
      },
    ]
  })
}

/** Represents values by floats. */
function bits(some: readonly number[], hasInstances: boolean): [number, number][] {
  const words = new Int32Array(Float32Array.from(some, (n) => n / 7).buffer)
  return Array.from(words.slice(0, hasInstances ? 3 : 1), (word, i) => [inst(i, hasInstances), word])
}

function inst(i: number, hasInstances: boolean): number {
  return hasInstances ? INSTANCES[i]! : -1
}

function archiveOf(metrics: readonly TestMetric[], records: readonly TestRecord[]): TestArchive {
  let time = 10
  const volume = records.map((record) => {
    time += record.gap
    return record.isMark ? mark(3, time) : result(3, time, ...setsOf(metrics, record))
  })
  const descs = metrics.map(({ type, sem, hasInstances }, m) =>
    desc(
      { pmid: (9 << 22) | (m + 1), type, sem, indom: hasInstances ? DOMAIN : -1, units: 1 << 20 },
      `m.m${m}`,
    ),
  )
  const names = INSTANCES.map((inst): [number, string] => [inst, `i${inst}`])
  return { start: 10, meta: [...descs, indom(3, 10, DOMAIN, names)], volumes: [volume] }
}

async function printed(
  options: TestArchive,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const files = memoryFiles(archive('a', options))
  const io = testIo('pmrep', ['-z', '-a', 'a', ...args, 'm'], {
    PCP_DERIVED_CONFIG: '',
    PCP_SYSCONF_DIR: '/none',
    HOME: '/none',
    ...env,
  })
  const open: typeof openArchive = (list, rest) => openArchive(list, { ...rest, files })
  try {
    await tool.run({ ...io, openArchive: open })
  } catch (error) {
    io.stderr.write((error as Error).message)
  }
  return io.printed
}

const OPTIONS: readonly (readonly string[])[] = [
  ['-u', '-p', '-f', '%H:%M:%S.%f'],
  ['-u', '-o', 'csv', '-r'],
  ['-u', '-w', '22', '-P', '6', '-E', '3'],
  ['-t', '1', '-o', 'csv'],
  ['-t', '0.75', '-p', '-r', '-w', '9'],
  ['-t', '2', '-A', '1', '-q', 'count x 10^3', '-s', '5'],
  ['-t', '3', '-S', '+2', '-T', '+40'],
  ['-u', '-X', 'Instance', '-p'],
  ['-t', '1', '-J', '2', '-o', 'json'],
  ['-u', '-j', '-N', 'm.m0', '-8', '2'],
  ['-u', '-1', '-i', 'i1', '-r'],
  ['-u', '-J', '-1', '-X', 'I', '-1'],
]

test('lines from records equal those from value sets', async () => {
  let lines = 0
  let traced = 0
  const check = fc.asyncProperty(
    fc.array(aMetric, { minLength: 1, maxLength: 4 }),
    fc.array(aRecord, { minLength: 2, maxLength: 12 }),
    fc.constantFrom(...OPTIONS),
    fc.boolean(),
    async (metrics, records, args, wraps) => {
      const options = archiveOf(metrics, records)
      const env: Record<string, string> = wraps ? { PCP_COUNTER_WRAP: 'yes' } : {}
      const short = await printed(options, args, env)
      const long = await printed(options, ['-D', 'fetch', ...args], env)
      clearDebug('all')
      traceTo()
      traced += long.stderr.split('fetch: values').length - 1
      expect(short.stdout).toBe(long.stdout)
      lines += short.stdout.split('\n').length
    },
  )
  await fc.assert(check, { numRuns: 40 })
  expect(lines).toBeGreaterThan(100)
  expect(traced).toBeGreaterThan(100)
})

test('-D fetch traces every fetch, even if value sets are not needed', async () => {
  const records = [1, 2, 3].map((n): TestRecord => ({ gap: 1, isMark: false, values: [[2 * n]] }))
  const options = archiveOf([{ type: 0, sem: 3, hasInstances: false }], records)
  try {
    const { stderr } = await printed(options, ['-u', '-s', '3', '-D', 'fetch'], {})
    expect(stderr.match(/^fetch: values of m\.m0 /gm)).toHaveLength(3)
  } finally {
    clearDebug('all')
    traceTo()
  }
})
