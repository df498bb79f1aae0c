/** `npm start` from a user's view: its output, its errors, and that Ctrl-C ends everything. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connect } from '../../src/pmapi/index.ts'
import { canMakeCertificates, makeAuthority, makeCertificate, writeTlsConf } from '../lib/certificates.ts'
import { hasIpv6 } from '../lib/ipv6.ts'

const top = process.cwd()
let dir: string
let child: ChildProcess | undefined

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-start-'))
})
afterEach(() => {
  child?.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

interface Running {
  readonly process: ChildProcess
  readonly printed: () => string
}

function start(...args: string[]): Running {
  const options = [join(top, 'bin', 'pcp-ts'), 'start', '--dir', dir, ...args]
  const process_ = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'pipe'] })
  child = process_
  let text = ''
  for (const stream of [process_.stdout, process_.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  return { process: process_, printed: () => text }
}

async function untilItSays(running: Running, what: string): Promise<void> {
  const { process: child, printed } = running
  const closed = once(child, 'close')
  while (!printed().includes(what)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`ended: ${printed()}`)
    await Promise.race([once(child.stdout!, 'data'), closed])
  }
}

async function ended(running: Running): Promise<{ status: number; printed: string }> {
  const [status] = (await once(running.process, 'close')) as [number]
  return { status, printed: running.printed() }
}

async function listening(): Promise<{ server: Server; port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as { port: number }).port }
}

test('prints where it listens and what to try next, serves, and stops on Ctrl-C', async () => {
  const running = start('--port', '0')
  await untilItSays(running, 'Ctrl-C stops everything.')
  const port = Number(/listening {2}localhost:(\d+)/.exec(running.printed())![1])
  expect(running.printed()).toContain('pcp-ts pminfo -f kernel.all.load')
  {
    const context = await connect(`localhost:${port}`)
    expect((await context.lookupNames(['simple.numfetch', 'pmcd.version'])).map(String)).toEqual([
      '1061158912',
      '8388615',
    ])
    await context.close()
  }
  const socket = join(dir, 'run', 'pmcd.socket')
  expect(existsSync(socket)).toBe(true)
  // Ctrl-C of the terminal, and the one that npm forwards.
  running.process.kill('SIGINT')
  running.process.kill('SIGINT')
  expect((await ended(running)).status).toBe(0)
  expect(existsSync(socket)).toBe(false)
  expect(readFileSync(join(dir, 'log', 'pmcd', 'pmcd.log'), 'utf8')).toMatch(/Log finished/)
})

test.skipIf(process.platform === 'win32')('ends when the shell that npm ran it in is killed', async () => {
  const command = `"${process.execPath}" "${join(top, 'bin', 'pcp-ts')}" start --dir "${dir}" --port 0; exit $?`
  const shell = spawn('sh', ['-c', command], {
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child = shell
  let text = ''
  shell.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  while (!text.includes('Ctrl-C')) await once(shell.stdout, 'data')
  shell.kill('SIGTERM')
  await once(shell.stdout, 'end') // the collector had it open, too
  expect(existsSync(join(dir, 'run', 'pmcd.socket'))).toBe(false)
})

test('--threads runs agents in threads: every metric still exists', async () => {
  const running = start('--port', '0', '--threads', 'linux,simple')
  await untilItSays(running, 'Ctrl-C stops everything.')
  const port = Number(/listening {2}localhost:(\d+)/.exec(running.printed())![1])
  const context = await connect(`localhost:${port}`)
  const names = await context.traverse('')
  expect(names.length).toBeGreaterThan(700)
  const { errors } = (await context.values(['simple.color', 'kernel.all.load', 'pmcd.numagents'])).toJSON()
  expect(errors).toEqual({})
  await context.close()
  const log = /^ {2}log +(.*)$/m.exec(running.printed())![1]!
  expect(readFileSync(log, 'utf8')).toMatch(/^linux +60 .* dso worker built in$/m)
  running.process.kill('SIGINT')
  expect((await ended(running)).status).toBe(0)
})

test('a client connects through the unix socket of the written pcp.conf', async () => {
  const running = start('--port', '0', '--agents', 'simple')
  await untilItSays(running, 'Ctrl-C')
  const context = await connect(`unix:${join(dir, 'run', 'pmcd.socket')}`)
  expect((await context.children('')).map(({ name }) => name)).toEqual(['simple', 'event'])
  await context.close()
})

/** Runs one of our commands to completion. */
async function command(name: string, ...args: string[]): Promise<{ status: number; printed: string }> {
  const spawned = spawn(process.execPath, [join(top, 'bin', name), ...args], {
    env: { ...process.env, PCP_CONF: join(dir, 'etc', 'pcp.conf') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [spawned.stdout, spawned.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
  const [status] = (await once(spawned, 'close')) as [number]
  return { status, printed }
}

/** Polls, because growing files send no events. */
async function untilLarger(path: string, bytes: number): Promise<void> {
  while ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= bytes)
    await new Promise((resolve) => setTimeout(resolve, 10))
}

const archiveOf = (running: Running): string => /^ {2}recording {2}(\S+)/m.exec(running.printed())![1]!

test('records with the shipped configuration, and ends the archive in order', async () => {
  const running = start('--port', '0')
  await untilItSays(running, 'Ctrl-C')
  const archive = archiveOf(running)
  expect(archive).toMatch(/\/archives\/[^/]+\/\d{8}\.\d\d\.\d\d$/)
  await untilLarger(`${archive}.0`, 6000)
  running.process.kill('SIGINT')
  expect((await ended(running)).status).toBe(0)
  expect(await command('pmlogcheck', archive)).toEqual({ status: 0, printed: '' })
  expect((await command('pminfo', '-a', archive, '-f', 'hinv.ncpu')).printed).toMatch(/value \d/)
  const dump = await command('pmdumplog', archive)
  // The last record of a logger that ended in order.
  expect(dump.printed.trimEnd().split('\n\n').at(-1)).toMatch(/ 5 metrics\n.*pmcd\.pmlogger\.host/)
  const log = readFileSync(join(dir, 'log', 'pmlogger', 'pmlogger.log'), 'utf8')
  expect(log).toMatch(/Log finished/)
  expect(log).not.toMatch(/Problem with|Warning/) // every metric of the configuration exists
})

test("records with the user's own configuration, each time to a new archive; pmlc finds the logger", async () => {
  mkdirSync(join(dir, 'etc', 'pmlogger'), { recursive: true })
  const config = join(dir, 'etc', 'pmlogger', 'config.default')
  writeFileSync(config, 'log mandatory on 50 msec { simple.numfetch }\n')
  const archives: string[] = []
  for (let i = 0; i < 2; i++) {
    const running = start('--port', '0', '--agents', 'simple,pmcd')
    await untilItSays(running, 'Ctrl-C')
    const archive = archiveOf(running)
    archives.push(archive)
    await untilLarger(`${archive}.0`, 2000)
    const control = spawn(process.execPath, [join(top, 'bin', 'pmlc'), '-P'], {
      env: { ...process.env, PCP_CONF: join(dir, 'etc', 'pcp.conf') },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let said = ''
    control.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
    })
    control.stdin.end('status\n')
    await once(control, 'close')
    expect(said).toMatch(/is logging metrics from host/)
    running.process.kill('SIGTERM')
    await ended(running)
    expect(await command('pmlogcheck', archive)).toEqual({ status: 0, printed: '' })
  }
  expect(new Set(archives).size).toBe(2)
  const { printed } = await command(
    'pmval',
    '-a',
    join(archives[0]!, '..'),
    'simple.numfetch',
    '-t',
    '0.1sec',
  )
  expect(printed).toMatch(/Archive continues|\d\.\d+ +\d/)
})

test('without a place to record it reports that, and still collects', async () => {
  writeFileSync(join(dir, 'archives'), '')
  const running = start('--port', '0', '--agents', 'simple')
  await untilItSays(running, 'Ctrl-C')
  expect(running.printed()).toMatch(/^not recording: .*archives.*; retrying$/m)
  const context = await connect(`unix:${join(dir, 'run', 'pmcd.socket')}`)
  expect((await context.values(['simple.numfetch'])).toJSON().errors).toEqual({})
  await context.close()
  running.process.kill('SIGINT')
  expect((await ended(running)).status).toBe(0)
})

test('--no-record creates no archives', async () => {
  const running = start('--port', '0', '--agents', 'simple', '--no-record')
  await untilItSays(running, 'Ctrl-C')
  expect(running.printed()).not.toMatch(/recording/)
  expect(existsSync(join(dir, 'archives'))).toBe(false)
})

test('a taken port gets one line with the command that uses another', async () => {
  const { server, port } = await listening()
  const { status, printed } = await ended(start('--port', String(port)))
  server.close()
  expect(status).toBe(1)
  expect(printed).toBe(
    `pcp-ts start: Port ${port} is taken; use another: pcp-ts start --port ${port + 100}\n`,
  )
})

test('a directory that cannot be written gets one line', async () => {
  writeFileSync(join(dir, 'etc'), '')
  const { status, printed } = await ended(start('--port', '0'))
  expect(status).toBe(1)
  expect(printed).toMatch(/^pcp-ts start: Cannot write to .*\/etc: .*--dir DIR\n$/)
})

test('a wrong option gets one line', async () => {
  const { status, printed } = await ended(start('--agents', 'nosuch'))
  expect(status).toBe(1)
  expect(printed).toMatch(/^pcp-ts start: --agents: no agent is called "nosuch"; use one of .*\n$/)
})

test("a taken port of the charts is reported, even if only one of localhost's addresses is taken", async () => {
  const { server, port } = await listening()
  const running = start('--port', '0', '--agents', 'simple', '--no-record', '--web-port', String(port))
  await untilItSays(running, 'Ctrl-C')
  server.close()
  expect(running.printed()).toContain(
    `no charts: port ${port} is taken; use another: pcp-ts start --web-port ${port + 100}\n`,
  )
  expect(running.printed()).not.toMatch(/^ {2}charts/m)
  running.process.kill('SIGINT')
  expect((await ended(running)).status).toBe(0)
})

test.runIf(hasIpv6())('--listen accepts an IPv6 address alone', async () => {
  const running = start('--port', '0', '--agents', 'simple', '--no-record', '--listen', '::1')
  await untilItSays(running, 'Ctrl-C')
  const port = Number(/listening {2}localhost:(\d+)/.exec(running.printed())![1])
  const context = await connect(`[::1]:${port}`)
  expect((await context.children('')).map(({ name }) => name)).toEqual(['simple', 'event'])
  await context.close()
  running.process.kill('SIGINT')
  expect((await ended(running)).status).toBe(0)
})

test('a second one in the same directory collects, and reports that the first one records', async () => {
  const quick = ['--port', '0', '--web-port', '0', '--agents', 'simple']
  const first = start(...quick)
  try {
    await untilItSays(first, 'Ctrl-C')
    const second = start(...quick)
    await untilItSays(second, 'Ctrl-C')
    expect(second.printed()).toMatch(/^not recording: another instance already records here: .*--dir/m)
    second.process.kill('SIGINT')
    expect((await ended(second)).status).toBe(0)
  } finally {
    first.process.kill('SIGINT')
    await ended(first)
  }
})

test.skipIf(!canMakeCertificates())(
  'with a certificate in its tls.conf the charts use HTTPS too',
  async () => {
    makeAuthority(dir, 'ca')
    makeCertificate(dir, 'server', 'ca', 'DNS:localhost')
    mkdirSync(join(dir, 'etc'))
    const conf = writeTlsConf(join(dir, 'etc', 'tls.conf'), {
      'cert-file': join(dir, 'server.crt'),
      'key-file': join(dir, 'server.key'),
    })
    const running = start('--port', '0', '--web-port', '0', '--agents', 'simple')
    await untilItSays(running, 'Ctrl-C')
    expect(readFileSync(join(dir, 'etc', 'pcp.conf'), 'utf8')).toContain(`PCP_TLSCONF_PATH=${conf}\n`)
    const port = Number(/charts +http:\/\/localhost:(\d+)/.exec(running.printed())![1])
    const ca = readFileSync(join(dir, 'ca.crt'))
    const status = await new Promise((resolve, reject) => {
      const request = get(
        { host: 'localhost', port, path: '/ui/api/config', ca, agent: false },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      )
      request.on('error', reject)
    })
    expect(status).toBe(200)
    running.process.kill('SIGINT')
    expect((await ended(running)).status).toBe(0)
  },
)
