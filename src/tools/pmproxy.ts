/** pmproxy: PCP for the web and over gateways, as a command, in the foreground or as a daemon. pmproxy(1), docs/pmproxy.md */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseDebug } from '../model/debug.ts'
import { type ProxySettings, parsePorts } from '../pmproxy/settings.ts'
import { setProcessName } from '../sys/native/process-name.ts'
import { parseInterval } from '../time/interval.ts'
import {
  endEarly,
  HELP_ROW,
  type OptionTable,
  type ParsedOptions,
  parseOptions,
  VERSION_ROW,
} from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const TABLE: OptionTable = {
  synopsis: '[options]',
  rows: [
    { heading: 'Service options' },
    { short: 'A', long: 'no-advertise', help: 'do not advertise the service (this version never does)' },
    { short: 'd', long: 'deprecated', help: 'only forward the protocol of PCP: no HTTP' },
    { short: 't', long: 'timeseries', help: 'serve HTTP as well, on port 44323 too (the default)' },
    { short: 'f', long: 'foreground', help: 'stay in the foreground, without PID file, as the same user' },
    { short: 'F', long: 'systemd', help: 'stay in the foreground, else as a daemon: for service managers' },
    {
      short: 'U',
      long: 'username',
      arg: 'USER',
      help: 'account of a daemon that root starts (default PCP_USER)',
    },
    { heading: 'Connection options' },
    {
      short: 'i',
      long: 'interface',
      arg: 'ADDR',
      help: 'listen on this address, not on loopback alone; may be repeated',
    },
    {
      short: 'p',
      long: 'port',
      arg: 'N',
      help: 'listen on this TCP port, or comma list of ports; may be repeated',
    },
    { short: 's', long: 'socket', arg: 'PATH', help: 'path of the unix socket' },
    {
      short: 'h',
      long: 'keyhost',
      arg: 'HOST',
      help: 'host of the key server that RESP is relayed to, where the configuration says so',
    },
    { short: 'r', long: 'keyport', arg: 'N', help: 'port of that key server (default 6379)' },
    {
      short: 'L',
      arg: 'BYTES',
      help: 'largest PDU that a client whose connection is forwarded may send (default 65536)',
    },
    // Their names before there were other key servers than Redis.
    { short: 'h', long: 'redishost', arg: 'HOST' },
    { short: 'r', long: 'redisport', arg: 'N' },
    { heading: 'Configuration options' },
    { short: 'c', long: 'config', arg: 'FILE', help: 'configuration file; alone when its path is absolute' },
    { heading: 'Access options' },
    { short: 'Q', long: 'reqcert', help: 'clients must present a certificate' },
    { short: 'S', long: 'reqauth', help: 'requests must name a user' },
    { heading: 'Diagnostic options' },
    { short: 'D', long: 'debug', arg: 'NAMES', help: 'debug options, see pmdbg -l' },
    { short: 'l', long: 'log', arg: 'FILE', help: 'log file (default pmproxy.log), - for standard error' },
    { short: 'T', long: 'terminate', arg: 'TIME', help: 'end after this time' },
    { short: 'x', arg: 'FILE', help: 'copy the log of a start that failed to this file' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Set for the process that a daemon's parent starts. */
const DAEMON_VARIABLE = 'PCP_TS_PMPROXY_DAEMON'

/** The command. */
export const tool: Tool = {
  name: 'pmproxy',
  summary: 'serve metrics over HTTP, and forward the protocol of PCP',
  description: `
Answers requests of PCP's REST API and of Prometheus about collectors, serves the page with charts to browsers, and forwards
connections of other PCP programs to collectors that only this host can reach. All of that on every port.

It listens on loopback alone unless -i says otherwise. Values can be stored only where the configuration says store = true in its section
[pmwebapi]. SIGINT and SIGTERM end it in good order.`,
  examples: [
    ['pmproxy -f -l -', 'In the foreground, on ports 44322 and 44323 of this host:'],
    ['pmproxy -i 0.0.0.0 -i ::', 'As a daemon that other hosts reach:'],
  ],
  seeAlso: ['pmcd', 'pminfo'],
  options: TABLE,
  run,
}

async function run(io: ToolIo): Promise<number> {
  const parsed = parseOptions(TABLE, io)
  const isDaemon = io.env[DAEMON_VARIABLE] !== undefined
  delete process.env[DAEMON_VARIABLE]
  const has = (name: string): boolean => parsed.given.some((option) => option.name === name)
  const settings = settingsOf(parsed, io, isDaemon || has('F'))
  const early = endEarly(TABLE, parsed, io)
  if (early !== undefined) return early
  if (!has('f') && !has('F') && !isDaemon) return startDaemon(io)
  const { runProxy } = await import('../pmproxy/main.ts')
  setProcessName(tool.name, io.args)
  return runProxy(settings, {
    env: io.env,
    cwd: io.cwd,
    signal: io.signal,
    pageDir: join(__dirname, '..', '..', 'share', 'web'),
    started: () => process.send?.({ isReady: true }),
    failed: (message) => {
      const text = `${io.progname}: ${message}\n`
      const copy = parsed.given.findLast((option) => option.name === 'x')?.value
      if (copy !== undefined) copyLog(settings.logPath, resolve(io.cwd, copy), text)
      if (isDaemon) process.send?.({ isReady: false, text })
      else io.stderr.write(text)
    },
  })
}

/** Leaves what the log says, or only why the start failed where there is no log to read, in a file that somebody looks at. */
function copyLog(log: string, to: string, text: string): void {
  let whole = text
  try {
    if (log !== '-') whole = readFileSync(log, 'utf8')
  } catch {
    // it could not be opened, which is what the text is about
  }
  writeFileSync(to, whole)
}

/** Checks every option; mistakes are added to `parsed.problems`. */
function settingsOf(
  { given, operands, problems }: ParsedOptions,
  io: ToolIo,
  isService: boolean,
): ProxySettings {
  const all = (name: string): string[] =>
    given.filter((option) => option.name === name).map(({ value }) => value)
  const last = (name: string): string | undefined => all(name).at(-1)
  if (operands.length > 0) problems.push(`too many arguments: "${operands.join(' ')}"`)
  const ports = all('p').flatMap((list) => {
    const found = parsePorts(list)
    if (found === undefined) problems.push(`-p requires a port or a comma list of ports, not "${list}"`)
    return found ?? []
  })
  const debug = [io.env['PCP_DEBUG'] ?? '', ...all('D')].filter((list) => {
    if (list !== '' && parseDebug(list) === undefined)
      problems.push(`unrecognized debug options specification (${list})`)
    return list !== ''
  })
  const number = (name: string, most: number): number | undefined => {
    const text = last(name)
    if (text === undefined) return undefined
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < 1 || value > most) {
      problems.push(`-${name} requires a positive number, not "${text}"`)
      return undefined
    }
    return value
  }
  const [keyHost, keyPort, mostPdu] = [last('h'), number('r', 65_535), number('L', 2 ** 31 - 1)]
  const log = last('l') ?? 'pmproxy.log'
  const [configName, socket, username, end] = [last('c'), last('s'), last('U'), last('T')]
  let endSec: number | undefined
  try {
    if (end !== undefined) endSec = parseInterval(end).sec
  } catch {
    problems.push(`-T requires a time, not "${end}"`)
  }
  return {
    ...(configName === undefined ? {} : { configName }),
    ...(socket === undefined ? {} : { socketPath: resolve(io.cwd, socket) }),
    ...(username === undefined ? {} : { username }),
    ...(endSec === undefined ? {} : { endSec }),
    ...(keyHost === undefined ? {} : { keyHost }),
    ...(keyPort === undefined ? {} : { keyPort }),
    ...(mostPdu === undefined ? {} : { mostPdu }),
    logPath: log === '-' ? log : resolve(io.cwd, log),
    ports,
    addresses: all('i'),
    debug: debug.join(','),
    isProxyOnly: last('d') !== undefined && last('t') === undefined,
    requiresUser: last('S') !== undefined,
    requiresCertificate: last('Q') !== undefined,
    isService,
  }
}

/** Starts the same command in a session of its own, and ends when that one serves clients or has failed. */
async function startDaemon(io: ToolIo): Promise<number> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...io.args], {
    cwd: io.cwd,
    detached: true,
    env: { ...io.env, [DAEMON_VARIABLE]: '1' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  return new Promise((done) => {
    child.once('message', (message) => {
      const { isReady, text = '' } = message as { isReady: boolean; text?: string }
      io.stderr.write(text)
      child.disconnect()
      child.unref()
      done(isReady ? 0 : 1)
    })
    child.once('exit', (code) => done(code ?? 1))
    child.once('error', (error) => {
      io.stderr.write(`${io.progname}: cannot start the daemon: ${error.message}\n`)
      done(1)
    })
  })
}
