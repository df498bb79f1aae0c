/**
 * A container without a collector: records collectors of other hosts in one process, and shows their archives and live values.
 *
 *     look every 30 s ──hosts or day changed──► write the farm file, restart pmlogger ──► look...
 */
import { join } from 'node:path'
import { directoryOf } from '../../../discovery/host.ts'
import { PcpError } from '../../../model/errors.ts'
import { SYSTEM_CLOCK } from '../../../pmapi/clock.ts'
import { createDirectories, planDirectories, type StartDirectories } from '../../../start/directories.ts'
import { storedArchives, tidyArchives } from '../../../start/retention.ts'
import { CONTAINER_COMMAND } from '../../../start/settings.ts'
import { Supervisor } from '../../../start/supervisor.ts'
import type { Variables } from '../../../sys/config.ts'
import { makeDir } from '../../../sys/make-dir.ts'
import { replaceFile } from '../../../sys/replace-file.ts'
import { type CommandLine, openCommand } from './command-process.ts'
import { type ContainerSettings, MAX_HOSTS } from './environment.ts'
import { type FarmHost, farmText, uniqueHosts } from './farm-text.ts'
import { writeProxyConf } from './files.ts'
import type { ContainerIo } from './io.ts'
import { Nodes, networkNodes } from './nodes.ts'

const LOOK_MS = 30_000
/** Shortest time between restarts for new hosts: archives are named by the minute. */
const RESTART_MS = 60_000
const TIDY_MS = 3_600_000
const DAY_MS = 86_400_000

/** Runs until `io.signal` is aborted. */
export async function runOtherCollectors(settings: ContainerSettings, io: ContainerIo): Promise<void> {
  const { binDir, signal, stopped } = io
  const place = planDirectories(settings.dir, settings.variables, binDir, {})
  await createDirectories(place, { command: CONTAINER_COMMAND, records: true })
  const farm = new Farm(settings, place, io)
  const tidying = keepTidy(settings, place, io)
  while (!signal.aborted) {
    await farm.update()
    await pause(LOOK_MS, signal)
  }
  await stopped
  await Promise.all([farm.close(), tidying])
}

/** The processes, restarted when the hosts change. */
class Farm {
  readonly #settings: ContainerSettings
  readonly #place: StartDirectories
  readonly #io: ContainerIo
  readonly #env: Variables
  readonly #nodes: Nodes | undefined
  readonly #fixed: readonly FarmHost[]
  #running: Supervisor<undefined>[] = []
  /** The hosts and the day for which the processes were started. */
  #startedFor = ''
  #startedMs = Number.NEGATIVE_INFINITY

  constructor(settings: ContainerSettings, place: StartDirectories, io: ContainerIo) {
    const { variables, nodes, port, hosts } = settings
    this.#settings = settings
    this.#place = place
    this.#io = io
    // PMPROXY_LOCAL=0: on all interfaces, unless addresses are named.
    this.#env = { PMPROXY_LOCAL: '0', ...variables, PCP_CONF: place.confPath }
    this.#nodes = nodes === undefined ? undefined : new Nodes(nodes, port, networkNodes(variables, io.say))
    this.#fixed = hosts.map((spec) => ({ spec, name: directoryOf(spec) }))
  }

  /** Looks for hosts, and restarts the processes if there are others or a new day has begun. */
  async update(): Promise<void> {
    const { signal, say } = this.#io
    const found = (await this.#nodes?.find(signal)) ?? []
    const hosts = uniqueHosts([...found, ...this.#fixed]).slice(0, MAX_HOSTS)
    const wanted = JSON.stringify([new Date().toDateString(), hosts])
    if (signal.aborted || wanted === this.#startedFor || performance.now() - this.#startedMs < RESTART_MS)
      return
    await this.#stop()
    this.#startedFor = wanted
    this.#startedMs = performance.now()
    say(hosts.length === 0 ? 'no collectors found yet' : `hosts: ${hosts.map(({ name }) => name).join(', ')}`)
    await this.#start(hosts)
  }

  async close(): Promise<void> {
    await this.#stop()
  }

  async #start(hosts: readonly FarmHost[]): Promise<void> {
    const { services } = this.#settings
    if (services.has('pmlogger') && hosts.length > 0) await this.#run(this.#recorder(hosts))
    if (services.has('pmproxy')) await this.#run(this.#web(hosts))
    if (services.has('pmie'))
      this.#io.say('pmie: not started without pmcd in PCP_SERVICES; run it beside each collector')
  }

  async #run(line: CommandLine): Promise<void> {
    const { binDir, say } = this.#io
    const supervisor = new Supervisor({ name: line.name, open: () => openCommand(binDir, line), say })
    this.#running.push(supervisor)
    await supervisor.start()
  }

  async #stop(): Promise<void> {
    const running = this.#running
    this.#running = []
    await Promise.all(running.map((each) => each.stop()))
  }

  #recorder(hosts: readonly FarmHost[]): CommandLine {
    const { variables, archiveDir } = this.#place
    const config = join(this.#io.binDir, '..', 'share', 'pmlogger', 'config.default')
    const file = join(variables['PCP_RUN_DIR']!, 'farm')
    for (const { name } of hosts) makeDir(join(archiveDir, name), 0o755)
    replaceFile(file, farmText(hosts, archiveDir, config))
    return { name: 'pmlogger', args: ['--farm', file, '-l', '-'], env: this.#env }
  }

  #web(hosts: readonly FarmHost[]): CommandLine {
    const { listen, names, webPort } = this.#settings
    writeProxyConf(this.#place, { names, hosts: hosts.map(({ spec }) => spec) })
    const conf = join(this.#place.variables['PCP_SYSCONF_DIR']!, 'pmproxy', 'pmproxy.conf')
    const addresses = listen.includes('all') ? [] : listen.flatMap((address) => ['-i', address])
    return {
      name: 'pmproxy',
      args: ['-f', '-l', '-', '-c', conf, '-p', String(webPort), ...addresses],
      env: this.#env,
    }
  }
}

/** Compresses and removes old archives of all hosts, present and former. */
async function keepTidy(
  { keepDays, keepBytes }: ContainerSettings,
  { archiveDir }: StartDirectories,
  { signal, say }: ContainerIo,
): Promise<void> {
  const { readdirSync } = process.getBuiltinModule('node:fs')
  const policy = { compressAfterMs: DAY_MS, keepMs: keepDays * DAY_MS, keepBytes }
  while (!signal.aborted) {
    try {
      makeDir(archiveDir, 0o755)
      for (const entry of readdirSync(archiveDir, { withFileTypes: true })) {
        if (!entry.isDirectory()) continue
        const dir = join(archiveDir, entry.name)
        // The newest archive of a host may be the one being written.
        const inUse = storedArchives(dir).at(-1)?.name
        const { problems } = await tidyArchives(dir, policy, {
          nowMs: Date.now(),
          inUse: () => inUse,
          signal,
        })
        for (const problem of problems) say(problem)
      }
    } catch (error) {
      say(`archives: ${PcpError.from(error).message}`)
    }
    await pause(TIDY_MS, signal)
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await SYSTEM_CLOCK.sleep(ms, signal).catch(() => {})
}
