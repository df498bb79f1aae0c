/** pmcd: the collector, in the foreground or as a daemon. pmcd(1) */
import { resolve } from 'node:path'
import { parseDebug } from '../model/debug.ts'
import { parsePorts } from '../net/listen.ts'
import type { CollectorSettings } from '../pmcd/settings.ts'
import { setProcessName } from '../sys/native/process-name.ts'
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
    DAEMON.foreground,
    DAEMON.systemd,
    { short: 'H', long: 'hostname', arg: 'HOST', help: 'name of this host reported to clients' },
    { short: 'i', long: 'interface', arg: 'ADDR', help: 'listen on this address only; may be repeated' },
    DAEMON.port,
    DAEMON.socket,
    DAEMON.username,
    { heading: 'Configuration options' },
    { short: 'c', long: 'config', arg: 'FILE', help: 'configuration file; FILE.access adds access rules' },
    { short: 'C', arg: 'N', help: 'maximum number of contexts per client (default 64)' },
    { short: 'L', arg: 'BYTES', help: 'largest PDU accepted from a client (default 65536)' },
    { short: 'M', arg: 'N', help: 'maximum number of metrics per fetch (default 32768)' },
    { short: 'n', long: 'namespace', arg: 'FILE', help: 'name space file' },
    {
      short: 'N',
      long: 'uniqnames',
      arg: 'FILE',
      help: 'name space file; each PMID must have a single name',
    },
    { short: 'q', arg: 'SEC', help: 'timeout of the handshake with an agent (default 3)' },
    { short: 't', arg: 'SEC', help: "timeout of an agent's reply, 0 for none (default 5)" },
    { short: 'v', long: 'verify', help: 'check the configuration and exit' },
    { heading: 'Access options' },
    { short: 'Q', long: 'reqcert', help: 'clients of other hosts must present a certificate' },
    { short: 'S', long: 'reqauth', help: 'clients must authenticate or connect by unix socket' },
    { heading: 'Diagnostic options' },
    { short: 'D', long: 'debug', arg: 'NAMES', help: 'debug options for the log, see pmdbg -l' },
    { short: 'l', long: 'log', arg: 'FILE', help: 'log file (default pmcd.log), - for standard error' },
    {
      short: 'T',
      arg: 'MASK',
      help: 'event trace: sum of 1 for connections, 2 for PDUs, 256 to write each event at once',
    },
    DAEMON.copy,
    VERSION_ROW,
    HELP_ROW,
  ],
}

export const tool: Tool = {
  name: 'pmcd',
  summary: 'collect performance metrics from agents and serve them',
  description: `
Collects performance metrics: starts the agents of its configuration, in its own process, in threads or as processes, combines
their metrics, and serves clients on TCP ports and on a unix socket. Access rules in the configuration control who may do what.

SIGHUP makes it reread its configuration, the name space and label files and restart agents that have died; SIGINT and SIGTERM shut
it down. It serves metrics about itself, and keeps a trace of the last connections and PDUs for its log.

Labels of the host are in files of $PCP_SYSCONF_DIR/labels, each a JSON object such as {"rack":"b7"}; those in its directory
optional are annotations that are not part of the identity of metrics.`,
  examples: [
    [
      'pmcd -f -p 44400 -s /tmp/pmcd.socket -l -',
      'Run in the foreground with a separate port, socket and log:',
    ],
  ],
  environment: [
    ['PMCD_PORT', 'comma-separated ports to listen on if -p is not given (default 44321)'],
    ['PMCD_SOCKET', 'unix socket to listen on if -s is not given (default $PCP_RUN_DIR/pmcd.socket)'],
    ['PMCD_LOCAL', 'if not 0, listen on loopback only'],
    ['PMCD_MAXPENDING', 'connections that may wait to be accepted (default 1024)'],
    ['PMCD_CREDS_TIMEOUT', 'like -q, if that is not given'],
    ['PMCD_RESTART_AGENTS', '0: do not restart agents that died'],
    ['PCP_DEBUG', 'like -D, if that is not given'],
  ],
  seeAlso: ['pmcd_wait', 'pminfo', 'pmpasswd'],
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
  if (!has('f') && !has('F') && !has('v') && !isDaemon) return startDaemon(io)
  // Loading the collector with its agents is slow; help, version and the parent of a daemon do not need it.
  const { runCollector, verifyConfiguration } = await import('../pmcd/main.ts')
  if (has('v')) return verifyConfiguration(settings, io.env, (text) => io.stderr.write(`${text}\n`))
  setProcessName(tool.name, io.args)
  return runCollector(settings, {
    env: io.env,
    signal: io.signal,
    ...startReports(parsed, { logPath: settings.logPath, isDaemon }, io),
  })
}

/** Checks every option; adds errors to `parsed.problems`. */
function settingsOf(parsed: ParsedOptions, io: ToolIo, isService: boolean): CollectorSettings {
  const { given, operands, problems } = parsed
  const all = (name: string): string[] =>
    given.filter((option) => option.name === name).map(({ value }) => value)
  const last = (name: string): string | undefined => all(name).at(-1)
  const path = (name: string): string | undefined => {
    const value = last(name)
    return value === undefined ? undefined : resolve(io.cwd, value)
  }
  const number = (name: string, least: number): number | undefined => {
    const text = last(name)
    if (text === undefined) return undefined
    if (/^\d+$/.test(text) && Number(text) >= least) return Number(text)
    problems.push(`-${name} requires a whole number, at least ${least}, not "${text}"`)
    return undefined
  }
  if (operands.length > 0) problems.push(`too many arguments: "${operands.join(' ')}"`)
  const ports = all('p').flatMap((list) => {
    const found = parsePorts(list)
    if (found === undefined) problems.push(`-p requires a port or a comma list of ports, not "${list}"`)
    return found ?? []
  })
  const fromEnvironment = parseDebug(io.env['PCP_DEBUG'] ?? '') ?? []
  const debug = all('D').flatMap((list) => {
    const names = parseDebug(list)
    if (names === undefined) problems.push(`unrecognized debug options specification (${list})`)
    return [...(names ?? [])]
  })
  const log = last('l') ?? 'pmcd.log'
  return defined({
    configPath: path('c'),
    pmnsPath: path('N') ?? path('n'),
    isPmnsUnique: last('N') !== undefined,
    hostname: last('H'),
    logPath: log === '-' ? log : resolve(io.cwd, log),
    ports,
    addresses: all('i'),
    socketPath: path('s'),
    requiresCertificate: last('Q') !== undefined,
    requiresUser: last('S') !== undefined,
    timeoutSec: number('t', 0),
    credsTimeoutSec: number('q', 1),
    pduBytes: number('L', 1),
    contexts: number('C', 1),
    metrics: number('M', 1),
    traceMask: number('T', 0) ?? 0,
    debug: new Set([...fromEnvironment, ...debug]),
    isService,
    username: last('U'),
  })
}

/** Copies options with a value, omitting undefined ones. */
function defined<T extends object>(
  settings: T,
): { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: NonNullable<T[K]>
} {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never
}
