import { expect, test } from 'vitest'
import { PcpError, statusOf } from '../../src/model/errors.ts'
import { indom, PM_ID_NULL, pmid } from '../../src/model/ids.ts'
import { InstanceSet } from '../../src/model/instance-set.ts'
import { overrideSource } from '../../src/model/layer.ts'
import { ALL_INSTANCES } from '../../src/model/profile.ts'
import type { Ask, MetricSource } from '../../src/model/source.ts'
import { OP_FETCH, OP_STORE } from '../../src/net/access/statements.ts'
import { FetchBatch } from '../../src/pmcd/fetch-batch.ts'
import { encodeAttr, PCP_ATTR_CONTAINER } from '../../src/wire/attr.ts'
import { encodeCreds, PDU_FLAG_COMPRESS, PDU_FLAG_CONTAINER, PDU_FLAG_LABELS } from '../../src/wire/creds.ts'
import { decodeDescs, encodeDescIds, encodeDescReq } from '../../src/wire/desc.ts'
import { decodeError, encodeError } from '../../src/wire/error.ts'
import { encodeFetch, encodeHighResFetch } from '../../src/wire/fetch.ts'
import { decodeInstances, encodeInstanceReq } from '../../src/wire/instance.ts'
import { newPdu, pduBytes, pduName, pduType } from '../../src/wire/pdu.ts'
import {
  decodePmnsIds,
  decodePmnsNames,
  encodePmnsChild,
  encodePmnsIds,
  encodePmnsNames,
  encodePmnsTraverse,
} from '../../src/wire/pmns.ts'
import { encodeProfile } from '../../src/wire/profile.ts'
import { decodeResult, encodeResult } from '../../src/wire/result.ts'
import { decodeTextReply, encodeTextReq } from '../../src/wire/text.ts'
import { connectClient, memoryAgent, pmnsOf, routerOf, summary, type TestClient } from './parts.ts'

const ONE = pmid(10, 0, 1)
const TWO = pmid(10, 0, 2)
const hex = (pdu: Uint8Array | undefined): string => Buffer.from(pdu ?? []).toString('hex')
const names = (sent: readonly Uint8Array[]): string[] => sent.map((pdu) => pduName(pduType(pdu)))
const statusIn = (pdu: Uint8Array | undefined): number => decodeError(pdu!).status

async function connected(settings: Parameters<typeof connectClient>[1] = {}): Promise<TestClient> {
  const pmns = pmnsOf({ 'a.one': ONE, 'a.two': TWO })
  const { router } = await routerOf([['a', 10, memoryAgent('a', 10)]], pmns)
  return connectClient(router, settings)
}

/** Sends requests without waiting and returns their replies. */
async function replies(test: TestClient, ...requests: Uint8Array[]): Promise<Uint8Array[]> {
  const start = test.sent.length
  for (const request of requests) test.client.receive(request)
  await test.arrived(start + requests.length)
  return test.sent.slice(start)
}

test('the collector speaks first: the challenge of a collector without TLS and SASL', async () => {
  const { sent } = await connected({ greets: false })
  expect(hex(sent[0])).toBe('0000001400007000000000000000000002010e40')
})

test('anything but CREDS ends the connection', async () => {
  const { client, sent, events } = await connected({ greets: false })
  client.receive(encodeDescReq(ONE))
  expect(events).toEqual(['close'])
  expect(sent).toHaveLength(1)
})

test.each([
  [PDU_FLAG_COMPRESS, 'ENOTSUP'],
  [PDU_FLAG_LABELS, 'PM_ERR_IPC'],
] as const)('a client that requests feature %i receives an error and is dropped', async (flag, code) => {
  const { client, sent, events } = await connected({ greets: false })
  client.receive(encodeCreds(flag))
  expect(statusIn(sent[1])).toBe(statusOf(code))
  expect(events).toEqual(['close'])
})

test('a container follows directly after the CREDS that announce it', async () => {
  const good = await connected({ greets: false })
  good.client.receive(encodeCreds(PDU_FLAG_CONTAINER))
  good.client.receive(encodeAttr(PCP_ATTR_CONTAINER, 'box-1'))
  expect(good.client.container).toBe('box-1')
  expect(good.client.attributes).toEqual([[PCP_ATTR_CONTAINER, 'box-1']])
  expect(good.events).toEqual(['introduced'])
  const bad = await connected({ greets: false })
  bad.client.receive(encodeCreds(PDU_FLAG_CONTAINER))
  bad.client.receive(encodeAttr(PCP_ATTR_CONTAINER, '../etc'))
  expect(statusIn(bad.sent[1])).toBe(statusOf('EINVAL'))
  expect(bad.events).toEqual(['close'])
})

test('agents are notified when a client leaves its container', async () => {
  const { client } = await connected()
  expect(client.attributes).toEqual([])
  client.setContainer('box-1')
  client.setContainer('')
  expect(client.attributes).toEqual([[PCP_ATTR_CONTAINER, '']])
})

test('a fetch needs a profile for its context, and is traced with its reply', async () => {
  const test = await connected()
  const [none] = await replies(test, encodeFetch(3, [ONE]))
  expect(statusIn(none)).toBe(statusOf('PM_ERR_NOPROFILE'))
  test.client.receive(encodeProfile(3, ALL_INSTANCES))
  const sent = await replies(test, encodeFetch(3, [ONE, TWO]), encodeHighResFetch(3, [TWO]))
  expect(names(sent)).toEqual(['RESULT', 'HIGHRES_RESULT'])
  expect(sent.map((pdu) => summary(decodeResult(pdu).sets))).toEqual([[1, 2], [2]])
})

test('each context keeps its own profile', async () => {
  const test = await connected()
  const colours = indom(10, 1)
  const only = (inst: number) => ({
    includeByDefault: true,
    entries: new Map([[colours, { indom: colours, includeAll: false, instances: InstanceSet.of([inst]) }]]),
  })
  test.client.receive(encodeProfile(0, only(1)))
  test.client.receive(encodeProfile(1, ALL_INSTANCES))
  const fetch = (context: number) => encodeFetch(context, [pmid(10, 0, 3)])
  const sent = await replies(test, fetch(0), fetch(1))
  expect(sent.map((pdu) => [...decodeResult(pdu).sets[0]!.inst])).toEqual([[1], [0, 1]])
})

test('state changes are sent once, before the next result', async () => {
  const test = await connected()
  test.client.receive(encodeProfile(0, ALL_INSTANCES))
  test.client.addChanges(4)
  test.client.addChanges(3)
  test.client.receive(encodeFetch(0, [ONE]))
  test.client.receive(encodeFetch(0, [ONE]))
  await test.arrived(4)
  expect(names(test.sent.slice(1))).toEqual(['ERROR', 'RESULT', 'RESULT'])
  expect(statusIn(test.sent[1])).toBe(7)
})

test('replies keep the order of requests when agents answer out of order', async () => {
  let release: (() => void) | undefined
  const slow = overrideSource(memoryAgent('b', 11), {
    text: async () => {
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return 'slow'
    },
  })
  const { router } = await routerOf([
    ['a', 10, memoryAgent('a', 10)],
    ['b', 11, slow],
  ])
  const test = connectClient(router)
  test.client.receive(encodeTextReq(pmid(11, 0, 1), 5))
  test.client.receive(encodeDescReq(ONE))
  test.client.receive(encodeDescReq(pmid(99, 0, 0)))
  await new Promise((resolve) => setImmediate(resolve))
  expect(test.sent).toHaveLength(1)
  release!()
  await test.arrived(4)
  expect(names(test.sent.slice(1))).toEqual(['TEXT', 'DESC', 'ERROR'])
})

test('fetches that arrive together share one batch, later ones have their own', async () => {
  const asks: Ask[] = []
  const base = memoryAgent('a', 10)
  const source = overrideSource(base, {
    fetch: (ids, ask) => {
      asks.push(ask)
      return base.fetch(ids, ask)
    },
  })
  const { router } = await routerOf([['a', 10, source]])
  const batch = new FetchBatch()
  const clients = [0, 1].map((slot) => connectClient(router, { host: { batch }, slot }))
  for (const { client } of clients) {
    client.receive(encodeProfile(0, ALL_INSTANCES))
    client.receive(encodeFetch(0, [ONE]))
  }
  await Promise.all(clients.map(({ arrived }) => arrived(2)))
  await replies(clients[0]!, encodeFetch(0, [ONE]))
  expect(asks).toHaveLength(3)
  expect(asks[0]!.batch).toBeDefined()
  expect(asks[1]!.batch).toBe(asks[0]!.batch)
  expect(asks[2]!.batch).not.toBe(asks[0]!.batch)
  expect(asks.map(({ requester }) => requester.client)).toEqual([0, 1, 0])
})

test('a store does not overtake the fetch before it', async () => {
  const test = await connected()
  test.client.receive(encodeProfile(0, ALL_INSTANCES))
  const fetch = encodeFetch(0, [TWO])
  const set = {
    pmid: TWO,
    status: 1,
    format: 0,
    inst: Int32Array.of(-1),
    word: Int32Array.of(9),
    bytes: new Uint8Array(0),
  }
  const sent = await replies(test, fetch, encodeResult({ sec: 0, nsec: 0 }, [set]), fetch)
  expect(names(sent)).toEqual(['RESULT', 'ERROR', 'RESULT'])
  expect(summary(decodeResult(sent[0]!).sets)).toEqual([2])
  expect(statusIn(sent[1])).toBe(0)
  expect(summary(decodeResult(sent[2]!).sets)).toEqual([9])
})

test('an empty store succeeds', async () => {
  const [reply] = await replies(await connected(), encodeResult({ sec: 0, nsec: 0 }, []))
  expect(statusIn(reply)).toBe(0)
})

test('limits: contexts, metrics of a fetch', async () => {
  const limits = { pduBytes: 65536, contexts: 2, metrics: 3 }
  const test = await connected({ host: { limits } })
  const [context] = await replies(test, encodeProfile(2, ALL_INSTANCES))
  expect(statusIn(context)).toBe(statusOf('EAGAIN'))
  test.client.receive(encodeProfile(1, ALL_INSTANCES))
  const [metrics] = await replies(test, encodeFetch(1, [ONE, ONE, ONE, ONE]))
  expect(statusIn(metrics)).toBe(statusOf('PM_ERR_TOOBIG'))
})

test('denied operations are refused per request', async () => {
  const reader = await connected({ denied: OP_STORE })
  reader.client.receive(encodeProfile(0, ALL_INSTANCES))
  const sent = await replies(reader, encodeResult({ sec: 0, nsec: 0 }, []), encodeFetch(0, [ONE]))
  expect(statusIn(sent[0])).toBe(statusOf('PM_ERR_PERMISSION'))
  expect(names(sent)[1]).toBe('RESULT')
  const writer = await connected({ denied: OP_FETCH })
  const [profile, desc] = await replies(writer, encodeProfile(0, ALL_INSTANCES), encodeDescReq(ONE))
  expect([statusIn(profile), statusIn(desc)]).toEqual([
    statusOf('PM_ERR_PERMISSION'),
    statusOf('PM_ERR_PERMISSION'),
  ])
  expect(writer.events.filter((event) => event === 'violation')).toHaveLength(2)
})

test('unknown and malformed requests get PM_ERR_IPC and the connection stays', async () => {
  const test = await connected()
  const short = encodeDescReq(ONE).slice(0, 14)
  new DataView(short.buffer).setInt32(0, 14)
  const sent = await replies(test, pduBytes(newPdu(12, 0x700b, 0)), short, encodeError(0), encodeDescReq(ONE))
  expect(sent.slice(0, 3).map(statusIn)).toEqual(Array(3).fill(statusOf('PM_ERR_IPC')))
  expect(names(sent)[3]).toBe('DESC')
  expect(test.events).toEqual(['introduced'])
})

test('names: a single failure is an error, among several the failed ones are marked', async () => {
  const test = await connected()
  const sent = await replies(
    test,
    encodePmnsNames(['a.no']),
    encodePmnsNames(['a']),
    encodePmnsNames(['a.no', 'a.two', 'a']),
    encodePmnsNames([]),
    encodePmnsIds([TWO]),
    encodePmnsTraverse('a'),
    encodePmnsChild('a', true),
    encodePmnsChild('a.one', false),
  )
  expect(statusIn(sent[0])).toBe(statusOf('PM_ERR_NAME'))
  expect(statusIn(sent[1])).toBe(statusOf('PM_ERR_NONLEAF'))
  expect(decodePmnsIds(sent[2]!)).toEqual({ status: 1, ids: [PM_ID_NULL, TWO, PM_ID_NULL] })
  expect(statusIn(sent[3])).toBe(statusOf('PM_ERR_TOOSMALL'))
  expect(decodePmnsNames(sent[4]!).names).toEqual(['a.two'])
  expect(decodePmnsNames(sent[5]!).names).toEqual(['a.one', 'a.two'])
  expect(decodePmnsNames(sent[6]!)).toEqual({ status: 0, names: ['one', 'two'], statuses: [0, 0] })
  expect(decodePmnsNames(sent[7]!)).toEqual({ status: 0, names: [] })
})

test('descriptors: a single failure is an error, in bulk the failed ones are marked', async () => {
  const sent = await replies(
    await connected(),
    encodeDescIds([ONE, pmid(10, 0, 99)]),
    encodeDescIds([pmid(10, 0, 99)]),
  )
  expect(decodeDescs(sent[0]!).map((desc) => desc.pmid)).toEqual([ONE, PM_ID_NULL])
  expect(statusIn(sent[1])).toBe(statusOf('PM_ERR_PMID'))
})

test('instances: all, by id, by name', async () => {
  const colours = indom(10, 1)
  const both = encodeInstanceReq(colours, { name: 'red' }).slice()
  new DataView(both.buffer).setInt32(24, 0)
  const sent = await replies(
    await connected(),
    encodeInstanceReq(colours, undefined),
    encodeInstanceReq(colours, { id: 1 }),
    encodeInstanceReq(colours, { name: 'green' }),
    both,
  )
  expect(decodeInstances(sent[0]!)).toMatchObject({ ids: [0, 1], names: ['red', 'green'] })
  expect(decodeInstances(sent[1]!)).toMatchObject({ ids: [-1], names: ['green'] })
  expect(decodeInstances(sent[2]!)).toMatchObject({ ids: [1], names: [''] })
  expect(statusIn(sent[3])).toBe(statusOf('PM_ERR_INST'))
})

test('texts: the type selects subject and length', async () => {
  const sent = await replies(
    await connected(),
    encodeTextReq(ONE, 5),
    encodeTextReq(ONE, 2),
    encodeTextReq(indom(10, 1), 9),
  )
  expect(decodeTextReply(sent[0]!).text).toBe('always one')
  expect(statusIn(sent[1])).toBe(statusOf('PM_ERR_PMID'))
  expect(decodeTextReply(sent[2]!).text).toBe('colours')
})

test('a client with too many pending replies is not read until it gets some', async () => {
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const base = memoryAgent('a', 10)
  const source: MetricSource = overrideSource(base, {
    descs: async (ids, ask) => {
      await gate
      return base.descs(ids, ask)
    },
  })
  const test = connectClient((await routerOf([['a', 10, source]])).router)
  let sent = 0
  while (test.events.at(-1) !== 'pause') {
    for (; test.events.at(-1) !== 'pause'; sent++) test.client.receive(encodeDescReq(ONE))
    await new Promise((resolve) => setImmediate(resolve)) // reading resumes after the other clients' turn
  }
  expect(sent).toBe(64)
  release()
  await test.arrived(1 + sent)
  expect(test.events.at(-1)).toBe('resume')
})

test('a client that sends many requests at a time lets the others have a turn', async () => {
  const test = connectClient((await routerOf([['a', 10, memoryAgent('a', 10)]])).router)
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  for (let i = 0; i < 15; i++) test.client.receive(encodeDescReq(ONE))
  expect(test.events).toEqual(['introduced'])
  test.client.receive(encodeDescReq(ONE))
  expect(test.events).toEqual(['introduced', 'pause'])
  await turn()
  expect(test.events).toEqual(['introduced', 'pause', 'resume'])
  test.client.receive(encodePmnsTraverse(''))
  expect(test.events.at(-1)).toBe('pause')
  await turn()
  expect(test.events.at(-1)).toBe('resume')
})

test("the client receives the source's error", async () => {
  const source = overrideSource(memoryAgent('a', 10), {
    text: async () => {
      throw new PcpError('PM_ERR_TEXT')
    },
  })
  const [reply] = await replies(
    connectClient((await routerOf([['a', 10, source]])).router),
    encodeTextReq(ONE, 6),
  )
  expect(statusIn(reply)).toBe(statusOf('PM_ERR_TEXT'))
})

test('pending requests of a client that leaves are not sent to agents', async () => {
  const asked: string[] = []
  const told: AbortSignal[] = []
  const base = memoryAgent('a', 10)
  const source = overrideSource(base, {
    fetch: (ids, ask) => {
      asked.push('fetch')
      return base.fetch(ids, ask)
    },
    text: (_query, ask) => {
      told.push(ask.signal!)
      return new Promise(() => {})
    },
    endClient: () => asked.push('endClient'),
  })
  const { router } = await routerOf([['a', 10, source]])
  const { client } = connectClient(router)
  client.receive(encodeTextReq(ONE, 5))
  client.receive(encodeProfile(0, ALL_INSTANCES))
  client.receive(encodeFetch(0, [ONE]))
  client.ended()
  router.endClient(0)
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toEqual(['endClient'])
  expect(told.map((signal) => signal.aborted)).toEqual([true])
})
