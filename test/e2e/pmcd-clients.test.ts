/** Misbehaving clients and critical situations of a collector, on real sockets. */

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { pmid } from '../../src/model/ids.ts'
import { ALL_INSTANCES } from '../../src/model/profile.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { PM_TYPE_U32 } from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { buildAccess } from '../../src/net/access/table.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { agentFromConfig, builtinAgents } from '../../src/pmcd/open-agents.ts'
import type { AgentOpenEnv, Collector, CollectorOptions } from '../../src/pmcd/options.ts'
import { Pmns } from '../../src/pmns/tree.ts'
import { parseAccessFile } from '../../src/routing/pmcd-conf.ts'
import { type Log, logOnFd } from '../../src/sys/log.ts'
import { encodeCreds } from '../../src/wire/creds.ts'
import { encodeFetch } from '../../src/wire/fetch.ts'
import { encodePmnsTraverse } from '../../src/wire/pmns.ts'
import { encodeProfile } from '../../src/wire/profile.ts'
import { encodeResult } from '../../src/wire/result.ts'
import { diagnose } from '../pmcd/parts.ts'

const ASK: Ask = { requester: ANONYMOUS }
const VERSION = pmid(2, 0, 7)

let dir: string
let collector: Collector | undefined
const sockets: Socket[] = []
const sources: HostSource[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmcd-clients-'))
})
afterEach(async () => {
  for (const source of sources.splice(0)) await source.close()
  for (const socket of sockets.splice(0)) socket.destroy()
  await collector?.close()
  collector = undefined
  rmSync(dir, { recursive: true })
})

function memoryLog(): Log & { readonly lines: string[] } {
  const lines: string[] = []
  return {
    ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
    lines,
    notice: (level, text) => lines.push(`${level}: ${text}`),
    line: (text) => lines.push(text),
  }
}

async function start(
  options: Partial<CollectorOptions> = {},
): Promise<{ port: number; lines: readonly string[] }> {
  const log = memoryLog()
  collector = await startCollector({
    agents: builtinAgents(['pmcd', 'simple']),
    ports: [0],
    localOnly: true,
    hostname: 'vm',
    log,
    credsTimeoutSec: 60, // a process takes its time to start on a busy machine
    ...options,
  })
  return { port: collector.port, lines: log.lines }
}

/** Returns an open raw connection. */
async function raw(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined) // these tests accept both FIN and RST
  await once(socket, 'connect')
  return socket
}

async function client(spec: string | number): Promise<HostSource> {
  const source = await HostSource.connect(typeof spec === 'number' ? `127.0.0.1:${spec}` : spec)
  sources.push(source)
  return source
}

test('a client without a handshake is dropped, one with a handshake stays', async () => {
  const { port } = await start({ handshakeMs: 1000 })
  const polite = await client(port)
  const silent = await raw(port)
  silent.resume()
  await once(silent, 'close')
  expect((await polite.fetch([VERSION], ASK)).sets[0]!.status).toBe(1)
})

test('replies to a client that never reads are bounded, and others are unaffected', async () => {
  const { port } = await start({ agents: builtinAgents(['pmcd']) })
  const deaf = await raw(port)
  deaf.write(encodeCreds(0))
  const question = encodePmnsTraverse('')
  const many = Buffer.concat(Array.from({ length: 1000 }, () => question))
  let isStuck = false
  for (let i = 0; i < 2000 && !isStuck; i++) isStuck = !deaf.write(many) && deaf.writableLength > 2 ** 22
  expect(isStuck).toBe(true)
  const other = await client(port)
  for (let i = 0; i < 20; i++) expect((await other.fetch([VERSION], ASK)).sets[0]!.status).toBe(1)
  expect(deaf.writableLength).toBeGreaterThan(0) // its requests are not read while it does not read the replies
})

test('a client that connects before the agents are ready waits for them', async () => {
  const port = await freePort()
  const [own] = builtinAgents(['pmcd'])
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const slow = {
    ...own!,
    open: (env: AgentOpenEnv, signal: AbortSignal) => gate.then(() => own!.open(env, signal)),
  }
  const starting = start({ ports: [port], agents: [slow] })
  let early: Socket | undefined
  while (early === undefined) early = await raw(port).catch(() => undefined)
  early.write(encodeCreds(0))
  early.write(encodeProfile(0, ALL_INSTANCES))
  early.write(encodeFetch(0, [VERSION]))
  release()
  await starting
  let bytes = Buffer.alloc(0)
  while (bytes.length < 60) bytes = Buffer.concat([bytes, (await once(early, 'data'))[0] as Buffer])
  expect(bytes.readInt32BE(24)).toBe(0x7001) // a RESULT behind the challenge of 20 bytes
  expect(bytes.readInt32BE(20 + 28)).toBe(1)
})

test('no agent is started if no endpoint could be opened', async () => {
  let opened = 0
  const [own] = builtinAgents(['pmcd'])
  const counted = {
    ...own!,
    open: (env: AgentOpenEnv, signal: AbortSignal) => {
      opened++
      return own!.open(env, signal)
    },
  }
  const nowhere = { ports: [], socketPath: join(dir, 'no/such/dir/socket') }
  await expect(start({ agents: [counted], ...nowhere })).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' })
  expect(opened).toBe(0)
})

test('rules for users refuse all clients if users cannot be identified, and the log has a remedy', async () => {
  const accounts = { userId: () => 0, groupId: () => 0, membersOf: () => [] }
  const names = { addressesOf: async () => [], ownAddresses: () => [], accounts: () => accounts }
  const { access } = parseAccessFile('allow user root : all; allow user * : all;')
  const { port, lines } = await start({ access: (await buildAccess(access, names)).table })
  await expect(client(port)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
  expect(lines).toContain(
    'warning: Access rules name users or groups: users of clients cannot be known here (unix sockets do not identify their users), so every client is refused; to let clients in, remove these rules and allow hosts ("local:*" is this host)',
  )
})

/** Program of an agent that completes the handshake and writes down its inherited file descriptors. */
const AGENT = `
const fs = require('node:fs')
const fds = fs.readdirSync('/proc/self/fd').map((fd) => {
  try { return fd + ' ' + fs.readlinkSync('/proc/self/fd/' + fd) } catch { return '' }
})
fs.writeFileSync(process.argv[2], fds.join('\\n'))
const creds = Buffer.from('000000140000700c000000000000000101020000', 'hex')
if (process.argv[3] === undefined) {
  process.stdout.write(creds)
  process.stdin.resume()
} else {
  require('node:net').createServer((socket) => { socket.write(creds); socket.resume() }).listen(process.argv[3])
}
`

test.skipIf(process.platform !== 'linux')(
  'agents inherit no sockets and files of the collector',
  async () => {
    const program = join(dir, 'agent.cjs')
    const report = join(dir, 'fds')
    writeFileSync(program, AGENT)
    const argv = [process.execPath, program, report]
    const agent = agentFromConfig({
      kind: 'pipe',
      name: 'spy',
      domain: 400,
      line: 1,
      argv,
      startsNotReady: false,
    })
    const { port } = await start()
    await client(port)
    const mine = readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)]
      } catch {
        return [] // the one opened by this readdir
      }
    })
    await collector!.close()
    await start({ agents: [agent], pmns: new Pmns() })
    const rows = readFileSync(report, 'utf8').split('\n')
    const beyond = rows
      .filter((row) => Number(row.split(' ')[0]) > 2)
      .map((row) => row.slice(row.indexOf(' ') + 1))
    expect(mine.length).toBeGreaterThan(3)
    expect(beyond.filter((target) => mine.includes(target) && target.startsWith('socket:'))).toEqual([])
    expect(beyond.filter((target) => target.startsWith(dir))).toEqual([])
  },
)

test('the socket of a killed agent does not block the next one', async () => {
  const program = join(dir, 'agent.cjs')
  writeFileSync(program, AGENT)
  const path = join(dir, 'agent.socket')
  const argv = [process.execPath, program, join(dir, 'fds'), path]
  const config = {
    kind: 'socket',
    name: 'spy',
    domain: 400,
    line: 1,
    family: 'unix',
    path,
    port: 0,
    argv,
  } as const
  await start({ agents: [agentFromConfig(config)], pmns: new Pmns() })
  expect(existsSync(path)).toBe(true)
  await collector!.close()
  expect(existsSync(path)).toBe(false)
})

test('a lost agent that does not exit is killed before the collector has ended', async () => {
  const program = join(dir, 'agent.cjs')
  writeFileSync(
    program,
    `${AGENT}\nfs.writeFileSync(process.argv[2], String(process.pid)); setInterval(() => {}, 1000)`,
  )
  const argv = [process.execPath, program, join(dir, 'pid')]
  const line = { kind: 'pipe', name: 'mute', domain: 400, line: 1, argv, startsNotReady: false } as const
  const agents = [agentFromConfig(line)]
  const { port } = await start({ agents, timeoutSec: 1, restartsAgents: false, pmns: new Pmns() })
  const source = await client(port)
  await source.fetch([pmid(400, 0, 0)], ASK) // times out
  await collector!.close()
  const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'))
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('shutdown does not wait for a busy agent', async () => {
  const program = join(dir, 'agent.cjs')
  writeFileSync(program, AGENT)
  const argv = [process.execPath, program, join(dir, 'fds')]
  const agent = agentFromConfig({
    kind: 'pipe',
    name: 'mute',
    domain: 400,
    line: 1,
    argv,
    startsNotReady: false,
  })
  const { port } = await start({
    agents: [agent, ...builtinAgents(['pmcd'])],
    timeoutSec: 0,
    pmns: new Pmns(),
  })
  const source = await client(port)
  const asked = source.fetch([pmid(400, 0, 0)], ASK).catch((error: unknown) => error)
  const other = await client(port)
  expect((await other.fetch([VERSION], ASK)).sets[0]!.status).toBe(1)
  await collector!.close()
  expect(await asked).toMatchObject({ code: 'PM_ERR_EOF' })
})

test('a client that left before it was accepted cannot do what its host is denied', async () => {
  const { access } = parseAccessFile('disallow host * : store;')
  const names = {
    addressesOf: async () => [],
    ownAddresses: () => ['127.0.0.1'],
    accounts: () => ({ userId: () => undefined, groupId: () => undefined, membersOf: () => [] }),
  }
  const told: string[] = []
  const events = diagnose({ debug: new Set(['context']) }, (line) => told.push(line))
  const { size } = events
  const { port } = await start({
    agents: builtinAgents(['pmcd']),
    access: (await buildAccess(access, names)).table,
    events,
  })
  const tracebufs = makeSet(pmid(2, 0, 11), PM_TYPE_U32, [-1], [size + 1])
  const store = encodeResult({ sec: 0, nsec: 0 }, [tracebufs])
  const pdus = Buffer.concat([encodeCreds(0), store]).toString('hex')
  // The connection is reset: when the collector accepts it, the kernel still has the data but no peer address.
  const visit = `const socket = require('node:net').connect(${port}, '127.0.0.1', () =>
    socket.write(Buffer.from('${pdus}', 'hex'), () => socket.resetAndDestroy()))`
  execFileSync(process.execPath, ['-e', visit])
  const other = await client(port)
  expect((await other.fetch([VERSION], ASK)).sets[0]!.status).toBe(1)
  expect(events.size).toBe(size)
  expect(told.filter((line) => line.includes('comes from'))).toHaveLength(1)
})
