/** HostSource and fake collectors. */
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { pmid } from '../../src/model/ids.ts'
import { LABEL_DOMAIN } from '../../src/model/labels.ts'
import { ALL_INSTANCES } from '../../src/model/profile.ts'
import { ANONYMOUS, type SourceEvent } from '../../src/model/source.ts'
import { emptySet } from '../../src/model/values.ts'
import { pduCount } from '../../src/net/counters.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { PDU_FLAG_DESCS, PDU_FLAG_HIGHRES, PDU_FLAG_LABELS } from '../../src/wire/creds.ts'
import { decodeDescReq, encodeDesc } from '../../src/wire/desc.ts'
import { encodeError } from '../../src/wire/error.ts'
import { decodeFetch } from '../../src/wire/fetch.ts'
import * as wire from '../../src/wire/pdu.ts'
import { decodePmnsNames, encodePmnsIds, encodePmnsNames } from '../../src/wire/pmns.ts'
import { decodeProfile } from '../../src/wire/profile.ts'
import { encodeHighResResult, encodeResult } from '../../src/wire/result.ts'
import { encodeTextReply } from '../../src/wire/text.ts'
import { type FakePmcd, fakePmcd, type Script, standStill } from '../lib/net-peers.ts'

const ask = { requester: ANONYMOUS }
const text = { kind: 'metric', id: 1, level: 'oneline' } as const
const NOW = { sec: 5, nsec: 7000 }

let pmcd: FakePmcd | undefined
let source: HostSource | undefined
afterEach(async () => {
  await source?.close()
  await pmcd?.close()
})

async function connect(
  features: number,
  script: Script,
  env: Record<string, string> = {},
): Promise<readonly [HostSource, FakePmcd]> {
  pmcd = await fakePmcd(features, script)
  source = await HostSource.connect(`127.0.0.1:${pmcd.port}`, { env })
  return [source, pmcd]
}

const types = (fake: FakePmcd): string[] => fake.got.slice(1).map((pdu) => wire.pduName(wire.pduType(pdu)))

test('requests are pipelined and matched with their replies', async () => {
  const waiting: Uint8Array[] = []
  const [host, fake] = await connect(0, (pdu) => {
    waiting.push(pdu)
    return waiting.length < 3
      ? []
      : [encodeTextReply(0, 'one'), encodeError(-12349), encodePmnsNames(['a', 'b'])]
  })
  const results = await Promise.allSettled([
    host.text(text, ask),
    host.text(text, ask),
    host.lookupId(9, ask),
  ])
  expect(results[0]).toMatchObject({ value: 'one' })
  expect(results[1]).toMatchObject({
    reason: { code: 'PM_ERR_TEXT', message: expect.stringMatching(/^PMID 0\.0\.1: /) },
  })
  expect(results[2]).toMatchObject({ value: ['a', 'b'] })
  expect(types(fake)).toEqual(['TEXT_REQ', 'TEXT_REQ', 'PMNS_IDS'])
  expect(pduCount(host.counters.sent, wire.PDU_TEXT_REQ)).toBe(2)
})

/** Answers fetches with empty value sets. */
const answerFetch: Script = (pdu) => {
  const type = wire.pduType(pdu)
  if (type === wire.PDU_PROFILE) return []
  const sets = decodeFetch(pdu).ids.map((id) => emptySet(id))
  return [type === wire.PDU_FETCH ? encodeResult(NOW, sets) : encodeHighResResult(NOW, sets)]
}

test('a profile is sent once per context, and again when it is a different object', async () => {
  const [host, fake] = await connect(PDU_FLAG_HIGHRES, answerFetch)
  const fetch = (context: number, profile = ALL_INSTANCES) =>
    host.fetch([1], { requester: { client: 0, context, profile } })
  const other = { includeByDefault: false, entries: new Map() }
  await fetch(3)
  await fetch(3)
  await fetch(4)
  await fetch(3, other)
  await fetch(3, other)
  expect(types(fake)).toEqual([
    'PROFILE',
    'HIGHRES_FETCH',
    'HIGHRES_FETCH',
    'PROFILE',
    'HIGHRES_FETCH',
    'PROFILE',
    'HIGHRES_FETCH',
    'HIGHRES_FETCH',
  ])
  const profiles = fake.got.filter((pdu) => wire.pduType(pdu) === wire.PDU_PROFILE).map(decodeProfile)
  expect(profiles.map(({ context, profile }) => [context, profile.includeByDefault])).toEqual([
    [3, true],
    [4, true],
    [3, false],
  ])
})

test('without the features of newer collectors the older requests are used', async () => {
  const [host, fake] = await connect(0, (pdu, connection) => {
    if (wire.pduType(pdu) !== wire.PDU_DESC_REQ) return answerFetch(pdu, connection)
    const id = decodeDescReq(pdu)
    return [id === 2 ? encodeError(-12358) : encodeDesc({ pmid: id, type: 1, indom: 7, sem: 1, units: 0 })]
  })
  const descs = await host.descs([1, 2, 3], ask)
  expect(descs.map((desc) => ('pmid' in desc ? desc.pmid : desc.code))).toEqual([1, 'PM_ERR_PMID', 3])
  expect((await host.fetch([1], ask)).timestamp).toEqual(NOW)
  await expect(host.labels({ level: LABEL_DOMAIN, id: 2 }, ask)).rejects.toMatchObject({
    code: 'PM_ERR_NOLABELS',
  })
  expect(types(fake)).toEqual(['DESC_REQ', 'DESC_REQ', 'DESC_REQ', 'PROFILE', 'FETCH'])
})

test('state changes before a result reach every context once, and listeners', async () => {
  let pending = 0
  const [host] = await connect(PDU_FLAG_HIGHRES, (pdu, connection) => {
    const replies = answerFetch(pdu, connection)
    if (pending === 0 || replies.length === 0) return replies
    const state = [encodeError(pending), encodeError(16)]
    pending = 0
    return [...state, ...replies]
  })
  const events: SourceEvent[] = []
  host.subscribe((event) => events.push(event))
  const fetch = async (context: number) =>
    (await host.fetch([1], { requester: { ...ANONYMOUS, context } })).changes
  expect([await fetch(1), await fetch(2)]).toEqual([0, 0])
  pending = 5
  expect([await fetch(1), await fetch(2), await fetch(2), await fetch(1)]).toEqual([21, 21, 0, 0])
  expect(events).toEqual([
    { type: 'changed', changes: 5 },
    { type: 'changed', changes: 16 },
  ])
})

test('failed names are looked up again, one at a time, for their errors', async () => {
  const reasons: Record<string, number> = { 'no.such': -12357, inner: -12394 }
  const [host, fake] = await connect(0, (pdu) => {
    const { names } = decodePmnsNames(pdu)
    if (names.length === 1) return [encodeError(reasons[names[0]!]!)]
    return [
      encodePmnsIds(
        names.map((name) => (name in reasons ? 0xffffffff : pmid(1, 2, 3))),
        1,
      ),
    ]
  })
  const found = await host.lookupNames(['', 'no.such', 'good', 'inner'], ask)
  expect(found.map((one) => (typeof one === 'number' ? one : one.code))).toEqual([
    'PM_ERR_NAME',
    'PM_ERR_NAME',
    pmid(1, 2, 3),
    'PM_ERR_NONLEAF',
  ])
  expect(types(fake)).toEqual(['PMNS_NAMES', 'PMNS_NAMES', 'PMNS_NAMES'])
  expect(await host.lookupNames([], ask)).toEqual([])
})

test('many names are split into messages that a collector accepts', async () => {
  const [host, fake] = await connect(0, (pdu) => {
    const { names } = decodePmnsNames(pdu)
    return [
      encodePmnsIds(
        names.map((name) => Number(name.slice(5))),
        names.length,
      ),
    ]
  })
  const names = Array.from({ length: 9000 }, (_, i) => `name.${i}`)
  expect(await host.lookupNames(names, ask)).toEqual(names.map((_, i) => i))
  expect(Math.max(...fake.got.map((pdu) => pdu.length))).toBeLessThan(63 * 1024 + 100)
  expect(fake.got.length).toBeGreaterThan(2)
})

test('a silent collector is disconnected, and all pending requests reject', async () => {
  const [host] = await connect(0, () => [], { PMCD_REQUEST_TIMEOUT: '0.05' })
  const lost = new Promise<SourceEvent>((resolve) => host.subscribe(resolve))
  const results = await Promise.allSettled([host.text(text, ask), host.children('', ask)])
  for (const result of results) expect(result).toMatchObject({ reason: { code: 'PM_ERR_TIMEOUT' } })
  expect(await lost).toMatchObject({ type: 'lost', error: { code: 'PM_ERR_TIMEOUT' } })
  await expect(host.text(text, ask)).rejects.toMatchObject({ code: 'PM_ERR_TIMEOUT' })
})

test('the timeout restarts with every reply: a long queue does not time out', async () => {
  const uptime = vi.spyOn(process, 'uptime')
  onTestFinished(() => {
    uptime.mockRestore()
    vi.useRealTimers()
  })
  const replies: (() => void)[] = []
  const [host] = await connect(
    0,
    (_, connection) => {
      replies.push(() => connection.send(encodeTextReply(0, 'x')))
      return []
    },
    { PMCD_REQUEST_TIMEOUT: '60' },
  )
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let now = 1000
  uptime.mockImplementation(() => now)
  const asked = [1, 2, 3, 4].map(() => host.text(text, ask))
  while (replies.length < 4) await new Promise((resolve) => setImmediate(resolve))
  for (const [i, reply] of replies.entries()) {
    now += 50
    vi.advanceTimersByTime(50_000)
    await new Promise((resolve) => setImmediate(resolve))
    reply()
    expect(await asked[i]).toBe('x')
  }
})

test('a reply that has arrived is accepted, however late it is read', async () => {
  const [host] = await connect(
    0,
    (_, connection) => {
      connection.send(encodeTextReply(0, 'here'))
      connection.flush()
      standStill(200)
      return []
    },
    { PMCD_REQUEST_TIMEOUT: '0.1' },
  )
  expect(await host.text(text, ask)).toBe('here')
})

test('time limits beyond the range of timers mean no limit', async () => {
  const [host] = await connect(0, () => [encodeTextReply(0, 'x')], {
    PMCD_CONNECT_TIMEOUT: '1e9',
    PMCD_REQUEST_TIMEOUT: 'Infinity',
  })
  expect(await host.text(text, ask)).toBe('x')
})

test('a refused profile ends the connection, because later replies would be mismatched', async () => {
  const [host] = await connect(0, (pdu) => {
    const type = wire.pduType(pdu)
    if (type === wire.PDU_PROFILE) return [encodeError(-11)]
    return [type === wire.PDU_FETCH ? encodeError(-12381) : encodeTextReply(0, 'x')]
  })
  const results = await Promise.allSettled([host.fetch([1], ask), host.text(text, ask)])
  for (const result of results) expect(result).toMatchObject({ reason: { code: 'EAGAIN' } })
  expect(host.closedBy?.code).toBe('EAGAIN')
})

test('a refused fetch is not mistaken for a refused profile', async () => {
  const [host] = await connect(0, (pdu) => {
    const type = wire.pduType(pdu)
    if (type === wire.PDU_PROFILE) return []
    return [type === wire.PDU_FETCH ? encodeError(-12444) : encodeTextReply(0, 'x')]
  })
  const results = await Promise.allSettled([host.fetch([1], ask), host.text(text, ask)])
  expect(results).toMatchObject([{ reason: { code: 'PM_ERR_TOOBIG' } }, { value: 'x' }])
})

test('changes received with an aborted fetch are reported with the next one', async () => {
  const controller = new AbortController()
  const [host] = await connect(PDU_FLAG_HIGHRES, (pdu, connection) => {
    const replies = answerFetch(pdu, connection)
    if (replies.length === 0 || controller.signal.aborted) return replies
    controller.abort()
    return [encodeError(16), ...replies]
  })
  await expect(host.fetch([1], { ...ask, signal: controller.signal })).rejects.toMatchObject({
    code: 'ECANCELED',
  })
  expect((await host.fetch([1], ask)).changes).toBe(16)
})

test('an aborted request rejects immediately, its late reply is discarded', async () => {
  let release = (): void => undefined
  const [host] = await connect(0, (pdu, connection) => {
    if (wire.pduType(pdu) === wire.PDU_PMNS_IDS) return [encodePmnsNames(['after'])]
    release = () => connection.send(encodeTextReply(0, 'late'))
    controller.abort()
    return []
  })
  const controller = new AbortController()
  await expect(host.text(text, { ...ask, signal: controller.signal })).rejects.toMatchObject({
    code: 'ECANCELED',
  })
  release()
  expect(await host.lookupId(1, ask)).toEqual(['after'])
  await expect(host.text(text, { ...ask, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'ECANCELED',
  })
})

test('a reply of the wrong type, an odd status, a wrong count and an unsolicited PDU end the connection', async () => {
  const scripts: readonly Script[] = [
    () => [encodePmnsNames(['x'])],
    () => [encodeError(0)],
    () => [encodeTextReply(0, 'x').fill(0xff, 16, 20)],
  ]
  for (const script of scripts) {
    const [host, fake] = await connect(0, script)
    await expect(host.text(text, ask)).rejects.toMatchObject({ code: 'PM_ERR_IPC' })
    expect(host.closedBy?.code).toBe('PM_ERR_IPC')
    await fake.close()
  }
  const [host, fake] = await connect(0, (pdu) =>
    wire.pduType(pdu) === wire.PDU_PROFILE ? [] : [encodeResult(NOW, [])],
  )
  await expect(host.fetch([1, 2], ask)).rejects.toMatchObject({ code: 'PM_ERR_IPC' })
  await fake.close()
  const [second, secondFake] = await connect(0, () => [])
  const lost = new Promise<SourceEvent>((resolve) => second.subscribe(resolve))
  secondFake.connections[0]!.send(encodeError(0))
  expect(await lost).toMatchObject({ type: 'lost', error: { code: 'PM_ERR_IPC' } })
})

test('a store is answered by its status', async () => {
  let status = 0
  const [host] = await connect(0, () => [encodeError(status)])
  await host.store([emptySet(1)], ask)
  status = -12387
  await expect(host.store([emptySet(1)], ask)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
})

test('requests that no collector accepts are refused locally', async () => {
  const [host] = await connect(PDU_FLAG_LABELS | PDU_FLAG_DESCS, () => [])
  const many = Array.from({ length: 17_000 }, (_, i) => i)
  await expect(host.fetch(many, ask)).rejects.toMatchObject({ code: 'PM_ERR_TOOBIG' })
  await expect(host.fetch([], ask)).rejects.toMatchObject({ code: 'PM_ERR_TOOSMALL' })
  expect(host.closedBy).toBeUndefined()
})
