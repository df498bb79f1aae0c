/** Clients of a logger's control port that are not its owner. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pmid } from '../../src/model/ids.ts'
import { openLocal } from '../../src/pmcd/local-context.ts'
import { openControl } from '../../src/pmlogger/control-open.ts'
import { PrimaryLogger } from '../../src/start/primary-logger.ts'
import { explainSkipped, isRoot, runAsNobody } from '../lib/as-nobody.ts'
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

explainSkipped('pmlogger-control')

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'control-'))
  chmodSync(dir, 0o755)
})
afterEach(async () => {
  await logger?.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Starts the logger of `npm start`, which listens wherever its configuration says. */
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

/** The attack in a process of user nobody. */
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
    external: ['koffi'],
    define: { 'import.meta.url': '__filename' },
  })
  return JSON.parse(await runAsNobody(process.execPath, [outfile])) as ControlOutcomes
}

test('over TCP a client sees which metrics are logged, and changes nothing', async () => {
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

test.runIf(isRoot)('another account changes nothing over TCP and is kept from the unix socket', async () => {
  const { port, path } = await record()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await attackAsNobody({ host: '127.0.0.1', port })).toEqual(ENQUIRES)
  expect(await attackAsNobody({ path })).toEqual({ connect: 'EACCES' })
})

test('without an access section no other host reaches the port', async () => {
  const { port } = await record()
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const outside = addresses.filter(({ internal, scopeid }) => !internal && !scopeid)
  for (const { address } of outside)
    expect(await attackControl({ host: address, port }, SECRET)).toEqual({ connect: 'ECONNREFUSED' })
  if (outside.length === 0) console.log('pmlogger-control: this machine has no address but loopback')
})

test('an access section is obeyed as written', async () => {
  const { port } = await record(
    '[access]\nallow 127.0.0.1 : advisory, enquire;\ndisallow 127.0.0.1 : mandatory;\n',
  )
  expect(await attackControl({ host: '127.0.0.1', port }, SECRET)).toEqual({
    ...ENQUIRES,
    'advisory on': 'done',
  })
})

/** A control port whose system identifies unix clients as given. */
async function openWith(
  peers: Parameters<typeof openControl>[1]['peers'],
): Promise<{ path: string; close(): Promise<void> }> {
  const path = join(dir, 'socket')
  const server = await openControl([], {
    socketPath: path,
    pid: process.pid,
    version: 3,
    env: { PMLOGGER_PORT: '0' },
    logger: () => undefined,
    zone: { timezone: 'UTC', zoneinfo: '' },
    log: () => {},
    ...(peers === undefined ? {} : { peers }),
  })
  return { path, close: () => server.close() }
}

test('a client whom the system does not identify as owner or root is refused, whatever the mode of the socket', async () => {
  const stranger = (process.geteuid?.() ?? 0) + 1
  for (const peer of [undefined, { uid: stranger, gid: stranger }]) {
    const { path, close } = await openWith({ of: () => peer, problem: () => undefined })
    expect(await attackControl({ path }, SECRET)).toEqual({ connect: 'PM_ERR_PERMISSION' })
    await close()
  }
})

test('where the system identifies no client, the mode of the socket decides', async () => {
  const { path, close } = await openWith({ of: () => undefined, problem: () => 'no calls of the system' })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await attackControl({ path }, SECRET)).toMatchObject({ connect: 'done', status: 'EAGAIN' })
  await close()
})
