/** Clients of a logger's control port other than its owner. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PcpError, statusOf } from '../../src/model/errors.ts'
import { pmid } from '../../src/model/ids.ts'
import { openControl } from '../../src/pmlogger/control-open.ts'
import type { Logger } from '../../src/pmlogger/logger.ts'
import { openLocal } from '../../src/routing/local-context.ts'
import { PrimaryLogger } from '../../src/start/primary-logger.ts'
import { LoggerConnection } from '../../src/tools/pmlc/connection.ts'
import { PM_LOG_ENQUIRE, PM_LOG_OFF } from '../../src/wire/log-control.ts'
import { canActForOthers, runAsNobody } from '../lib/accounts.ts'
import { attackControl, type ControlOutcomes } from '../lib/control-attack.ts'
import { demoAgent } from '../lib/demo-agent.ts'

const SECRET = pmid(250, 0, 3)
const ENQUIRES: ControlOutcomes = {
  connect: 'done',
  status: 'done',
  query: 'done',
  'advisory on': 'PM_ERR_PERMISSION',
  'mandatory on': 'PM_ERR_PERMISSION',
  'mandatory off': 'PM_ERR_PERMISSION',
  'new volume': 'PM_ERR_PERMISSION',
}
const DOES_ALL: ControlOutcomes = Object.fromEntries(Object.keys(ENQUIRES).map((name) => [name, 'done']))

let dir: string
let logger: PrimaryLogger
const signal = new AbortController().signal

const isRoot = canActForOthers()

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'control-'))
  chmodSync(dir, 0o755)
})
afterEach(async () => {
  await logger?.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Starts the logger of `npm start`, listening where its configuration requests. */
async function record(access = ''): Promise<{ port: number; path: string; archive: string }> {
  const configPath = join(dir, 'config')
  writeFileSync(configPath, `log advisory on 1 hour { demo.one }\n${access}`)
  logger = new PrimaryLogger({
    dir: join(dir, 'archives'),
    configPath: () => configPath,
    variables: {
      PCP_TMP_DIR: join(dir, 'tmp'),
      PCP_RUN_DIR: join(dir, 'run'),
      PCP_VAR_DIR: dir,
      PMLOGGER_PORT: '0',
    },
    localOnly: false,
    open: () => openLocal({ agents: [demoAgent] }),
    log: { line: () => {}, notice: () => {} },
  })
  const { name } = await logger.begin(signal)
  const port = Number.parseInt(readFileSync(join(dir, 'tmp', 'pmlogger', String(process.pid)), 'utf8'), 10)
  return {
    port,
    path: join(dir, 'run', `pmlogger.${process.pid}.socket`),
    archive: join(dir, 'archives', name),
  }
}

/** Runs the attack in a process of user nobody. */
async function attackAsNobody(
  place: { path: string } | { host: string; port: number },
): Promise<ControlOutcomes> {
  const outfile = join(dir, 'attack.cjs')
  await build({
    stdin: {
      contents: `import { attackControl } from './test/lib/control-attack.ts'
                 void attackControl(${JSON.stringify(place)}, ${SECRET}).then((result) => console.log(JSON.stringify(result)))`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    external: ['koffi'],
    define: { 'import.meta.url': '__filename' },
  })
  return JSON.parse(await runAsNobody(process.execPath, [outfile])) as ControlOutcomes
}

test('over TCP a client can list logged metrics, but change nothing', async () => {
  const { port, archive } = await record()
  expect(await attackControl({ host: '127.0.0.1', port }, SECRET)).toEqual(ENQUIRES)
  expect(existsSync(`${archive}.1`)).toBe(false)
})

test('the owner changes everything over the unix socket, also while another client holds the port', async () => {
  const { port, path } = await record()
  const stranger = connect(port, '127.0.0.1')
  await new Promise((resolve) => stranger.once('data', resolve))
  expect(await attackControl({ path }, SECRET)).toEqual(DOES_ALL)
  stranger.destroy()
})

test.runIf(isRoot)(
  'another account can change nothing over TCP and cannot connect to the unix socket',
  async () => {
    const { port, path } = await record()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await attackAsNobody({ host: '127.0.0.1', port })).toEqual(ENQUIRES)
    expect(await attackAsNobody({ path })).toEqual({ connect: 'EACCES' })
  },
)

test('without an access section other hosts cannot connect to the port', async () => {
  const { port } = await record()
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const outside = addresses.filter(({ internal, scopeid }) => !internal && !scopeid)
  for (const { address } of outside)
    expect(await attackControl({ host: address, port }, SECRET)).toEqual({ connect: 'ECONNREFUSED' })
  if (outside.length === 0) console.log('pmlogger-control: this machine has no address but loopback')
})

test('PMLOGGER_ACCESS applies to a configuration without rules, and an invalid value opens no port', async () => {
  const plan = {
    socketPath: join(dir, 'socket'),
    pid: process.pid,
    version: 3,
    logger: () => undefined,
    zone: { timezone: 'UTC', zoneinfo: '' },
    log: () => {},
  }
  const openAs = (rules: string): ReturnType<typeof openControl> =>
    openControl([], { ...plan, env: { PMLOGGER_PORT: '0', PMLOGGER_ACCESS: rules } })
  for (const [rules, newVolume] of [
    ['allow local:* : all;', 'EAGAIN'],
    ['disallow * : mandatory;', 'PM_ERR_PERMISSION'],
    ['', 'PM_ERR_PERMISSION'],
  ] as const) {
    const server = await openAs(rules)
    const outcomes = await attackControl({ host: '127.0.0.1', port: server.port }, SECRET)
    expect([rules, outcomes['new volume']]).toEqual([rules, newVolume])
    await server.close()
  }
  await expect(openAs('everything')).rejects.toMatchObject({ code: 'PM_ERR_CONV' })
})

test('an access section applies as written', async () => {
  const { port } = await record(
    '[access]\nallow 127.0.0.1 : advisory, enquire;\ndisallow 127.0.0.1 : mandatory;\n',
  )
  expect(await attackControl({ host: '127.0.0.1', port }, SECRET)).toEqual({
    ...ENQUIRES,
    'advisory on': 'done',
  })
})

/** Opens a control port of a logger without a collector. */
async function openWith(
  peers: Parameters<typeof openControl>[1]['peers'],
  logger?: Logger,
  clock?: () => number,
): Promise<{ path: string; port: number; close(): Promise<void> }> {
  const path = join(dir, 'socket')
  const server = await openControl([], {
    socketPath: path,
    pid: process.pid,
    version: 3,
    env: { PMLOGGER_PORT: '0' },
    logger: () => logger,
    zone: { timezone: 'UTC', zoneinfo: '' },
    log: () => {},
    ...(peers === undefined ? {} : { peers }),
    ...(clock === undefined ? {} : { clock }),
  })
  return { path, port: server.port, close: () => server.close() }
}

test("a client that the kernel does not identify as owner or root is refused, regardless of the socket's mode", async () => {
  const stranger = (process.geteuid?.() ?? 0) + 1
  for (const peer of [undefined, { uid: stranger, gid: stranger }]) {
    const { path, close } = await openWith({ of: () => peer, problem: () => undefined })
    expect(await attackControl({ path }, SECRET)).toEqual({ connect: 'PM_ERR_PERMISSION' })
    await close()
  }
})

test("if the platform cannot identify clients, the socket's mode decides", async () => {
  const { path, close } = await openWith({ of: () => undefined, problem: () => 'no calls of the system' })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await attackControl({ path }, SECRET)).toMatchObject({ connect: 'done', status: 'EAGAIN' })
  await close()
})

test('a control request neither delays recording nor waits for it', async () => {
  const never = new Promise<never>(() => {})
  const context = { descs: async (pmids: readonly number[]) => pmids.map(() => new PcpError('PM_ERR_PMID')) }
  const busy = { metrics: new Map(), context, exclusively: () => never, status: () => never }
  const { port, close } = await openWith(undefined, busy as unknown as Logger)
  const connection = await LoggerConnection.open({ host: '127.0.0.1', port }, 10_000, signal)
  const sets = [{ pmid: SECRET, status: 0, inst: new Int32Array(), word: new Int32Array() }]
  const answer = await connection.control({ control: PM_LOG_ENQUIRE, state: PM_LOG_OFF, deltaMs: 0, sets })
  expect(answer.map(({ status }) => status)).toEqual([statusOf('PM_ERR_PMID')])
  await connection.close()
  await close()
})

test('hundreds of refused clients are disconnected, and the next one is accepted', async () => {
  const { port, close } = await openWith(undefined)
  const holder = await LoggerConnection.open({ host: '127.0.0.1', port }, 10_000, signal)
  const others = Array.from({ length: 200 }, () => attackControl({ host: '127.0.0.1', port }, SECRET))
  const codes = new Set((await Promise.all(others)).map(({ connect: code }) => code))
  expect(codes.has('EADDRINUSE')).toBe(true)
  expect(codes.has('done')).toBe(false)
  await holder.close()
  await expect
    .poll(async () => (await attackControl({ host: '127.0.0.1', port }, SECRET))['connect'])
    .toBe('done')
  await close()
})

test.each(['tcp', 'unix'])(
  'a client over %s without a request for a minute is replaced by the next one',
  async (by) => {
    let now = 0
    const { port, path, close } = await openWith(undefined, undefined, () => now)
    const place = by === 'unix' ? { path } : { host: '127.0.0.1', port }
    const open = (): Promise<LoggerConnection> => LoggerConnection.open(place, 10_000, signal)
    const ask = (client: LoggerConnection): Promise<unknown> => client.status().catch(({ code }) => code)
    const holder = await open()
    for (let i = 0; i < 2; i++) {
      expect(await ask(holder)).toBe('EAGAIN') // the port has no logger yet
      now += 59_999
      expect(await attackControl(place, SECRET)).toEqual({ connect: 'EADDRINUSE' })
    }
    now += 1
    const next = await open()
    expect(await ask(next)).toBe('EAGAIN')
    expect(await ask(holder)).not.toBe('EAGAIN')
    expect(await attackControl(place, SECRET)).toEqual({ connect: 'EADDRINUSE' })
    await next.close()
    await close()
  },
)
