/** `npm start`: collector, agents, recorder and web side for one user, in this process. docs/start.md */
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { join, relative } from 'node:path'
import { AGENTS } from '../agents/registry.ts'
import { VERSION } from '../base/version.ts'
import { PcpError } from '../model/errors.ts'
import { startCollector } from '../pmcd/collector.ts'
import { readHostLabels } from '../pmcd/labels.ts'
import { BUILTIN_AGENTS, builtinAgents } from '../pmcd/open-agents.ts'
import type { Collector, CollectorOptions } from '../pmcd/options.ts'
import { securityOf } from '../pmcd/security.ts'
import type { RunningProxy } from '../pmproxy/server.ts'
import { parsePcpConf, type Variables } from '../sys/config.ts'
import { openLog } from '../sys/log.ts'
import { peerCredentials } from '../sys/native/peer-credentials.ts'
import { DEFAULT_PORT, readOptions, type StartOptions } from './options.ts'
import { makePlace, type Place, planPlace, usableSocketPath } from './place.ts'
import { type RunningRecording, startRecording } from './start-recording.ts'
import { startWeb } from './web.ts'

/** What starting touches. */
export interface StartIo {
  readonly args: readonly string[]
  readonly env: Variables
  /** Where our commands are. */
  readonly binDir: string
  readonly cwd: string
  readonly platform: string
  /** A line for the user. */
  readonly say: (line: string) => void
}

/** What runs. */
export interface Started {
  readonly collector: Collector
  readonly place: Place
  /** Stops everything; idempotent. */
  close(): Promise<void>
}

const SYSTEM_CONF = '/etc/pcp.conf'

/** Starts everything the command line asks for; undefined when it only asked for help. Throws PcpError in one clear line. */
export async function start(io: StartIo): Promise<Started | undefined> {
  const options = readOptions(io.args, BUILTIN_AGENTS)
  if (typeof options === 'string') {
    io.say(options.trimEnd())
    return undefined
  }
  const agents = possibleAgents(options.agents, io)
  const installed = existsSync(SYSTEM_CONF) ? parsePcpConf(readFileSync(SYSTEM_CONF, 'utf8')) : {}
  const place = planPlace(options.dir, io.env, io.binDir, installed)
  makePlace(place)
  await checkPort(options)
  const log = openLog(place.logPath, { progname: 'pmcd', host: hostname() })
  const variables = { ...io.env, ...place.variables }
  const collectorOptions: CollectorOptions = {
    agents: builtinAgents(agents, options.threads).sort((a, b) => a.domain - b.domain),
    // Threads of our own: one that is slow to start, on a machine that is busy, is not one that never will.
    credsTimeoutSec: 60,
    ports: [options.port],
    ...endpointsOf(options),
    ...socketOf(place, io),
    hostname: hostname(),
    log,
    variables,
    peerCredentials: peerCredentials(),
    security: securityOf(variables, log),
    readLabels: () =>
      readHostLabels({ sysconfDir: place.variables['PCP_SYSCONF_DIR']!, hostname: hostname(), root: '/' }),
  }
  let collector: Collector
  try {
    collector = await startCollector(collectorOptions)
  } catch (error) {
    log.close()
    throw error
  }
  let recording: RunningRecording | undefined
  let web: RunningProxy | undefined
  const started: Started = {
    collector,
    place,
    close: async () => {
      await web?.close()
      // Before the collector: its last record asks it.
      await recording?.close()
      await collector.close()
      log.close()
    },
  }
  const failure = failureOf(collector)
  if (failure !== undefined) {
    await started.close()
    throw failure
  }
  if (options.records)
    recording = await startRecording({
      collector,
      place,
      options,
      variables,
      binDir: io.binDir,
      say: io.say,
    })
  web = await startWeb({
    collector,
    place,
    options,
    variables,
    binDir: io.binDir,
    historyDir: recording?.dir,
    say: io.say,
  })
  announce(started, { agents, installed, recording, options, web }, io)
  return started
}

/** The agents that can do their work here; the others are named. */
function possibleAgents(wanted: readonly string[], io: StartIo): readonly string[] {
  const platformOf = (name: string): string | undefined =>
    AGENTS.find((entry) => entry.name === name)?.platform
  const possible = wanted.filter((name) => (platformOf(name) ?? io.platform) === io.platform)
  for (const name of wanted)
    if (!possible.includes(name))
      io.say(`agent ${name} needs ${platformOf(name)}: left out on ${io.platform}`)
  if (possible.length === 0)
    throw new PcpError(
      'PM_ERR_ARG',
      `None of the agents ${wanted.join(', ')} works on ${io.platform}: choose others with --agents`,
    )
  return possible
}

function endpointsOf({ listen }: StartOptions): Partial<CollectorOptions> {
  if (listen === undefined) return { localOnly: true }
  return listen.includes('all') ? {} : { addresses: listen }
}

function socketOf(place: Place, io: StartIo): Partial<CollectorOptions> {
  if (io.platform === 'win32') return {}
  const socketPath = usableSocketPath(place)
  if (socketPath !== undefined) return { socketPath }
  io.say(`no unix socket: the path ${place.socketPath} is too long for one; a shorter --dir gives one`)
  return {}
}

/** Addresses of a kind that this machine, or the name given for one, does not have. */
const ABSENT: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** A taken port is the likeliest failure, so it gets its answer first and at once. */
async function checkPort({ port, listen }: StartOptions): Promise<void> {
  const isLoopback = listen === undefined || listen.includes('all')
  const failures = []
  const hosts = isLoopback ? ['127.0.0.1', '::1'] : listen
  for (const host of hosts) {
    const failure = await bindingFailure(port, host)
    if (failure === undefined) continue
    if (!isLoopback || !ABSENT.has(failure.code)) throw explainPort(failure, port, host)
    failures.push(failure)
  }
  if (failures.length === hosts.length) throw explainPort(failures[0]!, port, hosts[0])
}

function bindingFailure(port: number, host: string): Promise<PcpError | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve(PcpError.from(error)))
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}

/** Why it cannot be reached as it should; a machine may have but one of IPv4 and IPv6. */
function failureOf({ endpoints }: Collector): PcpError | undefined {
  const overIp = endpoints.filter(({ family }) => family !== 'unix')
  const lasting = overIp.find(({ error }) => error !== undefined && !ABSENT.has(error.code))
  if (lasting !== undefined) return lasting.error
  return overIp.some(({ error }) => error === undefined) ? undefined : overIp[0]?.error
}

function explainPort(error: PcpError, port: number, host: string | undefined): PcpError {
  const { code, text } = error
  const other = port === DEFAULT_PORT ? 44421 : port + 100
  if (code === 'EADDRINUSE') {
    const who = port === DEFAULT_PORT ? ' (by an installed PCP or another npm start)' : ''
    return new PcpError(code, `Port ${port} is taken${who}; use another: npm start -- --port ${other}`, {
      cause: error,
    })
  }
  if (code === 'EACCES')
    return new PcpError(
      code,
      `Port ${port} needs privileges; use another: npm start -- --port ${DEFAULT_PORT}`,
      { cause: error },
    )
  return new PcpError(code, `Cannot listen on ${host} port ${port}: ${text}`, { cause: error })
}

interface Announced {
  readonly agents: readonly string[]
  /** What an installed PCP's pcp.conf says. */
  readonly installed: object
  readonly recording: RunningRecording | undefined
  readonly options: StartOptions
  readonly web: RunningProxy | undefined
}

function announce({ collector, place }: Started, announced: Announced, io: StartIo): void {
  const { agents, installed, recording, options, web } = announced
  const { port } = collector
  const isOpen = (family: string): boolean =>
    collector.endpoints.some((each) => each.family === family && each.error === undefined)
  const bin = relative(io.cwd, io.binDir) || '.'
  // Without -h a client asks the socket of its own pcp.conf, then the default port.
  const isDefault = port === DEFAULT_PORT && Object.keys(installed).length === 0
  const host = isDefault ? '' : ` -h localhost:${port}`
  io.say(`pcp-ts ${VERSION}: collecting ${agents.join(', ')}`)
  if (web !== undefined) io.say(`  charts     http://localhost:${web.port}`)
  io.say(`  listening  localhost:${port}${isOpen('unix') ? ` and ${place.socketPath}` : ''}`)
  if (recording?.archive !== undefined)
    io.say(`  recording  ${recording.archive}   (kept ${options.keepDays} days; --no-record: not at all)`)
  io.say(`  log        ${place.logPath}`)
  io.say(`  settings   ${place.confPath}   (tools of either side: PCP_CONF=${place.confPath})`)
  io.say('')
  io.say('Type next, in another terminal:')
  io.say(`  ${join(bin, 'pminfo')}${host} -t`)
  io.say(`  ${join(bin, 'pminfo')}${host} -f kernel.all.load`)
  io.say(`  ${join(bin, 'pmval')}${host} -s 5 disk.dev.read`)
  if (recording?.archive !== undefined)
    io.say(
      `  ${join(bin, 'pmval')} -a ${recording.dir} kernel.all.load   (what was recorded, after a minute)`,
    )
  io.say('')
  io.say('Ctrl-C stops everything.')
}
