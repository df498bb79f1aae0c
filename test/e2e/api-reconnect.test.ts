/** Contexts that lose their collector, over real connections. */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import { PduConnection, socketStream } from '../../src/net/connection.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { connect } from '../../src/pmapi/connect.ts'
import { Context } from '../../src/pmapi/context.ts'
import { decodeAttr } from '../../src/wire/attr.ts'
import { PDU_FLAG_AUTH, PDU_FLAG_CONTAINER, PDU_FLAG_SECURE } from '../../src/wire/creds.ts'
import { encodeDesc } from '../../src/wire/desc.ts'
import { encodeChallenge } from '../../src/wire/error.ts'
import * as wire from '../../src/wire/pdu.ts'
import { encodePmnsIds } from '../../src/wire/pmns.ts'
import { decodeProfile } from '../../src/wire/profile.ts'
import { encodeResult } from '../../src/wire/result.ts'

const ID = pmid(60, 0, 1)

/** How the collector treats new connections. */
type CollectorBehaviour = 'answers' | 'is silent' | 'refuses' | 'hangs up' | 'stops after its challenge'

/** A collector with one metric and configurable behaviour. */
class Collector {
  manner: CollectorBehaviour = 'answers'
  readonly got: Uint8Array[] = []
  readonly sockets = new Set<Socket>()
  readonly #server: Server
  readonly #features: number

  private constructor(server: Server, features: number) {
    this.#server = server
    this.#features = features
    server.on('connection', (socket) => this.#receive(socket))
  }

  static async start(features = 0): Promise<Collector> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Collector(server, features)
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as { port: number }).port}`
  }

  /** Resolves with the next connection. */
  async next(): Promise<Socket> {
    const [socket] = (await once(this.#server, 'connection')) as [Socket]
    return socket
  }

  /** Closes every connection. */
  drop(): void {
    for (const socket of this.sockets) socket.destroy()
  }

  /** Resolves when no client is connected. */
  async quiet(): Promise<void> {
    for (const socket of this.sockets) await once(socket, 'close')
  }

  async close(): Promise<void> {
    this.drop()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #receive(socket: Socket): void {
    this.sockets.add(socket)
    socket.on('error', () => {}).once('close', () => this.sockets.delete(socket))
    if (this.manner === 'is silent') socket.resume()
    else if (this.manner === 'hangs up') socket.destroy()
    else if (this.manner === 'stops after its challenge') {
      socket.write(encodeChallenge(this.#features))
      socket.resume()
    } else this.#serve(socket)
  }

  #serve(socket: Socket): void {
    const { manner } = this
    const connection = new PduConnection(socketStream(socket), { name: 'client' })
    connection.send(encodeChallenge(this.#features, manner === 'refuses' ? -12387 : 0))
    if (manner === 'refuses') void connection.close()
    connection.onPdu((pdu) => {
      this.got.push(pdu.slice())
      if (manner === 'answers') for (const reply of replies(pdu)) connection.send(reply)
    })
  }
}

function replies(pdu: Uint8Array): readonly Uint8Array[] {
  const type = wire.pduType(pdu)
  if (type === wire.PDU_PMNS_NAMES) return [encodePmnsIds([ID])]
  if (type === wire.PDU_DESC_REQ)
    return [encodeDesc({ pmid: ID, type: 1, indom: PM_INDOM_NULL, sem: 3, units: 0 })]
  if (type === wire.PDU_FETCH) return [encodeResult({ sec: 5, nsec: 0 }, [makeSingular(ID, 1, 42)])]
  return []
}

let collector: Collector | undefined
afterEach(() => collector?.close())

test('sampling continues after a gap row; profile and container are sent again', async () => {
  collector = await Collector.start(PDU_FLAG_CONTAINER)
  await using pcp = await connect(collector.host, {
    container: 'web',
    reconnect: { delays: [0.01] },
    env: {},
  })
  pcp.profile = { includeByDefault: false, entries: new Map() }
  const values: unknown[] = []
  for await (const row of pcp.sample(['test.answer'], { every: '10ms', count: 4 })) {
    values.push(row.away === undefined ? row.value('test.answer') : row.away.code)
    if (values.length === 2) collector.drop()
  }
  expect(values).toEqual([42, 42, expect.stringMatching(/^(PM_ERR_EOF|ECONNRESET)$/), 42, 42])
  const ofType = (type: number): Uint8Array[] => collector!.got.filter((pdu) => wire.pduType(pdu) === type)
  expect(ofType(wire.PDU_PROFILE).map((pdu) => decodeProfile(pdu).profile.includeByDefault)).toEqual([
    false,
    false,
  ])
  expect(ofType(wire.PDU_ATTR).map((pdu) => Buffer.from(decodeAttr(pdu).value).toString())).toEqual([
    'web',
    'web',
  ])
})

test.each<{ phase: string; manner: CollectorBehaviour; query?: string; features?: number }>([
  { phase: 'the challenge', manner: 'is silent' },
  {
    phase: 'authentication',
    manner: 'stops after its challenge',
    query: '?username=me&password=x&method=PLAIN',
    features: PDU_FLAG_AUTH,
  },
  { phase: 'TLS', manner: 'stops after its challenge', query: '?secure=relaxed', features: PDU_FLAG_SECURE },
])('close() ends a reconnect that waits for $phase, and leaves no connection', async (each) => {
  const { manner, query = '', features = 0 } = each
  collector = await Collector.start(features)
  const { host } = collector
  const reopen = (signal?: AbortSignal): Promise<HostSource> =>
    HostSource.connect(`${host}${query}`, { env: {}, ...(signal && { signal }) })
  const context = Context.over(await HostSource.connect(host, { env: {} }), { reopen })
  collector.manner = manner
  const connected = collector.next()
  const reconnected = context.reconnect().catch((error: unknown) => error)
  const socket = await connected
  if (manner !== 'is silent') await once(socket, 'data')
  await context.close()
  expect(await reconnected).toMatchObject({ code: 'PM_ERR_NOCONTEXT' })
  await collector.quiet()
  expect(collector.sockets.size).toBe(0)
})

test.each<CollectorBehaviour>(['refuses', 'hangs up'])(
  'a context keeps trying while its collector %s, and reconnects when it answers',
  async (manner) => {
    collector = await Collector.start()
    await using pcp = await connect(collector.host, { reconnect: { delays: [0.005] }, env: {} })
    collector.manner = manner
    collector.drop()
    for (let attempts = 0; attempts < 3; attempts++) await collector.next()
    collector.manner = 'answers'
    await pcp.untilOpen()
    expect((await pcp.values(['test.answer'])).value('test.answer')).toBe(42)
    await pcp.close()
    await collector.quiet()
    expect(collector.sockets.size).toBe(0)
  },
)

test('rejects delays and request limits that are not positive', async () => {
  await expect(connect('localhost', { reconnect: { delays: [0] } })).rejects.toMatchObject({
    code: 'PM_ERR_ARG',
  })
  await expect(connect('localhost', { maxRequests: 0 })).rejects.toMatchObject({ code: 'PM_ERR_ARG' })
})

test('sends long lists in batches that fit the request queue', async () => {
  collector = await Collector.start()
  await using pcp = await connect(collector.host, { maxRequests: 10, env: {} })
  const ids = Array.from({ length: 1000 }, () => ID)
  const descs = await pcp.descs(ids)
  expect(descs.map((desc) => 'pmid' in desc && desc.pmid)).toEqual(ids)
  const asked = Array.from({ length: 11 }, () => pcp.fetch([ID]))
  const outcomes = await Promise.allSettled(asked)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
  expect(outcomes[10]).toMatchObject({ reason: { code: 'EAGAIN' } })
  expect((await pcp.fetch([ID])).sets).toHaveLength(1)
})
