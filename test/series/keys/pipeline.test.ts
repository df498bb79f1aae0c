/** A pipeline to a cluster: commands keep their order while slots move, and refusals without an end have one. */
import { afterEach, expect, it } from 'vitest'
import type { Clock } from '../../../src/pmapi/clock.ts'
import { KeyClient } from '../../../src/series/keys/client.ts'
import { KeyPipeline } from '../../../src/series/keys/pipeline.ts'
import { slotOf } from '../../../src/series/keys/slots.ts'
import { type FakeReply, type FakeServer, fakeServer, OK } from './fake-server.ts'

const KEY = 'stream'
const SLOT = slotOf(KEY)

let servers: FakeServer[] = []
let client: KeyClient | undefined
/** The server that has all slots. */
let owner = 0

afterEach(async () => {
  client?.close()
  for (const server of servers.splice(0)) await server.close()
  owner = 0
})

/** Starts servers, and a pipeline to the first; `clock` for waits. */
async function pipelineTo(replies: readonly FakeReply[], clock: Clock): Promise<KeyPipeline> {
  const slots = (): string =>
    `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:${servers[owner]!.port}\r\n`
  servers = []
  for (const reply of replies) servers.push(await fakeServer(reply, slots))
  client = await KeyClient.open([{ host: '127.0.0.1', port: servers[0]!.port }])
  return new KeyPipeline(client, { clock })
}

/** A clock that only waits advance; they end immediately. */
function quickClock(): Clock & { readonly waits: number[] } {
  let now = 0
  const waits: number[] = []
  return {
    waits,
    now: () => now,
    sleep: async (ms) => {
      waits.push(ms)
      now += ms
    },
  }
}

const numbersAt = (which: number): readonly (string | undefined)[] =>
  servers[which]!.commands.map((command) => command[2])

it('commands for a slot that moves arrive in order, those buffered for its old server too', async () => {
  let accepted = 0
  const clock = quickClock()
  const pipeline = await pipelineTo(
    [
      () => {
        if (accepted < 2) return `:${++accepted}\r\n`
        owner = 1
        return `-MOVED ${SLOT} 127.0.0.1:${servers[1]!.port}\r\n`
      },
      () => OK,
    ],
    clock,
  )
  for (let i = 1; i <= 6; i++) pipeline.add(['SET', KEY, i])
  const flushed = pipeline.flush()
  for (let i = 7; i <= 12; i++) pipeline.add(['SET', KEY, i])
  await flushed
  await pipeline.flush()
  expect(numbersAt(1)).toEqual(['3', '4', '5', '6', '7', '8', '9', '10', '11', '12'])
  expect(pipeline.onTheWay).toBe(0)
  expect(clock.waits).toHaveLength(1)
})

it('follows one redirection without a wait', async () => {
  const clock = quickClock()
  const pipeline = await pipelineTo([() => `-ASK ${SLOT} 127.0.0.1:${servers[1]!.port}\r\n`, () => OK], clock)
  pipeline.add(['SET', KEY, 1])
  await pipeline.flush()
  expect(servers[1]!.commands).toEqual([['ASKING'], ['SET', KEY, '1']])
  expect(clock.waits).toEqual([])
})

it.each(['TRYAGAIN', 'CLUSTERDOWN', 'ASK', 'MOVED'])('gives up after repeated refusals: %s', async (kind) => {
  const refuse: FakeReply = ([name]) =>
    name === 'ASKING' ? OK : `-${kind} ${SLOT} 127.0.0.1:${servers[1]!.port}\r\n`
  const clock = quickClock()
  const pipeline = await pipelineTo([refuse, refuse], clock)
  pipeline.add(['SET', KEY, 1])
  pipeline.add(['SET', KEY, 2])
  const error = { code: 'ETIMEDOUT', message: expect.stringContaining('2 commands were refused for 5 s') }
  await expect(pipeline.flush()).rejects.toMatchObject(error)
  expect(clock.now()).toBeGreaterThan(client!.patienceMs)
  // 50 ms, doubled up to a second, and up to half of it more.
  expect(clock.waits.length).toBeLessThan(12)
  expect(clock.waits.length).toBeGreaterThan(5)
  const sent = numbersAt(0).length + numbersAt(1).length
  pipeline.add(['SET', KEY, 3])
  expect(() => pipeline.room()).toThrow(expect.objectContaining(error))
  await expect(pipeline.flush()).rejects.toMatchObject(error)
  expect(numbersAt(0).length + numbersAt(1).length).toBe(sent)
})
