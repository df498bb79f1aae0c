/** All routes /ui/api/*: identity and invalid input. A route without a row fails. docs/reference/pmproxy.md */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { alertLine } from '../../src/alerts/events.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_32 } from '../../src/model/types.ts'
import { makeVerifier } from '../../src/net/sasl/keys.ts'
import { PAGE_ROUTES } from '../../src/pmproxy/routes/page-api.ts'
import { API_ROUTES } from '../../src/pmproxy/routes/pmapi.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { startWebServer, type WebAnswer, type WebRequest, type WebServer } from '../lib/web-server.ts'

const START = 1_700_000_000
const KEY = 'k'.repeat(43)
const PROCESS = '000123 command-with-a-secret'
const SECRET = /command-with-a-secret/

const WINDOW = `start=${START}&finish=${START + 2}`
const rule = (text: string): string => `rules=${encodeURIComponent(text)}`

/** What a route does. */
interface Row {
  /** A query that is answered with 200, and a part of the answer. */
  readonly good: string
  readonly has: RegExp
  /** Queries that are refused, with the code of the error. */
  readonly bad?: readonly (readonly [query: string, code: string])[]
  /** A query whose answer names a process for named users, and for no one else. */
  readonly secret?: string
  /** Part of that answer, unless it is the name of the process. */
  readonly secretHas?: RegExp
  /** It reads the archive or host that the query names. */
  readonly hasSource?: true
}

const badTimes = (rest: string, ...names: readonly string[]): (readonly [string, string])[] =>
  names.flatMap((name) =>
    ['x', 'NaN', 'Infinity', '1e12'].map((value) => [`${rest}&${name}=${value}`, 'PM_ERR_ARG'] as const),
  )

const ARCHIVE = 'archive=0/a'
const ROWS: Readonly<Record<string, Row>> = {
  config: { good: '', has: /"offered"|"hosts":/ },
  archives: { good: '', has: /"id":"0\/a"/ },
  alerts: {
    good: '',
    has: /"rule":"own"/,
    bad: badTimes('', 'from', 'to'),
    secret: '',
  },
  fleet: { good: `at=${START + 2}`, has: /"unreadable":0/, bad: badTimes('', 'at', 'start', 'finish') },
  'fleet-range': {
    good: `metric=hinv.ncpu&${WINDOW}`,
    has: /hinv\.ncpu|db1/,
    bad: [
      ['', 'PM_ERR_ARG'],
      ['metric=a&figure=b', 'PM_ERR_ARG'],
      [`metric=a&start=2&finish=1`, 'PM_ERR_ARG'],
      ['metric=a&aggregate=x', 'PM_ERR_ARG'],
      ['metric=a&buckets=-1', 'PM_ERR_ARG'],
      ['metric=a&top=1e9', 'PM_ERR_ARG'],
      ...badTimes('metric=a', 'start', 'finish'),
    ],
    secret: `metric=proc.psinfo.utime&instance=${encodeURIComponent(PROCESS)}&${WINDOW}`,
    secretHas: /db1/,
  },
  'fleet-live': { good: 'host=local:', has: /"hosts"/ },
  excerpt: {
    good: `${ARCHIVE}&${WINDOW}`,
    has: /"files":\[\[/,
    bad: [[WINDOW, 'PM_ERR_ARG'], [ARCHIVE, 'PM_ERR_ARG'], ...badTimes(ARCHIVE, 'start', 'finish')],
    secret: `${ARCHIVE}&${WINDOW}`,
  },
  names: {
    good: `${ARCHIVE}&match=ncpu`,
    has: /hinv\.ncpu/,
    bad: [
      [`${ARCHIVE}&limit=x`, 'PM_ERR_ARG'],
      [`${ARCHIVE}&limit=100000`, 'PM_ERR_ARG'],
      [`${ARCHIVE}&offset=-1`, 'PM_ERR_ARG'],
    ],
    hasSource: true,
  },
  children: { good: `${ARCHIVE}&prefix=hinv`, has: /"ncpu"/, hasSource: true },
  metric: {
    good: `${ARCHIVE}&names=hinv.ncpu`,
    has: /"60\.0\.32"/,
    bad: [
      [ARCHIVE, 'PM_ERR_ARG'],
      [`${ARCHIVE}&names=${'a,'.repeat(1001)}a`, 'PM_ERR_ARG'],
    ],
    hasSource: true,
  },
  instances: {
    good: `${ARCHIVE}&name=made.size`,
    has: /"name":"sda"/,
    bad: [
      [ARCHIVE, 'PM_ERR_INDOM'],
      [`${ARCHIVE}&name=hinv.ncpu`, 'PM_ERR_INDOM'],
    ],
    secret: `${ARCHIVE}&indom=3.9`,
    hasSource: true,
  },
  check: {
    good: `${ARCHIVE}&expr=hinv.ncpu%2B1`,
    has: /"ok":true/,
    hasSource: true,
  },
  range: {
    good: `${ARCHIVE}&names=hinv.ncpu&${WINDOW}`,
    has: /"columns":\[\{/,
    bad: [
      [`${ARCHIVE}&${WINDOW}`, 'PM_ERR_ARG'],
      [`${ARCHIVE}&names=hinv.ncpu&start=2&finish=1`, 'PM_ERR_ARG'],
      [`${ARCHIVE}&names=hinv.ncpu&${WINDOW}&points=1e9`, 'PM_ERR_ARG'],
      ['names=hinv.ncpu', 'PM_ERR_NOTARCHIVE'],
      ...badTimes(`${ARCHIVE}&names=hinv.ncpu`, 'start', 'finish'),
    ],
    secret: `${ARCHIVE}&names=proc.psinfo.utime&${WINDOW}`,
    hasSource: true,
  },
  changes: {
    good: `${ARCHIVE}&start=${START + 1}&finish=${START + 2}`,
    has: /"changes"/,
    bad: [
      [ARCHIVE, 'PM_ERR_ARG'],
      [`${ARCHIVE}&start=2&finish=1`, 'PM_ERR_ARG'],
      [`${ARCHIVE}&${WINDOW}&limit=1e9`, 'PM_ERR_ARG'],
      [WINDOW, 'PM_ERR_NOTARCHIVE'],
      ...badTimes(`${ARCHIVE}&${WINDOW}`, 'before'),
    ],
    hasSource: true,
  },
  processes: {
    good: `${ARCHIVE}&at=${START + 1}`,
    has: /"newest"/,
    bad: badTimes(ARCHIVE, 'at'),
    secret: `${ARCHIVE}&at=${START + 1}`,
    hasSource: true,
  },
  rules: {
    good: `${ARCHIVE}&delta=1&${rule('busy = hinv.ncpu > 1 -> print "%v";')}`,
    has: /"count":3,"spanCount":1,.*"message":"2"/,
    bad: [
      [`${ARCHIVE}&${rule('hinv.ncpu > 1;')}&delta=0`, 'PM_ERR_ARG'],
      [`${ARCHIVE}&${rule('hinv.ncpu > 1;')}&delta=1e-300`, 'PM_ERR_ARG'],
      [`${ARCHIVE}&${rule('hinv.ncpu > 1;')}&start=1&finish=2`, 'PM_ERR_ARG'],
      [rule('hinv.ncpu > 1;'), 'PM_ERR_NOTARCHIVE'],
      ...badTimes(ARCHIVE, 'start', 'finish', 'delta'),
    ],
    secret: `${ARCHIVE}&delta=1&${rule('some_inst proc.psinfo.utime > 1 -> print "%i";')}`,
    hasSource: true,
  },
}

/** Routes whose answer does not depend on the user, if none is required. */
const PUBLIC: readonly string[] = ['config', 'fleet-live']

let dir: string
/** Answers everyone, and only named users. */
let open: WebServer
let closed: WebServer

/** Added to the monotonic clock, so that wrong passwords do not have to wait for earlier ones. */
let skewMs = 0

beforeAll(async () => {
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + skewMs)
  dir = mkdtempSync(join(tmpdir(), 'page-routes-'))
  const made = new ArchiveImport(archiveOutput(join(dir, 'a')), { hostname: 'db1', timezone: 'UTC', pid: 1 })
  const level = { type: PM_TYPE_32, sem: PM_SEM_INSTANT }
  made.addMetric('hinv.ncpu', { ...level, pmid: pmid(60, 0, 32) })
  made.addMetric('made.size', { ...level, indom: 'made.devices' })
  made.addMetric('proc.psinfo.utime', { ...level, pmid: pmid(3, 8, 13), indom: indom(3, 9) })
  for (let i = 0; i < 3; i++) {
    made.put('hinv.ncpu', 2)
    made.put('made.size', i, 'sda')
    made.put('proc.psinfo.utime', 4711, PROCESS)
    made.write({ sec: START + i, nsec: 0 })
  }
  made.close()
  const alertLog = join(dir, 'alerts.jsonl')
  const alert = { rule: 'own', isDefault: false, instance: PROCESS, at: START, until: null, value: 1 }
  writeFileSync(alertLog, alertLine(alert))
  const verifier = await makeVerifier('secret')
  const config = { archiveDirs: [dir], alertLog }
  const more = {
    security: { findVerifier: (user: string) => (user === 'fred' ? verifier : undefined) },
    proxy: { ownerKey: KEY },
  }
  open = await startWebServer(['pmcd', 'simple'], config, more)
  closed = await startWebServer(['pmcd', 'simple'], { ...config, requiresUser: true }, more)
})
afterAll(async () => {
  await open?.close()
  await closed?.close()
  rmSync(dir, { recursive: true })
  vi.restoreAllMocks()
})

const basic = (password: string): WebRequest => ({
  headers: { Authorization: `Basic ${Buffer.from(`fred:${password}`).toString('base64')}` },
})
const NAMED: readonly (readonly [who: string, as: WebRequest])[] = [
  ['the owner', { headers: { Authorization: `Bearer ${KEY}` } }],
  ['a user with a password', basic('secret')],
]
const OTHERS: readonly (readonly [who: string, as: WebRequest])[] = [
  ['a page on this machine', {}],
  ['a forwarded client', { headers: { 'X-Forwarded-For': '192.0.2.1' } }],
]

/** Expects 401 with a challenge for a wrong password. */
async function expectRefused(server: WebServer, target: string, has: RegExp): Promise<void> {
  skewMs += 60_000
  const { status, text, headers } = await server.ask(target, basic('wrong'))
  expect([status, text], target).toEqual([401, expect.stringContaining('"code":"SASL_BADAUTH"')])
  expect(headers['www-authenticate'], target).toMatch(/^Basic realm="(?:pmproxy|pmapi)"$/)
  expect(text, target).not.toMatch(has)
}

/** Returns an answer as text, with the files of an excerpt unpacked. */
function textOf({ text }: WebAnswer): string {
  const files = Array.from(text.matchAll(/\.gz","([^"]+)"/g), ([, content]) =>
    gunzipSync(Buffer.from(content!, 'base64')).toString('latin1'),
  )
  return [text, ...files].join('\n')
}

test('every route has a row', () => {
  expect(Object.keys(ROWS).sort()).toEqual([...PAGE_ROUTES].sort())
})

test('unknown names are not found', async () => {
  for (const name of ['', 'rule', 'rules/', 'constructor', '__proto__', 'toString'])
    expect((await open.ask(`/ui/api/${name}?${ARCHIVE}`)).status, name).toBe(404)
})

describe.each(Object.entries(ROWS))('%s', (name, row) => {
  const { good, has, bad = [], secret, secretHas = SECRET, hasSource } = row
  const path = `/ui/api/${name}`

  test('answers a good request', async () => {
    for (const [who, as] of [...NAMED, ...OTHERS]) {
      const { status, text } = await open.ask(`${path}?${good}`, as)
      expect([status, text], who).toEqual([200, expect.stringMatching(has)])
    }
  })

  test('answers the same to a form', async () => {
    const form = {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      // Longer than a URL may be.
      body: `${good}&unknown=${'x'.repeat(10_000)}`,
    }
    const { status, text } = await open.ask(path, form)
    expect([status, text]).toEqual([200, expect.stringMatching(has)])
    const large = { ...form, body: `${good}&unknown=${'x'.repeat(1024 * 1024)}` }
    expect((await open.ask(path, large)).status).toBe(400)
  })

  test('answers only named users where they are required', async () => {
    for (const [who, as] of NAMED) expect((await closed.ask(`${path}?${good}`, as)).status, who).toBe(200)
    for (const [who, as] of [
      ...OTHERS,
      ['a wrong key', { headers: { Authorization: `Bearer ${KEY}x` } }],
      ['a damaged login', { headers: { Authorization: 'Basic x' } }],
    ] as const) {
      const { status, text } = await closed.ask(`${path}?${good}`, as)
      expect(status, who).toBe(401)
      expect(text, who).not.toMatch(has)
    }
    await expectRefused(closed, `${path}?${good}`, has)
  })

  test('names processes only to named users', async () => {
    const target = `${path}?${secret ?? good}`
    for (const [who, as] of NAMED)
      if (secret !== undefined) expect(textOf(await open.ask(target, as)), who).toMatch(secretHas)
    for (const [who, as] of OTHERS)
      expect(textOf(await open.ask(target, as)), who).not.toMatch(secret === undefined ? SECRET : secretHas)
    if (!PUBLIC.includes(name)) await expectRefused(open, target, secretHas)
  })

  test('refuses pages of other servers', async () => {
    for (const headers of [{ Host: 'evil.example' }, { Origin: 'http://evil.example' }] as const)
      expect((await open.ask(`${path}?${good}`, { headers })).status, JSON.stringify(headers)).toBe(403)
  })

  test('refuses invalid input', async () => {
    for (const [query, code] of bad) {
      const { status, text } = await open.ask(`${path}?${query}`)
      expect([status, text], query).toEqual([400, expect.stringContaining(`"code":"${code}"`)])
    }
    expect((await open.ask(`${path}?${good}&match=%00`)).status).toBe(400)
    if (hasSource === undefined) return
    const rest = good.replace(ARCHIVE, '')
    for (const id of ['', '0', '0/none', '1/a', '0/../a', '0/..%2fa', '%2fetc%2fpasswd', `${dir}/a`]) {
      const { status, text } = await open.ask(`${path}?archive=${id}${rest}`)
      expect([status, text], id).toEqual([400, expect.stringContaining('"success":false')])
      if (!id.includes(dir)) expect(text, id).not.toContain(dir)
    }
    const { status } = await open.ask(`${path}?host=192.0.2.1${rest}`)
    expect([400, 403]).toContain(status)
  })
})

test('a host that refuses the login of the owner leaves the key of the page valid', async () => {
  skewMs += 60_000
  const host = encodeURIComponent('local:?username=fred&password=wrong')
  const { status, text, headers } = await open.ask(
    `/ui/api/metric?host=${host}&names=hinv.ncpu`,
    NAMED[0]![1],
  )
  expect([status, text]).toEqual([403, expect.stringContaining('"code":"SASL_BADAUTH"')])
  expect(headers['www-authenticate']).toBeUndefined()
})

/** Routes of PCP's own server, with what they need. */
const EVERYTHING = `names=hinv.ncpu&name=hinv.ncpu&metric=hinv.ncpu&metrics=hinv.ncpu&indom=60.1&prefix=hinv&expr=hinv.ncpu&value=1&series=${'a'.repeat(40)}&query=ncpu&context=`
const OTHER_ROUTES: readonly string[] = [
  ...Object.keys(API_ROUTES).map((name) => `/pmapi/${name}`),
  ...['query', 'values', 'descs', 'instances', 'labels', 'metrics', 'sources', 'load'].map(
    (name) => `/series/${name}`,
  ),
  ...['text', 'suggest', 'indom', 'info'].map((name) => `/search/${name}`),
  '/metrics',
]

describe.each(OTHER_ROUTES)('%s', (path) => {
  const targets = ['', 'archive=0/a'].map((archive) => `${path}?${EVERYTHING.replace('context=', archive)}`)

  test('refuses a wrong password', async () => {
    for (const target of targets) await expectRefused(open, target, /"success":true|hinv\.ncpu/)
    for (const target of targets) await expectRefused(closed, target, /"success":true|hinv\.ncpu/)
  })

  test('answers only named users where they are required', async () => {
    for (const target of targets)
      for (const [who, as] of OTHERS) {
        const { status, text } = await closed.ask(target, as)
        expect([401, 403], who).toContain(status)
        expect(text, who).not.toMatch(/"success":true|hinv\.ncpu/)
      }
  })
})
