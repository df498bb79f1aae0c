import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/sys/config.ts'
import {
  collectorPlaces,
  type InstanceRecord,
  instancesIn,
  parseInstance,
  RUN_DIRS,
  runDirs,
  SERVICE_RUN_DIR,
} from '../../src/sys/instances.ts'
import { ownIdentity } from '../../src/sys/process-identity.ts'

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-instances-'))
})
afterEach(() => {
  rmSync(dir, { recursive: true, force: true })
})

function record(over: Partial<InstanceRecord> = {}): InstanceRecord {
  return {
    process: ownIdentity(),
    version: '1.2.3',
    node: '20.19.0',
    started: 5,
    confPath: '/c',
    logPath: '/l',
    port: 44321,
    listen: [],
    hasSocket: true,
    agents: ['simple'],
    parts: [{ name: 'collector', pid: 7 }],
    ...over,
  }
}

function write(runDir: string, what: unknown): string {
  mkdirSync(runDir, { recursive: true })
  writeFileSync(join(runDir, 'instance.json'), JSON.stringify(what))
  return runDir
}

function point(runDir: string, target: string, name = '0123456789abcdef'): void {
  mkdirSync(join(runDir, 'instances'), { recursive: true })
  writeFileSync(join(runDir, 'instances', name), `${target}\n`)
}

test('a record is read back, and one with anything else in it is no record', () => {
  const good = record({ webPort: 1, archiveDir: '/a', keepDays: 14, keepBytes: 10 })
  expect(parseInstance(JSON.stringify(good))).toEqual(good)
  const bad: readonly unknown[] = [
    1,
    null,
    [],
    { ...good, port: 0 },
    { ...good, port: 65536 },
    { ...good, port: '1' },
    { ...good, webPort: -1 },
    { ...good, archiveDir: 3 },
    { ...good, agents: ['a\u001b[2J'] },
    { ...good, agents: 'simple' },
    { ...good, parts: [{ pid: 1 }] },
    { ...good, process: { ...good.process, pid: -1 } },
    { ...good, process: undefined },
    { ...good, version: 'x'.repeat(5000) },
    { ...good, hasSocket: 1 },
  ]
  for (const value of bad) expect(parseInstance(JSON.stringify(value)), JSON.stringify(value)).toBeUndefined()
  expect(parseInstance('{')).toBeUndefined()
})

test('an instance counts while its process lives', () => {
  const alive = write(join(dir, 'alive'), record())
  const { process } = record()
  const others = [
    { ...process, start: '1' }, // the id was reused
    { ...process, boot: 'another' },
    { ...process, host: 'elsewhere' },
    { ...process, namespace: 'pid:[1]' },
  ].map((identity, i) => write(join(dir, `dead${i}`), record({ process: identity })))
  expect(instancesIn([alive, ...others]).map(({ runDir }) => runDir)).toEqual([alive])
  // Their sockets are still tried: something else may listen there.
  expect(collectorPlaces(others).map(({ socketPath, problem }) => [socketPath, problem])).toEqual(
    others.map((each) => [join(each, 'pmcd.socket'), undefined]),
  )
})

test('pointers lead to instances elsewhere, the youngest first, and stale ones to nothing', () => {
  const run = join(dir, 'run')
  const older = write(join(dir, 'older'), record({ started: 1 }))
  const younger = write(join(dir, 'younger'), record({ started: 2 }))
  point(run, older, 'aaaaaaaaaaaaaaaa')
  point(run, younger, 'bbbbbbbbbbbbbbbb')
  point(run, join(dir, 'gone'), 'cccccccccccccccc')
  point(run, 'relative/path', 'dddddddddddddddd')
  point(run, older, 'not a pointer')
  expect(collectorPlaces([run]).map(({ runDir }) => runDir)).toEqual([run, younger, older])
})

test('at most 64 pointers are followed, and only small regular files are read', () => {
  const run = join(dir, 'run')
  for (let i = 0; i < 70; i++) {
    const target = write(join(dir, `i${i}`), record({ started: i }))
    point(run, target, i.toString(16).padStart(16, '0'))
  }
  expect(instancesIn([run])).toHaveLength(64)
  const big = join(dir, 'big')
  write(big, { ...record(), padding: 'x'.repeat(70_000) })
  const linked = join(dir, 'linked')
  mkdirSync(linked)
  symlinkSync(join(write(join(dir, 'real'), record()), 'instance.json'), join(linked, 'instance.json'))
  expect(instancesIn([big, linked])).toEqual([])
})

test('a run directory that other users can write to is not used, nor what is pointed to from it', () => {
  const open = write(join(dir, 'open'), record())
  chmodSync(open, 0o777)
  const target = write(join(dir, 'target'), record())
  point(open, target)
  const [place, ...others] = collectorPlaces([open])
  expect(place!.problem).toContain('is writable by everybody')
  expect(place!.record).toBeUndefined()
  expect(others).toEqual([])
  // A directory of our own may not point to one of theirs.
  const run = join(dir, 'run')
  point(run, open)
  expect(collectorPlaces([run]).map(({ runDir }) => runDir)).toEqual([run])
})

test('the directories come from the user, pcp.conf and our service, unless a variable names a collector', () => {
  const readText = (path: string): string | undefined =>
    path === '/etc/pcp.conf' || path === '/mine/pcp.conf' ? 'PCP_RUN_DIR=/run/pcp\n' : undefined
  const dirsOf = (env: Record<string, string>): readonly string[] =>
    runDirs(loadConfig({ HOME: '/nonexistent', ...env }, { readText, uid: 1000 }).variables)
  const own = '/nonexistent/.local/state/pcp/run'
  expect(dirsOf({})).toEqual([own, '/run/pcp', SERVICE_RUN_DIR])
  expect(dirsOf({ XDG_RUNTIME_DIR: '/run/user/7' })[0]).toBe('/run/user/7/pcp')
  const naming = { PCP_CONF: '/mine/pcp.conf', PCP_RUN_DIR: '/r', PMCD_SOCKET: '/s', PMCD_PORT: '1' }
  for (const [name, value] of Object.entries(naming)) expect(dirsOf({ [name]: value }), name).toEqual([])
  expect(dirsOf({ [RUN_DIRS]: `/a${delimiter}b${delimiter}/a${delimiter}/c` })).toEqual(['/a', '/c'])
  expect(dirsOf({ [RUN_DIRS]: '' })).toEqual([])
})
