/** Agents as processes: handshake, requests, log, stray output, sockets and shutdown. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { agent as simple } from '../../src/agents/simple/index.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_TYPE_32 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { type AgentLink, openAgentLink } from '../../src/net/agent-link.ts'
import { PduConnection, type PduStream } from '../../src/net/connection.ts'
import { runAgentDaemon } from '../../src/pmda/daemon.ts'
import { encodeHelp } from '../../src/pmda/help-file.ts'
import { PCP_ATTR_USERID } from '../../src/wire/attr.ts'
import { PDU_FLAG_AUTH, PDU_FLAG_CONTAINER } from '../../src/wire/creds.ts'
import { ASK } from '../lib/agent-catalogue.ts'
import { bundleDaemon, bundleProgram } from '../lib/bundle-tools.ts'

/** An agent that prints to standard output and reports the requester. */
const NOISY = `
import { defineAgent, runDaemon } from './src/pmda/index.ts'
const agent = defineAgent({
  name: 'noisy',
  domain: 300,
  metrics: {
    'noisy.uid': {
      item: 0, type: '32', sem: 'instant', units: 'none', help: 'User of the client that asks',
      value: (inst, ask) => {
        console.log('fetching')
        process.stdout.write('and writing\\n')
        return ask.requester.credentials?.uid
      },
    },
  },
})
void runDaemon(agent)
`

let programs: string
let dir: string
let children: ChildProcess[]

beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'agent-programs-'))
  await Promise.all([
    bundleDaemon(join(programs, 'simple.cjs'), 'simple'),
    bundleProgram(join(programs, 'noisy.cjs'), { text: NOISY }),
  ])
})
afterAll(() => rmSync(programs, { recursive: true }))

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'agent-'))
  children = []
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(dir, { recursive: true })
})

interface Running {
  readonly child: ChildProcess
  readonly pipe: PduStream
  readonly ended: Promise<{ status: number | null; signal: string | null; stderr: string }>
}

function start(name: string, ...args: string[]): Running {
  const env = { PATH: process.env['PATH'], PCP_CONF: '/dev/null', PCP_PMDAS_DIR: join(dir, 'pmdas') }
  const child = spawn(process.execPath, [join(programs, `${name}.cjs`), ...args], { cwd: dir, env })
  children.push(child)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<{ status: number | null; signal: string | null; stderr: string }>((resolve) =>
    child.once('close', (status, signal) => resolve({ status, signal, stderr })),
  )
  return { child, pipe: { readable: child.stdout, writable: child.stdin }, ended }
}

function link(stream: PduStream): Promise<AgentLink> {
  return openAgentLink(new PduConnection(stream, { name: 'agent' }), { name: 'agent', handshakeMs: 20_000 })
}

/** Runs the simple agent in this process until it listens. */
async function startHere(
  args: readonly string[],
  signal: AbortSignal,
): Promise<{ port: number; ended: Promise<number> }> {
  let ended: Promise<number> | undefined
  const port = await new Promise<number>((resolve) => {
    ended = runAgentDaemon(simple, {
      args,
      env: { PCP_CONF: '/dev/null', PCP_PMDAS_DIR: join(dir, 'pmdas') },
      cwd: dir,
      pipe: () => {
        throw new Error('not on a pipe')
      },
      stderr: () => {},
      onListening: resolve,
      signal,
    })
  })
  return { port, ended: ended! }
}

test('answers on a pipe, logs in its directory and ends with 0 when the pipe is closed', async () => {
  const agent = start('simple', '-d', '77')
  const source = await link(agent.pipe)
  expect(source.flags).toBe(PDU_FLAG_AUTH | PDU_FLAG_CONTAINER)
  const color = pmid(77, 0, 1)
  const { sets } = await source.fetch([color, pmid(77, 0, 99)], ASK)
  expect(valuesOf(sets[0]!, PM_TYPE_32).map(({ value }) => value)).toEqual([1, 101, 201])
  expect(sets[1]!.status).toBeLessThan(0)
  expect(await source.instances(indom(77, 0), { name: 'green' }, ASK)).toMatchObject({ ids: [1] })
  await source.store([makeSet(color, PM_TYPE_32, [0], [9])], ASK)
  await source.close()
  expect(await agent.ended).toEqual({ status: 0, signal: null, stderr: '' })
  const log = readFileSync(join(dir, 'simple.log'), 'utf8')
  expect(log).toMatch(/^Log for pmdasimple on .* started .*\n\n\nLog finished .*\n$/)
})

test('output of an agent goes to the log, not between the PDUs; it knows the requester', async () => {
  const agent = start('noisy', '-l', 'my.log')
  const source = await link(agent.pipe)
  const requester = { ...ASK.requester, client: 4 }
  source.attribute(4, PCP_ATTR_USERID, '1234')
  for (let i = 0; i < 3; i++) {
    const { sets } = await source.fetch([pmid(300, 0, 0)], { requester })
    expect(sets[0]!.word[0]).toBe(1234)
  }
  await source.close()
  expect((await agent.ended).status).toBe(0)
  const log = readFileSync(join(dir, 'my.log'), 'utf8')
  expect(log.match(/fetching\nand writing\n/g)?.length).toBe(3)
})

test('help files of its directory, or of -h, take precedence over its own texts', async () => {
  const id = pmid(253, 0, 0)
  const writeHelp = (base: string, oneline: string): void => {
    const { dir, pag } = encodeHelp([{ kind: 'metric', id, name: 'simple.numfetch', oneline, help: '' }])
    writeFileSync(`${base}.dir`, dir)
    writeFileSync(`${base}.pag`, pag)
  }
  const told = async (...args: readonly string[]): Promise<string> => {
    const source = await link(start('simple', ...args).pipe)
    const text = await source.text({ kind: 'metric', id, level: 'oneline' }, ASK)
    await source.close()
    return text
  }
  const own = await told()
  mkdirSync(join(dir, 'pmdas', 'simple'), { recursive: true })
  writeHelp(join(dir, 'pmdas', 'simple', 'help'), 'Of the directory')
  writeHelp(join(dir, 'other'), 'Of the option')
  expect(await told()).toBe('Of the directory')
  expect(await told('-h', join(dir, 'other'))).toBe('Of the option')
  expect(await told('-h', join(dir, 'none'))).toBe(own)
})

test('waits on a unix socket for one connection', async () => {
  const path = join(dir, 'agent.socket')
  const { ended } = await startHere(['-u', path], new AbortController().signal)
  expect(statSync(path).mode & 0o777).toBe(0o660)
  const socket = connect({ path })
  const source = await link({ readable: socket, writable: socket })
  expect(await source.text({ kind: 'metric', id: pmid(253, 0, 0), level: 'oneline' }, ASK)).toContain('etch')
  expect(existsSync(path)).toBe(false)
  await source.close()
  expect(await ended).toBe(0)
})

const hasIpv6 = networkInterfaces()['lo']?.some(({ address }) => address === '::1') === true

test.each([['-i', '127.0.0.1'], ...(hasIpv6 ? [['-6', '::1']] : [])])(
  'waits on a TCP port of this host with %s, and refuses other hosts',
  async (option, host) => {
    const abort = new AbortController()
    const { port, ended } = await startHere([option!, '0'], abort.signal)
    const socket = connect(port, host)
    const source = await link({ readable: socket, writable: socket })
    expect(await source.descs([pmid(253, 0, 0)], ASK)).toMatchObject([{ type: 1 }])
    const refused = await new Promise((resolve) => connect(port, host).once('error', resolve))
    expect(refused).toMatchObject({ code: 'ECONNREFUSED' })
    abort.abort()
    expect(await ended).toBe(0)
    await source.close()
  },
)

test('stops waiting on a signal', async () => {
  const abort = new AbortController()
  const { ended } = await startHere(['-i', '0'], abort.signal)
  abort.abort()
  expect(await ended).toBe(1)
  expect(readFileSync(join(dir, 'simple.log'), 'utf8')).toContain('Ended before pmcd connected')
})

test('ends by the signal, in order', async () => {
  const agent = start('simple')
  const source = await link(agent.pipe)
  agent.child.kill('SIGTERM')
  expect(await agent.ended).toMatchObject({ status: null, signal: 'SIGTERM' })
  expect(readFileSync(join(dir, 'simple.log'), 'utf8')).toContain('Log finished')
  await source.close()
})

test('a command line error is printed to standard error, with status 1', async () => {
  const { status, stderr } = await start('simple', '-d', 'abc').ended
  expect(status).toBe(1)
  expect(stderr).toContain('pmdasimple: -d requires numeric domain number\nUsage: pmdasimple [options]\n')
})

test('a port in use is logged, with status 1', async () => {
  const path = join(dir, 'no', 'such', 'dir')
  expect((await start('simple', '-u', path).ended).status).toBe(1)
  expect(readFileSync(join(dir, 'simple.log'), 'utf8')).toContain(`Error: Cannot listen on ${path}`)
})
