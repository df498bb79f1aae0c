/** `pcp-ts start` and `npm start`: supervises collector, agents, recorder and web side for one user. docs/start/npm-start.md */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { AGENTS } from '../agents/registry.ts'
import { onAbort } from '../base/on-abort.ts'
import type { RetryTimes } from '../base/retry.ts'
import { VERSION } from '../base/version.ts'
import { PcpError } from '../model/errors.ts'
import { parsePcpConf, type Variables } from '../sys/config.ts'
import type { InstancePart } from '../sys/instances.ts'
import {
  createDirectories,
  planDirectories,
  planSystemDirectories,
  type StartDirectories,
  usableSocketPath,
} from './directories.ts'
import { instanceFacts, type PublishedInstance, publishInstance } from './instance.ts'
import { openPart } from './part-process.ts'
import type {
  AlertsReport,
  ChartsReport,
  CollectorAddress,
  PartName,
  PartReports,
  PartSetup,
  RecorderReport,
} from './parts.ts'
import { checkPort } from './ports.ts'
import type { StartOptions } from './settings.ts'
import { Supervisor } from './supervisor.ts'
import { chartsLink, linkPath, newOwnerKey, writeLink } from './web.ts'

/** Environment of `start`. */
export interface StartIo {
  readonly env: Variables
  /** Directory of our commands. */
  readonly binDir: string
  /** Directory of the parts' programs. */
  readonly partsDir: string
  /** What precedes the names of our commands, where the user runs them. */
  readonly tools: string
  readonly platform: string
  /** Prints a line for the user. */
  readonly say: (line: string) => void
  /** Output goes to a terminal and not to a log. */
  readonly isTerminal: boolean
  /** Run by a service manager, for no user in particular. */
  readonly isService: boolean
  /** Stops all parts, even while they start. */
  readonly signal: AbortSignal
}

/** The running system. */
export interface Started {
  /** One line about what runs where. */
  readonly summary: string
  /** Stops everything; idempotent. */
  close(): Promise<void>
}

const SYSTEM_CONF = '/etc/pcp.conf'
/** Longest delay in milliseconds before a part, or an agent in a thread, is restarted; shortened in tests. */
const RESTART_MS = 'PCP_TS_RESTART_MS'

/** Starts everything. Rejects with a one-line PcpError. */
export async function start(options: StartOptions, io: StartIo): Promise<Started> {
  const agents = possibleAgents(options.agents, io)
  const installed = existsSync(SYSTEM_CONF) ? parsePcpConf(readFileSync(SYSTEM_CONF, 'utf8')) : {}
  const place = options.usesSystemDirs
    ? planSystemDirectories(io.env, io.binDir, installed)
    : planDirectories(options.dir, io.env, io.binDir, installed)
  await createDirectories(place, options)
  await checkPort(options)
  const parts = new Parts(setupOf(options, agents, place, io), io)
  const unlink = onAbort(io.signal, () => void parts.close())
  try {
    throwIfStopped(io.signal)
    const ran = await parts.start()
    throwIfStopped(io.signal)
    parts.publish(ran)
    parts.summary = summaryOf(ran)
    announce(ran, { agents, options, place, ownerKey: parts.ownerKey }, io)
    return parts
  } catch (error) {
    await parts.close()
    throw error
  } finally {
    unlink()
  }
}

function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) throw new PcpError('ECANCELED', 'Stopped before everything had started')
}

function setupOf(
  options: StartOptions,
  agents: readonly string[],
  place: StartDirectories,
  io: StartIo,
): PartSetup {
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

/** The parts' processes, in order of dependency. */
class Parts implements Started {
  summary = ''
  readonly #setup: PartSetup
  readonly #io: StartIo
  readonly #supervisors: Pick<Supervisor<unknown>, 'stop'>[] = []
  #collector: CollectorAddress | undefined
  #webPort: number | undefined
  readonly ownerKey: string = newOwnerKey()
  #published: PublishedInstance | undefined
  /** State of the parts before and after publishing. */
  readonly #states = new Map<PartName, InstancePart>()
  #addressKnown = (): void => {}
  readonly #hasAddress = new Promise<void>((resolve) => {
    this.#addressKnown = resolve
  })
  #closing: Promise<void> | undefined

  constructor(setup: PartSetup, io: StartIo) {
    this.#setup = setup
    this.#io = io
  }

  /** Starts all parts in parallel; the others wait for the collector's address. Rejects if the collector cannot start. */
  async start(): Promise<PartReports> {
    const collecting = this.#supervise<CollectorAddress>('collector', (address) => {
      this.#collector = address
      this.#addressKnown()
    }).start()
    const recording = this.#setup.options.records
      ? this.#supervise<RecorderReport>('recorder').start()
      : undefined
    const charting = this.#setup.options.charts
      ? this.#supervise<ChartsReport>('charts', ({ port }) => {
          this.#webPort = port
        }).start()
      : undefined
    const alerting = this.#setup.options.alerts ? this.#supervise<AlertsReport>('alerts').start() : undefined
    const collector = await collecting
    if (collector instanceof PcpError) throw collector
    const [recorder, charts, alerts] = await Promise.all([recording, charting, alerting])
    if (recorder instanceof PcpError && recorder.code !== 'ECHILD')
      this.#io.say(`not recording: ${recorder.message}`)
    if (charts instanceof PcpError && charts.code !== 'ECHILD') this.#io.say(`no charts: ${charts.message}`)
    if (alerts instanceof PcpError && alerts.code !== 'ECHILD') this.#io.say(`no alerts: ${alerts.message}`)
    return {
      collector,
      recorder: recorder instanceof PcpError ? undefined : recorder,
      charts: charts instanceof PcpError ? undefined : charts,
    }
  }

  /** Makes this instance known to commands. A directory that cannot hold the record is reported. */
  publish(reports: PartReports): void {
    const { place } = this.#setup
    try {
      const facts = instanceFacts(reports, this.#setup)
      this.#published = publishInstance(place.variables['PCP_RUN_DIR']!, facts, this.#io.env)
    } catch (error) {
      this.#io.say(`not listed by "pcp-ts status": ${PcpError.from(error).message}`)
    }
    for (const part of this.#states.values()) this.#published?.setPart(part)
  }

  close(): Promise<void> {
    this.#closing ??= this.#stop()
    return this.#closing
  }

  async #stop(): Promise<void> {
    this.#published?.close()
    const [collector, ...others] = this.#supervisors
    // Before the collector, from which the recorder fetches its last record.
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
      onStarted: (report, pid) => {
        onStarted(report)
        this.#setState(pid === undefined ? { name } : { name, pid })
      },
      onFailed: (problem) => this.#setState({ name, problem }),
      times,
    })
    this.#supervisors.push(supervisor)
    return supervisor
  }

  #setState(part: InstancePart & { readonly name: PartName }): void {
    this.#states.set(part.name, part)
    this.#published?.setPart(part)
  }

  async #setupFor(name: PartName): Promise<PartSetup> {
    if (name !== 'collector') await this.#hasAddress
    const collector = this.#collector
    if (collector === undefined) return this.#setup
    const { ownerKey } = this
    // A restarted part keeps its port, even if it was chosen by the kernel.
    const { port } = collector
    const webPort = this.#webPort ?? this.#setup.options.webPort
    const key = name === 'charts' ? { ownerKey } : {}
    return { ...this.#setup, ...key, collector, options: { ...this.#setup.options, port, webPort } }
  }
}

/** Returns the agents that work on this platform; prints the others. */
function possibleAgents(wanted: readonly string[], io: StartIo): readonly string[] {
  const platformOf = (name: string): string | undefined =>
    AGENTS.find((entry) => entry.name === name)?.platform
  const possible = wanted.filter((name) => (platformOf(name) ?? io.platform) === io.platform)
  for (const name of wanted)
    if (!possible.includes(name))
      io.say(`agent ${name} needs ${platformOf(name)}: not started on ${io.platform}`)
  if (possible.length === 0)
    throw new PcpError(
      'PM_ERR_ARG',
      `None of the agents ${wanted.join(', ')} works on ${io.platform}: choose others with --agents`,
    )
  return possible
}

function socketOf(place: StartDirectories, io: StartIo): string | undefined {
  if (io.platform === 'win32') return undefined
  const socketPath = usableSocketPath(place)
  if (socketPath !== undefined) return socketPath
  io.say(`no unix socket: the path ${place.socketPath} is too long; use a shorter --dir`)
  return undefined
}

function summaryOf({ collector, recorder, charts }: PartReports): string {
  const parts = [
    `collecting on port ${collector.port}`,
    recorder?.archive === undefined ? undefined : `recording ${recorder.archive}`,
    charts === undefined ? undefined : `charts on port ${charts.port}`,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}

interface Announced {
  readonly agents: readonly string[]
  readonly options: StartOptions
  readonly place: StartDirectories
  readonly ownerKey: string
}

function announce(
  { collector, recorder, charts }: PartReports,
  { agents, options, place, ownerKey }: Announced,
  io: StartIo,
): void {
  const { port, hasSocket } = collector
  io.say(`pcp-ts ${VERSION}: collecting ${agents.join(', ')}`)
  if (charts !== undefined) {
    io.say(`  charts     http://localhost:${charts.port}`)
    const link = chartsLink(charts.port, ownerKey)
    writeLink(linkPath(place), link)
    io.say(`  signed in  ${io.isTerminal ? link : `by the link in ${linkPath(place)}`}`)
  }
  io.say(`  listening  localhost:${port}${hasSocket ? ` and ${place.socketPath}` : ''}`)
  if (recorder?.archive !== undefined)
    io.say(`  recording  ${recorder.archive}   (kept ${options.keepDays} days; --no-record turns it off)`)
  if (!options.logsToOutput) io.say(`  log        ${place.logPath}`)
  io.say(`  settings   ${place.confPath}   (for our tools and PCP's: PCP_CONF=${place.confPath})`)
  if (options.logsToOutput || io.isService) return
  io.say('')
  io.say('Try in another terminal:')
  io.say(`  ${io.tools}pminfo -t`)
  io.say(`  ${io.tools}pminfo -f kernel.all.load`)
  io.say(`  ${io.tools}pmval -s 5 disk.dev.read`)
  if (recorder?.archive !== undefined)
    io.say(`  ${io.tools}pmval -a ${recorder.dir} kernel.all.load   (recorded values, after a minute)`)
  io.say('')
  io.say('Ctrl-C stops everything.')
}
