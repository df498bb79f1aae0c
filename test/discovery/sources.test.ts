/** Sources of hosts that are files, DNS and programs, and what becomes of their answers. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Debounce } from '../../src/discovery/debounce.ts'
import { FollowedSource } from '../../src/discovery/followed.ts'
import { type DiscoveredHost, hostKey, hostOf } from '../../src/discovery/host.ts'
import { sourceKind } from '../../src/discovery/registry.ts'
import { type DnsLookups, finder as finderOf } from '../../src/discovery/sources/dns.ts'
import { targetsOf } from '../../src/discovery/sources/file-sd.ts'
import { parseList } from '../../src/discovery/sources/list.ts'
import { PcpError } from '../../src/model/errors.ts'
import { SYSTEM_CLOCK } from '../../src/pmapi/clock.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'discovery-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Returns the first answer of a source. */
async function firstAnswer(
  text: string,
  options: Readonly<Record<string, string>> = {},
  port = 44321,
): Promise<{ hosts: readonly DiscoveredHost[]; error?: PcpError; said: readonly string[] }> {
  const said: string[] = []
  const { kind, argument } = sourceKind(text)
  const io = {
    ...{ env: {}, cwd: dir, clock: SYSTEM_CLOCK, variables: { PCP_BINADM_DIR: dir } },
    say: (line: string) => void said.push(line),
  }
  const source = kind.open(argument, { refreshMs: kind.refreshMs, port, options }, io)
  const end = new AbortController()
  return await new Promise((done) => {
    void source.watch(
      {
        update: (hosts) => {
          end.abort()
          done({ hosts, said })
        },
        failed: (error) => {
          end.abort()
          done({ hosts: [], error, said })
        },
      },
      end.signal,
    )
  })
}

test('specifications of one host have one key', () => {
  for (const spec of ['db1', 'DB1', 'db1.', 'db1:44321', 'pcp://db1', 'pcp:db1:44321'])
    expect(hostKey(spec)).toBe('db1')
  const others = ['db1:44322', 'pcps://db1', 'db1@proxy', 'db1?container=x', 'local:', '[fd00::1]']
  expect(new Set(others.map(hostKey)).size).toBe(others.length)
})

test('a list has a host in each line; invalid ones are skipped', () => {
  const said: string[] = []
  const hosts = parseList('db1 # first\n\n db2:44322\n#db3\ndb4:x\n[fd00::1]\n', 44400, (line) =>
    said.push(line),
  )
  expect(hosts.map(({ spec, name }) => [spec, name])).toEqual([
    ['db1:44400', 'db1'],
    ['db2:44322', 'db2'],
    ['[fd00::1]:44400', 'fd00__1'],
  ])
  expect(said).toEqual([expect.stringContaining('host skipped: ')])
})

test('a missing list is a failure that names it', async () => {
  const { error } = await firstAnswer('list:nowhere')
  expect(error).toMatchObject({ code: 'ENOENT', message: expect.stringContaining('nowhere') })
})

test('file_sd files of Prometheus are read as JSON and YAML, with labels', async () => {
  writeFileSync(
    join(dir, 'a.json'),
    '[{"targets": ["db1:9100", "[fd00::2]:9100"], "labels": {"env": "prod", "n": 1}}]',
  )
  writeFileSync(join(dir, 'b.yml'), '- targets: [db2:44322]\n  labels: {instance: "db two"}\n- targets: []\n')
  const all = await firstAnswer('file_sd:*.*', { port: '44321' })
  expect(all.hosts).toEqual([
    { spec: 'db1:44321', name: 'db1', labels: { env: 'prod', n: '1' } },
    { spec: '[fd00::2]:44321', name: 'fd00__2', labels: { env: 'prod', n: '1' } },
    { spec: 'db2:44321', name: 'db_two', labels: { instance: 'db two' } },
  ])
  expect((await firstAnswer('file_sd:a.json')).hosts[0]!.spec).toBe('db1:9100')
  writeFileSync(join(dir, 'c.yaml'), 'targets: [')
  expect((await firstAnswer('file_sd:c.yaml')).error).toMatchObject({ code: 'PM_ERR_CONV' })
  expect(() => targetsOf({}, 'x', undefined, () => {})).toThrow('x: expected a list of groups')
  expect(() => targetsOf([{}], 'x', undefined, () => {})).toThrow('no list of "targets"')
})

test('aliases cannot make a small YAML file large, and a long one is refused', async () => {
  const levels = Array.from(
    { length: 12 },
    (_, i) => `l${i + 1}: &l${i + 1} [${'*l0,'.replace('0', String(i)).repeat(9)}]`,
  )
  writeFileSync(join(dir, 'bomb.yaml'), `l0: &l0 [x]\n${levels.join('\n')}\n`)
  expect((await firstAnswer('file_sd:bomb.yaml')).error).toMatchObject({ code: 'PM_ERR_CONV' })
  writeFileSync(join(dir, 'long.yaml'), `# ${'x'.repeat(1024 * 1024)}`)
  expect((await firstAnswer('file_sd:long.yaml')).error).toMatchObject({ code: 'EFBIG' })
})

test('programs print hosts; their failure is one of the source', async () => {
  writeFileSync(join(dir, 'found'), '#!/bin/sh\nprintf "10.0.0.1 10.0.0.2\\n10.0.0.1\\n"\n')
  writeFileSync(join(dir, 'broken'), '#!/bin/sh\necho no cluster >&2\nexit 3\n')
  for (const name of ['found', 'broken']) chmodSync(join(dir, name), 0o755)
  expect((await firstAnswer('command:./found')).hosts.map(({ spec }) => spec)).toEqual([
    '10.0.0.1',
    '10.0.0.2',
    '10.0.0.1',
  ])
  expect((await firstAnswer('command:./broken')).error?.message).toContain('no cluster')
  expect((await firstAnswer('command:absent')).error?.message).toContain(join(dir, 'discover', 'absent'))
})

test('a subnet is probed', async () => {
  const { createServer } = await import('node:net')
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  const { hosts } = await firstAnswer('probe:127.0.0.0/30', {}, port)
  expect(hosts.map(({ spec }) => spec)).toEqual([`127.0.0.1:${port}`])
  server.close()
  expect(() => sourceKind('nothing:x')).toThrow('unknown source "nothing": use list, file_sd, dns')
})

function lookups(answers: Partial<DnsLookups>): DnsLookups {
  const none = async (): Promise<never> => {
    throw Object.assign(new Error('none'), { code: 'ENODATA' })
  }
  return { srv: none, addresses: none, system: none, ...answers }
}

function finder(
  name: string,
  port: number,
  lookUp: DnsLookups,
  say: (text: string) => void = () => {},
): ReturnType<typeof finderOf> {
  return finderOf(name, port, lookUp, say)
}

function dnsError(code: string): () => Promise<never> {
  return async () => {
    throw Object.assign(new Error(`query ${code}`), { code })
  }
}

test('DNS: services, addresses with their time to live, and failures', async () => {
  const srv = finder(
    '_pmcd._tcp.example',
    44321,
    lookups({ srv: async () => [{ name: 'db1.example.', port: 44322 }] }),
  )
  expect((await srv()).hosts).toEqual([
    { spec: 'db1.example:44322', name: 'db1.example', labels: { srv: '_pmcd._tcp.example' } },
  ])
  const two = async (_: string, family: number) =>
    family === 4 ? [10, 3].map((ttl) => ({ address: `10.0.0.${ttl}`, ttl })) : dnsError('ESERVFAIL')()
  const found = await finder('db.example:44400', 44321, lookups({ addresses: two }))()
  expect(found.hosts.map(({ spec, name }) => [spec, name])).toEqual([
    ['10.0.0.10:44400', '10.0.0.10'],
    ['10.0.0.3:44400', '10.0.0.3'],
  ])
  // A time to live of three seconds does not cause queries every three seconds.
  expect(found.againMs).toBe(5_000)
  const six = lookups({
    addresses: async (_, family) =>
      family === 6 ? [{ address: 'fd00::1', ttl: 60 }] : dnsError('ENODATA')(),
  })
  expect((await finder('db', 44321, six)()).hosts).toEqual([
    { spec: '[fd00::1]:44321', name: 'db', labels: { dns: 'db' } },
  ])
  expect((await finder('db', 44321, lookups({}))()).hosts).toEqual([])
  const local = lookups({ addresses: dnsError('ENOTFOUND'), system: async () => ['127.0.0.1'] })
  expect((await finder('localhost', 44321, local)()).hosts[0]!.spec).toBe('127.0.0.1:44321')
  await expect(finder('db', 44321, lookups({ addresses: dnsError('ESERVFAIL') }))()).rejects.toThrow(
    'db: DNS: ',
  )
  await expect(finder('_x._tcp.y', 1, lookups({ srv: dnsError('ENOTFOUND') }))()).rejects.toThrow(
    'no such name',
  )
  for (const name of ['', 'a b', 'db:', 'db:123456', 'db:0', 'db:65536'])
    expect(() => finder(name, 1, lookups({}))).toThrow('invalid name')
})

test('DNS: a record that names no host is skipped', async () => {
  const said: string[] = []
  const records = [
    { name: '.', port: 0 },
    { name: 'a\u0001', port: 44321 },
    { name: 'db1.', port: 44321 },
  ]
  const found = await finder('_x._tcp.y', 1, lookups({ srv: async () => records }), (text) =>
    said.push(text),
  )()
  expect(found.hosts.map(({ spec }) => spec)).toEqual(['db1:44321'])
  expect(said).toEqual([expect.stringMatching(/^host skipped: /)])
})

test('a damaged file of file_sd keeps its last hosts, and the others count', async () => {
  for (const name of ['one', 'two']) writeFileSync(join(dir, `sd-${name}.json`), `[{"targets": ["${name}"]}]`)
  const { kind, argument } = sourceKind('file_sd:sd-*.json')
  const end = new AbortController()
  const said: string[] = []
  const looks: string[][] = []
  // Between two looks the files change.
  const changes = [
    () => {
      writeFileSync(join(dir, 'sd-one.json'), '[{"targets": ')
      writeFileSync(join(dir, 'sd-two.json'), '[{"targets": ["two", "three"]}]')
    },
    () => rmSync(join(dir, 'sd-one.json')),
    () => end.abort(),
  ]
  const clock = { now: () => 0, sleep: async () => changes.shift()!() }
  const io = { env: {}, cwd: dir, clock, variables: {}, say: (text: string) => void said.push(text) }
  const source = kind.open(argument, { refreshMs: 1, port: 44321, options: {} }, io)
  const update = (hosts: readonly DiscoveredHost[]): void => void looks.push(hosts.map(({ spec }) => spec))
  await source.watch({ update, failed: (error) => expect.fail(error.message) }, end.signal)
  expect(looks).toEqual([
    ['one', 'two'],
    ['one', 'two', 'three'],
    ['two', 'three'],
  ])
  expect(said).toEqual([
    expect.stringMatching(/sd-one\.json: not JSON: .*; the last hosts of this file stay$/),
  ])
})

/** A followed source whose answers and clock the test controls. */
function followed(limits: { keepMs?: number; graceMs?: number; most?: number } = {}) {
  const world = { ms: 0, changes: 0, said: [] as string[] }
  const source = new FollowedSource(
    { watch: async () => {} },
    { keepMs: 1000, graceMs: 0, most: 3, ...limits },
    { changed: () => world.changes++, say: (_, text) => void world.said.push(text), now: () => world.ms },
  )
  const names = (): readonly string[] => [...source.hosts.keys()]
  const update = (...specs: readonly string[]): void => source.update(specs.map((spec) => hostOf(spec)))
  return { world, source, names, update }
}

test('the last answer stays while a source fails, but not for ever', () => {
  const { world, source, names, update } = followed()
  update('a', 'b')
  const error = new PcpError('EHOSTUNREACH', 'gone')
  world.ms = 999
  source.failed(error)
  source.failed(error)
  expect([names(), world.said]).toEqual([['a', 'b'], ['gone; its 2 last hosts stay']])
  world.ms = 1000
  source.failed(error)
  expect([names(), world.changes]).toEqual([[], 2])
  update('a')
  expect([names(), world.said.at(-1)]).toEqual([['a'], 'answers again'])
})

test('a host may be missing for the grace time', () => {
  const { world, names, update } = followed({ graceMs: 100 })
  update('a', 'b')
  world.ms = 99
  update('a')
  expect(names()).toEqual(['a', 'b'])
  world.ms = 100
  update('a')
  expect(names()).toEqual(['a'])
})

test('the number of hosts is limited, and recorded hosts stay', () => {
  const { world, names, update } = followed()
  update('c', 'd', 'C:44321')
  expect(names()).toEqual(['c', 'd'])
  update('a', 'b', 'c', 'd')
  expect([names(), world.said]).toEqual([
    ['c', 'd', 'a'],
    ['4 hosts, but at most 3 are recorded: use most=N'],
  ])
  const { changes } = world
  update('a', 'b', 'c', 'd')
  expect([world.changes, world.said.length]).toEqual([changes, 1])
})

test('changes are applied after the last one, or after a while', () => {
  let ms = 0
  let due: { at: number; act: () => void } | undefined
  const acts: number[] = []
  const debounce = new Debounce(() => acts.push(ms), {
    calmMs: 10,
    mostMs: 25,
    now: () => ms,
    after: (waitMs, act) => {
      due = { at: ms + waitMs, act }
      return () => {
        due = undefined
      }
    },
  })
  const advance = (to: number): void => {
    for (ms += 1; ms <= to; ms++) {
      if (due === undefined || due.at > ms) continue
      const { act } = due
      due = undefined
      act()
    }
    ms = to
  }
  debounce.changed()
  advance(9)
  debounce.changed()
  advance(18)
  debounce.changed()
  advance(30)
  expect(acts).toEqual([25])
})
