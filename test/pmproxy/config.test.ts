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

test('a Prometheus server and its credentials', () => {
  const ini = parseIni('[prometheus]\nurl = http://localhost:9090\ntoken-file = /etc/token\n')
  expect(configOf(ini, {}, () => undefined).prometheus).toMatchObject({
    url: 'http://localhost:9090',
    tokenFile: '/etc/token',
  })
  expect(configOf(parseIni('[prometheus]\ntoken-file = x\n'), {}, () => undefined).prometheus).toBeUndefined()
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

test('key servers are those of any section, or of KEY_SERVERS; series need a named one', () => {
  const served = (text: string, env: Record<string, string> = {}) =>
    configOf(parseIni(text), env, () => undefined).keySettings
  expect(served('')).toBeUndefined()
  expect(served('[keys]\npassword = x\n')).toBeUndefined()
  expect(served('[redis]\nservers = a:1, b\n')).toMatchObject({
    servers: [
      { host: 'a', port: 1 },
      { host: 'b', port: 6379 },
    ],
    hasSeries: true,
    hasSearch: true,
    hasDiscovery: true,
    directories: undefined,
    loader: { excludeMetrics: ['proc.*', 'acct.*'], excludeIndoms: ['3.9', '3.40', '79.7'] },
  })
  expect(served('[keys]\nservers = a\nenabled = false\n')).toBeUndefined()
  expect(served('[keys]\nservers = a\n', { KEY_SERVERS: 'valkey:7000' })!.servers).toEqual([
    { host: 'valkey', port: 7000 },
  ])
  const text = '[pmseries]\nservers = a\nenabled = false\nstream.expire = 60\nauth.password = s\n'
  expect(served(`${text}[discover]\npath = /archives\nexclude.metrics =\n`)).toMatchObject({
    hasSeries: false,
    hasDiscovery: false,
    directories: ['/archives'],
    loader: { expireSeconds: 60, excludeMetrics: [] },
    link: { password: 's' },
  })
})

test('archives are loaded into a server named only in [pmseries] if [discover] enables it', () => {
  const loads = (text: string, env: Record<string, string> = {}) =>
    configOf(parseIni(text), env, () => undefined).keySettings?.hasDiscovery
  expect(loads('[pmseries]\nservers = a\n')).toBe(false)
  expect(loads('[pmseries]\nservers = a\n[discover]\nenabled = true\n')).toBe(true)
  expect(loads('[pmseries]\nservers = a\n', { KEY_SERVERS: 'a' })).toBe(true)
  expect(loads('[keys]\nservers = a\n')).toBe(true)
})

test('a certificate that cannot be read disables the key server, with a message', () => {
  const problems: string[] = []
  const text = '[keys]\nservers = a\ntls = true\ntls.ca = /no/such/ca.pem\n'
  expect(configOf(parseIni(text), {}, (problem) => problems.push(problem)).keySettings).toBeUndefined()
  expect(problems.join()).toContain('/no/such/ca.pem')
})
