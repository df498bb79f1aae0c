/** Farms as processes: hosts that come and go, and recorders that share them and are killed, stopped or ended. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { toSeconds } from '../../src/base/timestamp.ts'
import { hostKey } from '../../src/discovery/host.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { ownerOf } from '../../src/sharing/rendezvous.ts'
import { bundleTools } from '../lib/bundle-tools.ts'

let programs: string
let dir: string
let port: number
const children: ChildProcess[] = []

beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'farm-programs-'))
  await bundleTools(programs, { pmcd: 'pmcd.ts', pmlogger: 'pmlogger.ts' })
})
afterAll(() => rmSync(programs, { recursive: true }))

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'farm-e2e-'))
  for (const name of ['run', 'tmp']) mkdirSync(join(dir, name))
  writeFileSync(
    join(dir, 'pcp.conf'),
    `PCP_RUN_DIR=${dir}/run\nPCP_TMP_DIR=${dir}/tmp\nPCP_SYSCONF_DIR=${dir}\nPCP_PMCDCONF_PATH=${dir}/pmcd.conf\nPCP_VAR_DIR=${dir}\n`,
  )
  writeFileSync(
    join(dir, 'pmcd.conf'),
    'pmcd 2 dso pmcd_init /lib/pmda_pmcd.so\nsample 29 dso sample_init /lib/pmda_sample.so\n',
  )
  writeFileSync(
    join(dir, 'root'),
    'root { sample pmcd }\nsample { bin 29:0:6 }\npmcd { pid 2:0:23 seqnum 2:0:24 hostname 2:0:21 }\n',
  )
  writeFileSync(join(dir, 'all.conf'), 'log on 50 msec { sample.bin }\n')
  port = await freePort()
  start('pmcd', ['-f', '-p', String(port), '-n', join(dir, 'root'), '-l', 'pmcd.log'])
  await until(() => textOf('pmcd.log').includes(`${port} inet`))
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    await ended(child)
  }
  rmSync(dir, { recursive: true, force: true })
})

function start(name: string, args: readonly string[]): ChildProcess {
  const env = Object.entries(process.env).filter(
    ([key]) => !/^(?:PCP|PMCD|PMLOGGER|PMNS|NODE_EXTRA)_/.test(key),
  )
  const child = spawn(process.execPath, [join(programs, `${name}.cjs`), ...args], {
    cwd: dir,
    env: { ...Object.fromEntries(env), PCP_CONF: join(dir, 'pcp.conf'), PMCD_SOCKET: join(dir, 'socket') },
    stdio: 'ignore',
  })
  children.push(child)
  return child
}

const textOf = (file: string): string =>
  existsSync(join(dir, file)) ? readFileSync(join(dir, file), 'utf8') : ''

/** Polls every few milliseconds, because file events differ between systems. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
}

async function ended(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode ?? child.signalCode
}

/** Base names of the archives of a host below a directory; without those that are just being created, or were when their recorder was killed. */
function archivesOf(...parts: readonly string[]): readonly string[] {
  const folder = join(dir, ...parts)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.index'))
    .map((name) => join(folder, name.slice(0, -'.index'.length)))
    .filter((base) => ['index', 'meta', '0'].every((part) => hasContent(`${base}.${part}`)))
}

const hasContent = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0

/** The first and last time of an archive in seconds. */
async function spanOf(path: string): Promise<readonly [number, number]> {
  const context = await openArchive(path)
  const archive = context.archive!
  const span = [toSeconds(archive.start), toSeconds(archive.end())] as const
  await context.close()
  return span
}

test('a farm follows a list: a vanished host ends its archive, a returning host begins another', async () => {
  writeFileSync(join(dir, 'farm'), '@list:hosts logs/%h/all all.conf refresh=100msec version=3\n')
  const hosts = (...names: readonly string[]): void =>
    writeFileSync(join(dir, 'hosts'), names.map((name) => `${name}:${port}\n`).join(''))
  hosts('127.0.0.1', 'pcp://127.0.0.1', '127.0.0.2')
  const farm = start('pmlogger', ['--farm', 'farm', '-l', 'l.log'])
  await until(() => [1, 2].every((i) => archivesOf('logs', `127.0.0.${i}`).length === 1))
  hosts('127.0.0.1')
  await until(() => textOf('l.log').includes(`127.0.0.2:${port}: pmlogger: The host is not listed any more`))
  hosts('127.0.0.1', '127.0.0.2')
  await until(() => archivesOf('logs', '127.0.0.2').length === 2)
  writeFileSync(join(dir, 'farm'), `127.0.0.3:${port} logs/third/all all.conf\n`)
  await until(() => archivesOf('logs', 'third').length === 1)
  await until(() => textOf('l.log').includes(`127.0.0.1:${port}: pmlogger: The host is not listed any more`))
  farm.kill('SIGTERM')
  expect(await ended(farm)).toBe(0)
  // Two specifications of one host are recorded once: 127.0.0.1 once, 127.0.0.2 twice, 127.0.0.3 once.
  expect(textOf('l.log').match(/Archive basename/g)).toHaveLength(4)
  const [first, second] = await Promise.all([...archivesOf('logs', '127.0.0.2')].sort().map(spanOf))
  expect(first![1]).toBeLessThan(second![0])
})

const HOSTS = Array.from({ length: 6 }, (_, i) => `127.0.0.${i + 1}`)

/** Starts a recorder that shares the hosts; its archives are below its name. */
function startRecorder(name: string, lease: string): ChildProcess {
  mkdirSync(join(dir, name), { recursive: true })
  const options = ['--share', 'shared', '--share-as', name, '--lease', lease]
  return start('pmlogger', ['--farm', 'farm', ...options, '-l', `${name}.log`, '-d', join(dir, name)])
}

/** Waits for the first archive of each host that was not there before. */
const newArchives = (name: string, known: ReadonlySet<string>): readonly string[] =>
  HOSTS.filter((host) => archivesOf(name, host).some((path) => !known.has(path)))

function knownArchives(name: string): ReadonlySet<string> {
  return new Set(HOSTS.flatMap((host) => archivesOf(name, host)))
}

/** Returns another name for a recorder that shares the hosts with `name`, and the hosts that it gets, some but not all. */
function partnerOf(name: string): { readonly partner: string; readonly moved: readonly string[] } {
  for (let i = 0; ; i++) {
    const partner = `${name}-${i}`
    const moved = HOSTS.filter((host) => ownerOf(hostKey(`${host}:${port}`), [name, partner]) === partner)
    if (moved.length > 0 && moved.length < HOSTS.length) return { partner, moved }
  }
}

/** Fails if two archives of a host cover the same time. */
async function expectNoOverlap(names: readonly string[]): Promise<number> {
  let count = 0
  for (const host of HOSTS) {
    const spans = await Promise.all(names.flatMap((name) => archivesOf(name, host)).map(spanOf))
    spans.sort(([a], [b]) => a - b)
    count += spans.length
    for (const [i, [begin]] of spans.entries()) if (i > 0) expect(begin).toBeGreaterThan(spans[i - 1]![1])
  }
  return count
}

test('recorders share hosts; hosts of a killed, stopped or ended recorder are taken over', async () => {
  writeFileSync(join(dir, 'farm'), '@list:hosts %h/a all.conf refresh=100msec version=3\n')
  writeFileSync(join(dir, 'hosts'), HOSTS.map((host) => `${host}:${port}\n`).join(''))
  const one = startRecorder('one', '2sec')
  await until(() => newArchives('one', new Set()).length === HOSTS.length)
  // The second gets some of them, which the first ends.
  const { partner, moved } = partnerOf('one')
  const two = startRecorder(partner, '2sec')
  await until(() => newArchives(partner, new Set()).length === moved.length)
  expect(newArchives(partner, new Set())).toEqual(moved)
  expect(textOf('one.log').match(/Another recorder takes over/g)).toHaveLength(moved.length)

  const beforeKill = knownArchives('one')
  two.kill('SIGKILL')
  await until(() => newArchives('one', beforeKill).length === moved.length)
  expect(newArchives('one', beforeKill)).toEqual(moved)

  // Its process is known to have ended, so the name is free; it takes the same hosts back.
  const beforeReturn = knownArchives(partner)
  const again = startRecorder(partner, '2sec')
  await until(() => newArchives(partner, beforeReturn).length === moved.length)
  expect(newArchives(partner, beforeReturn)).toEqual(moved)

  // A stopped recorder cannot release its hosts: its lease ends first, and it notices that when it continues.
  const beforeStop = knownArchives('one')
  again.kill('SIGSTOP')
  await until(() => newArchives('one', beforeStop).length === moved.length)
  const beforeContinue = knownArchives(partner)
  again.kill('SIGCONT')
  await until(() => newArchives(partner, beforeContinue).length === moved.length)
  expect(textOf(`${partner}.log`)).toContain('The lease is lost, exiting')

  const beforeEnd = knownArchives('one')
  again.kill('SIGTERM')
  expect(await ended(again)).toBe(0)
  await until(() => newArchives('one', beforeEnd).length === moved.length)
  one.kill('SIGTERM')
  expect(await ended(one)).toBe(0)
  // Six at first, and for each of four changes of the owner, and two returns, one for each host that moved.
  expect(await expectNoOverlap(['one', partner])).toBeGreaterThanOrEqual(HOSTS.length + 6 * moved.length)
})

test('a recorder with a long lease hands its hosts over when it ends', async () => {
  writeFileSync(join(dir, 'farm'), HOSTS.map((host) => `${host}:${port} ${host}/a all.conf\n`).join(''))
  const one = startRecorder('one', '2sec')
  await until(() => newArchives('one', new Set()).length === HOSTS.length)
  one.kill('SIGTERM')
  expect(await ended(one)).toBe(0)
  // No recorder waits for the lease of ten minutes.
  const two = startRecorder('two', '10min')
  await until(() => newArchives('two', new Set()).length === HOSTS.length)
  const { partner, moved } = partnerOf('two')
  const three = startRecorder(partner, '10min')
  await until(() => newArchives(partner, new Set()).length === moved.length)
  const before = knownArchives(partner)
  two.kill('SIGTERM')
  expect(await ended(two)).toBe(0)
  await until(() => newArchives(partner, before).length === HOSTS.length - moved.length)
  three.kill('SIGTERM')
  expect(await ended(three)).toBe(0)
  await expectNoOverlap(['one', 'two', partner])
})

test('invalid places and sources are refused', async () => {
  writeFileSync(join(dir, 'farm'), '@list:hosts %h/a all.conf\n')
  const refused = start('pmlogger', ['--farm', 'farm', '--share', 'ftp://x', '-l', 'l.log'])
  expect(await ended(refused)).toBe(1)
  expect(textOf('l.log')).toContain('--share ftp://x: use a directory')
  writeFileSync(join(dir, 'farm'), '@dns:a b all.conf\n')
  expect(await ended(start('pmlogger', ['--farm', 'farm', '-C', '-l', 'm.log']))).toBe(1)
})
