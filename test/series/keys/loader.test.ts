import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { KeyClient } from '../../../src/series/keys/client.ts'
import { KeyLoader } from '../../../src/series/keys/loader.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { START, writeHost } from '../lib.ts'
import { type FakeReply, type FakeServer, fakeServer, OK } from './fake-server.ts'

let directory = ''
let server: FakeServer | undefined
let client: KeyClient | undefined

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keys-'))
})

afterEach(async () => {
  client?.close()
  await server?.close()
  rmSync(directory, { recursive: true, force: true })
})

async function loaded(reply: FakeReply, options = {}, patienceMs = 0): Promise<readonly string[]> {
  server = await fakeServer(reply)
  client = await KeyClient.open([{ host: '127.0.0.1', port: server.port }], { patienceMs, delaysMs: [1] })
  const loader = await KeyLoader.open(client, options)
  const path = writeHost(directory, 'db1', { samples: 3 })
  const archive = Archive.open(path, archiveFiles())
  try {
    await loader.load(archive, '/archives/db1')
  } finally {
    archive.close()
  }
  return server.commands.map((command) => command.map(readable).join(' '))
}

/** Identifiers are 20 bytes, or 40 digits of keys. */
function readable(argument: string): string {
  return argument.length === 20 && !argument.startsWith('pcp:') && /[^ -~]/.test(argument)
    ? 'ID'
    : argument.replace(/[0-9a-f]{40}/g, 'ID')
}

const FRESH: FakeReply = ([name]) => (name === 'GET' ? '$-1\r\n' : name === 'HSET' ? ':1\r\n' : OK)

it('writes names, descriptor, labels and values in the order of PCP', async () => {
  const commands = await loaded(FRESH)
  const [first, second, ...rest] = commands
  expect([first, second]).toEqual(['GET pcp:version:schema', 'SET pcp:version:schema 2'])
  expect(rest.filter((each) => !each.startsWith('PUBLISH')).slice(0, 18)).toEqual([
    'HSET pcp:map:context.name ID /archives/db1',
    'HSET pcp:map:context.name ID db1',
    'SADD pcp:source:context.name:ID ID',
    'SADD pcp:source:context.name:ID ID',
    'SADD pcp:context.name:source:ID ID ID',
    'GEOADD pcp:source:location 0.00000000 0.00000000 ID',
    'HSET pcp:map:metric.name ID demo.count',
    'SADD pcp:series:metric.name:ID ID',
    'SADD pcp:metric.name:series:ID ID',
    'HMSET pcp:desc:series:ID indom none pmid 77.0.1 semantics counter source ID type u64 units count',
    'SADD pcp:series:context.name:ID ID',
    'HSET pcp:map:label.name ID hostname',
    'HSET pcp:map:label.ID.value ID "db1"',
    'HMSET pcp:labelvalue:series:ID ID ID',
    'SADD pcp:series:label.ID.value:ID ID',
    `XADD pcp:values:series:ID MAXLEN ~ 8640 ${START}000-0  0`,
    'EXPIRE pcp:values:series:ID 86400',
    'HSET pcp:map:metric.name ID demo.load',
  ])
  expect(commands.filter((each) => each.startsWith('XADD'))).toHaveLength(9)
  expect(commands).toContain(
    `XADD pcp:values:series:ID MAXLEN ~ 8640 ${START + 10}000-0 ID 1.000000e+00 ID 1.000000e+01`,
  )
  expect(commands).toContain(`XADD pcp:values:series:ID MAXLEN ~ 8640 ${START}000-0  "db1"`)
})

it('announces names that the server did not have', async () => {
  const commands = await loaded(([name, , , text]) =>
    name === 'GET' ? '$1\r\n2\r\n' : name === 'HSET' ? `:${text === 'db1' ? 0 : 1}\r\n` : OK,
  )
  const announced = commands.filter((each) => each.startsWith('PUBLISH'))
  expect(announced).toContain('PUBLISH pcp:channel:metric.name ID:demo.load')
  expect(announced).not.toContain('PUBLISH pcp:channel:context.name ID:db1')
})

it('obeys the settings of streams, and leaves out metrics', async () => {
  const commands = await loaded(FRESH, { maxSamples: 5, expireSeconds: 60, excludeMetrics: ['demo.l*'] })
  expect(commands).toContain('EXPIRE pcp:values:series:ID 60')
  expect(commands.filter((each) => /MAXLEN ~ 5 /.test(each))).toHaveLength(6)
  expect(commands.join()).not.toContain('demo.load')
})

it('counts samples that the server has already', async () => {
  server = await fakeServer(([name]) =>
    name === 'GET'
      ? '$1\r\n2\r\n'
      : name === 'XADD'
        ? '-ERR The ID specified in XADD is equal or smaller than the target stream top item\r\n'
        : OK,
  )
  client = await KeyClient.open([{ host: '127.0.0.1', port: server.port }])
  const loader = await KeyLoader.open(client)
  const archive = Archive.open(writeHost(directory, 'db1', { samples: 3 }), archiveFiles())
  expect(await loader.load(archive, '/a')).toEqual({ records: 3, values: 12, refused: 9 })
  archive.close()
})

it.each([
  ['OOM command not allowed when used memory > maxmemory', 'ENOSPC', /is full.*maxmemory/],
  ['NOPERM this user has no permissions', 'PM_ERR_PERMISSION', /check the user/],
])('ends with %s', async (reply, code, message) => {
  const answer = loaded(([name]) => (name === 'GET' ? '$1\r\n2\r\n' : name === 'XADD' ? `-${reply}\r\n` : OK))
  await expect(answer).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
})

it('refuses another version of the schema', async () => {
  await expect(loaded(() => '$1\r\n3\r\n')).rejects.toMatchObject({ code: 'PM_ERR_FEATURE' })
})

it('repeats unacknowledged commands after a lost connection', async () => {
  let isLost = false
  const commands = await loaded(
    ([name], socket) => {
      if (name === 'XADD' && !isLost) {
        isLost = true
        socket.destroy()
        return undefined
      }
      return name === 'GET' ? '$1\r\n2\r\n' : OK
    },
    {},
    60_000,
  )
  expect(new Set(commands.filter((each) => each.startsWith('XADD'))).size).toBe(9)
})

it('bounds the bytes on the way to a slow server', async () => {
  let held: (() => void) | undefined
  let received = 0
  server = await fakeServer(([name], socket) => {
    if (name === 'GET') return '$1\r\n2\r\n'
    received++
    if (held === undefined) {
      socket.pause()
      held = () => socket.resume()
    }
    return OK
  })
  client = await KeyClient.open([{ host: '127.0.0.1', port: server.port }])
  const loader = await KeyLoader.open(client, { mostBytes: 1000 })
  const archive = Archive.open(writeHost(directory, 'db1', { samples: 2000 }), archiveFiles())
  let isDone = false
  const done = loader.load(archive, '/a').then((count) => {
    isDone = true
    return count
  })
  while (held === undefined) await new Promise((resolve) => setImmediate(resolve))
  expect(isDone).toBe(false)
  expect(received).toBeLessThan(2000)
  held()
  expect(await done).toMatchObject({ records: 2000 })
  archive.close()
})
