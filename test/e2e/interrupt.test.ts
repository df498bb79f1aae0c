/**
 * Every command of the registry, interrupted while it reads endless input, ends soon with the status its parent expects.
 * The process signals itself at a certain event, so that timing does not depend on sleeps or a busy machine.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { programOf } from '../lib/commands.ts'
import { writeLongArchive } from '../lib/long-archive.ts'
import { isSampled } from '../lib/seed.ts'

/** When the process gets the signal: after its first output, when it first opens a file of this name, connects or listens. */
type Moment = 'output' | 'connect' | 'listen' | `open ${string}`

interface Case {
  /** Another command that runs this one. */
  readonly by?: string
  readonly args: readonly string[]
  readonly at?: Moment
  /** Standard input, repeated; the signal is sent after much of it was read. */
  readonly input?: string
  /** It may finish before it handles the signal. */
  readonly isShort?: true
  /** Statuses for SIGINT and SIGTERM; undefined if killed by the signal. */
  readonly ends?: readonly [number | undefined, number | undefined]
}

const LOAD = 'kernel.all.load'
const sampled = (...args: string[]): readonly string[] => ['-a', 'long', '-t', '1msec', ...args]
/** PCP's Python reports treat Ctrl-C as their normal end. */
const CTRL_C_IS_SUCCESS = [0, undefined] as const
const IN_ORDER = [0, 0] as const
const report = (name: string): Case => ({
  by: 'pcp',
  args: sampled(name),
  at: 'output',
  ends: CTRL_C_IS_SUCCESS,
})
/** Reads only one record. */
const snapshot = (name: string): Case => ({ by: 'pcp', args: sampled(name), at: 'open long.0' })
const exporter = (...args: string[]): Case => ({ args: sampled(...args), at: 'open long.0', ends: IN_ORDER })
const reader = (...args: string[]): Case => ({ args: [...args, 'many'], at: 'open many.0' })
const admin = (...args: string[]): Case => ({ args, at: 'open control', ends: [1, 1] })

/** Every command of the registry. */
const CASES: Readonly<Record<string, Case>> = {
  'Make.stdpmid': { args: [], at: 'open pmns', ends: [1, 1] },
  Rebuild: { args: [], at: 'open root', isShort: true },
  chkhelp: { args: ['long.help'], at: 'open long.help' },
  dbpmda: { args: [], input: 'help\n' },
  'pmda-install': { args: ['sample'], at: 'open pmcd.conf', isShort: true },
  'pmda-remove': { args: ['sample'], at: 'open pmcd.conf', isShort: true },
  'pmda-new': { args: ['-o', 'agent', 'made'], at: 'open agent', isShort: true },
  newhelp: { args: ['-o', 'help'], input: '@ made.level A level\nmore\n' },
  pcp: { args: sampled('mpstat'), at: 'output', ends: CTRL_C_IS_SUCCESS },
  'pcp-atop': { by: 'pcp', args: sampled('atop'), at: 'output', ends: [2, 15] },
  'pcp-free': { by: 'pcp', args: sampled('free'), at: 'open long.0', ends: CTRL_C_IS_SUCCESS, isShort: true },
  'pcp-iostat': report('iostat'),
  'pcp-ipcs': snapshot('ipcs'),
  'pcp-mpstat': report('mpstat'),
  'pcp-numastat': snapshot('numastat'),
  'pcp-summary': snapshot('summary'),
  'pcp-uptime': snapshot('uptime'),
  'pcp-vmstat': { by: 'pcp', args: sampled('vmstat'), at: 'output' },
  'pcp-dstat': { by: 'pcp', args: sampled('dstat'), at: 'output', ends: IN_ORDER },
  'pcp-pidstat': report('pidstat'),
  'pcp-ps': report('ps'),
  'pcp-ss': snapshot('ss'),
  pcp2arrow: exporter(LOAD, '-F', 'out.arrow'),
  'pcp-ts': { args: ['pmval', ...sampled(LOAD)], at: 'output' },
  'pcp-ts-start': {
    args: ['--dir', 'instance', '--port', '0', '--web-port', '0', '--agents', 'pmcd,simple'],
    at: 'open pcp.conf',
    ends: IN_ORDER,
  },
  'pcp-ts-status': { args: [], at: 'open pcp.conf' },
  'pcp-ts-doctor': { args: [], at: 'open pcp.conf' },
  'pcp-ts-incident': { args: ['-a', 'long', '-o', 'incident.html'], at: 'open long.0' },
  'pcp-ts-mcp': {
    args: ['-a', 'long'],
    input: `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`,
    ends: IN_ORDER,
  },
  'pcp-ts-service': { args: ['install', '--dir', 'instance'], at: 'open pcp-ts.service', isShort: true },
  'pcp-ts-agent': { args: ['--dir', 'instance', 'list'], at: 'open pcp.conf' },
  'pcp-ts-link': { args: ['./links', 'pminfo'], at: 'open pcp.conf', isShort: true },
  'pcp-ts-unlink': { args: ['./links'], at: 'open pcp.conf', isShort: true },
  'pcp-ts-man': { args: ['--plain', 'pmval'], at: 'output', isShort: true },
  'pcp-ts-completion': { args: ['bash'], at: 'output', isShort: true },
  'pcp-ts-help': { args: ['link'], at: 'output', isShort: true },
  'pcp-ts-container': { args: ['health'], at: 'connect', ends: [1, 1] },
  pcp2csv: { args: sampled(LOAD), at: 'output', ends: IN_ORDER },
  pcp2json: exporter(LOAD),
  pcp2xml: exporter(LOAD),
  pcp2openmetrics: exporter(LOAD),
  pcp2opentelemetry: exporter('-u', 'http://127.0.0.1:SILENT', LOAD),
  pcp2graphite: exporter('-E', 'SILENT', LOAD),
  pcp2influxdb: exporter('-g', 'http://127.0.0.1:SILENT', LOAD),
  pcp2remotewrite: exporter('-u', 'http://127.0.0.1:SILENT', LOAD),
  pcp2elasticsearch: exporter('-g', 'http://127.0.0.1:SILENT', LOAD),
  pcp2zabbix: exporter('-g', '127.0.0.1', '-p', 'SILENT', LOAD),
  mkaf: { args: ['many.index'], at: 'open many' },
  pmafm: { args: ['folio', 'pmlogdump'], at: 'open many.0' },
  pmcd: {
    args: ['-f', '-c', 'agents', '-p', '0', '-s', 'pmcd.socket', '-l', 'pmcd.log'],
    at: 'listen',
    ends: IN_ORDER,
  },
  pmcd_wait: { args: ['-h', 'localhost:CLOSED', '-t', '1000'], at: 'connect' },
  pmclient: { args: sampled(), at: 'open long.0' },
  pmconfig: { args: ['-L'], at: 'output' },
  pmdate: { args: ['%Y'], at: 'output' },
  pmcpp: { args: [], input: 'LEVEL\n' },
  pmdbg: { args: ['-l'], at: 'output' },
  pmdiff: { args: ['many', 'long'], at: 'open many.0' },
  pmdumplog: { args: ['many'], at: 'output' },
  pmdumptext: { args: sampled(LOAD), at: 'output' },
  pmerr: { args: Array.from({ length: 5000 }, () => '-12357'), at: 'output' },
  pmevent: { args: sampled(LOAD), at: 'output' },
  pmfind: { args: ['-m', 'probe=127.0.0.0/16', '-s', 'pmcd'], at: 'connect', ends: [1, 1] },
  pmgenmap: { args: [], input: 'made {\n  level\n}\n' },
  pmgetopt: { args: ['--', '-x'], input: '# a comment\n' },
  pmhostname: { args: ['127.0.0.1'], at: 'output' },
  pmie: { args: ['-a', 'long', '-c', 'rules'], at: 'output', ends: IN_ORDER },
  pmieconf: { args: [], input: 'help\n' },
  pminfo: { args: ['-a', 'long', '-fmdT'], at: 'output' },
  pmjson: { args: [], input: '[1, ' },
  pmiostat: { args: sampled(), at: 'output', ends: CTRL_C_IS_SUCCESS },
  pmlogcheck: reader('-v'),
  pmlc: { args: [], input: 'help\n' },
  pmlogconf: { args: ['-h', 'localhost:CLOSED', 'config'], at: 'connect' },
  pmlogdump: { args: ['many'], at: 'output' },
  pmlogextract: { args: ['many', 'extracted'], at: 'open many.0' },
  pmlogger: {
    args: ['-c', 'logger.conf', '-h', 'localhost:CLOSED', '-l', 'logger.log', 'logged'],
    at: 'connect',
    ends: [1, 1],
  },
  pmlogger_check: admin('-c', 'control'),
  pmiectl: { args: ['status'], at: 'open pmie', isShort: true },
  pmlogctl: { args: ['status'], at: 'open pmlogger', isShort: true },
  pmie_check: admin('-c', 'control'),
  pmie_daily: admin('-c', 'control'),
  pmlogger_daily: admin('-c', 'control'),
  pmlogger_merge: { args: ['many', 'long', 'merged'], at: 'open many', isShort: true },
  pmlogger_rewrite: { args: ['-c', 'rewrite.conf', 'many'], at: 'open many', isShort: true },
  pmloglabel: { args: ['-v', 'many'], at: 'open many', isShort: true },
  pmlogpush: { args: ['many', 'http://localhost:CLOSED'], at: 'open many', isShort: true },
  pmlogreduce: { args: ['many', 'reduced'], at: 'open many.0' },
  pmlogcompress: { args: ['-N', 'many'], at: 'open many', isShort: true },
  pmlogcp: { args: ['many', 'copied'], at: 'open many' },
  pmlogls: { args: ['many'], at: 'open many', isShort: true },
  pmlogmv: { args: ['many', 'moved'], at: 'open many' },
  pmlogsize: reader('-d'),
  pmlogrewrite: { args: ['-c', 'rewrite.conf', 'many', 'rewritten'], at: 'open many.0' },
  pmlogsummary: reader(),
  pmnsadd: { args: ['-n', 'names', 'more-names'], at: 'open more-names', isShort: true },
  pmnsdel: { args: ['-n', 'names', 'made.level'], at: 'open names', isShort: true },
  pmnsmerge: { args: ['names', 'merged-names'], at: 'open names', isShort: true },
  pmpasswd: { args: ['-f', 'passwd', 'user'], input: 'endless' },
  pmpost: { args: ['a note'], at: 'open NOTICES' },
  pmprobe: { args: ['-a', 'long', '-v'], at: 'open long.0' },
  pmproxy: { args: ['-f', '-p', '0', '-l', 'proxy.log', '-s', 'proxy.socket'], at: 'listen', ends: IN_ORDER },
  pmrep: { args: sampled(LOAD), at: 'output', ends: IN_ORDER },
  pmrepconf: { args: ['-h', 'localhost:CLOSED', 'config'], at: 'connect' },
  pmsearch: { args: ['--directory', '.', 'load'], at: 'open many.0', isShort: true },
  pmseries: { args: ['--directory', '.', `${LOAD}[count:1]`], at: 'open many.0', isShort: true },
  pmstat: { args: sampled(), at: 'output' },
  pmstore: { args: ['-h', 'localhost:CLOSED', 'sample.long.one', '1'], at: 'connect' },
  pmval: { args: sampled(LOAD), at: 'output' },
  sheet2pcp: { args: ['sheet.csv', 'map.json', 'sheet'], at: 'open sheet' },
}

/** Loaded into the process under test to send it the signal. */
const HOOK = `
const { PCP_TEST_SIGNAL: signal, PCP_TEST_MOMENT: moment } = process.env
let isSent = false
const send = () => {
  if (isSent) return
  isSent = true
  process.kill(process.pid, signal)
}
const [kind, what] = moment.split(' ')
const before = (object, names, isIt) => {
  for (const name of names) {
    const original = object[name]
    object[name] = function (...args) {
      if (isIt(...args)) send()
      return original.apply(this, args)
    }
  }
}
const fs = require('node:fs')
const net = require('node:net')
const { basename } = require('node:path')
if (kind === 'output') {
  const { writeSync } = fs
  fs.writeSync = (fd, ...rest) => {
    const written = writeSync(fd, ...rest)
    if (fd === 1 || fd === 2) send()
    return written
  }
} else if (kind === 'open') {
  const isIt = (path) => typeof path === 'string' && basename(path).startsWith(what)
  before(fs, ['openSync', 'readFileSync', 'readdirSync', 'statSync', 'lstatSync', 'accessSync', 'existsSync', 'mkdirSync'], isIt)
} else if (kind === 'connect') before(net.Socket.prototype, ['connect'], () => true)
else if (kind === 'listen') {
  const { emit } = net.Server.prototype
  net.Server.prototype.emit = function (event, ...args) {
    if (event === 'listening') send()
    return emit.call(this, event, ...args)
  }
}
`

/** Most bytes a command may write after the signal: buffered output and the samples of one turn of the event loop. */
const MOST_AFTER = 4 * 1024 * 1024
/** Standard input that a command has read before the signal; exceeds all buffers in between. */
const MUCH_INPUT = 1024 * 1024

let dir: string
let closedPort: number
/** A server that reads everything and answers nothing. */
let silent: Server

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-interrupt-'))
  closedPort = await freePort()
  silent = createServer((socket) => socket.on('error', () => {}).resume())
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  mkdirSync(join(dir, 'archives'))
  writeLongArchive(join(dir, 'archives/long'))
  writeLongArchive(join(dir, 'archives/many'), 40_000)
  writeFileSync(join(dir, 'hook.cjs'), HOOK)
})
afterAll(() => {
  silent.close()
  rmSync(dir, { recursive: true })
})

interface Ended {
  readonly status: number | undefined
  readonly signal: NodeJS.Signals | undefined
  readonly stderr: string
}

const FILES: Readonly<Record<string, string>> = {
  rules: 'delta = 1 msec;\nkernel.all.nprocs >= 0 -> print "x";\n',
  'long.help': '@ made.level A level\nmore\n',
  'pmcd.conf': '',
  agents: 'pmcd 2 dso pmcd_init /pmda_pmcd.so\n',
  'logger.conf': 'log mandatory on 1 sec { kernel.all.load }\n',
  'rewrite.conf': 'global { hostname -> there }\n',
  control: '$version=1.1\nlocalhost n n here -c logger.conf\n',
  names: 'root {\n  made\n}\nmade {\n  level 9:0:1\n}\n',
  'more-names': 'more {\n  level 9:0:2\n}\n',
  folio: 'PCPFolio\nVersion: 1\nCreated: on elsewhere at now\nCreator: test\nArchive: elsewhere many\n',
  passwd: '',
  'sheet.csv': '2026-01-01,1\n',
  'map.json': '{}',
}
const DIRECTORIES = ['sysconf', 'var/pmns', 'log/pmlogger', 'run', 'tmp', 'share']

/** Creates a directory for one run, with archives and small files. */
function place(): string {
  const cwd = mkdtempSync(join(dir, 'run-'))
  for (const name of readdirSync(join(dir, 'archives')))
    linkSync(join(dir, 'archives', name), join(cwd, name))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, name), text)
  for (const name of DIRECTORIES) mkdirSync(join(cwd, name), { recursive: true })
  writeFileSync(join(cwd, 'var/pmns/root'), FILES['names']!)
  const variables = ['SYSCONF', 'VAR', 'LOG', 'RUN', 'TMP', 'SHARE'].map(
    (name) => `PCP_${name}_DIR=${cwd}/${name.toLowerCase()}\n`,
  )
  writeFileSync(
    join(cwd, 'pcp.conf'),
    `${variables.join('')}PCP_PMCDCONF_PATH=${cwd}/pmcd.conf\nPCP_ARCHIVE_DIR=${cwd}/log/pmlogger\n`,
  )
  return cwd
}

function interrupted(name: string, one: Case, signal: 'SIGINT' | 'SIGTERM'): Promise<Ended> {
  const { by = name, args, at = 'input', input } = one
  const cwd = place()
  const words = args.map((arg) =>
    arg
      .replace('CLOSED', String(closedPort))
      .replace('SILENT', String((silent.address() as AddressInfo).port)),
  )
  const child = spawn(process.execPath, ['--require', join(dir, 'hook.cjs'), ...programOf(by), ...words], {
    cwd,
    env: {
      ...process.env,
      PCP_CONF: join(cwd, 'pcp.conf'),
      PCP_TEST_SIGNAL: signal,
      PCP_TEST_MOMENT: at,
    },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  if (input !== undefined) feed(child, input, () => child.kill(signal))
  let stderr = ''
  let written = 0
  const count = (chunk: Buffer): void => {
    written += chunk.length
    // No command has this status: the signal was ignored.
    if (written > MOST_AFTER && input === undefined) child.kill('SIGKILL')
  }
  child.stdout!.on('data', count)
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-2000)
  })
  return new Promise((done, failed) => {
    child.once('error', failed)
    child.once('close', (status, ended) =>
      done({ status: status ?? undefined, signal: ended ?? undefined, stderr }),
    )
  })
}

/** Writes `text` repeatedly until the command stops reading; calls `hasRead` after much was read. */
function feed({ stdin }: ChildProcess, text: string, hasRead: () => void): void {
  const block = text.repeat(Math.ceil(16_384 / text.length))
  let read = 0
  let isTold = false
  const more = (error?: Error | null): void => {
    if (error) return // it has ended
    read += block.length
    if (read > MUCH_INPUT && !isTold) {
      isTold = true
      hasRead()
    }
    stdin!.write(block, more)
  }
  stdin!.on('error', () => {})
  more()
}

test('every command has a case', () => {
  expect(Object.keys(CASES).sort()).toEqual(TOOLS.map(({ name }) => name).sort())
})

// Each command gets one of the signals today, the other tomorrow.
describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  const cases = Object.entries(CASES).filter((_, i) => isSampled(signal === 'SIGINT' ? i : i + 1, 2))
  test.each(cases)('%s', async (name, one) => {
    const status = one.ends?.[signal === 'SIGINT' ? 0 : 1]
    const { stderr, ...ended } = await interrupted(name, one, signal)
    const killed = { status: undefined, signal }
    if (one.isShort && ended.signal === undefined) expect(ended.status, stderr).toBe(0)
    else expect(ended, stderr).toEqual(status === undefined ? killed : { status, signal: undefined })
  })
})
