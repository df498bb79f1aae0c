/** Files left by killed programs are removed, those of running ones are not. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir, uptime } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStatistics } from '../../src/pmie/statistics.ts'
import { openLocal } from '../../src/routing/local-context.ts'
import { PrimaryLogger } from '../../src/start/primary-logger.ts'
import { tool as pmloggerCheck } from '../../src/tools/pmlogger_check/index.ts'
import { demoAgent } from '../lib/demo-agent.ts'
import { testIo } from '../tools/run-tool.ts'

/** Above the largest process id of Linux. */
const DEAD = 4_194_305

let dir: string
let run: string
const servers: Server[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'stale-'))
  run = join(dir, 'run')
  mkdirSync(run)
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Leaves a socket behind, like a listening process that is killed. */
async function leaveSocket(name: string): Promise<void> {
  const script = `require('net').createServer().listen(process.argv[1], () => process.stdout.write('x'))`
  const child = spawn(process.execPath, ['-e', script, join(run, name)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function listenOn(name: string): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  servers.push(server)
  server.listen(join(run, name))
  await once(server, 'listening')
}

const variables = (): Record<string, string> => ({
  PCP_TMP_DIR: join(dir, 'tmp'),
  PCP_RUN_DIR: run,
  PCP_VAR_DIR: dir,
  PCP_LOG_DIR: join(dir, 'log'),
  PMLOGGER_PORT: '0',
  HOME: dir,
})

/** Starts recording like `npm start`, and stops. */
async function startAndStop(): Promise<void> {
  writeFileSync(join(dir, 'config'), 'log on 1 hour { demo.one }\n')
  const logger = new PrimaryLogger({
    dir: join(dir, 'archives'),
    configPath: () => join(dir, 'config'),
    variables: variables(),
    localOnly: true,
    open: () => openLocal({ agents: [demoAgent] }),
    log: { line: () => {}, notice: () => {} },
  })
  const { stop } = await logger.begin(new AbortController().signal)
  expect(readdirSync(run)).toContain(`pmlogger.${process.pid}.socket`)
  await stop('Enough, exiting')
  await logger.close()
}

/** Runs pmlogger_check with a control file without recorders. */
async function check(...options: string[]): Promise<void> {
  const control = join(dir, 'control')
  writeFileSync(control, '$version=1.1\n')
  const io = testIo('pmlogger_check', ['-q', '-c', control, ...options], variables())
  await pmloggerCheck.run({ ...io, cwd: dir })
}

test.each([
  ['the next recorder', startAndStop],
  ['pmlogger_check', check],
])('%s removes the sockets of killed loggers, and their links and maps', async (_, next) => {
  await leaveSocket(`pmlogger.${DEAD}.socket`)
  symlinkSync(join(run, `pmlogger.${DEAD}.socket`), join(run, 'pmlogger.primary.socket'))
  mkdirSync(join(dir, 'tmp', 'pmlogger'), { recursive: true })
  const map = join(dir, 'tmp', 'pmlogger', String(DEAD))
  writeFileSync(map, '4330\nhere\n/a\n')
  symlinkSync(map, join(dir, 'tmp', 'pmlogger', 'primary'))
  expect(readdirSync(run)).toHaveLength(2)
  await next()
  expect(readdirSync(run)).toEqual([])
  expect(readdirSync(join(dir, 'tmp', 'pmlogger'))).toEqual([])
})

test('pmlogger_check -N removes nothing', async () => {
  await leaveSocket(`pmlogger.${DEAD}.socket`)
  await check('-N')
  expect(readdirSync(run)).toEqual([`pmlogger.${DEAD}.socket`])
})

test('the socket of a running process is kept even before it listens', async () => {
  await leaveSocket(`pmlogger.${process.ppid}.socket`)
  await startAndStop()
  expect(readdirSync(run)).toEqual([`pmlogger.${process.ppid}.socket`])
})

test('a socket is kept while a process of another container listens on it, whose pid does not exist here', async () => {
  await listenOn(`pmlogger.${DEAD}.socket`)
  symlinkSync(join(run, `pmlogger.${DEAD}.socket`), join(run, 'pmlogger.primary.socket'))
  await check()
  expect(readdirSync(run)).toHaveLength(2)
  expect(readlinkSync(join(run, 'pmlogger.primary.socket'))).toBe(join(run, `pmlogger.${DEAD}.socket`))
  const socket = connect(join(run, `pmlogger.${DEAD}.socket`))
  await once(socket, 'connect')
  socket.destroy()
})

test('a socket from before the last boot is removed, whichever process has that pid now', async () => {
  await leaveSocket(`pmlogger.${process.ppid}.socket`)
  const before = Date.now() / 1000 - uptime() - 60
  lutimesSync(join(run, `pmlogger.${process.ppid}.socket`), before, before)
  await check()
  expect(readdirSync(run)).toEqual([])
})

test('other files and sockets of other programs are kept', async () => {
  const names = [
    'pmcd.socket',
    `pmlogger.${DEAD}.log`,
    'pmlogger.0.socket',
    'pmlogger..socket',
    'pmlogger.x1.socket',
  ]
  for (const name of names.slice(1)) writeFileSync(join(run, name), '')
  writeFileSync(join(run, `pmlogger.${DEAD}.socket`), 'no socket')
  await leaveSocket('pmcd.socket')
  await check()
  expect(readdirSync(run).sort()).toEqual([...names, `pmlogger.${DEAD}.socket`].sort())
})

test('statistics of killed rule engines are removed when another one starts', () => {
  mkdirSync(join(dir, 'pmie'))
  for (const name of [String(DEAD), String(process.ppid), 'other']) writeFileSync(join(dir, 'pmie', name), '')
  const facts = { rulesName: 'rules', logName: '', host: 'here', rules: 1, expectedPerSec: 1 }
  const file = openStatistics(dir, facts, (text) => expect.fail(text))
  expect(readdirSync(join(dir, 'pmie')).sort()).toEqual(
    ['other', String(process.ppid), String(process.pid)].sort(),
  )
  file.close()
  expect(existsSync(join(dir, 'pmie', String(process.pid)))).toBe(false)
})
