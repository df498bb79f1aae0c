/** A logger with agents in this process and an archive in memory, read back by our reader. */
import { expect, test } from 'vitest'
import { type MemoryOutput, memoryOutput } from '../../src/archive/write/memory-output.ts'
import { type ArchiveFiles, bytesSource } from '../../src/base/byte-source.ts'
import { PcpError } from '../../src/model/errors.ts'
import { emptySet, type FetchResult, PMCD_HOSTNAME_CHANGE } from '../../src/model/values.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { Context } from '../../src/pmapi/context.ts'
import { parseLoggerConfig } from '../../src/pmlogger/config.ts'
import { handleControlRequest } from '../../src/pmlogger/control-requests.ts'
import { NO_COUNTS } from '../../src/pmlogger/counts.ts'
import type { Logger } from '../../src/pmlogger/logger.ts'
import { InternPool } from '../../src/pmlogger/pool.ts'
import type { LoggerSettings } from '../../src/pmlogger/settings.ts'
import { startLogger } from '../../src/pmlogger/start-logger.ts'
import { openLocal } from '../../src/routing/local-context.ts'
import { PM_LOG_MANDATORY, PM_LOG_ON } from '../../src/wire/log-control.ts'
import { demoAgent } from '../lib/demo-agent.ts'

interface Run {
  readonly output: MemoryOutput
  readonly lines: string[]
  readonly logger: Logger
}

async function start(config: string, changes: Partial<LoggerSettings> = {}): Promise<Run> {
  const output = memoryOutput('a')
  const lines: string[] = []
  const settings: LoggerSettings = {
    open: () => openLocal({ agents: [demoAgent] }),
    source: 'local context',
    statements: parseLoggerConfig(config, 'f').statements,
    defaultDeltaMs: 60_000,
    files: output,
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
    ...changes,
  }
  return { output, lines, logger: await startLogger(settings, new AbortController().signal) }
}

function filesOf(output: MemoryOutput): ArchiveFiles {
  const contents = output.contents()
  return {
    isDirectory: () => false,
    list: () => [...contents.keys()].map((part) => `a.${part}`),
    open: (path) => {
      const bytes = contents.get(path.replace(/^(?:\.\/)?a\./, ''))
      if (bytes === undefined) throw new PcpError('ENOENT', path)
      return bytesSource(bytes)
    },
  }
}

async function names(output: MemoryOutput): Promise<string[]> {
  const context = await openArchive('a', { files: filesOf(output) })
  const all = await context.traverse('')
  await context.close()
  return all.filter((name) => !name.startsWith('event.')).sort()
}

test('records the requested metrics between a first and a last record, and ends at its limit', async () => {
  const { output, lines, logger } = await start(
    'log on once demo.text log on 10 msec { demo.one demo.bin }',
    {
      endLimit: { kind: 'samples', count: 4 },
    },
  )
  expect(await logger.ended).toEqual({ status: 0, reason: 'Sample limit reached, exiting' })
  expect(lines.filter((_, i) => i !== 1)).toEqual([
    'Config parsed',
    'Archive basename: a',
    'pmlogger: Sample limit reached, exiting',
  ])
  expect(await names(output)).toEqual([
    'demo.bin',
    'demo.one',
    'demo.text',
    'pmcd.pid',
    'pmcd.pmlogger.archive',
    'pmcd.pmlogger.host',
    'pmcd.pmlogger.port',
    'pmcd.seqnum',
  ])
  const context = await openArchive('a', { files: filesOf(output) })
  const id = await context.lookupName('demo.bin')
  const { indom } = await context.desc(id)
  expect((await context.archive!.instances(indom)).names.toSorted()).toEqual(['first', 'second bin'])
  expect(await context.text(id, { level: 'oneline' })).toBe('A metric')
  context.archive!.setMode('interpolate', context.archive!.end())
  expect((await context.instancesLabels(indom)).map(({ json }) => json).sort()).toEqual([
    '{"bin":1}',
    '{"bin":2}',
  ])
  await context.close()
})

test('event records come with the descriptors of their parameters', async () => {
  const { output, logger } = await start('log on once demo.events', {
    endLimit: { kind: 'samples', count: 1 },
  })
  await logger.ended
  expect(await names(output)).toEqual(
    expect.arrayContaining(['demo.events', 'demo.param.bytes', 'demo.param.number', 'demo.param.text']),
  )
})

test('each request to log once records only its own metrics', async () => {
  let recorded = (): void => {}
  const counts = { ...NO_COUNTS, recorded: () => recorded() }
  const { output, logger } = await start('log on 1 hour demo.two', { lingers: true, counts })
  const requests = [['demo.one'], ['demo.one'], ['demo.text', 'demo.bin'], ['demo.one']]
  for (const names of requests) {
    const done = new Promise<void>((resolve) => {
      recorded = resolve
    })
    const ids = await logger.context.lookupNames(names)
    const sets = ids.map((id) => emptySet(id as number, 0))
    await handleControlRequest(
      logger,
      { control: PM_LOG_MANDATORY, state: PM_LOG_ON, deltaMs: 0, sets },
      () => {},
      'test',
    )
    await done
  }
  await logger.stop('done')
  const context = await openArchive('a', { files: filesOf(output) })
  const one = await context.lookupName('demo.one')
  const text = await context.lookupName('demo.text')
  context.archive!.setMode('forward', context.archive!.start)
  const found: number[] = []
  for (;;) {
    const result = await context.fetch([one, text]).catch(() => undefined)
    if (result === undefined) break
    found.push(result.sets[0]!.status > 0 ? 1 : 0, result.sets[1]!.status > 0 ? 1 : 0)
  }
  await context.close()
  expect(found).toEqual([1, 0, 1, 0, 0, 1, 1, 0])
})

test('warns of unknown metrics, instances and conflicts, and logs the rest', async () => {
  const config = [
    'log mandatory on 1 hour { demo.one nosuch.metric demo.bin[first, third, 2, 7] demo.one[x] }',
    'log advisory on 1 sec demo.one',
  ].join('\n')
  const { lines, logger } = await start(config)
  expect(lines.slice(0, -3)).toEqual([
    'Warning [f, line 1]\nProblem with lookup for metric "nosuch.metric" ... logging not activated\nReason: Unknown metric name',
    'Warning [f, line 1]\nInstance "third" is not defined for the metric "demo.bin"',
    'Warning [f, line 1]\nInstance "7" is not defined for the metric "demo.bin"',
    'Warning [f, line 1]\nMetric "demo.one" has no instances ... not logged',
    'Warning [f, line 2]\nIncompatible request for metric "demo.one"\nRequest for (advisory) ON conflicts with current (mandatory) ON state',
  ])
  await logger.stop('enough')
})

test('nothing to log is an error, except with -L', async () => {
  await expect(start('log off demo.one')).rejects.toThrow(
    'Nothing to log, and not the primary logger instance',
  )
  const { logger, output } = await start('', { lingers: true })
  expect((await logger.stop('enough')).status).toBe(0)
  expect([...output.contents().keys()]).toEqual(['index', 'meta', '0'])
})

test('volumes begin by count and by request', async () => {
  const { lines, logger, output } = await start('log on 5 msec demo.one', {
    endLimit: { kind: 'samples', count: 5 },
    volumeLimit: { kind: 'samples', count: 2 },
  })
  expect(await logger.switchVolume('SIGHUP')).toBe(1)
  await logger.ended
  expect(
    lines.filter((line) => line.startsWith('New log volume')).map((line) => line.replace(/ at .*/, '')),
  ).toEqual([
    'New log volume 1, via SIGHUP',
    'New log volume 2, via sample counter',
    'New log volume 3, via sample counter',
  ])
  expect([...output.contents().keys()].sort()).toEqual(['0', '1', '2', '3', 'index', 'meta'])
})

test('a temporarily full disk loses results, not the archive', async () => {
  const output = memoryOutput('a')
  // The label and first record can be written, the next three writes fail.
  let writes = 0
  let failures = 0
  const files = {
    ...output,
    create: (part: string) => {
      const sink = output.create(part)
      return {
        get size() {
          return sink.size
        },
        write: (bytes: Uint8Array) => {
          if (part !== 'index' && writes >= 2 && failures < 3) {
            failures++
            throw new PcpError('ENOSPC')
          }
          if (part === '0') writes++
          sink.write(bytes)
        },
        flush: () => sink.flush(),
        close: () => sink.close(),
      }
    },
  }
  const { lines, logger } = await start('log on once demo.text log on 5 msec demo.one', {
    files,
    endLimit: { kind: 'samples', count: 4 },
  })
  await logger.ended
  expect(
    lines.filter((line) => /Cannot write|Writing again/.test(line)).map((line) => line.split(':')[0]),
  ).toEqual(['pmlogger', 'Writing again; 3 results are lost'])
  const context = await openArchive('a', { files: filesOf(output) })
  const id = await context.lookupName('demo.text')
  const records = [...context.archive!.records()]
  await context.close()
  // It was lost the first time, and is recorded again.
  expect(records.filter(({ sets }) => sets.some(({ pmid }) => pmid === id))).toHaveLength(1)
})

test('an archive whose first record cannot be written leaves no files behind', async () => {
  const output = memoryOutput('a')
  const files = {
    ...output,
    create: (part: string) => {
      const sink = output.create(part)
      return {
        size: 0,
        write: (bytes: Uint8Array) => {
          if (part === '0') throw new PcpError('ENOSPC')
          sink.write(bytes)
        },
        flush: () => {},
        close: () => {},
      }
    },
  }
  await expect(start('log on 5 msec demo.one', { files })).rejects.toMatchObject({ code: 'ENOSPC' })
  expect([...output.contents().keys()]).toEqual([])
})

/** Opens the agents of this process; `change` modifies the results of fetches, numbered from 0. */
async function openChanged(change: (result: FetchResult, n: number) => FetchResult): Promise<Context> {
  const context = await openLocal({ agents: [demoAgent] })
  const fetch = context.fetch.bind(context)
  let n = 0
  context.fetch = async (...args) => change(await fetch(...args), n++)
  return context
}

test('a changed host name ends only a logger started by a script', async () => {
  const renamed = (): Promise<Context> =>
    openChanged((result, n) => (n === 2 ? { ...result, changes: PMCD_HOSTNAME_CHANGE } : result))
  const { logger } = await start('log on 5 msec demo.one', { open: renamed, endsWithHostname: true })
  expect(await logger.ended).toEqual({ status: 0, reason: 'The host has another name now, exiting' })
  const other = await start('log on 5 msec demo.one', {
    open: renamed,
    endLimit: { kind: 'samples', count: 5 },
  })
  expect((await other.logger.ended).reason).toBe('Sample limit reached, exiting')
})

test('a clock set back is logged once, and recording continues', async () => {
  let back = 0
  const open = (): Promise<Context> =>
    openChanged((result, n) => {
      if (n === 3) back = 3600
      const { sec, nsec } = result.timestamp
      return { ...result, timestamp: { sec: sec - back, nsec } }
    })
  const { lines, logger } = await start('log on 5 msec demo.one', {
    open,
    endLimit: { kind: 'samples', count: 6 },
  })
  expect((await logger.ended).status).toBe(0)
  expect(lines.filter((line) => line.includes('went back by'))).toEqual([
    expect.stringMatching(/^pmlogger: The clock of "local context" went back by 3\d\d\d\.\d{3} seconds$/),
  ])
})

test('a failure to close the connection does not prevent a logger from ending', async () => {
  const open = async (): Promise<Context> => {
    const context = await openLocal({ agents: [demoAgent] })
    context.close = () => Promise.reject(new PcpError('EIO', 'no way'))
    return context
  }
  const { lines, logger } = await start('log on 1 hour demo.one', { open })
  expect((await logger.stop('enough')).reason).toBe('enough')
  expect(lines.at(-1)).toBe('Closing the connection to the collector: no way')
})
