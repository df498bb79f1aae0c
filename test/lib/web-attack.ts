/** HTTP requests with random damage, many per connection, and checks of the responses. */
import { connect, type Socket } from 'node:net'
import { RESP_FIRST } from '../../src/pmproxy/key-relay.ts'
import { generator } from './generator.ts'
import type { Pick } from './mutants.ts'

/** Counts of an attack over HTTP. */
export interface WebAttackReport {
  requests: number
  readonly byEndpoint: Map<string, number>
  readonly byDamage: Map<string, number>
  readonly byStatus: Map<number, number>
  /** Connections closed without a response: their first byte is not one of HTTP. */
  unanswered: number
  /** Responses that must not occur. */
  readonly faults: string[]
}

/** Parameters by endpoint. */
export const ENDPOINTS: Readonly<Record<string, readonly string[]>> = {
  '/pmapi/context': ['polltimeout', 'hostspec', 'client', 'archive'],
  '/pmapi/metric': ['names', 'prefix', 'context', 'client'],
  '/pmapi/fetch': ['names', 'pmids', 'context', 'time'],
  '/pmapi/_fetch': ['names', 'pmids'],
  '/pmapi/children': ['prefix', 'context'],
  '/pmapi/indom': ['name', 'indom', 'instance', 'iname', 'match'],
  '/pmapi/profile': ['name', 'indom', 'instance', 'iname', 'match', 'expr'],
  '/pmapi/store': ['name', 'pmid', 'value', 'instance', 'iname', 'match'],
  '/pmapi/derive': ['name', 'expr', 'context'],
  '/pmapi/metrics': ['names', 'filter', 'match', 'times', 'target'],
  '/metrics': ['names', 'filter', 'match', 'times'],
  '/series/query': ['expr', 'client'],
  '/series/values': ['series', 'start', 'finish', 'client'],
  '/series/sources': ['source', 'match'],
  '/search/text': ['query', 'limit', 'offset'],
  '/logger/label': ['client'],
  '/': [],
  '/ui/index.html': [],
  '/ui/api/config': [],
  '/ui/api/archives': [],
  '/ui/api/names': ['match', 'offset', 'limit', 'archive', 'host'],
  '/ui/api/children': ['prefix', 'archive', 'host'],
  '/ui/api/metric': ['names', 'archive', 'host'],
  '/ui/api/instances': ['indom', 'name', 'archive', 'host'],
  '/ui/api/check': ['expr', 'archive', 'host'],
  '/ui/api/range': ['archive', 'names', 'start', 'finish', 'points', 'raw', 'derive'],
  '/ui/api/changes': ['archive', 'start', 'finish', 'before', 'until', 'limit'],
  '/ui/api/alerts': ['from', 'to'],
  '/ui/api/excerpt': ['archive', 'start', 'finish'],
  '/ui/api/fleet': ['at', 'start', 'finish'],
  '/ui/api/fleet-live': ['host'],
  '/ui/api/fleet-range': [
    ...['metric', 'figure', 'instance', 'aggregate', 'start', 'finish', 'buckets', 'top'],
  ],
  '/ui/api/processes': ['archive', 'host', 'at'],
  '/ui/api/rules': ['archive', 'rules', 'start', 'finish', 'delta'],
  '/ui/api/live': [],
}
/** Endpoints that report about everything and take a hundred times longer; used for one request in many. */
const HEAVY = [
  '/pmapi/metric',
  '/pmapi/metrics',
  '/metrics',
  '/ui/api/range',
  '/ui/api/changes',
  '/ui/api/archives',
  '/ui/api/excerpt',
  '/ui/api/fleet',
  '/ui/api/fleet-live',
  '/ui/api/fleet-range',
  '/ui/api/rules',
]
const HEAVY_SHARE = 10
const PATHS = Object.keys(ENDPOINTS).flatMap((path) =>
  Array.from({ length: HEAVY.includes(path) ? 1 : HEAVY_SHARE }, () => path),
)

const METRICS = [
  'sample.colour',
  'sample.bin',
  'sample.long.one',
  'simple.now',
  'sample.string.hullo',
  'no.such',
]
const GOOD: Readonly<Record<string, readonly string[]>> = {
  names: [...METRICS, METRICS.join(',')],
  name: METRICS,
  prefix: ['sample', 'sample.long', 'simple', ''],
  target: ['simple'],
  pmids: ['29.0.5', '29.0.10,29.0.6'],
  pmid: ['29.0.5'],
  indom: ['29.1', '253.0', '121634817'],
  instance: ['0', '1,2', '100'],
  iname: ['red', 'red,green', 'bin-100', 'b*'],
  match: ['exact', 'glob', 'regex'],
  expr: [
    'add',
    'del',
    'sample.long.one+1',
    'rate(sample.long.one)',
    'matchinst(/b.*/, sample.bin)',
    'a.b = 1;',
  ],
  value: ['1', 'text', '1e3'],
  filter: ['sample.*', 'simple'],
  hostspec: ['local:', 'localhost'],
  host: ['local:', 'localhost'],
  polltimeout: ['1', '60', '0.5'],
  context: ['1', '2147483647'],
  times: ['true', 'false'],
  points: ['2', '100', '20000'],
  derive: ['a.b%3Dsample.long.one'],
  raw: ['1'],
  limit: ['10'],
  offset: ['5'],
  query: ['load'],
  series: ['01'.repeat(20)],
  source: ['01'.repeat(20)],
  client: ['abc'],
  time: ['0', '1795164576.4'],
  start: ['0', '1795164576.4'],
  finish: ['2000000000'],
  at: ['1795164576.4'],
  from: ['0'],
  to: ['2000000000'],
  rules: ['sample.long.one > 0 -> print "%v";', 'a = some_inst sample.bin > 100;'].map(encodeURIComponent),
  delta: ['1', '60'],
  metric: METRICS,
  figure: ['cpu', 'memory'],
  aggregate: ['sum', 'mean', 'max', 'min'],
  buckets: ['10', '1000'],
  top: ['10'],
}
const ODD = [
  ...[
    '',
    '0',
    '-1',
    '-0',
    '1e309',
    'NaN',
    'Infinity',
    '4294967295',
    '9007199254740993',
    '0x740000a',
    '999.999.999',
  ],
  ...[
    '.',
    '..',
    '...',
    '*',
    ',',
    ',,,',
    '=',
    '/',
    '//',
    '0/x',
    '0/../etc',
    '0/%2e%2e/etc',
    '%2e%2e%2fetc%2fpasswd',
  ],
  ...[
    '%',
    '%0',
    '%zz',
    '%00',
    '%ff%fe',
    '%ed%a0%80',
    '%0d%0aX:1',
    '+',
    '%20',
    '"',
    '%22',
    '\\',
    '<b>',
    '{}',
    '[]',
  ],
  ...[
    '(a+)+$',
    '[',
    '(((((',
    '[[:alpha:]',
    '\\',
    '(.*){1,99}',
    'a{9999}',
    'rate(',
    '1+',
    '!!!!1',
    '1?2:',
    '((1))',
  ],
  ...[
    'unix:/etc/passwd',
    'local:/tmp',
    'pcp://localhost:1',
    'localhost:99999',
    'x@y',
    '[::1',
    'localhost?a',
    './x',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'sample.colour[red]',
    'a'.repeat(2000),
    '(1+'.repeat(300),
    '%41'.repeat(500),
  ],
]
const METHODS = ['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'CONNECT']
const HEADERS = [
  'Accept-Encoding: gzip;q=x, deflate, *;q=9e9',
  'Accept: application/json',
  'Authorization: Basic %%%',
  'Authorization: Basic AAAA',
  'Authorization: Basic ZnJlZDpzZWNyZXQ=',
  'Authorization: Bearer x',
  'Origin: null',
  'Origin: http://evil.example',
  'Origin: ::::',
  'Host: evil.example',
  'Host: [',
  'Sec-Fetch-Site: cross-site',
  'Access-Control-Request-Method: STEAL',
  'Access-Control-Request-Headers: a,b',
  'If-None-Match: *',
  'Range: bytes=0-1,-9',
  'Upgrade: h2c',
  'Connection: Upgrade\r\nUpgrade: h2c',
  'Cookie: a=b',
  'X-Odd: \x80\xff',
]
const BODIES = [
  '',
  'x',
  'a.b = 1\n',
  '{',
  '\0',
  'names=sample.colour&match=glob',
  'a=b;c',
  '\xff\xfe',
  '%'.repeat(3000),
]
const TYPES = [
  'application/x-www-form-urlencoded',
  'text/plain',
  'application/json',
  'multipart/form-data',
  '',
]

interface Asked {
  readonly endpoint: string
  readonly damage: string
  readonly method: string
  readonly target: string
  readonly bytes: string
}

const DAMAGES = [
  'none',
  'value',
  'value',
  'value',
  'name',
  'repeat',
  'path',
  'method',
  'body',
  'header',
  'bytes',
] as const

/** Returns a generator of requests; `ids` are numbers of existing contexts and archives. */
function maker(
  pick: Pick,
  ids: { readonly contexts: readonly number[]; readonly archives: readonly string[] },
) {
  const one = <T>(list: readonly T[]): T => list[pick(list.length)]!
  const good = (name: string): string => {
    if (name === 'context') return String(one(ids.contexts))
    if (name === 'archive') return one(ids.archives)
    return one(GOOD[name] ?? ['1'])
  }
  const odd = (): string =>
    pick(4) > 0
      ? one(ODD)
      : Array.from({ length: pick(30) }, () => `%${(256 + pick(256)).toString(16).slice(1)}`).join('')
  return (): Asked => {
    const endpoint = one(PATHS)
    const damage = one(DAMAGES)
    const parameters = ENDPOINTS[endpoint]!.filter((name) =>
      name === 'archive'
        ? /\/(?:range|changes|excerpt|rules|processes)$/.test(endpoint) || pick(20) === 0
        : pick(3) > 0,
    ).map((name) => [name, good(name)] as [string, string])
    let path = endpoint
    if (endpoint.startsWith('/pmapi/') && pick(2) === 0)
      path = endpoint.replace('/pmapi/', `/pmapi/${one(ids.contexts)}/`)
    let method = 'GET'
    let body: string | undefined
    const headers: string[] = []
    switch (damage) {
      case 'value':
        if (parameters.length > 0) one(parameters)[1] = odd()
        break
      case 'name':
        parameters.push([one([...Object.keys(GOOD), ...ODD]), one([good('names'), odd()])])
        break
      case 'repeat':
        for (let i = pick(50); i > 0 && parameters.length > 0; i--) parameters.push([...one(parameters)])
        break
      case 'path':
        path = pick(2) === 0 ? path + odd() : `${path.slice(0, pick(path.length + 1))}/${odd()}`
        break
      case 'method':
        method = one(METHODS)
        break
      case 'body':
        method = one(['POST', 'POST', 'PUT', 'GET'])
        body = one(BODIES)
        headers.push(`Content-Type: ${one(TYPES)}`)
        break
      case 'header':
        for (let i = pick(6); i >= 0; i--) headers.push(one(HEADERS))
        break
    }
    const target = encodable(`${path}?${parameters.map((pair) => pair.join('=')).join('&')}`)
    if (!headers.some((each) => each.startsWith('Host'))) headers.push('Host: localhost')
    if (method === 'POST' && body === undefined) body = ''
    if (body !== undefined) headers.push(`Content-Length: ${body.length}`)
    let bytes = `${method} ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body ?? ''}`
    if (damage === 'bytes') {
      const at = pick(bytes.length)
      bytes = bytes.slice(0, at) + String.fromCharCode(pick(256)) + bytes.slice(at + pick(3))
    }
    return { endpoint, damage, method, target, bytes }
  }
}

/** Escapes characters that a request line must not contain. */
function encodable(target: string): string {
  return target.replace(/[^!-~]/g, (c) => encodeURIComponent(c))
}

/** Concurrent connections. */
const AT_ONCE = 4
/** Most requests sent on one connection without waiting for responses. */
export const TOGETHER = 16
/** Ends a request whose damage makes it incomplete; invalid as a request itself. */
const INVALID = '\r\n\r\n!'
/** When nothing is answered for so long, on no connection, the missing responses will never be sent. */
const HUNG_MS = 60_000

/** Sends requests, deterministic by seed, and checks each response. The server must accept `TOGETHER` requests at once. */
export async function attackByHttp(
  port: number,
  count: number,
  seed: number,
  ids: { readonly contexts: readonly number[]; readonly archives: readonly string[] },
): Promise<WebAttackReport> {
  const make = maker(generator(seed), ids)
  const report: WebAttackReport = {
    ...{ requests: 0, unanswered: 0, faults: [] },
    ...{ byEndpoint: new Map(), byDamage: new Map(), byStatus: new Map() },
  }
  const progress = { answers: 0 }
  const attacker = async (): Promise<void> => {
    let left: readonly Asked[] = []
    while (report.requests < count) {
      // After damaged bytes the state of the connection is unknown, so they end a series.
      const row = [...left]
      while (row.length < TOGETHER && row.at(-1)?.damage !== 'bytes') row.push(make())
      const { answered, mayClose } = await send(port, row, report, progress)
      // A response may announce that it closes the connection; the remaining requests are sent again.
      const isSilent = answered < row.length && !mayClose
      if (isSilent && !(answered === 0 && isOtherProtocol(row[0]!)))
        report.faults.push(`no answer to request ${answered + 1} of ${row.length}: ${row[answered]!.bytes}`)
      const done = row.slice(0, answered + (isSilent ? 1 : 0))
      for (const { endpoint, damage } of done) {
        add(report.byEndpoint, endpoint)
        add(report.byDamage, damage)
        report.requests++
      }
      if (isSilent) report.unanswered++
      left = row.slice(done.length)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, attacker))
  return report
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** Checks whether a connection that begins with this request is not one of HTTP. */
function isOtherProtocol({ damage, bytes }: Asked): boolean {
  return damage === 'bytes' && !'GHPDTOC'.includes(bytes[0]!)
}

/** Result of a series. */
interface Sent {
  readonly answered: number
  /** Whether the last response announced that it closes the connection. */
  readonly mayClose: boolean
}

/** Sends a series of requests on one connection, until all are answered or the server closes it. */
function send(
  port: number,
  row: readonly Asked[],
  report: WebAttackReport,
  progress: { answers: number },
): Promise<Sent> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ host: '127.0.0.1', port })
    let [answered, mayClose, got] = [0, false, '']
    let before = progress.answers
    const guard = setInterval(() => {
      if (progress.answers === before) socket.destroy()
      before = progress.answers
    }, HUNG_MS)
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1')
      while (answered < row.length) {
        const answer = takeAnswer(got, row[answered]!)
        if (answer === undefined) break
        got = got.slice(answer.length)
        mayClose = /\r\nconnection: close/i.test(answer.head)
        check(answer, row[answered++]!, report)
        progress.answers++
      }
      if (answered === row.length) socket.destroy()
    })
    socket.once('close', () => {
      clearInterval(guard)
      resolve({ answered, mayClose })
    })
    const text = row.map(({ bytes }) => bytes).join('') + (row.at(-1)!.damage === 'bytes' ? INVALID : '')
    // A connection to a key server is only closed by its client.
    if (RESP_FIRST.includes(text[0]!)) socket.end(text, 'latin1')
    else socket.write(text, 'latin1')
  })
}

interface Answer {
  readonly length: number
  readonly status: number
  readonly head: string
  readonly body: string
}

function takeAnswer(got: string, { method }: Asked): Answer | undefined {
  const end = got.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = got.slice(0, end)
  const size = method === 'HEAD' ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const length = end + 4 + size
  if (got.length < length) return undefined
  return { length, status: Number(head.slice(9, 12)), head, body: got.slice(end + 4, length) }
}

/** A missing response is a failure of the server; a JSON response must be valid. Damage to its first byte can turn a request into a key server's command, which is relayed. */
function check(
  { status, head, body }: Answer,
  { method, target, damage, bytes }: Asked,
  report: WebAttackReport,
): void {
  if (damage === 'bytes' && RESP_FIRST.includes(bytes[0]!)) return
  add(report.byStatus, status)
  const fault = (what: string): void =>
    void report.faults.push(`${what}: ${damage} ${method} ${target}: ${head}`)
  if (!(status >= 200 && status < 500)) fault('status')
  if (!/\r\ncontent-type: application\/json/i.test(head) || method === 'HEAD') return
  if (/\r\ncontent-encoding/i.test(head)) return
  try {
    JSON.parse(body)
  } catch {
    fault('no JSON')
  }
}
