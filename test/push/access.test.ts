/** Who may push, how much, and under which names. docs/reference/pmproxy.md */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { encodeLabel } from '../../src/archive/label.ts'
import { type PushConfig, pushConfig } from '../../src/pmproxy/logger/config.ts'
import { parseTokens } from '../../src/pmproxy/logger/tokens.ts'
import type { PushRequests } from '../../src/push/client.ts'
import type { ReceiverOptions } from '../../src/push/receiver.ts'
import { plainWarning, pushTarget } from '../../src/push/target.ts'
import { MemoryDisk } from '../lib/memory-disk.ts'
import { DIRECTORY, loopbackConfig, receiverOn, requestsTo } from './faults.ts'

const dir = mkdtempSync(join(tmpdir(), 'push-access-'))
afterAll(() => rmSync(dir, { recursive: true }))
const TOKEN = 't0ken-of-sixteen-characters'

function labelFor(hostname: string, timezone = 'UTC', zoneinfo = ''): Uint8Array {
  const start = { sec: 1_700_000_000, nsec: 0 }
  return encodeLabel({ version: 3, pid: 1, start, volume: -1, features: 0, hostname, timezone, zoneinfo })
}

function record(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  new DataView(bytes.buffer).setInt32(0, length)
  new DataView(bytes.buffer).setInt32(length - 4, length)
  return bytes
}

interface Setup {
  readonly config?: Partial<PushConfig>
  readonly options?: Partial<ReceiverOptions>
  readonly address?: string
}

function server({ config, options, address }: Setup = {}): { disk: MemoryDisk; requests: PushRequests } {
  const disk = new MemoryDisk()
  disk.mkdir(DIRECTORY)
  const receiver = receiverOn(disk, options)
  const all = { ...loopbackConfig(), ...config }
  return {
    disk,
    requests: requestsTo(() => receiver, { config: all, ...(address === undefined ? {} : { address }) }),
  }
}

const post = async (requests: PushRequests, path: string, bytes: Uint8Array, headers = {}): Promise<number> =>
  (await requests.post(path, headers, bytes)).status

describe('names', () => {
  test.each(['../x', '.', '..', '.hidden', 'a/b', 'a\\b', '', 'a b', 'ä', '/etc'])(
    'host %j is refused',
    async (host) => {
      const { requests, disk } = server()
      expect(await post(requests, '/logger/label', labelFor(host))).toBe(400)
      expect(disk.list(DIRECTORY)).toEqual([])
    },
  )
  test('the refusal names the host and the remedy', async () => {
    const { requests } = server()
    const { fields } = await requests.post('/logger/label', {}, labelFor('localhost:44321\n'))
    expect(fields['message']).toMatch(
      /"localhost:44321\\n", contains other characters.*: record with -H NAME$/,
    )
  })
  test.each([
    ['/etc/passwd', ''],
    ['UTC', ':/etc/passwd'],
    ['../../x', ''],
    ['UTC', ':a/../b'],
    ['$(x)', ''],
  ])('zones %j %j are refused', async (timezone, zoneinfo) => {
    expect(await post(server().requests, '/logger/label', labelFor('db1', timezone, zoneinfo))).toBe(400)
  })
})

describe('senders', () => {
  test('an address that is not listed gets 401', async () => {
    const { requests } = server({ address: '10.1.2.3' })
    expect(await post(requests, '/logger/label', labelFor('db1'))).toBe(401)
  })

  test('a token pushes archives of its hosts, which other senders cannot continue', async () => {
    const tokenFile = join(dir, 'tokens')
    writeFileSync(tokenFile, `# fleet\n${TOKEN} db1 *.example.com\n${TOKEN}2\n`, { mode: 0o640 })
    const { requests } = server({ config: { tokenFile }, address: '10.1.2.3' })
    const headers = { authorization: `Bearer ${TOKEN}` }
    expect(await post(requests, '/logger/label', labelFor('db2'), headers)).toBe(403)
    expect(await post(requests, '/logger/label', labelFor('a.example.com'), headers)).toBe(200)
    const { fields } = await requests.post('/logger/label', headers, labelFor('db1'))
    const path = `/logger/meta/${String(fields['archive'])}`
    expect(await post(requests, path, record(100), { authorization: `Bearer ${TOKEN}2` })).toBe(410)
    expect(await post(requests, path, record(100), { authorization: 'Bearer wrong-token-of-any-kind' })).toBe(
      401,
    )
    expect(await post(requests, path, record(100), headers)).toBe(200)
  })

  test('a file that all users may read has no tokens', async () => {
    const tokenFile = join(dir, 'open-tokens')
    writeFileSync(tokenFile, `${TOKEN}\n`)
    chmodSync(tokenFile, 0o644)
    const { requests } = server({ config: { tokenFile }, address: '10.1.2.3' })
    expect(await post(requests, '/logger/label', labelFor('db1'), { authorization: `Bearer ${TOKEN}` })).toBe(
      401,
    )
  })

  test('short tokens are errors', () => {
    expect(() => parseTokens('\nshort\n', 'f')).toThrow('f line 2: a token has at least 16 characters')
  })
})

describe('limits', () => {
  const limits = { bytes: 1e12, archives: 100, bytesPerSecond: 1e12 }
  test('bytes of a host', async () => {
    const { requests } = server({ options: { limits: { ...limits, bytes: 5000 } } })
    const { fields } = await requests.post('/logger/label', {}, labelFor('db1'))
    const path = `/logger/meta/${String(fields['archive'])}`
    expect(await post(requests, path, record(2000))).toBe(200)
    expect(await post(requests, path, record(4000))).toBe(507)
    expect(await post(requests, path, record(100))).toBe(200)
  })
  test('archives of a host', async () => {
    const { requests } = server({ options: { limits: { ...limits, archives: 1 } } })
    expect(await post(requests, '/logger/label', labelFor('db1'))).toBe(200)
    expect(await post(requests, '/logger/label', labelFor('db1'))).toBe(507)
    expect(await post(requests, '/logger/label', labelFor('db2'))).toBe(200)
  })
  test('bytes a second of a host', async () => {
    let now = 1e12
    const options = { limits: { ...limits, bytesPerSecond: 100 }, nowMs: () => now }
    const { requests } = server({ options })
    const { fields } = await requests.post('/logger/label', {}, labelFor('db1'))
    const path = `/logger/meta/${String(fields['archive'])}`
    expect(await post(requests, path, record(900))).toBe(200)
    expect(await post(requests, path, record(900))).toBe(429)
    now += 9000
    expect(await post(requests, path, record(900))).toBe(200)
  })
  test('archives in progress', async () => {
    const { requests } = server({ options: { maxArchives: 1 } })
    expect(await post(requests, '/logger/label', labelFor('db1'))).toBe(200)
    expect(await post(requests, '/logger/label', labelFor('db2'))).toBe(503)
  })
  test('invalid records', async () => {
    const { requests } = server()
    const { fields } = await requests.post('/logger/label', {}, labelFor('db1'))
    expect(await post(requests, `/logger/meta/${String(fields['archive'])}`, new Uint8Array(100))).toBe(422)
  })
})

test('pushed archives are off unless enabled, and settings are checked', () => {
  const problems: string[] = []
  const read = (settings: Record<string, string>, isEnabled = true): PushConfig | undefined =>
    pushConfig(new Map(Object.entries(settings)), isEnabled, { PCP_LOG_DIR: '/l' }, (text) =>
      problems.push(text),
    )
  expect(read({}, false)).toBeUndefined()
  expect(read({ 'pmlogger.quota': '2 GB' })).toMatchObject({
    directory: '/l/pmproxy',
    limits: { bytes: 2e9 },
  })
  expect(problems).toEqual([])
  read({ 'pmlogger.addresses': '10.0.0.0/99', 'pmlogger.rate': 'fast', 'pmlogger.authenticate': 'false' })
  expect(problems).toHaveLength(3)
})

test('credentials come from the URL or a private file', () => {
  expect(pushTarget('http://u:p%40@h:1')).toMatchObject({
    authorization: `Basic ${Buffer.from('u:p@').toString('base64')}`,
  })
  const file = join(dir, 'credentials')
  writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 })
  expect(pushTarget('https://h', file).authorization).toBe(`Bearer ${TOKEN}`)
  expect(plainWarning(pushTarget('http://h', file))).toContain('unencrypted')
  chmodSync(file, 0o644)
  expect(() => pushTarget('https://h', file)).toThrow('chmod 600')
  expect(() => pushTarget('ftp://h')).toThrow('must be a URL')
})
