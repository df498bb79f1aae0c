import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configFiles, configOf, readConfigFiles } from '../../src/pmproxy/config.ts'
import { parseIni } from '../../src/pmproxy/ini.ts'

test('sections, comments and values in quotes', () => {
  const problems: number[] = []
  const ini = parseIni(
    '# first\n[pmproxy]\npcp.enabled = false   # why\n[http]\nAccess-Control-Allow-Headers: "X-A, X-B"\nnonsense\n',
    (line) => problems.push(line),
  )
  expect([...ini]).toEqual([
    ['pmproxy.pcp.enabled', 'false'],
    ['http.Access-Control-Allow-Headers', 'X-A, X-B'],
  ])
  expect(problems).toEqual([6])
})

test('options of a file can be set by the environment; others cannot', () => {
  const ini = parseIni('[pmproxy]\npcp.enabled = false\n[pmwebapi]\n')
  const config = configOf(
    ini,
    { PCP_PMPROXY_PCP_ENABLED: 'true', PCP_PMWEBAPI_STORE: 'true' },
    () => undefined,
  )
  expect(config).toMatchObject({ hasPcp: true, allowsStore: false })
})

test('an invalid value is reported, and the default applies', () => {
  const problems: string[] = []
  const ini = parseIni('[pmproxy]\nhttp.enabled = maybe\nmaxpending = many\n')
  expect(configOf(ini, {}, (problem) => problems.push(problem))).toMatchObject({
    hasHttp: true,
    backlog: 128,
  })
  expect(problems).toEqual(
    [
      'http.enabled must be true or false, not maybe',
      'pmproxy.maxpending must be a whole number, not many',
    ].map((text) => text.replace(/^http/, 'pmproxy.http')),
  )
})

test('mistakes in a file are reported with their line; options of PCP are accepted', () => {
  const dir = mkdtempSync(join(tmpdir(), 'pmproxy-conf-'))
  const path = join(dir, 'pmproxy.conf')
  const lines = [
    'x = 1',
    ...['[pmproxy]', 'http.enable = false', 'pcp.enabled = flase', 'keepalive = 45', 'nonsense'],
    ...['[discover]', 'exclude.metrics = proc.*', '[web]', 'port = 1'],
    ...['[pmproxy]', 'certificates = a.crt', 'private_key = a.key'],
  ]
  writeFileSync(path, lines.join('\n'))
  const problems: string[] = []
  try {
    const { values, places } = readConfigFiles([{ path, needsTrust: false }], (problem) =>
      problems.push(problem),
    )
    const config = configOf(values, {}, (problem) => problems.push(problem), places)
    expect(config).toMatchObject({ hasPcp: true, tls: { certFile: 'a.crt', keyFile: 'a.key' } })
  } finally {
    rmSync(dir, { recursive: true })
  }
  expect(problems.sort()).toEqual(
    [
      'line 10: unknown option port in [web]',
      'line 1: unknown option x outside of any section',
      'line 3: unknown option http.enable in [pmproxy]',
      'line 4: pmproxy.pcp.enabled must be true or false, not flase',
      'line 6: not a section or a setting: nonsense',
    ]
      .map((text) => `${path} ${text}`)
      .sort(),
  )
})

test('hosts offered on the page are allowed', () => {
  const config = configOf(parseIni('[ui]\nhosts = local:, db1\n'), {}, () => undefined)
  expect(config).toMatchObject({ hosts: ['local:', 'db1'], offeredHosts: ['local:', 'db1'] })
})

test('hosts replaces offer with a message, but not with * alone', () => {
  const problems: string[] = []
  const read = (text: string): readonly string[] =>
    configOf(parseIni(text), {}, (problem) => problems.push(problem)).offeredHosts
  expect(read('[ui]\nhosts = *\noffer = db2\n')).toEqual(['db2'])
  expect(problems).toEqual([])
  expect(read('[ui]\nhosts = db1\noffer = db2\n')).toEqual(['db1'])
  expect(problems).toEqual(['offer in [ui] is ignored: hosts replaces it'])
})

test('an absolute name is the only file', () => {
  expect(configFiles('/x/y.conf', {}, '/')).toEqual([{ path: '/x/y.conf', needsTrust: false }])
  const files = configFiles(undefined, { PCP_SYSCONF_DIR: '/etc/pcp', HOME: '/home/u' }, '/w')
  expect(files.map(({ path }) => path)).toEqual([
    '/etc/pcp/pmproxy/pmproxy.conf',
    '/home/u/.pmproxy.conf',
    '/home/u/.pcp/pmproxy.conf',
    '/w/pmproxy.conf',
  ])
})

test.each([
  ['[pmproxy]\nresp.enabled = true\n', { servers: [{ host: 'localhost', port: 6379 }] }],
  [
    '[pmproxy]\nredis.enabled = true\n[redis]\nservers = a:1, [::1]:2\n',
    {
      servers: [
        { host: 'a', port: 1 },
        { host: '::1', port: 2 },
      ],
    },
  ],
  ['[pmproxy]\nresp.enabled = true\n[keys]\nusername = u\npassword = p\n', { username: 'u', password: 'p' }],
])('a key server is configured by %j', (text, wanted) => {
  expect(configOf(parseIni(text), {}, () => undefined).keys).toMatchObject(wanted)
})

test.each([
  '',
  '[pmproxy]\nresp.enabled = false\n',
  '[pmproxy]\nresp.enabled = true\n[keys]\nenabled = false\n',
])('no key server is configured by %j', (text) => {
  expect(configOf(parseIni(text), {}, () => undefined).keys).toBeUndefined()
})
