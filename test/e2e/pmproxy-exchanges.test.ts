/** Recorded behaviour of PCP's pmproxy besides HTTP: forwarding byte by byte, and metrics about itself. docs/reference/pmproxy.md */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

const vectors = <T>(name: string): T => JSON.parse(readFileSync(`test/vectors/web/${name}.json`, 'utf8')) as T

let server: WebServer
beforeAll(async () => {
  server = await startWebServer(['pmcd', 'pmproxy'])
})
afterAll(() => server.close())

interface Exchange {
  readonly id: string
  readonly '7.2.1': readonly {
    readonly client?: string | null
    readonly client_hex?: string
    readonly server?: string
    readonly server_hex?: string
  }[]
}

/** Port of the collector in the recordings. */
const RECORDED_PORT = 44645
const GREETING = Buffer.from('pmproxy-server 1\n').toString('hex')
/** A collector's first PDU; its last four bytes are its features. */
const CHALLENGE = '00000014000070000000000000000000'

/** Intended differences from the recordings, with our behaviour and the reason. */
const OTHERWISE: Readonly<
  Record<string, { readonly why: string; readonly hex: string; readonly isClosed: boolean }>
> = {
  split: { why: 'the line may come in pieces', hex: GREETING + CHALLENGE, isClosed: false },
  'bad-greeting': { why: 'closed immediately', hex: '', isClosed: true },
  'no-port': { why: 'closed immediately', hex: GREETING, isClosed: true },
  'bad-port': { why: 'closed immediately', hex: GREETING, isClosed: true },
  'long-line': { why: 'closed immediately', hex: GREETING, isClosed: true },
  unresolvable: { why: 'names are resolved', hex: GREETING, isClosed: true },
}

const { exchanges } = vectors<{ exchanges: Exchange[] }>('pcp-proxy')

test.each(exchanges)(
  'forwarding, $id: the same bytes as PCP, or intended ones',
  async ({ id, '7.2.1': steps }) => {
    const recorded = {
      hex: steps.map(({ server_hex = '' }) => comparable(server_hex)).join(''),
      isClosed: steps.some(({ server: text }) => text === '(connection closed)'),
    }
    const { hex, isClosed } = OTHERWISE[id] ?? recorded
    expect(OTHERWISE[id], 'what is listed differs').not.toMatchObject(recorded)
    const sent = steps.filter(({ client_hex, client }) => client_hex !== undefined || client != null)
    expect(await exchange(sent.map(bytesOf), hex.length / 2, isClosed)).toEqual({ hex, isClosed })
  },
)

test('the recordings of forwarding are counted', () => {
  const different = Object.entries(OTHERWISE).map(([id, { why }]) => `  ${id}: ${why}`)
  const equal = exchanges.length - different.length
  console.log(
    `${exchanges.length} exchanges: ${equal} equal, ${different.length} better:\n${different.join('\n')}`,
  )
  expect(exchanges.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(OTHERWISE)))
})

/** Returns the bytes without the features, which differ between collectors. */
function comparable(hex: string): string {
  const at = hex.indexOf(CHALLENGE)
  return at < 0 ? hex : hex.slice(0, at + CHALLENGE.length)
}

function bytesOf({ client_hex: hex, client }: Exchange['7.2.1'][number]): Buffer {
  const text = hex === undefined ? 'a'.repeat(5000) : Buffer.from(hex, 'hex').toString('latin1')
  if (hex === undefined && client !== '(5000 x a)') throw new Error(`no bytes: ${client}`)
  return Buffer.from(text.replace(String(RECORDED_PORT), String(server.collector.port)), 'latin1')
}

/** Sends pieces in sequence, and reads until this many bytes have arrived, or to the end. */
function exchange(
  pieces: readonly Buffer[],
  count: number,
  isToTheEnd: boolean,
): Promise<{ hex: string; isClosed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect({ port: server.proxy.port, host: '127.0.0.1', noDelay: true })
    let got = Buffer.alloc(0)
    const done = (isClosed: boolean): void => {
      socket.destroy()
      resolve({ hex: comparable(got.toString('hex')), isClosed })
    }
    socket.on('data', (chunk: Buffer) => {
      got = Buffer.concat([got, chunk])
      if (!isToTheEnd && got.length >= count) done(false)
    })
    socket.on('error', () => undefined)
    socket.once('close', () => done(true))
    const next = (i: number): void => {
      if (i < pieces.length) socket.write(pieces[i]!, () => setImmediate(next, i + 1))
    }
    socket.once('connect', () => next(0))
  })
}

interface OwnMetric {
  readonly name: string
  readonly pmid: string
  readonly type: string
  readonly indom: string | null
  readonly semantics: string
  readonly units: string
}

/** Metrics about parts of PCP's pmproxy that we do not have. */
const ABSENT: readonly (readonly [why: string, names: RegExp])[] = [
  ['needs a key server', /^pmproxy\.(?:keys|discover|series)\./],
  ['pushed archives are not taken', /^pmproxy\.log(?:group|paths)\./],
  ['no such table exists', /^pmproxy\.map\.(?:metric|label|instance)\.size$/],
]

test("metrics about itself are PCP's, except those of missing parts", async () => {
  const { metrics: recorded } = vectors<{ metrics: OwnMetric[] }>('own-metrics')
  type Told = { name: string; pmid: string; type: string; indom?: string; sem: string; units: string }
  const { metrics } = await server.json<{ metrics: Told[] }>('/pmapi/metric?prefix=pmproxy')
  const told = new Map(metrics.map((metric) => [metric.name, metric]))
  const counts = new Map<string, number>()
  for (const { name, pmid, type, indom, semantics, units } of recorded) {
    const own = told.get(name)
    const why = ABSENT.find(([, names]) => names.test(name))?.[0] ?? 'equal'
    counts.set(why, (counts.get(why) ?? 0) + 1)
    const wanted = {
      name,
      pmid,
      type: TYPES[type],
      sem: semantics,
      units,
      ...(indom === null ? {} : { indom }),
    }
    if (why === 'equal') expect(own, name).toMatchObject(wanted)
    else expect(own, `${name} is here`).toBeUndefined()
  }
  console.log(`${recorded.length} metrics: ${[...counts].map(([what, n]) => `${n} ${what}`).join('; ')}`)
})

const TYPES: Readonly<Record<string, string>> = {
  '32-bit int': '32',
  '32-bit unsigned int': 'u32',
  '64-bit unsigned int': 'u64',
  string: 'string',
}
