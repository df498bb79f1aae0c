/** Failing disks and clocks: a logger reports them and continues. */
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { pmid as makePmid } from '../../src/model/ids.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import { extract } from '../../src/model/value-set.ts'
import type { FetchResult } from '../../src/model/values.ts'
import type { Context } from '../../src/pmapi/context.ts'
import { parseLoggerConfig } from '../../src/pmlogger/config.ts'
import { NO_COUNTS } from '../../src/pmlogger/counts.ts'
import type { Logger } from '../../src/pmlogger/logger.ts'
import { InternPool } from '../../src/pmlogger/pool.ts'
import type { LoggerSettings } from '../../src/pmlogger/settings.ts'
import { startLogger } from '../../src/pmlogger/start-logger.ts'
import { openLocal } from '../../src/routing/local-context.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { MemoryDisk, type MemoryDiskOptions } from '../lib/memory-disk.ts'
import { filesOf } from '../lib/memory-files.ts'
import { partsAgent } from '../lib/parts-agent.ts'

const COUNT = makePmid(251, 0, 0)

interface Run {
  readonly disk: MemoryDisk
  readonly logger: Logger
  readonly lines: string[]
  /** Results so far, lost results, and failed syncs. */
  readonly seen: { recorded: number; lost: number; syncFailed: number }
  /** Resolves when a counter reaches a value. */
  until(what: keyof Run['seen'], count: number): Promise<void>
}

async function start(disk: MemoryDiskOptions = {}, changes: Partial<LoggerSettings> = {}): Promise<Run> {
  const memory = new MemoryDisk(disk)
  const lines: string[] = []
  const seen = { recorded: 0, lost: 0, syncFailed: 0 }
  const waiting: { what: keyof typeof seen; count: number; resolve: () => void }[] = []
  const add = (what: keyof typeof seen): void => {
    seen[what]++
    for (const one of waiting) if (one.what === what && seen[what] >= one.count) one.resolve()
  }
  const logger = await startLogger(
    {
      open: () => openLocal({ agents: [partsAgent()] }),
      source: 'here',
      statements: parseLoggerConfig('log on 2 msec parts.count', 'f').statements,
      defaultDeltaMs: 60_000,
      files: archiveOutput('/a', { disk: memory, sync: true }),
      archiveName: 'a',
      archivePath: '/a',
      version: 3,
      ownHost: 'vm',
      pid: 123,
      isPrimary: false,
      lingers: false,
      reports: false,
      port: () => 4330,
      log: { line: (text) => lines.push(text), notice: (_, text) => lines.push(text) },
      pool: new InternPool(),
      syncMs: 5,
      counts: {
        ...NO_COUNTS,
        recorded: () => add('recorded'),
        lost: () => add('lost'),
        syncFailed: () => add('syncFailed'),
      },
      ...changes,
    },
    new AbortController().signal,
  )
  const until = (what: keyof typeof seen, count: number): Promise<void> =>
    seen[what] >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ what, count, resolve }))
  return { disk: memory, logger, lines, seen, until }
}

/** Returns values and marks in file order. */
function read(disk: MemoryDisk): (number | 'mark')[] {
  const found: (number | 'mark')[] = []
  const reader = new RecordReader(Archive.open('/a', filesOf(new MemoryDisk({ image: disk.image() }))))
  for (let one = reader.next(); one !== undefined; one = reader.next()) {
    if (one.count === 0) found.push('mark')
    const set = one.count === 0 ? undefined : one.toResult().sets.find(({ pmid }) => pmid === COUNT)
    if (set !== undefined) found.push(Number(extract(set, 0, PM_TYPE_U32)))
  }
  return found
}

test('a full disk loses only the results in that time, leaves a mark and is logged once', async () => {
  const { disk, logger, lines, seen, until } = await start()
  await until('recorded', 5)
  disk.setCapacity(disk.used)
  await until('lost', 4)
  disk.setCapacity(Number.POSITIVE_INFINITY)
  const { lost } = seen
  await until('recorded', seen.recorded + 4)
  await logger.stop('enough')
  const found = read(disk)
  const gap = found.indexOf('mark')
  expect(found.filter((one) => one === 'mark')).toHaveLength(1)
  expect([found[gap - 1], found[gap + 1]]).toEqual([
    seen.recorded >= 5 ? found[gap - 1] : -1,
    Number(found[gap - 1]) + lost + 1,
  ])
  expect(found).toHaveLength(seen.recorded + 1)
  expect(lines.filter((line) => /Cannot write|Writing again/.test(line))).toEqual([
    expect.stringContaining('Cannot write the archive: '),
    `Writing again; ${lost} results are lost`,
  ])
})

test('a disk that is repeatedly full is logged once a minute', async () => {
  let now = 0
  const { disk, logger, lines, seen, until } = await start({}, { monotonicMs: () => now })
  for (let round = 0; round < 5; round++) {
    disk.setCapacity(disk.used)
    await until('lost', seen.lost + 1)
    disk.setCapacity(Number.POSITIVE_INFINITY)
    await until('recorded', seen.recorded + 1)
  }
  const told = (): number => lines.filter((line) => line.includes('Cannot write')).length
  expect(told()).toBe(1)
  now += 60_000
  disk.setCapacity(disk.used)
  await until('lost', seen.lost + 1)
  expect(told()).toBe(2)
  await logger.stop('enough')
  const sum = lines
    .map((line) => Number(/(\d+) results are lost/.exec(line)?.[1] ?? 0))
    .reduce((a, b) => a + b)
  expect(sum).toBe(seen.lost)
})

test('a volume that cannot be begun loses no result, and is begun later', async () => {
  let failures = 3
  const fault = ({ name, path }: { name: string; path: string }): string | undefined =>
    name === 'open' && path === '/a.1' && failures-- > 0 ? 'ENOSPC' : undefined
  const { disk, logger, lines, seen } = await start(
    { fault },
    { volumeLimit: { kind: 'samples', count: 4 }, endLimit: { kind: 'samples', count: 9 } },
  )
  await logger.ended
  expect(seen).toMatchObject({ recorded: 9, lost: 0 })
  expect(read(disk)).toHaveLength(9)
  expect(disk.list('/').sort()).toEqual(['a.0', 'a.1', 'a.index', 'a.meta'])
  expect(lines.filter((line) => line.includes('No new log volume'))).toHaveLength(1)
})

test('failed syncs are logged once, and an old archive is then continued in a new one', async () => {
  let now = 0
  const fault = ({ name }: { name: string }): string | undefined => (name === 'sync' ? 'EIO' : undefined)
  const { logger, lines, until } = await start({ fault }, { monotonicMs: () => now })
  await Promise.all([until('syncFailed', 2), until('recorded', 1)])
  expect(lines.filter((line) => line.includes('Cannot sync the archive'))).toHaveLength(1)
  now += 600_000
  const end = await logger.ended
  expect(end).toMatchObject({ status: 0, reason: 'The disk failed, continuing in a new archive' })
  expect(end.continues?.samples).toBeGreaterThan(0)
})

/** Opens a collector whose clock steps by some seconds after a number of fetches; the logger's monotonic clock does not. */
function withClock(steps: readonly (readonly [after: number, seconds: number])[]): {
  open: () => Promise<Context>
  monotonicMs: () => number
} {
  let ms = 0
  const open = async (): Promise<Context> => {
    const context = await openLocal({ agents: [partsAgent()] })
    const fetch = context.fetch.bind(context)
    let n = 0
    context.fetch = async (...args): Promise<FetchResult> => {
      const result = await fetch(...args)
      n++
      ms += 100
      const off = steps.filter(([after]) => n > after).reduce((sum, [, seconds]) => sum + seconds, 0)
      const at = 1_000_000_000 + ms / 1000 + off
      const sec = Math.floor(at)
      return { ...result, timestamp: { sec, nsec: Math.round((at - sec) * 1e9) } }
    }
    return context
  }
  return { open, monotonicMs: () => ms }
}

test.each([
  ['back by an hour', 'back by 3599.900 s', -3600],
  ['forward by a day', 'forward by 86399.', 86_400],
])('a clock set %s ends the archive, and another one continues', async (_, how, step) => {
  const { disk, logger, lines } = await start({}, withClock([[8, step]]))
  const end = await logger.ended
  expect(end).toMatchObject({ status: 0, reason: 'The clock was set, continuing in a new archive' })
  expect(lines.some((line) => line.includes(`The clock of "here" went ${how}`))).toBe(true)
  const archive = Archive.open('/a', filesOf(new MemoryDisk({ image: disk.image() })))
  const last = archive.end()
  expect('sec' in last && last.sec - archive.start.sec).toBeLessThan(2)
  expect(end.continues).toMatchObject({ samples: read(disk).length, bytes: expect.any(Number) })
})

test('a clock that is slewed, or set back by less than a second, is ignored', async () => {
  const steps = [
    [4, -0.5],
    [8, 5],
    [12, -0.9],
  ] as const
  const { disk, logger } = await start({}, { ...withClock(steps), endLimit: { kind: 'samples', count: 20 } })
  expect((await logger.ended).continues).toBeUndefined()
  const archive = Archive.open('/a', filesOf(new MemoryDisk({ image: disk.image() })))
  const reader = new RecordReader(archive)
  const times: number[] = []
  for (let one = reader.next(); one !== undefined; one = reader.next()) times.push(one.sec + one.nsec / 1e9)
  expect(times).toEqual([...times].sort((a, b) => a - b))
  expect(read(disk)).toHaveLength(20)
})

test('limits include the archives that an archive continues', async () => {
  const spent = { samples: 7, bytes: 1000, ms: 0 }
  const { logger, seen } = await start({}, { spent, endLimit: { kind: 'samples', count: 10 } })
  await logger.ended
  expect(seen.recorded).toBe(3)
})
