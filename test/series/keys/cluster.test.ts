/** Loading into a cluster that changes meanwhile: no sample is lost, and those of a series stay in order. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { KeyClient } from '../../../src/series/keys/client.ts'
import { KeyLoader } from '../../../src/series/keys/loader.ts'
import { slotOf } from '../../../src/series/keys/slots.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { writeHost } from '../lib.ts'
import { type FakeReply, type FakeServer, fakeServer, OK } from './fake-server.ts'

const SAMPLES = 50
const SERIES = 3
const LAST = 16_383

let directory = ''
let servers: FakeServer[] = []
/** First slot of the second server. */
let border = 8192
/** Times of the accepted samples by key. */
let accepted = new Map<string, string[]>()

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keys-'))
  border = 8192
  accepted = new Map()
})

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  rmSync(directory, { recursive: true, force: true })
})

function slots(): string {
  const range = (first: number, last: number, { port }: FakeServer): string =>
    `*3\r\n:${first}\r\n:${last}\r\n*2\r\n$9\r\n127.0.0.1\r\n:${port}\r\n`
  const ranges = [
    ...(border > 0 ? [range(0, border - 1, servers[0]!)] : []),
    ...(border <= LAST ? [range(border, LAST, servers[1]!)] : []),
  ]
  return `*${ranges.length}\r\n${ranges.join('')}`
}

function accept([name, key = '', , , , time = '']: readonly string[]): string {
  if (name !== 'XADD') return name === 'GET' ? '$1\r\n2\r\n' : OK
  const times = accepted.get(key) ?? []
  times.push(time)
  accepted.set(key, times)
  return OK
}

/** Answers as a server of the cluster: another one's slots have moved. */
function memberReply(which: number): FakeReply {
  return (command) => {
    const slot = slotOf(command[1] ?? '')
    const owner = slot < border ? 0 : 1
    return owner === which ? accept(command) : `-MOVED ${slot} 127.0.0.1:${servers[owner]!.port}\r\n`
  }
}

/** Starts two servers, and loads an archive. */
async function load(first: FakeReply, second: FakeReply): Promise<void> {
  servers = [await fakeServer(first, slots), await fakeServer(second, slots)]
  // A server that is gone must not be waited for.
  const options = { delaysMs: [1], patienceMs: 600_000 }
  const client = await KeyClient.open([{ host: '127.0.0.1', port: servers[0]!.port }], options)
  const archive = Archive.open(writeHost(directory, 'db1', { samples: SAMPLES }), archiveFiles())
  try {
    const loader = await KeyLoader.open(client, { mostBytes: 2000 })
    expect(await loader.load(archive, '/a')).toMatchObject({ records: SAMPLES })
  } finally {
    archive.close()
    client.close()
  }
}

/** Expects all samples, each once and in order. */
function expectAll(): void {
  expect(accepted.size).toBe(SERIES)
  for (const times of accepted.values()) {
    expect(times).toHaveLength(SAMPLES)
    expect(times).toEqual(times.toSorted())
  }
}

it.each([0, LAST + 1])('follows slots that move, to border %d', async (newBorder) => {
  let samples = 0
  const move =
    (reply: FakeReply): FakeReply =>
    (command, socket) => {
      if (command[0] === 'XADD' && ++samples === 60) border = newBorder
      return reply(command, socket)
    }
  await load(move(memberReply(0)), move(memberReply(1)))
  expectAll()
})

it('sends commands to the server to which a slot moves', async () => {
  let isMoving = false
  let asked = 0
  border = LAST + 1
  await load(
    (command) => {
      if (command[0] === 'XADD' && [...accepted.values()].some(({ length }) => length >= 20)) isMoving = true
      const slot = slotOf(command[1] ?? '')
      return isMoving ? `-ASK ${slot} 127.0.0.1:${servers[1]!.port}\r\n` : accept(command)
    },
    (command) => {
      if (command[0] === 'ASKING') {
        asked++
        return OK
      }
      return accept(command)
    },
  )
  expect(asked).toBeGreaterThan(0)
  expectAll()
})

it('uses the server that takes over after a death', async () => {
  let samples = 0
  let isDead = false
  await load((command, socket) => {
    if (command[0] === 'XADD' && ++samples === 20) {
      isDead = true
      border = 0
      void servers[0]!.close()
    }
    // Nothing from a dying server arrives.
    if (!isDead) return memberReply(0)(command, socket)
    return undefined
  }, memberReply(1))
  for (const times of accepted.values()) expect(new Set(times).size).toBe(SAMPLES)
  expect(accepted.size).toBe(SERIES)
})

it.each(['CLUSTERDOWN The cluster is down', 'READONLY You cannot write', 'TRYAGAIN Multiple keys'])(
  'repeats commands after %s',
  async (error) => {
    let left = 2
    const refuse =
      (reply: FakeReply): FakeReply =>
      (command, socket) =>
        command[0] === 'HSET' && left-- > 0 ? `-${error}\r\n` : reply(command, socket)
    await load(refuse(memberReply(0)), refuse(memberReply(1)))
    expectAll()
  },
)
