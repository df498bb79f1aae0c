/** The collector on real sockets, with agents in their own processes, and the pmcd command. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { statusOf } from '../../src/model/errors.ts'
import { PM_IN_NULL, pmid } from '../../src/model/ids.ts'
import { LABEL_CONTEXT } from '../../src/model/labels.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { PM_TYPE_STRING, PM_TYPE_U32 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { type FetchResult, PMCD_LABEL_CHANGE } from '../../src/model/values.ts'
import { buildAccess } from '../../src/net/access/table.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { agentFromConfig, builtinAgents } from '../../src/pmcd/open-agents.ts'
import type { AgentOptions, Collector, CollectorOptions } from '../../src/pmcd/options.ts'
import type { HostLabels } from '../../src/routing/host-labels.ts'
import { parseAccessFile } from '../../src/routing/pmcd-conf.ts'
import { type Log, logOnFd } from '../../src/sys/log.ts'
import { bundleDaemon, bundleTools } from '../lib/bundle-tools.ts'
import { hasIpv6 } from '../lib/ipv6.ts'

const ASK: Ask = { requester: ANONYMOUS }
const NUMFETCH = pmid(253, 0, 0)
const REGISTER = pmid(2, 0, 8)

let programs: string
let dir: string
let collector: Collector | undefined
const open: HostSource[] = []

beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'pmcd-programs-'))
  await Promise.all([
    bundleDaemon(join(programs, 'simple.cjs'), 'simple'),
    bundleTools(programs, { pmcd: 'pmcd.ts' }),
  ])
})
afterAll(() => rmSync(programs, { recursive: true }))

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmcd-e2e-'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const source of open.splice(0)) await source.close()
  await collector?.close()
  collector = undefined
  rmSync(dir, { recursive: true, force: true })
})

/** The command line of the simple agent behind a pipe. */
const simpleArgv = (): string[] => [process.execPath, join(programs, 'simple.cjs'), '-d', '253']

function pipeAgent(name = 'simple', argv = simpleArgv()): AgentOptions {
  return agentFromConfig({ kind: 'pipe', name, domain: 253, line: 1, argv, startsNotReady: false })
}

/** Keeps the lines that the collector logs. */
function memoryLog(): Log & { readonly lines: string[] } {
  const lines: string[] = []
  return {
    ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
    lines,
    notice: (level, text) => lines.push(`${level}: ${text}`),
    line: (text) => lines.push(text),
  }
}

interface Started {
  readonly port: number
  readonly lines: readonly string[]
  close(): Promise<void>
}

async function start(options: Partial<CollectorOptions> = {}): Promise<Started> {
  const log = memoryLog()
  const running = await startCollector({
    agents: [...builtinAgents(['pmcd']), pipeAgent()],
    ports: [0],
    socketPath: join(dir, 'pmcd.socket'),
    hostname: 'vm',
    log,
    agentDir: dir,
    credsTimeoutSec: 60, // a process takes its time to start on a busy machine
    ...options,
  })
  collector = running
  return { port: running.port, lines: log.lines, close: () => running.close() }
}

async function client(spec: string): Promise<HostSource> {
  const source = await HostSource.connect(spec)
  open.push(source)
  return source
}

function statuses(result: FetchResult): number[] {
  return result.sets.map((set) => set.status)
}

/** Fetches until `isDone`; resolves to the changes reported meanwhile. */
async function fetchUntil(
  source: HostSource,
  ids: readonly number[],
  isDone: (r: FetchResult) => boolean,
): Promise<number> {
  let changes = 0
  for (;;) {
    const result = await source.fetch(ids, ASK)
    changes |= result.changes
    if (isDone(result)) return changes
  }
}

/** Returns the simple agent's pid from the table of agents in the log. */
function agentPid(lines: readonly string[]): number {
  const row = lines
    .join('\n')
    .match(/^simple +253 +(\d+)/gm)!
    .at(-1)!
  return Number(row.split(/ +/)[2])
}

test('serves IPv4, IPv6 if available, and a unix socket, and removes the socket when it ends', async () => {
  const running = await start()
  const { port } = running
  const socket = join(dir, 'pmcd.socket')
  const ipv6 = hasIpv6() ? [`[::1]:${port}`] : []
  for (const spec of [`127.0.0.1:${port}`, ...ipv6, `unix://${socket}`]) {
    const source = await client(spec)
    // Local users may drop their identity where the kernel identifies them.
    expect(source.features).toBe(spec.startsWith('unix:') ? 0x0e44 : 0x0e40)
    expect(statuses(await source.fetch([NUMFETCH, pmid(2, 0, 7), pmid(77, 0, 0)], ASK))).toEqual([
      1,
      1,
      statusOf('PM_ERR_NOAGENT'),
    ])
  }
  const lost = new Promise((resolve) => open[0]!.subscribe((event) => resolve(event.type)))
  await running.close()
  expect(await lost).toBe('lost')
  expect(existsSync(socket)).toBe(false)
})

test('names come from the agents without a name space file', async () => {
  const { port, lines } = await start({ agents: [...builtinAgents(['pmcd', 'simple'])] })
  const source = await client(`127.0.0.1:${port}`)
  const names = await source.traverse('', ASK)
  expect(names).toContain('simple.numfetch')
  expect(await source.lookupNames(['simple.numfetch'], ASK)).toEqual([NUMFETCH])
  expect(lines.join('\n')).toMatch(/^pmcd +2 +2 dso built in$/m)
})

test('a killed agent is restarted, and clients are notified', async () => {
  const { port, lines } = await start()
  const source = await client(`127.0.0.1:${port}`)
  await source.fetch([NUMFETCH], ASK)
  process.kill(agentPid(lines), 'SIGKILL')
  const both = [NUMFETCH, pmid(2, 0, 7)]
  let worst = 1
  const before = await fetchUntil(source, both, (result) => {
    worst = Math.min(worst, result.sets[0]!.status)
    expect(result.sets[1]!.status).toBe(1)
    return worst < 0
  })
  const after = await fetchUntil(
    source,
    both,
    (result) => result.sets[0]!.status === 1 && result.changes !== 0,
  )
  expect([statusOf('PM_ERR_IPC'), statusOf('PM_ERR_NOAGENT')]).toContain(worst)
  expect(before | after).toBe(7)
  expect(lines).toContain('Restarting any deceased agents:')
  expect(
    lines.some((line) =>
      /^Cleanup "simple" agent \(dom 253\): (terminated|protocol failure for fd=\d+), signal\(9\)$/.test(
        line,
      ),
    ),
  ).toBe(true)
})

test('metrics of a hanging agent fail with PM_ERR_TIMEOUT, once', async () => {
  const { lines } = await start({
    timeoutSec: 60,
    restartsAgents: false,
    peerCredentials: { of: () => ({ uid: 0, gid: 0, pid: 1 }), problem: () => undefined },
  })
  const source = await client(`unix://${join(dir, 'pmcd.socket')}`)
  expect(statuses(await source.fetch([NUMFETCH], ASK))).toEqual([1])
  process.kill(agentPid(lines), 'SIGSTOP')
  const timeout = pmid(2, 0, 4)
  await source.store([makeSet(timeout, PM_TYPE_U32, [-1], [1])], ASK)
  const result = await source.fetch([pmid(2, 0, 7), NUMFETCH], ASK)
  expect(statuses(result)).toEqual([1, statusOf('PM_ERR_TIMEOUT')])
  expect(result.changes).toBe(4)
  expect(statuses(await source.fetch([NUMFETCH], ASK))).toEqual([statusOf('PM_ERR_NOAGENT')])
  const status = await source.fetch([pmid(2, 4, 1)], ASK)
  expect(valuesOf(status.sets[0]!, PM_TYPE_U32)).toEqual([
    { inst: 2, value: 0 },
    { inst: 253, value: 8 },
  ])
})

test('an agent that cannot be started is logged, and the others serve', async () => {
  const agents = [...builtinAgents(['pmcd']), pipeAgent('ghost', ['/no/such/agent'])]
  const { port, lines } = await start({ agents })
  const source = await client(`127.0.0.1:${port}`)
  expect(statuses(await source.fetch([NUMFETCH, pmid(2, 0, 7)], ASK))).toEqual([
    statusOf('PM_ERR_NOAGENT'),
    1,
  ])
  expect(lines.join('\n')).toMatch(/error: Agent "ghost" did not start: Cannot start \/no\/such\/agent/)
})

test('a collector without agents, or without an endpoint, does not start', async () => {
  await expect(start({ agents: [] })).rejects.toThrow('No PMDAs found')
  await expect(start({ ports: [], socketPath: join(dir, 'no/such/dir/socket') })).rejects.toMatchObject({
    code: 'EADDRNOTAVAIL',
  })
})

test('a client describes itself, and only itself', async () => {
  const { port } = await start()
  const mine = await client(`127.0.0.1:${port}`)
  const other = await client(`127.0.0.1:${port}`)
  const whoami = pmid(2, 6, 0)
  await mine.store([makeSet(whoami, PM_TYPE_STRING, [0], ['me'])], ASK)
  await expect(other.store([makeSet(whoami, PM_TYPE_STRING, [0], ['not me'])], ASK)).rejects.toMatchObject({
    code: 'PM_ERR_PERMISSION',
  })
  const { sets } = await other.fetch([whoami], ASK)
  expect(valuesOf(sets[0]!, PM_TYPE_STRING)).toEqual([
    { inst: 0, value: 'me' },
    { inst: 1, value: '' },
  ])
  // Like PCP's pmval.
  await other.store([makeSet(whoami, PM_TYPE_STRING, [PM_IN_NULL], ['the other'])], ASK)
  const { sets: now } = await other.fetch([whoami], ASK)
  expect(valuesOf(now[0]!, PM_TYPE_STRING).map(({ value }) => value)).toEqual(['me', 'the other'])
})

test('controls can be changed by user 0 over the unix socket, but not over TCP', async () => {
  const { port } = await start({
    peerCredentials: { of: () => ({ uid: 0, gid: 0, pid: 1 }), problem: () => undefined },
  })
  const set = makeSet(REGISTER, PM_TYPE_U32, [4], [44])
  const tcp = await client(`127.0.0.1:${port}`)
  await expect(tcp.store([set], ASK)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
  const unix = await client(`unix://${join(dir, 'pmcd.socket')}`)
  await unix.store([set], ASK)
  await unix.store([makeSet(pmid(2, 4, 2), PM_TYPE_U32, [253], [1])], ASK)
  const { sets } = await tcp.fetch([REGISTER, NUMFETCH], ASK)
  expect(valuesOf(sets[0]!, PM_TYPE_U32)[4]).toEqual({ inst: 4, value: 44 })
  expect(sets[1]!.status).toBe(statusOf('PM_ERR_PMDAFENCED'))
})

test('context labels that changed after a SIGHUP are reported with the next result', async () => {
  let site = '"north"'
  const readLabels = (): HostLabels => ({
    files: new Map([['site', { name: 'site', value: site, flags: LABEL_CONTEXT }]]),
    intrinsic: new Map(),
    problems: [],
  })
  const { port } = await start({ readLabels })
  const source = await client(`127.0.0.1:${port}`)
  const seen = async (): Promise<unknown[]> => {
    const [set] = await source.labels({ level: LABEL_CONTEXT, id: PM_IN_NULL }, ASK)
    return [(await source.fetch([NUMFETCH], ASK)).changes & PMCD_LABEL_CHANGE, set!.json]
  }
  expect(await seen()).toEqual([0, '{"site":"north"}'])
  await collector!.reconfigure()
  expect(await seen()).toEqual([0, '{"site":"north"}'])
  site = '"south"'
  await collector!.reconfigure()
  expect(await seen()).toEqual([PMCD_LABEL_CHANGE, '{"site":"south"}'])
  expect(await seen()).toEqual([0, '{"site":"south"}'])
})

/** Returns everything sent to a new connection until it is closed, as hex; `request` is sent first. */
function bytesUntilClosed(port: number, request = ''): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(request, 'hex')))
    socket.on('data', (chunk) => {
      text += chunk.toString('hex')
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
  })
}

test('denied hosts, and connections above a limit, are refused with errors of the old numbering', async () => {
  const names = {
    addressesOf: async () => [],
    ownAddresses: () => ['127.0.0.1', '::1'],
    accounts: () => ({ userId: () => undefined, groupId: () => undefined, membersOf: () => [] }),
  }
  const access = async (text: string) => (await buildAccess(parseAccessFile(text).access, names)).table
  const denied = await start({ access: await access('disallow * : all;') })
  expect(await bytesUntilClosed(denied.port)).toBe('000000140000700000000000fffffbee00000000')
  expect(denied.lines).toContain('warning: access violation from host 127.0.0.1')
  await denied.close()
  const limited = await start({ access: await access('allow * : maximum 1 connections;') })
  const first = await client(`127.0.0.1:${limited.port}`)
  expect(await bytesUntilClosed(limited.port)).toBe('000000140000700000000000fffffbed00000000')
  await first.close()
  await (await client(`127.0.0.1:${limited.port}`)).close()
})

test('an oversized or invalid PDU disconnects its client and no other', async () => {
  const { port } = await start({ limits: { pduBytes: 1000 } })
  const other = await client(`127.0.0.1:${port}`)
  const challenge = '0000001400007000000000000000000002010e40'
  const creds = '000000140000700c000000000000000101020000'
  expect(await bytesUntilClosed(port, `${creds}000003e90000700300000000`)).toBe(challenge)
  expect(await bytesUntilClosed(port, '474554202f20485454502f312e310d0a')).toBe(challenge)
  expect(statuses(await other.fetch([NUMFETCH], ASK))).toEqual([1])
})

/** Processes to kill after a failed test. */
const children: ChildProcess[] = []

/** The running command. */
interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<{ code: number | null; text: string }>
}

function runPmcd(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const clean = Object.entries(process.env).filter(([name]) => !/^(PCP|PMCD|PMNS)_/.test(name))
  const conf = join(dir, 'pcp.conf')
  writeFileSync(
    conf,
    `PCP_RUN_DIR=${dir}\nPCP_SYSCONF_DIR=${dir}\nPCP_PMCDCONF_PATH=${dir}/pmcd.conf\nPCP_VAR_DIR=${dir}\n`,
  )
  const child = spawn(process.execPath, [join(programs, 'pmcd.cjs'), ...args], {
    env: { ...Object.fromEntries(clean), PCP_CONF: conf, PMCD_CREDS_TIMEOUT: '60', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dir,
  })
  children.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, text }))
  return { child, ended }
}

const PMNS = 'root { simple pmcd }\nsimple { numfetch 253:0:0 }\npmcd { version 2:0:7 }\n'
const OWN_LINE = 'pmcd 2 dso pmcd_init /lib/pmda_pmcd.so\n'

function writeConfiguration(agents: string): void {
  writeFileSync(join(dir, 'pmcd.conf'), agents)
  writeFileSync(join(dir, 'root'), PMNS)
}

/** Waits until the log file matches; returns its text. */
async function logUntil(pattern: RegExp, file = 'pmcd.log'): Promise<string> {
  for (;;) {
    const text = existsSync(join(dir, file)) ? readFileSync(join(dir, file), 'utf8') : ''
    if (pattern.test(text)) return text
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('the command rereads its configuration on SIGHUP, and ends in order on SIGTERM', async () => {
  writeConfiguration(OWN_LINE)
  const socket = join(dir, 's')
  const { child, ended } = runPmcd(['-f', '-p', '0', '-s', socket, '-n', 'root'], { PMCD_MAXPENDING: '9' })
  const first = await logUntil(/request port/)
  expect(first).toContain('Warning: PMCD_MAXPENDING=9 from the environment is in force')
  expect(first).not.toMatch(/^simple/m)
  const source = await client(`unix://${socket}`)
  expect(await source.traverse('', ASK)).toEqual(['simple.numfetch', 'pmcd.version'])
  writeConfiguration(`${OWN_LINE}simple 253 pipe binary ${simpleArgv().join(' ')}\n`)
  child.kill('SIGHUP')
  const added = await fetchUntil(source, [NUMFETCH], (result) => result.sets[0]!.status === 1)
  expect(added).toBe(1)
  writeConfiguration(OWN_LINE)
  child.kill('SIGHUP')
  const removed = await fetchUntil(
    source,
    [NUMFETCH],
    (result) => result.sets[0]!.status < 0 && result.changes !== 0,
  )
  expect(removed).toBe(4)
  writeConfiguration('simple 253 pipe text\n')
  child.kill('SIGHUP')
  const log = await logUntil(/Configuration left unchanged/)
  expect(log).toContain("pmcd config[line 1]: Error: pipe PDU type expected (`binary')")
  // Logged when its process has ended.
  expect(await logUntil(/Cleanup "simple" agent/)).toMatch(
    /Cleanup "simple" agent \(dom 253\): unconfigured, exit\(0\)/,
  )
  expect(statuses(await source.fetch([pmid(2, 0, 7)], ASK))).toEqual([1])
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  expect(readFileSync(join(dir, 'pmcd.log'), 'utf8')).toMatch(
    /caught SIGTERM.*\n.*pmcd Shutdown\n\nLog finished/,
  )
  expect(existsSync(socket)).toBe(false)
})

test('without the default name space names are taken from the agents; one of -n or PMNS_DEFAULT must exist', async () => {
  writeConfiguration(OWN_LINE)
  const socket = join(dir, 's')
  const { child, ended } = runPmcd(['-f', '-p', '0', '-s', socket])
  expect(await logUntil(/request port/)).toContain(
    `Warning: No name space ${dir}/pmns/root: only names that the agents report are known`,
  )
  const source = await client(`unix://${socket}`)
  expect(await source.traverse('pmcd.version', ASK)).toEqual(['pmcd.version'])
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  for (const [args, env] of [
    [['-n', 'missing'], {}],
    [[], { PMNS_DEFAULT: 'missing' }],
  ] as const) {
    const failing = runPmcd(['-f', '-p', '0', '-s', socket, ...args], env)
    expect((await failing.ended).code).toBe(1)
    expect(readFileSync(join(dir, 'pmcd.log'), 'utf8')).toMatch(/Cannot open "(.*\/)?missing"/)
  }
})

test('a SIGHUP during start-up is handled afterwards, and a second SIGTERM does not interrupt shutdown', async () => {
  writeConfiguration(`${OWN_LINE}slow 99 pipe binary ${process.execPath} -e setTimeout(()=>0,9000)\n`)
  const socket = join(dir, 's')
  const { child, ended } = runPmcd(['-f', '-p', '0', '-s', socket, '-n', 'root', '-q', '1'])
  await logUntil(/Log for pmcd/)
  child.kill('SIGHUP')
  const log = await logUntil(/RESTARTED[\s\S]*Restarting any deceased agents:\n {4}"slow"\n/)
  expect(log.indexOf('request port')).toBeLessThan(log.indexOf('RESTARTED'))
  child.kill('SIGTERM')
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
  expect(existsSync(socket)).toBe(false)
  expect(await logUntil(/Log finished/)).toContain('caught SIGTERM')
})

test("agents start in the log's directory, and write their logs there", async () => {
  writeConfiguration(`${OWN_LINE}simple 253 pipe binary ${simpleArgv().join(' ')}\n`)
  mkdirSync(join(dir, 'logs'))
  const options = ['-p', '0', '-s', join(dir, 's'), '-n', 'root', '-l', 'logs/pmcd.log']
  const { child, ended } = runPmcd(['-f', ...options])
  await logUntil(/request port/, 'logs/pmcd.log')
  const source = await client(`unix://${join(dir, 's')}`)
  expect(statuses(await source.fetch([NUMFETCH], ASK))).toEqual([1])
  child.kill('SIGTERM')
  expect(await ended).toEqual({ code: 0, text: '' })
  expect(readdirSync(join(dir, 'logs')).sort()).toEqual(['pmcd.log', 'simple.log'])
  expect(existsSync(join(dir, 'simple.log'))).toBe(false)
})

test('the command as a daemon leaves a PID file while it runs', async () => {
  writeConfiguration(OWN_LINE)
  const socket = join(dir, 's')
  const { ended } = runPmcd(['-p', '0', '-s', socket, '-n', 'root', '-l', 'pmcd.log'])
  expect(await ended).toEqual({ code: 0, text: '' })
  const pid = Number(readFileSync(join(dir, 'pmcd.pid'), 'utf8'))
  const source = await client(`unix://${socket}`)
  expect(statuses(await source.fetch([pmid(2, 0, 7)], ASK))).toEqual([1])
  const shown = execFileSync('ps', ['-o', 'comm=,args=', '-p', String(pid)], { encoding: 'utf8' })
  expect(shown.trim()).toMatch(/^pmcd +pmcd -p 0 -s /)
  process.kill(pid, 'SIGTERM')
  await logUntil(/Log finished/)
  expect(existsSync(join(dir, 'pmcd.pid'))).toBe(false)
})

test('the command reports why it does not start', async () => {
  writeConfiguration('[access]\nallow * : nothing;\n')
  const verify = await runPmcd(['-v']).ended
  expect(verify.code).toBe(1)
  expect(verify.text).toContain('pmcd config[line 2]: Error: bad access specifier')
  expect((await runPmcd(['-v', '-c', 'nowhere']).ended).text).toBe(
    `pmcd verify ${join(dir, 'nowhere')}: No such file or directory\n`,
  )
  const failed = await runPmcd(['-f', '-x', 'why', '-n', 'root']).ended
  expect(failed.code).toBe(1)
  expect(failed.text).toContain('pmcd.conf has errors')
  expect(readFileSync(join(dir, 'why'), 'utf8')).toMatch(
    /^Log for pmcd[\s\S]*bad access specifier[\s\S]*pmcd not started due to errors!/,
  )
  const daemon = await runPmcd(['-n', 'root']).ended
  expect(daemon).toEqual({ code: 1, text: failed.text })
  const unknown = await runPmcd(['-S', '-t', 'x']).ended
  expect(unknown.code).toBe(1)
  expect(unknown.text).toMatch(/-t requires a whole number/)
})
