/** AgentLink and agents: our own (serveAgent) over a small source, and fakes that misbehave. */
import { expect, test } from 'vitest'
import { PcpError, statusOf } from '../../src/model/errors.ts'
import { LABEL_DOMAIN, LABEL_INSTANCES } from '../../src/model/labels.ts'
import { ALL_INSTANCES } from '../../src/model/profile.ts'
import type { Ask, MetricSource, Requester, SourceEvent } from '../../src/model/source.ts'
import { emptySet } from '../../src/model/values.ts'
import { type AgentLink, openAgentLink } from '../../src/net/agent-link.ts'
import { type ServeAgentOptions, serveAgent } from '../../src/net/agent-server.ts'
import type { PduConnection } from '../../src/net/connection.ts'
import { pduTotal } from '../../src/net/counters.ts'
import { SourceListeners } from '../../src/net/source-listeners.ts'
import { decodeCreds, encodeCreds, PDU_FLAG_AUTH, PDU_FLAG_CONTAINER } from '../../src/wire/creds.ts'
import { encodeError } from '../../src/wire/error.ts'
import { decodeFetch, encodeFetch } from '../../src/wire/fetch.ts'
import * as wire from '../../src/wire/pdu.ts'
import { decodeProfile } from '../../src/wire/profile.ts'
import { encodeResult } from '../../src/wire/result.ts'
import { encodeTextReply, encodeTextReq } from '../../src/wire/text.ts'
import { connectionPair, ended } from '../lib/net-peers.ts'

function askBy(client: number, context = 0, more: Partial<Requester> = {}): Ask {
  return { requester: { client, context, profile: ALL_INSTANCES, ...more } }
}

const ask = askBy(1)
const ZERO = { sec: 0, nsec: 0 }
const text = { kind: 'metric', id: 1, level: 'oneline' } as const

/** Returns a source with one of everything, which records the requesters. */
function smallSource() {
  const listeners = new SourceListeners()
  const asked: Requester[] = []
  const ended: number[] = []
  const labels = [{ inst: -1, status: 0, json: '{"a":1}', labels: [{ name: 'a', value: '1', flags: 2 }] }]
  const source: MetricSource = {
    children: async () => [
      { name: 'leaf', isLeaf: true },
      { name: 'inner', isLeaf: false },
    ],
    traverse: async (name) => [`${name}.leaf`, `${name}.inner.leaf`],
    lookupNames: async (names) =>
      names.map((name) =>
        name === 'x.leaf' ? 77 : new PcpError(name === 'x' ? 'PM_ERR_NONLEAF' : 'PM_ERR_NAME'),
      ),
    lookupId: async (id) => {
      if (id !== 77) throw new PcpError('PM_ERR_PMID')
      return ['x.leaf']
    },
    descs: async (ids) =>
      ids.map((pmid) =>
        pmid === 77 ? { pmid, type: 1, indom: 9, sem: 1, units: 5 } : new PcpError('PM_ERR_PMID'),
      ),
    instances: async (indom, query) => {
      if (query !== undefined && 'name' in query && query.name !== 'one') throw new PcpError('PM_ERR_INST')
      return { indom, ids: [1], names: ['one'] }
    },
    text: async (query) => {
      if (query.level === 'help') throw new PcpError('PM_ERR_TEXT')
      return `${query.kind} ${query.id}`
    },
    labels: async () => labels,
    fetch: async (ids, { requester }) => {
      asked.push(requester)
      if (ids[0] === 13) throw new TypeError('a bug')
      return {
        timestamp: { sec: 99, nsec: 0 },
        changes: 0,
        sets: ids.map((id) => emptySet(id, id === 77 ? 0 : -12358)),
      }
    },
    store: async (sets) => {
      if (sets[0]!.pmid !== 77) throw new PcpError('PM_ERR_BADSTORE')
    },
    endClient: (client) => ended.push(client),
    subscribe: (listener) => listeners.subscribe(listener),
    close: async () => undefined,
  }
  return { source, asked, ended, labels, emit: (event: SourceEvent) => listeners.emit(event) }
}

async function serve(options: ServeAgentOptions = {}) {
  const [near, far] = await connectionPair()
  const small = smallSource()
  const served = serveAgent(small.source, far, options)
  const link = await openAgentLink(near, { name: 'small' })
  return { ...small, link, served }
}

test('every request reaches the agent and its answer is returned', async () => {
  const { link, served, labels } = await serve()
  expect(await link.children('x', ask)).toEqual([
    { name: 'leaf', isLeaf: true },
    { name: 'inner', isLeaf: false },
  ])
  expect(await link.traverse('x', ask)).toEqual(['x.leaf', 'x.inner.leaf'])
  const names = await link.lookupNames(['x.leaf', 'x', 'y'], ask)
  expect(names.map((one) => (typeof one === 'number' ? one : one.code))).toEqual([
    77,
    'PM_ERR_NONLEAF',
    'PM_ERR_NAME',
  ])
  expect(await link.lookupId(77, ask)).toEqual(['x.leaf'])
  await expect(link.lookupId(78, ask)).rejects.toMatchObject({ code: 'PM_ERR_PMID' })
  const [desc, none] = await link.descs([77, 78], ask)
  expect(desc).toEqual({ pmid: 77, type: 1, indom: 9, sem: 1, units: 5 })
  expect(none).toMatchObject({ code: 'PM_ERR_PMID' })
  const one = { indom: 9, ids: [1], names: ['one'] }
  expect(await link.instances(9, undefined, ask)).toEqual(one)
  expect(await link.instances(9, { id: 1 }, ask)).toEqual(one)
  expect((await link.instances(9, { name: 'one' }, ask)).ids).toEqual([1])
  await expect(link.instances(9, { name: 'two' }, ask)).rejects.toMatchObject({ code: 'PM_ERR_INST' })
  expect(await link.text({ kind: 'indom', id: 5, level: 'oneline' }, ask)).toBe('indom 5')
  await expect(link.text({ kind: 'metric', id: 5, level: 'help' }, ask)).rejects.toMatchObject({
    code: 'PM_ERR_TEXT',
  })
  expect(await link.labels({ level: LABEL_DOMAIN, id: 3 }, ask)).toEqual(labels)
  const { sets, changes } = await link.fetch([77, 78, 77], ask)
  expect(sets.map(({ pmid, status }) => [pmid, status])).toEqual([
    [77, 0],
    [78, -12358],
    [77, 0],
  ])
  expect(changes).toBe(0)
  await link.store(sets, ask)
  await expect(link.store([emptySet(1)], ask)).rejects.toMatchObject({ code: 'PM_ERR_BADSTORE' })
  await link.close()
  await served
})

test('an id that is not a number belongs to no user, and not to root', async () => {
  const { link, asked, served } = await serve({ flags: PDU_FLAG_AUTH })
  for (const text of ['', ' ', '0x0', '-0', '0 ', 'root']) {
    link.attribute(4, 11, '0')
    link.attribute(4, 11, text)
    await link.fetch([77], askBy(4))
    expect(asked.at(-1)!.credentials, JSON.stringify(text)).toEqual({})
  }
  await link.close()
  await served
})

test('the agent knows the requester: profile, context, container and credentials', async () => {
  const {
    link,
    asked,
    ended: endedClients,
    served,
  } = await serve({ flags: PDU_FLAG_AUTH | PDU_FLAG_CONTAINER })
  expect(link.flags).toBe(PDU_FLAG_AUTH | PDU_FLAG_CONTAINER)
  link.attribute(4, 11, '1000')
  link.attribute(4, 15, 'box')
  const none = { includeByDefault: false, entries: new Map() }
  await link.fetch([77], askBy(4, 2, { profile: none }))
  expect(asked[0]).toEqual({
    client: 4,
    context: 2,
    profile: none,
    credentials: { uid: 1000 },
    container: 'box',
  })
  link.attribute(5, 13, '')
  await link.fetch([77], askBy(5))
  expect(asked[1]!.credentials).toEqual({ isGuest: true })
  link.endClient(4)
  await link.fetch([77], askBy(4))
  expect(endedClients).toEqual([4])
  expect(asked[2]).toEqual({ client: 4, context: 0, profile: ALL_INSTANCES })
  await link.close()
  await served
  expect(endedClients).toEqual([4, 5, 4])
})

test('an agent without the attribute flags receives no attributes', async () => {
  const { link, asked } = await serve()
  link.attribute(4, 15, 'box')
  await link.fetch([77], askBy(4))
  expect(asked[0]!.container).toBeUndefined()
  await link.close()
})

test('changes that the source reports arrive with the next result', async () => {
  const { link, emit } = await serve()
  const events: SourceEvent[] = []
  link.subscribe((event) => events.push(event))
  emit({ type: 'changed', changes: 8 })
  emit({ type: 'changed', changes: 16 })
  await link.fetch([77], ask)
  await link.fetch([77], ask)
  expect(events).toEqual([{ type: 'changed', changes: 24 }])
  await link.close()
})

test('an exception in a source fails only that request, and is reported', async () => {
  const failures: string[] = []
  const { link } = await serve({ onFailure: (error, name) => failures.push(`${name}: ${error.message}`) })
  await expect(link.fetch([13], ask)).rejects.toMatchObject({ code: 'PM_ERR_GENERIC' })
  expect(failures).toEqual(['FETCH: a bug'])
  expect((await link.fetch([77], ask)).sets.length).toBe(1)
  await link.close()
})

test('an agent that is not ready receives no requests until it is ready', async () => {
  const { link, emit, ended: endedClients } = await serve()
  const events: string[] = []
  const isReady = new Promise<void>((resolve) => {
    link.subscribe((event) => {
      events.push(event.type)
      if (event.type === 'ready') resolve()
    })
  })
  emit({ type: 'notready' })
  const results = await Promise.allSettled([link.fetch([77], ask), link.text(text, ask)])
  for (const result of results) expect(result).toMatchObject({ reason: { code: 'PM_ERR_AGAIN' } })
  expect(link.isReady).toBe(false)
  link.endClient(3)
  await expect(link.text(text, ask)).rejects.toMatchObject({ code: 'PM_ERR_AGAIN' })
  expect(endedClients).toEqual([])
  emit({ type: 'ready' })
  await isReady
  expect(await link.text(text, ask)).toBe('metric 1')
  expect(endedClients).toEqual([3])
  expect(events).toEqual(['notready', 'ready'])
  await link.close()
})

/** A fake agent's replies to PDUs after the handshake. */
type Behaviour = (pdu: Uint8Array, agent: PduConnection) => readonly Uint8Array[]

async function fakeAgent(behave: Behaviour, timeoutMs = 5000, startsNotReady = false) {
  const [near, far] = await connectionPair()
  const got: Uint8Array[] = []
  far.onPdu((pdu) => {
    if (wire.pduType(pdu) === wire.PDU_CREDS) return
    got.push(pdu)
    for (const reply of behave(pdu, far)) far.send(reply)
  })
  far.send(encodeCreds(0))
  const link = await openAgentLink(near, { name: 'fake', timeoutMs, startsNotReady })
  const events: SourceEvent[] = []
  link.subscribe((event) => events.push(event))
  return { link, far, got, events }
}

const isProfile = (pdu: Uint8Array): boolean => wire.pduType(pdu) === wire.PDU_PROFILE

test("failures of an agent: the client's error, and whether the link is kept", async () => {
  const none: readonly Uint8Array[] = []
  const cases: readonly (readonly [string, Behaviour, string, boolean])[] = [
    ['wrong count', (pdu) => (isProfile(pdu) ? none : [encodeResult(ZERO, [])]), 'PM_ERR_IPC', false],
    ['wrong type', (pdu) => (isProfile(pdu) ? none : [encodeTextReply(0, '')]), 'PM_ERR_IPC', false],
    ['negative status', (pdu) => (isProfile(pdu) ? none : [encodeError(-12387)]), 'PM_ERR_PERMISSION', true],
    ['zero status', (pdu) => (isProfile(pdu) ? none : [encodeError(0)]), 'PM_ERR_GENERIC', true],
    ['positive status', (pdu) => (isProfile(pdu) ? none : [encodeError(3)]), 'PM_ERR_GENERIC', true],
    ['not ready', (pdu) => (isProfile(pdu) ? none : [encodeError(-13394)]), 'PM_ERR_AGAIN', true],
    ['silence', () => none, 'PM_ERR_TIMEOUT', false],
    ['garbage', () => [new Uint8Array(16).fill(0xff)], 'PM_ERR_IPC', false],
    [
      "'ready' while ready, then the answer",
      (pdu) => (isProfile(pdu) ? none : [encodeError(-13393), encodeResult(ZERO, [emptySet(1)])]),
      'PM_ERR_IPC',
      false,
    ],
    [
      'end',
      (_, agent) => {
        void agent.close()
        return none
      },
      'PM_ERR_IPC',
      false,
    ],
  ]
  for (const [name, behave, code, isKept] of cases) {
    const { link, far, events } = await fakeAgent(behave, name === 'silence' ? 40 : undefined)
    await expect(link.fetch([1], ask), name).rejects.toMatchObject({ code })
    expect(link.closedBy === undefined, name).toBe(isKept)
    expect(events.filter((event) => event.type === 'lost').length, name).toBe(isKept ? 0 : 1)
    if (!isKept) await expect(link.fetch([1], ask), name).rejects.toMatchObject({ code: 'PM_ERR_NOAGENT' })
    await link.close()
    far.destroy()
  }
})

/** An agent that answers fetches. */
const obedient: Behaviour = (pdu) =>
  isProfile(pdu)
    ? []
    : [
        encodeResult(
          ZERO,
          decodeFetch(pdu).ids.map((id) => emptySet(id)),
        ),
      ]

test('a profile is sent before a fetch for another client, context or profile only', async () => {
  const { link, got } = await fakeAgent(obedient)
  await link.fetch([1], askBy(1, 0))
  await link.fetch([1], askBy(1, 0))
  await link.fetch([1], askBy(2, 0))
  await link.fetch([1], askBy(1, 0))
  await link.fetch([1], askBy(1, 5))
  expect(got.map((pdu) => [wire.pduName(wire.pduType(pdu)), wire.pduFrom(pdu)])).toEqual([
    ['PROFILE', 1],
    ['FETCH', 1],
    ['FETCH', 1],
    ['PROFILE', 2],
    ['FETCH', 2],
    ['PROFILE', 1],
    ['FETCH', 1],
    ['PROFILE', 1],
    ['FETCH', 1],
  ])
  expect(decodeProfile(got[7]!).context).toBe(5)
  await link.close()
})

test('a request other than a fetch is in flight alone, others wait', async () => {
  let open = 0
  let most = 0
  const { link } = await fakeAgent((pdu, agent) => {
    most = Math.max(most, ++open)
    setImmediate(() => {
      open--
      agent.send(encodeTextReply(0, `${wire.pduFrom(pdu)}`))
    })
    return []
  })
  const texts = await Promise.all([1, 2, 3, 4].map((client) => link.text(text, askBy(client))))
  expect(texts).toEqual(['1', '2', '3', '4'])
  expect(most).toBe(1)
  await link.close()
})

test('fetches are pipelined; other requests and notices of clients wait for all of them', async () => {
  const fetches: Uint8Array[] = []
  const { link, far, got } = await fakeAgent((pdu) => {
    if (wire.pduType(pdu) === wire.PDU_TEXT_REQ) return [encodeTextReply(0, 'text')]
    if (wire.pduType(pdu) === wire.PDU_FETCH) fetches.push(pdu)
    if (fetches.length === 3) queueMicrotask(answer)
    return []
  })
  const answer = (): void => {
    for (const pdu of fetches.splice(0))
      far.send(
        encodeResult(
          ZERO,
          decodeFetch(pdu).ids.map((id) => emptySet(id)),
        ),
      )
  }
  const before = [1, 2, 3].map((client) => link.fetch([client], askBy(client)))
  link.endClient(2)
  const aside = link.text(text, ask)
  const after = [4, 5, 6].map((client) => link.fetch([client], askBy(client)))
  const results = await Promise.all([...before, ...after])
  expect(results.map(({ sets }) => sets[0]!.pmid)).toEqual([1, 2, 3, 4, 5, 6])
  expect(await aside).toBe('text')
  const names = got.filter((pdu) => !isProfile(pdu)).map((pdu) => wire.pduName(wire.pduType(pdu)))
  expect(names).toEqual(['FETCH', 'FETCH', 'FETCH', 'ERROR', 'TEXT_REQ', 'FETCH', 'FETCH', 'FETCH'])
  await link.close()
})

test('an agent may report that it is ready before it answers pipelined fetches', async () => {
  let fetches = 0
  const { link, events } = await fakeAgent((pdu) => {
    if (isProfile(pdu)) return []
    const refusal = [encodeError(statusOf('PM_ERR_PMDANOTREADY')), encodeError(statusOf('PM_ERR_PMDAREADY'))]
    return fetches++ === 0 ? refusal : [encodeResult(ZERO, [emptySet(fetches)])]
  })
  const [first, second, third] = await Promise.allSettled([1, 2, 3].map((id) => link.fetch([id], ask)))
  expect(first).toMatchObject({ reason: { code: 'PM_ERR_AGAIN' } })
  expect([second, third]).toMatchObject([
    { value: { sets: [{ pmid: 2 }] } },
    { value: { sets: [{ pmid: 3 }] } },
  ])
  expect(events.map(({ type }) => type)).toEqual(['notready', 'ready'])
  expect(link.isReady).toBe(true)
  await link.close()
})

test('labels of instances need the profile as well', async () => {
  const { link, got } = await fakeAgent((pdu) => (isProfile(pdu) ? [] : [encodeError(-12358)]))
  await expect(link.labels({ level: LABEL_INSTANCES, id: 1 }, ask)).rejects.toBeInstanceOf(PcpError)
  await expect(link.labels({ level: LABEL_DOMAIN, id: 1 }, ask)).rejects.toBeInstanceOf(PcpError)
  expect(got.map(wire.pduType)).toEqual([wire.PDU_PROFILE, wire.PDU_LABEL_REQ, wire.PDU_LABEL_REQ])
  await link.close()
})

test('state bits other than 8 and 16 are ignored', async () => {
  const { link, events } = await fakeAgent((pdu) =>
    isProfile(pdu) ? [] : [encodeResult({ sec: 0x7f, nsec: 0 }, [emptySet(1)])],
  )
  expect((await link.fetch([1], ask)).changes).toBe(0)
  expect(events).toEqual([{ type: 'changed', changes: 24 }])
  await link.close()
})

test('an agent may start not ready; a stray success is ignored, other unsolicited PDUs end the link', async () => {
  const { link, far } = await fakeAgent(obedient, 5000, true)
  expect(link.isReady).toBe(false)
  await expect(link.fetch([1], ask)).rejects.toMatchObject({ code: 'PM_ERR_AGAIN' })
  const isReady = new Promise<void>((resolve) => {
    link.subscribe((event) => event.type === 'ready' && resolve())
  })
  far.send(encodeError(0))
  far.send(encodeError(-13393))
  await isReady
  expect((await link.fetch([1], ask)).sets.length).toBe(1)
  const lost = new Promise<SourceEvent>((resolve) => link.subscribe(resolve))
  far.send(encodeError(-13393))
  expect(await lost).toMatchObject({ type: 'lost', error: { code: 'PM_ERR_IPC' } })
})

test('an agent that was not ready is only notified that a client left, not of its attributes', async () => {
  const [near, far] = await connectionPair()
  const got: string[] = []
  far.onPdu((pdu) => {
    if (wire.pduType(pdu) === wire.PDU_CREDS) return
    got.push(`${wire.pduName(wire.pduType(pdu))} ${wire.pduFrom(pdu)}`)
    if (wire.pduType(pdu) === wire.PDU_TEXT_REQ) far.send(encodeTextReply(0, 'x'))
  })
  far.send(encodeCreds(PDU_FLAG_AUTH))
  const link = await openAgentLink(near, { name: 'fake', startsNotReady: true })
  for (let i = 0; i < 100; i++) {
    link.attribute(4, 11, '0')
    link.endClient(4)
    if (i === 50) link.attribute(5, 11, '1000')
  }
  link.attribute(4, 11, '2000')
  const isReady = new Promise<SourceEvent>((resolve) => link.subscribe(resolve))
  far.send(encodeError(-13393))
  await isReady
  expect(await link.text(text, ask)).toBe('x')
  expect(got).toEqual(['ATTR 5', 'ERROR 4', 'ATTR 4', 'TEXT_REQ 1'])
  await link.close()
})

test('the handshake: answer, time limit, and invalid PDUs', async () => {
  const [near, far] = await connectionPair()
  const answer = new Promise<Uint8Array>((resolve) => far.onPdu(resolve))
  far.send(encodeCreds(PDU_FLAG_AUTH | PDU_FLAG_CONTAINER))
  const link: AgentLink = await openAgentLink(near, { name: 'fake' })
  expect(decodeCreds(await answer)).toEqual([{ type: 1, version: 2, flags: PDU_FLAG_AUTH }])
  await link.close()
  const [second, mute] = await connectionPair()
  await expect(openAgentLink(second, { name: 'mute', handshakeMs: 20 })).rejects.toMatchObject({
    code: 'PM_ERR_TIMEOUT',
  })
  mute.destroy()
  for (const greeting of [encodeError(0), encodeCreds(0, 0, 0)]) {
    const [third, wrong] = await connectionPair()
    wrong.send(greeting)
    await expect(openAgentLink(third, { name: 'wrong' })).rejects.toMatchObject({ code: 'PM_ERR_IPC' })
    expect(third.closedBy).toBeDefined()
    wrong.destroy()
  }
})

test('serveAgent ends with the connection and rejects after a failure', async () => {
  const [near, far] = await connectionPair()
  const served = serveAgent(smallSource().source, far)
  near.onPdu(() => undefined)
  near.send(encodeCreds(0))
  near.send(encodeError(-12391))
  near.send(new Uint8Array(16).fill(0xff))
  await expect(served).rejects.toMatchObject({ code: 'PM_ERR_IPC' })
  expect((await ended(near)).code).toMatch(/PM_ERR_EOF|ECONNRESET/)
})

test('serveAgent closes the connection after an invalid handshake', async () => {
  const greetings = [encodeError(0), encodeCreds(0).fill(9, 16, 17)]
  for (const greeting of greetings) {
    const [near, far] = await connectionPair()
    near.onPdu(() => undefined)
    near.send(greeting)
    await expect(serveAgent(smallSource().source, far)).rejects.toMatchObject({ code: 'PM_ERR_IPC' })
    expect(far.closedBy).toBeDefined()
    await ended(near)
  }
  const [near, far] = await connectionPair()
  await expect(serveAgent(smallSource().source, far, { handshakeMs: 10 })).rejects.toMatchObject({
    code: 'PM_ERR_TIMEOUT',
  })
  near.onPdu(() => undefined)
  await ended(near)
})

test('an agent stops reading while many requests wait, and forgets them when the collector is gone', async () => {
  const [near, far] = await connectionPair()
  const { source, asked, ended: endedClients } = smallSource()
  let release = (): void => undefined
  const started = new Promise<void>((resolve) => {
    source.text = () => {
      resolve()
      return new Promise((answer) => {
        release = () => answer('late')
      })
    }
  })
  const served = serveAgent(source, far)
  near.onPdu(() => undefined)
  near.send(encodeCreds(0))
  near.send(encodeTextReq(1, 5, 7))
  const request = encodeFetch(0, [77], 8)
  for (let i = 0; i < 10_000; i++) near.send(request)
  await started
  expect(pduTotal(far.counters.received)).toBeLessThan(1000)
  far.destroy()
  await served
  release()
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toEqual([])
  expect(endedClients).toEqual([])
})
