/** Agents behind sockets: started by the collector or already running, lost and restarted, and their stale sockets. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { pmid } from '../../src/model/ids.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { agentFromConfig, builtinAgents } from '../../src/pmcd/open-agents.ts'
import type { Collector, CollectorOptions } from '../../src/pmcd/options.ts'
import { parseConfig } from '../../src/routing/pmcd-conf.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { bundleDaemon } from '../lib/bundle-tools.ts'
import { hasIpv6 } from '../lib/ipv6.ts'

const ASK: Ask = { requester: ANONYMOUS }
const NUMFETCH = pmid(253, 0, 0)

let programs: string
let dir: string
let lines: string[]
let collector: Collector | undefined
let source: HostSource | undefined
const children: ChildProcess[] = []

beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'socket-programs-'))
  await bundleDaemon(join(programs, 'simple.cjs'), 'simple')
})
afterAll(() => rmSync(programs, { recursive: true }))

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'socket-e2e-'))
  lines = []
})
afterEach(async () => {
  await source?.close()
  await collector?.close()
  for (const child of children.splice(0)) child.kill('SIGKILL')
  source = undefined
  collector = undefined
  rmSync(dir, { recursive: true, force: true })
})

async function start(line: string, options: Partial<CollectorOptions> = {}): Promise<HostSource> {
  const { agents, problems } = parseConfig(`${line}\n`)
  expect(problems).toEqual([])
  collector = await startCollector({
    agents: [...builtinAgents(['pmcd']), ...agents.map(agentFromConfig)],
    ports: [0],
    hostname: 'vm',
    log: {
      ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
      notice: (level, text) => lines.push(`${level}: ${text}`),
      line: (text) => lines.push(text),
    },
    agentDir: dir,
    credsTimeoutSec: 60, // a process takes its time to start on a busy machine
    ...options,
  })
  source = await HostSource.connect(`localhost:${collector.port}`)
  return source
}

/** Returns the metric's value, or its status. */
async function value(): Promise<number> {
  const { sets } = await source!.fetch([NUMFETCH], ASK)
  return sets[0]!.status < 0 ? sets[0]!.status : sets[0]!.word[0]!
}

const command = (...args: string[]): string =>
  [process.execPath, join(programs, 'simple.cjs'), '-d', '253', ...args].join(' ')

/** Returns the agent's pid from the table of agents in the log. */
function agentPid(): number {
  const row = lines
    .join('\n')
    .match(/^simple +253 +(\d+)/gm)!
    .at(-1)!
  return Number(row.split(/ +/)[2])
}

test.each([['inet', '127.0.0.1', '-i'], ...(hasIpv6() ? [['ipv6', '::1', '-6'] as const] : [])] as const)(
  'an agent that listens on %s is started, used and stopped',
  async (family, host, option) => {
    const port = await freePort(host)
    await start(`simple 253 socket ${family} ${port} ${command(option, String(port))}`)
    expect(await value()).toBe(1)
    expect(lines.join('\n')).toMatch(
      new RegExp(`^simple +253 +\\d+ .* bin sock dom=${family} port=${port} cmd=`, 'm'),
    )
    const pid = agentPid()
    await collector!.close()
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  },
)

test('a stale unix socket is replaced, and removed in the end', async () => {
  const path = join(dir, 'simple.socket')
  // A killed process leaves its socket behind.
  const stale = spawn(process.execPath, [
    '-e',
    `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`,
  ])
  await once(stale, 'exit')
  expect(existsSync(path)).toBe(true)
  await start(`simple 253 socket unix ${path} ${command('-u', path)}`)
  expect(await value()).toBe(1)
  await collector!.close()
  expect(existsSync(path)).toBe(false)
})

test('a killed agent behind a unix socket is restarted immediately', async () => {
  const path = join(dir, 'simple.socket')
  await start(`simple 253 socket unix ${path} ${command('-u', path)}`)
  expect(await value()).toBe(1)
  const pid = agentPid()
  process.kill(pid, 'SIGKILL')
  while ((await value()) > 0);
  while ((await value()) < 0) await new Promise((resolve) => setImmediate(resolve))
  expect(lines.filter((line) => line.startsWith('Restarting any'))).toHaveLength(1)
  expect(lines.some((line) => /^Cleanup "simple" agent \(dom 253\): .*signal\(9\)/.test(line))).toBe(true)
})

test.each(['unix', 'inet'])(
  'a running agent is connected through %s, and its end is noticed',
  async (family) => {
    const place = family === 'unix' ? join(dir, 'simple.socket') : String(await freePort())
    const args = command(family === 'unix' ? '-u' : '-i', place).split(' ')
    const run = async (): Promise<ChildProcess> => {
      const child = spawn(args[0]!, args.slice(1), { cwd: dir, stdio: 'ignore' })
      children.push(child)
      return child
    }
    const first = await run()
    // It is not our child, so only connecting shows whether it listens; a restart retries.
    await start(`simple 253 socket ${family} ${place}`)
    while ((await value()) < 0) await collector!.reconfigure()
    const ended = once(first, 'exit')
    first.kill('SIGKILL')
    await ended
    while ((await value()) > 0);
    await run()
    while ((await value()) < 0) await collector!.reconfigure()
    await collector!.close()
    expect(existsSync(join(dir, 'simple.socket'))).toBe(false)
  },
)

test('a socket that cannot be removed does not keep the collector from stopping', async () => {
  const path = join(dir, 'simple.socket')
  await start(`simple 253 socket unix ${path} ${command('-u', path)}`)
  rmSync(path, { force: true })
  mkdirSync(path)
  await collector!.close()
  expect(lines.filter((line) => line.startsWith('warning: Cannot remove'))).toHaveLength(1)
})

test('an agent that never listens, and a silent one, are skipped after the time limit', async () => {
  const quiet: Server = createServer((socket: Socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
  const sockets: Socket[] = []
  await once(quiet, 'listening')
  const { port } = quiet.address() as { port: number }
  const path = join(dir, 'never.socket')
  await start(
    `deaf 251 socket unix ${path} ${process.execPath} -e setTimeout(()=>0,60000)
     mute 252 socket inet ${port}
     none 253 socket unix ${join(dir, 'none.socket')}`,
    { credsTimeoutSec: 1 },
  )
  const log = lines.join('\n')
  expect(log).toMatch(/^error: Agent "deaf" did not start: .*deaf/m)
  expect(log).toMatch(/^error: Agent "mute" did not start: .*within 1000 ms/m)
  expect(log).toMatch(/^error: Agent "none" did not start: .*none/m)
  for (const socket of sockets) socket.destroy()
  quiet.close()
})
