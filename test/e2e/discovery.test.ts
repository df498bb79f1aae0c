/** Commands find the running instance by themselves: the user's own, then the machine's. docs/decisions/discovery.md */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { connect } from '../../src/pmapi/index.ts'
import { instances } from '../../src/start/instance.ts'
import type { InstanceStatus } from '../../src/start/status.ts'
import { type InstanceRecord, readInstance } from '../../src/sys/instances.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { runProgram, type ToolOptions, type ToolRun } from '../lib/tool-process.ts'

let dir: string
/** Run directory of the user's own instance. */
let own: string
/** Run directory of an instance that was started with --dir. */
let other: string
let usual: ChildProcess
let elsewhere: ChildProcess

/** A user's environment without a word about collectors. */
const env = (more: Record<string, string> = {}): Record<string, string | undefined> => ({
  ...process.env,
  HOME: dir,
  XDG_RUNTIME_DIR: join(dir, 'r'),
  PCP_CONF: undefined,
  PCP_DEBUG: 'context',
  ...more,
})

async function start(...args: string[]): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    [resolve('bin/pcp-ts'), 'start', '--port', '0', '--web-port', '0', '--agents', 'pmcd,simple', ...args],
    { stdio: ['ignore', 'pipe', 'inherit'], env: env() as NodeJS.ProcessEnv },
  )
  let text = ''
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const closed = once(child, 'close')
  while (!text.includes('Ctrl-C stops everything.')) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`ended: ${text}`)
    await Promise.race([once(child.stdout!, 'data'), closed])
  }
  return child
}

function run(name: string, args: readonly string[], options: ToolOptions = {}): Promise<ToolRun> {
  return runProgram(resolve('bin', name), args, { cwd: dir, env: env(), ...options })
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-disc-'))
  mkdirSync(join(dir, 'r'), { mode: 0o700 })
  own = join(dir, 'r', 'pcp')
  other = join(dir, 'other', 'run')
  usual = await start()
  elsewhere = await start('--no-record', '--dir', join(dir, 'other'))
  const files = {
    'pmie.rules': 'simple.numfetch >= 0 -> print "x";\n',
    'logger.conf': 'log mandatory on once { simple.numfetch }\n',
    'logconf.conf': '#pmlogconf 2.0\n',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
})
afterAll(async () => {
  for (const child of [usual, elsewhere]) {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) continue
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    await closed
  }
  rmSync(dir, { recursive: true, force: true })
})

const METRIC = 'simple.numfetch'
const once1 = ['-s', '1', METRIC]

/** Arguments with which each command with a default host uses it; it is stopped as soon as it has connected. */
const CONNECTING: Readonly<Record<string, readonly string[]>> = {
  pcp: [],
  'pcp-atop': ['1', '1'],
  'pcp-dstat': ['1', '1'],
  'pcp-iostat': ['-s', '1'],
  'pcp-pidstat': ['-s', '1'],
  'pcp-ss': [],
  'pcp-summary': [],
  pcp2arrow: ['-F', 'out.arrow', ...once1],
  pcp2csv: once1,
  pcp2json: once1,
  pcp2openmetrics: once1,
  pcp2opentelemetry: once1,
  pcp2graphite: ['-E', '1', ...once1],
  pcp2influxdb: ['-g', 'http://127.0.0.1:1', ...once1],
  pcp2remotewrite: ['-u', 'http://127.0.0.1:1', ...once1],
  pcp2elasticsearch: ['-g', 'http://127.0.0.1:1', ...once1],
  pcp2zabbix: ['-g', '127.0.0.1', '-p', '1', ...once1],
  pcp2xml: once1,
  pmclient: ['-s', '1'],
  pmdumptext: once1,
  pmevent: once1,
  pmie: ['-c', 'pmie.rules', '-T', '1sec'],
  pminfo: ['-f', METRIC],
  pmiostat: ['-s', '1'],
  pmlogconf: ['-c', 'logconf.conf'],
  pmlogger: ['-c', 'logger.conf', '-T', '1sec', '-l', '/dev/stderr', 'logged'],
  pmprobe: ['-v', METRIC],
  pmrep: once1,
  pmrepconf: ['-c', 'repconf.conf'],
  pmstat: ['-s', '1'],
  pmstore: ['simple.numfetch', '7'],
  pmval: once1,
}

/** Commands whose -h is something else, which connect to loggers, or are tested below. */
const OTHERS: readonly string[] = [
  'pmcd_wait',
  'pmdumplog',
  'pmgenmap',
  'pmlc',
  'pmlogdump',
  'pmloglabel',
  'pmlogpush',
  'pmproxy',
  'pmseries',
  'sheet2pcp',
]

const connectedTo = (runDir: string): string =>
  `context: connected to the collector at ${join(runDir, 'pmcd.socket')}\n`

test('every command with a default host is in the table', async () => {
  const found: string[] = []
  for (const { name, load, subcommandOf } of TOOLS) {
    if (subcommandOf !== undefined) continue
    const rows = (await load()).options?.rows ?? []
    if (rows.some((row) => 'short' in row && row.short === 'h')) found.push(name)
  }
  expect([...Object.keys(CONNECTING), ...OTHERS].sort()).toEqual(found.sort())
})

test.each(Object.entries(CONNECTING))('%s finds the running instance', async (name, args) => {
  const wanted = connectedTo(own)
  const { stderr } = await run(name, args, { until: (output) => output.includes(wanted) })
  expect(stderr).toContain(wanted)
})

test('the library finds it too, and so do pmcd_wait and pmproxy', async () => {
  await using pcp = await connect(undefined, { env: { ...env(), PCP_DEBUG: undefined } })
  expect((await pcp.values([METRIC])).value(METRIC)).toBeTypeOf('number')
  const only = { PCP_TS_RUN_DIRS: own, PCP_DEBUG: '' }
  expect(await run('pmcd_wait', ['-t', '5'], { env: env(only) })).toMatchObject({ status: 0, stderr: '' })
  const port = String(await freePort())
  const args = ['-f', '-p', port, '-l', join(dir, 'proxy.log'), '-s', join(dir, 'proxy.socket')]
  const proxy = spawn(process.execPath, [resolve('bin/pmproxy'), ...args], {
    env: env(only) as NodeJS.ProcessEnv,
    stdio: 'ignore',
  })
  const closed = once(proxy, 'close')
  let answer = ''
  // Until it listens, connections are refused.
  while (answer === '' && proxy.exitCode === null)
    answer = await fetch(`http://localhost:${port}/pmapi/metric?name=${METRIC}`).then(
      (reply) => reply.text(),
      () => '',
    )
  proxy.kill()
  await closed
  expect(answer).toContain(METRIC)
})

test('what names a collector comes first', async () => {
  const { port } = readInstance(other)!
  const conf = join(dir, 'other', 'etc', 'pcp.conf')
  const socket = join(other, 'pmcd.socket')
  for (const [args, more] of [
    [['-h', `localhost:${port}`], {}],
    [['-h', `unix:${socket}`], {}],
    [[], { PCP_CONF: conf }],
    [[], { PCP_RUN_DIR: other }],
    [[], { PMCD_SOCKET: socket }],
    [[], { PMCD_PORT: String(port), PMCD_SOCKET: join(dir, 'none') }],
    [[], { PCP_TS_RUN_DIRS: other }],
  ] as const) {
    const { status, stderr } = await run('pminfo', [...args, '-f', METRIC], { env: env(more) })
    expect(status, stderr).toBe(0)
    const at = stderr.includes(`localhost:${port}\n`) ? `localhost:${port}\n` : `${socket}\n`
    expect(stderr).toContain(`context: connected to the collector at ${at}`)
    expect(stderr).not.toContain(`connected to the collector at ${own}`)
  }
})

test('an instance with another directory and port is found when the usual one does not run', async () => {
  const nothing = join(dir, 'nothing')
  const more = { PCP_TS_RUN_DIRS: [nothing, own].join(delimiter) }
  expect(
    instances({ HOME: dir, XDG_RUNTIME_DIR: join(dir, 'r') })
      .map(({ runDir }) => runDir)
      .slice(0, 2),
  ).toEqual([own, other])
  const { stderr } = await run('pminfo', [METRIC], { env: env(more) })
  expect(stderr).toContain(
    `context: not connected to the collector at ${join(nothing, 'pmcd.socket')}: No such file or directory\n${connectedTo(own)}`,
  )
  // Without a socket, its port is used.
  const { record } = instances({ HOME: dir, XDG_RUNTIME_DIR: join(dir, 'r') }).find(
    (each) => each.runDir === other,
  )!
  const copy = join(dir, 'copy')
  write(copy, { ...record, hasSocket: false })
  const byPort = await run('pminfo', [METRIC], { env: env({ PCP_TS_RUN_DIRS: copy }) })
  expect(byPort.stderr).toContain(`context: connected to the collector at localhost:${record.port}\n`)
})

function write(runDir: string, record: InstanceRecord): void {
  mkdirSync(runDir, { recursive: true })
  writeFileSync(join(runDir, 'instance.json'), JSON.stringify(record))
}

interface Shown {
  readonly instances: readonly InstanceStatus[]
}

async function shown(): Promise<{ status: number | undefined; ours: readonly InstanceStatus[] }> {
  const { status, stdout } = await run('pcp-ts', ['status', '--json'], { env: env({ PCP_DEBUG: '' }) })
  const { instances: all } = JSON.parse(stdout) as Shown
  return { status, ours: all.filter(({ runDir }) => runDir.startsWith(dir)) }
}

test('pcp-ts status shows both, and names a collector that does not answer', async () => {
  const before = await shown()
  expect(before.ours.map(({ runDir, problems }) => [runDir, problems])).toEqual([
    [own, []],
    [other, []],
  ])
  const [first, second] = before.ours
  expect(first).toMatchObject({ kind: 'user', pid: usual.pid, node: process.versions.node })
  expect(first!.agents).toContainEqual({ name: 'simple', isRunning: true })
  expect(first!.processes.map(({ name }) => name).sort()).toEqual([
    'alerts',
    'charts',
    'collector',
    'recorder',
    'supervisor',
  ])
  for (const { bytes, cpuSeconds } of first!.processes) {
    expect(bytes).toBeGreaterThan(1e6)
    expect(cpuSeconds).toBeGreaterThanOrEqual(0)
  }
  expect(first!.recording).toMatchObject({ keepDays: 14, keepBytes: 1024 ** 3 })
  expect(second!.recording).toBeUndefined()
  const { stdout } = await run('pcp-ts', ['status'], { env: env({ PCP_DEBUG: '' }) })
  expect(stdout).toContain(`listening  ${first!.addresses.join(' and ')}\n`)
  const { pid } = readInstance(other)!.parts.find(({ name }) => name === 'collector')!
  process.kill(pid!, 'SIGSTOP')
  try {
    const { status, ours } = await shown()
    expect(status).toBe(1)
    expect(ours[0]!.problems).toEqual([])
    expect(ours[1]!.problems).toHaveLength(1)
    expect(ours[1]!.problems[0]).toMatch(/^The collector does not answer: /)
  } finally {
    process.kill(pid!, 'SIGCONT')
  }
})

test('pcp-ts doctor finds nothing wrong with them', async () => {
  const { stdout } = await run('pcp-ts', ['doctor', '--json'], { env: env({ PCP_DEBUG: '' }) })
  const { checks } = JSON.parse(stdout) as {
    checks: readonly { id: string; verdict: string; text: string }[]
  }
  const verdictOf = (id: string): string | undefined => checks.find((each) => each.id === id)?.verdict
  for (const id of ['archives', 'instances', 'trust', 'state', 'stale', 'pcp-conf'])
    expect(verdictOf(id), JSON.stringify(checks)).toBe('ok')
})

test('a collector that runs but refuses us is not replaced by another one', async () => {
  const refusing = join(dir, 'refusing')
  mkdirSync(refusing)
  const visitors: Socket[] = []
  const server = createServer((socket) => {
    visitors.push(socket)
    socket.on('error', () => {}).end() // no challenge
  }).listen(join(refusing, 'pmcd.socket'))
  await once(server, 'listening')
  const more = { PCP_TS_RUN_DIRS: [refusing, own].join(delimiter) }
  const { status, stderr } = await run('pminfo', [METRIC], { env: env(more) })
  server.close()
  expect(visitors).toHaveLength(1)
  expect(status).toBe(1)
  expect(stderr).toContain(`context: not connected to the collector at ${join(refusing, 'pmcd.socket')}: `)
  expect(stderr).not.toContain(`collector at ${own}`)
  expect(stderr).toContain('pminfo: Cannot connect to PMCD on host "local:": ')
})

test('a context that reconnects does not move to another instance; after kill -9 a new one does', async () => {
  const more = { ...env(), PCP_DEBUG: undefined }
  await using pcp = await connect('local:', { env: more })
  await pcp.values([METRIC])
  const { parts } = readInstance(own)!
  const closed = once(usual, 'close')
  usual.kill('SIGKILL')
  await closed
  const answers = (): Promise<boolean> =>
    pcp.values([METRIC]).then(
      () => true,
      () => false,
    )
  while (await answers());
  expect(parts.map(({ name }) => name).sort()).toEqual(['alerts', 'charts', 'collector', 'recorder'])
  await expect(pcp.reconnect()).rejects.toThrow(join(own, 'pmcd.socket'))
  expect(existsSync(join(own, 'instance.json'))).toBe(true)
  const { stderr, status } = await run('pminfo', [METRIC])
  expect(status).toBe(0)
  expect(stderr).toContain(connectedTo(other))
  expect(stderr).toMatch(/not connected to the collector at \S+\/r\/pcp\/pmcd\.socket: /)
})
