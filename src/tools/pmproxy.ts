/** pmproxy: serves PCP over HTTP and forwards connections, in the foreground or as a daemon. pmproxy(1), docs/reference/pmproxy.md */
import { join, resolve } from 'node:path'
import { parseDebug } from '../model/debug.ts'
import { parsePorts } from '../net/listen.ts'
import type { ProxySettings } from '../pmproxy/settings.ts'
import { setProcessName } from '../sys/native/process-name.ts'
import { parseInterval } from '../time/interval.ts'
import { DAEMON, isDaemonProcess, startDaemon, startReports } from './lib/daemon.ts'
import {
  HELP_ROW,
  handleEarlyExit,
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
    DAEMON.advertise,
    { short: 'd', long: 'deprecated', help: 'only forward the protocol of PCP: no HTTP' },
    { short: 't', long: 'timeseries', help: 'serve HTTP as well, on port 44323 too (the default)' },
    DAEMON.foreground,
    DAEMON.systemd,
    DAEMON.username,
    { heading: 'Connection options' },
    {
      short: 'i',
      long: 'interface',
      arg: 'ADDR',
      help: 'listen on this address instead of loopback; may be repeated',
    },
    DAEMON.port,
    DAEMON.socket,
    {
      short: 'h',
      long: 'keyhost',
      arg: 'HOST',
      help: 'host of the key server for relayed RESP connections, if enabled in the configuration',
    },
    { short: 'r', long: 'keyport', arg: 'N', help: 'port of that key server (default 6379)' },
    {
      short: 'L',
      arg: 'BYTES',
      help: 'largest PDU accepted from a client of a forwarded connection (default 65536)',
    },
    // Names from the time when Redis was the only key server.
    { short: 'h', long: 'redishost', arg: 'HOST' },
    { short: 'r', long: 'redisport', arg: 'N' },
    { heading: 'Configuration options' },
    {
      short: 'c',
      long: 'config',
      arg: 'FILE',
      help: 'configuration file; the only one if the path is absolute',
    },
    { heading: 'Access options' },
    { short: 'Q', long: 'reqcert', help: 'clients must present a certificate' },
    { short: 'S', long: 'reqauth', help: 'requests must authenticate as a user' },
    { heading: 'Diagnostic options' },
    { short: 'D', long: 'debug', arg: 'NAMES', help: 'debug options, see pmdbg -l' },
    { short: 'l', long: 'log', arg: 'FILE', help: 'log file (default pmproxy.log), - for standard error' },
    { short: 'T', long: 'terminate', arg: 'TIME', help: 'end after this time' },
    DAEMON.copy,
    VERSION_ROW,
    HELP_ROW,
  ],
}

export const tool: Tool = {
  name: 'pmproxy',
  summary: 'serve metrics over HTTP, and forward the protocol of PCP',
  description: `
Serves PCP's REST API and Prometheus queries about collectors, serves the page with charts to browsers, and forwards connections of
other PCP programs to collectors that only this host can reach. All of that works on every port.

It listens only on loopback unless -i is given. Values can be changed only if the configuration has store = true in its section
[pmwebapi]. SIGINT and SIGTERM shut it down.`,
  examples: [
    ['pmproxy -f -l -', 'Run in the foreground, on ports 44322 and 44323 of this host:'],
    ['pmproxy -i 0.0.0.0 -i ::', 'Run as a daemon reachable from other hosts:'],
  ],
  seeAlso: ['pmcd', 'pminfo'],
  options: TABLE,
  shutsDownOnSignal: true,
  run,
}

async function run(io: ToolIo): Promise<number> {
  const parsed = parseOptions(TABLE, io)
  const isDaemon = isDaemonProcess(io)
  const has = (name: string): boolean => parsed.given.some((option) => option.name === name)
  const settings = settingsOf(parsed, io, isDaemon || has('F'))
  const early = handleEarlyExit(TABLE, parsed, io)
  if (early !== undefined) return early
  if (!has('f') && !has('F') && !isDaemon) return startDaemon(io)
  const { runProxy } = await import('../pmproxy/main.ts')
  setProcessName(tool.name, io.args)
  return runProxy(settings, {
    env: io.env,
    cwd: io.cwd,
    signal: io.signal,
    pageDir: join(__dirname, '..', '..', 'share', 'web'),
    ...startReports(parsed, { logPath: settings.logPath, isDaemon }, io),
  })
}

/** Checks every option; adds errors to `parsed.problems`. */
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
