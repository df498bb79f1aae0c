/** `npm start`: collector, agents, recorder and web side for one user, kept alive from this process. docs/start.md */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { AGENTS } from '../agents/registry.ts'
import { onAbort } from '../base/on-abort.ts'
import type { RetryTimes } from '../base/retry.ts'
import { VERSION } from '../base/version.ts'
import { PcpError } from '../model/errors.ts'
import { BUILTIN_AGENTS } from '../pmcd/open-agents.ts'
import { parsePcpConf, type Variables } from '../sys/config.ts'
import { DEFAULT_PORT, readOptions, type StartOptions } from './options.ts'
import { openPart } from './part-process.ts'
import type { ChartsReport, CollectorAddress, PartName, PartSetup, RecorderReport } from './parts.ts'
import { makePlace, type Place, planPlace, usableSocketPath } from './place.ts'
import { checkPort } from './ports.ts'
import { Supervisor } from './supervisor.ts'
import { chartsLink, linkPath, newOwnerKey, writeLink } from './web.ts'

/** What starting touches. */
export interface StartIo {
  readonly args: readonly string[]
  readonly env: Variables
  /** Where our commands are. */
  readonly binDir: string
  /** Where the programs of the parts are. */
  readonly partsDir: string
  readonly cwd: string
  readonly platform: string
  /** A line for the user. */
  readonly say: (line: string) => void
  /** Is it shown to the user alone, and not kept in a log? */
  readonly isTerminal: boolean
  /** Ends all parts, also while they start. */
  readonly signal: AbortSignal
}

/** What runs. */
export interface Started {
  /** Stops everything; idempotent. */
  close(): Promise<void>
}

const SYSTEM_CONF = '/etc/pcp.conf'
/** Longest time in milliseconds until a part, or an agent in a thread, is started again: tests do not wait for minutes. */
const RESTART_MS = 'PCP_TS_RESTART_MS'

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
  const parts = new Parts(setupOf(options, agents, place, io), io)
  const unlink = onAbort(io.signal, () => void parts.close())
  try {
    throwIfStopped(io.signal)
    const ran = await parts.start()
    throwIfStopped(io.signal)
    announce(ran, { agents, installed, options, place, ownerKey: parts.ownerKey }, io)
    return parts
  } catch (error) {
    await parts.close()
    throw error
  } finally {
    unlink()
  }
}

function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) throw new PcpError('ECANCELED', 'npm start was stopped before it had started')
}

function setupOf(options: StartOptions, agents: readonly string[], place: Place, io: StartIo): PartSetup {
  const socketPath = socketOf(place, io)
  const restartMs = restartTime(io.env)
  const variables: Record<string, string> = { ...place.variables }
  for (const [name, value] of Object.entries(io.env)) if (value !== undefined) variables[name] ??= value
  return {
    options,
    agents,
    place,
    variables,
    binDir: io.binDir,
    ...(socketPath === undefined ? {} : { socketPath }),
    ...(restartMs === undefined ? {} : { restartMs }),
  }
}

function restartTime(env: Variables): number | undefined {
  const text = env[RESTART_MS]
  return text !== undefined && /^\d{1,8}$/.test(text) ? Math.max(1, Number(text)) : undefined
}

/** What the parts reported when they started. */
interface Ran {
  readonly collector: CollectorAddress
  /** Undefined when nothing is recorded. */
  readonly recorder: RecorderReport | undefined
  /** Undefined without charts. */
  readonly charts: ChartsReport | undefined
}

/** The processes, in the order in which they need each other. */
class Parts implements Started {
  readonly #setup: PartSetup
  readonly #io: StartIo
  readonly #supervisors: Pick<Supervisor<unknown>, 'stop'>[] = []
  #collector: CollectorAddress | undefined
  #webPort: number | undefined
  readonly ownerKey: string = newOwnerKey()
  #addressKnown = (): void => {}
  readonly #hasAddress = new Promise<void>((resolve) => {
    this.#addressKnown = resolve
  })
  #closing: Promise<void> | undefined

  constructor(setup: PartSetup, io: StartIo) {
    this.#setup = setup
    this.#io = io
  }

  /** Starts all at the same time; the others wait for the collector's address. Rejects when the collector cannot start. */
  async start(): Promise<Ran> {
    const collecting = this.#supervise<CollectorAddress>('collector', (address) => {
      this.#collector = address
      this.#addressKnown()
    }).start()
    const recording = this.#setup.options.records
      ? this.#supervise<RecorderReport>('recorder').start()
      : undefined
    const charting = this.#supervise<ChartsReport>('charts', ({ port }) => {
      this.#webPort = port
    }).start()
    const collector = await collecting
    if (collector instanceof PcpError) throw collector
    const [recorder, charts] = await Promise.all([recording, charting])
    if (recorder instanceof PcpError && recorder.code !== 'ECHILD')
      this.#io.say(`not recording: ${recorder.message}`)
    if (charts instanceof PcpError && charts.code !== 'ECHILD') this.#io.say(`no charts: ${charts.message}`)
    return {
      collector,
      recorder: recorder instanceof PcpError ? undefined : recorder,
      charts: charts instanceof PcpError ? undefined : charts,
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#stop()
    return this.#closing
  }

  async #stop(): Promise<void> {
    const [collector, ...others] = this.#supervisors
    // Before the collector: the recorder fetches its last record from it.
    await Promise.all(others.map((part) => part.stop()))
    await collector?.stop()
    rmSync(linkPath(this.#setup.place), { force: true })
  }

  #supervise<R>(name: PartName, onStarted: (report: R) => void = () => {}): Supervisor<R> {
    const { partsDir, say } = this.#io
    const { restartMs } = this.#setup
    const times: RetryTimes = restartMs === undefined ? {} : { firstMs: restartMs, longestMs: restartMs }
    const program = join(partsDir, `start-${name}.cjs`)
    const supervisor = new Supervisor<R>({
      name,
      open: () => openPart<R>(program, this.#setupFor(name), say),
      say,
      onStarted,
      times,
    })
    this.#supervisors.push(supervisor)
    return supervisor
  }

  async #setupFor(name: PartName): Promise<PartSetup> {
    if (name !== 'collector') await this.#hasAddress
    const collector = this.#collector
    if (collector === undefined) return this.#setup
    const { ownerKey } = this
    // A restarted part keeps its port, also where any free one was requested.
    const { port } = collector
    const webPort = this.#webPort ?? this.#setup.options.webPort
    const key = name === 'charts' ? { ownerKey } : {}
    return { ...this.#setup, ...key, collector, options: { ...this.#setup.options, port, webPort } }
  }
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

function socketOf(place: Place, io: StartIo): string | undefined {
  if (io.platform === 'win32') return undefined
  const socketPath = usableSocketPath(place)
  if (socketPath !== undefined) return socketPath
  io.say(`no unix socket: the path ${place.socketPath} is too long for one; a shorter --dir gives one`)
  return undefined
}

interface Announced {
  readonly agents: readonly string[]
  /** What an installed PCP's pcp.conf says. */
  readonly installed: object
  readonly options: StartOptions
  readonly place: Place
  readonly ownerKey: string
}

function announce(
  { collector, recorder, charts }: Ran,
  { agents, installed, options, place, ownerKey }: Announced,
  io: StartIo,
): void {
  const { port, hasSocket } = collector
  const bin = relative(io.cwd, io.binDir) || '.'
  // Without -h a client asks the socket of its own pcp.conf, then the default port.
  const isDefault = port === DEFAULT_PORT && Object.keys(installed).length === 0
  const host = isDefault ? '' : ` -h localhost:${port}`
  io.say(`pcp-ts ${VERSION}: collecting ${agents.join(', ')}`)
  if (charts !== undefined) {
    io.say(`  charts     http://localhost:${charts.port}`)
    const link = chartsLink(charts.port, ownerKey)
    writeLink(linkPath(place), link)
    io.say(`  signed in  ${io.isTerminal ? link : `by the link in ${linkPath(place)}`}`)
  }
  io.say(`  listening  localhost:${port}${hasSocket ? ` and ${place.socketPath}` : ''}`)
  if (recorder?.archive !== undefined)
    io.say(`  recording  ${recorder.archive}   (kept ${options.keepDays} days; --no-record: not at all)`)
  io.say(`  log        ${place.logPath}`)
  io.say(`  settings   ${place.confPath}   (tools of either side: PCP_CONF=${place.confPath})`)
  io.say('')
  io.say('Type next, in another terminal:')
  io.say(`  ${join(bin, 'pminfo')}${host} -t`)
  io.say(`  ${join(bin, 'pminfo')}${host} -f kernel.all.load`)
  io.say(`  ${join(bin, 'pmval')}${host} -s 5 disk.dev.read`)
  if (recorder?.archive !== undefined)
    io.say(`  ${join(bin, 'pmval')} -a ${recorder.dir} kernel.all.load   (what was recorded, after a minute)`)
  io.say('')
  io.say('Ctrl-C stops everything.')
}
