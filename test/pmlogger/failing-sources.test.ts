/** Collectors that fail temporarily: metadata needed by the archive is requested until it is available. */
import { expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { type MemoryOutput, memoryOutput } from '../../src/archive/write/memory-output.ts'
import { ArchiveWriter } from '../../src/archive/write/writer.ts'
import { bytesSource } from '../../src/base/byte-source.ts'
import { isError, PcpError } from '../../src/model/errors.ts'
import { indom as makeIndom, pmid as makePmid } from '../../src/model/ids.ts'
import { LABEL_INSTANCES } from '../../src/model/labels.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import type { Context } from '../../src/pmapi/context.ts'
import { LoggedMetric } from '../../src/pmlogger/logged-metric.ts'
import { Recorder } from '../../src/pmlogger/recorder.ts'
import { planTasks } from '../../src/pmlogger/tasks.ts'
import { openLocal } from '../../src/routing/local-context.ts'
import { partsAgent } from '../lib/parts-agent.ts'

const PART = makePmid(251, 0, 1)
const PARTS = makeIndom(251, 1)

/** Starts a recorder of parts.part that records the given instances, one result per second. */
async function start() {
  const context = await openLocal({ agents: [partsAgent()] })
  const output = memoryOutput('a')
  let failing: string | undefined
  const files = {
    ...output,
    create(part: string) {
      const sink = output.create(part)
      const write = sink.write.bind(sink)
      sink.write = (bytes) => {
        if (part !== failing) return write(bytes)
        failing = undefined
        throw new PcpError('ENOSPC')
      }
      return sink
    },
  }
  const writer = ArchiveWriter.create(files, { hostname: 'h', timezone: 'UTC', pid: 7 })
  const recorder = new Recorder(writer)
  const [desc] = await context.descs([PART])
  if (desc === undefined || isError(desc)) throw new PcpError('PM_ERR_PMID')
  const metric = new LoggedMetric('parts.part', desc)
  metric.states.requestAll({ control: 'mandatory', state: 'on', deltaMs: 1000 })
  const [task] = planTasks([metric])
  let sec = 0
  return {
    context,
    metric,
    failNext: (part: string) => {
      failing = part
    },
    record: (...ids: number[]) =>
      recorder.record(context, { sec: ++sec, nsec: 0 }, { key: task!.key, fetch: task!.fetches[0]! }, [
        makeSet(PART, 1, ids, ids),
      ]),
    read: () => open(output),
  }
}

function open(output: MemoryOutput): Archive {
  const contents = output.contents()
  return Archive.open('a', {
    isDirectory: () => false,
    list: () => [...contents.keys()].map((part) => `a.${part}`),
    open: (path) => bytesSource(contents.get(path.replace(/^(?:\.\/)?a\./, ''))!),
  })
}

/** Makes the next calls of a method fail with an error. */
function failing(
  context: Context,
  method: 'instances' | 'instancesLabels' | 'labels' | 'text',
  ...codes: string[]
): void {
  const real = context[method].bind(context) as (...args: never[]) => never
  Object.assign(context, {
    [method]: (...args: never[]) => {
      const code = codes.shift()
      return code === undefined ? real(...args) : Promise.reject(new PcpError(code as 'PM_ERR_AGAIN'))
    },
  })
}

/** Sets the instances of a domain that the agent reports. */
function listing(context: Context, ...ids: number[]): void {
  context.instances = async () => ({ indom: PARTS, ids, names: ids.map((id) => `name ${id}`) })
}

const namesAt = (archive: Archive, sec: number): string[] =>
  [...archive.metadata.instances(PARTS, undefined, { sec, nsec: 0 }).names].sort()

test.each(['PM_ERR_AGAIN', 'PM_ERR_NOAGENT', 'PM_ERR_INDOM'])(
  'instances are named with the next result after an instance domain failed with %s',
  async (code) => {
    const { context, record, read } = await start()
    listing(context, 1)
    await record(1)
    listing(context, 1, 2)
    failing(context, 'instances', code)
    await record(1, 2)
    await record(1, 2)
    expect(namesAt(read(), 3)).toEqual(['name 1', 'name 2'])
  },
)

test('an instance listed later by its domain is named then', async () => {
  const { context, record, read } = await start()
  listing(context, 1)
  await record(1)
  await record(1, 2)
  listing(context, 1, 2)
  await record(1, 2)
  expect(namesAt(read(), 2)).toEqual(['name 1'])
  expect(namesAt(read(), 3)).toEqual(['name 1', 'name 2'])
})

test('an instance domain that could not be written is written with the next result', async () => {
  const { context, record, read, failNext, metric } = await start()
  listing(context, 1)
  await record(1)
  listing(context, 1, 2)
  failNext('meta')
  await expect(record(1, 2)).rejects.toMatchObject({ code: 'ENOSPC' })
  expect([metric.isLogged(1), metric.isLogged(2)]).toEqual([true, false])
  await record(1, 2)
  expect(namesAt(read(), 3)).toEqual(['name 1', 'name 2'])
})

test('instances of a result that could not be written do not count as logged', async () => {
  const { record, failNext, metric } = await start()
  failNext('0')
  await expect(record(1000)).rejects.toMatchObject({ code: 'ENOSPC' })
  expect([metric.hasResult, metric.isLogged(1000)]).toEqual([false, false])
  await record(1000)
  expect(metric.isLogged(1000)).toBe(true)
})

test('labels of instances lost with the connection are recorded with the next result', async () => {
  const { context, record, read } = await start()
  listing(context, 1)
  await record(1)
  listing(context, 1, 2)
  context.instancesLabels = async () => {
    throw new PcpError('PM_ERR_IPC')
  }
  await expect(record(1, 2)).rejects.toMatchObject({ code: 'PM_ERR_IPC' })
  context.instancesLabels = async () => [
    { inst: 2, status: 0, json: '{"n":2}', labels: [{ name: 'n', value: '2', flags: 32 }] },
  ]
  await record(1, 2)
  const labels = read().metadata.labels({ level: LABEL_INSTANCES, id: PARTS }, undefined)
  expect(labels.map(({ inst }) => inst)).toContain(2)
})

test('labels and texts of an agent that is not ready are requested again, only as often as needed', async () => {
  const { context, record, read } = await start()
  let asked = 0
  const { text } = context
  failing(context, 'labels', ...Array.from({ length: 6 }, () => 'PM_ERR_AGAIN'))
  failing(context, 'text', 'PM_ERR_PMDANOTREADY', 'PM_ERR_PMDANOTREADY')
  await record(1000)
  expect(read().metadata.text({ kind: 'metric', id: PART, level: 'oneline' })).toBeUndefined()
  await record(1000)
  const { metadata } = read()
  expect(metadata.text({ kind: 'metric', id: PART, level: 'oneline' })).toBe('Fetches so far')
  context.text = (...args) => {
    asked++
    return text.apply(context, args)
  }
  await record(1000)
  expect(asked).toBe(0)
})

test('requests to an agent that is never ready end', async () => {
  const { context, record } = await start()
  let asked = 0
  context.text = async () => {
    asked++
    throw new PcpError('PM_ERR_AGAIN')
  }
  for (let i = 0; i < 50; i++) await record(1000)
  expect(asked).toBe(40)
})

test('metadata is written once after failing half way', async () => {
  const { record, read, failNext } = await start()
  for (let i = 0; i < 3; i++) {
    failNext('meta')
    await record(1000).catch(() => undefined)
  }
  await record(1000)
  const archive = read()
  expect(archive.metadata.names.namesOf(PART)).toEqual(['parts.part'])
  expect(archive.metadata.text({ kind: 'metric', id: PART, level: 'oneline' })).toBe('Fetches so far')
})
