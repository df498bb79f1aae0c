/**
 * Records many collectors in one process: one logger each, with shared data kept once. docs/reference/pmlogger.md
 *
 *     farm file, sources ──► FarmHosts ──hosts──► FarmMembers ──► one FarmMember, and Logger, for each host
 *     shared state ────────► Share ─────owned hosts──┘
 */
import { setMaxListeners } from 'node:events'
import { RecordBuffer } from '../archive/write/record-buffer.ts'
import { setLongTimeout } from '../base/after.ts'
import { Semaphore } from '../base/semaphore.ts'
import { traceTo } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { serviceAccount, switchToAccount } from '../net/access/account.ts'
import { type Clock, SYSTEM_CLOCK } from '../pmapi/clock.ts'
import type { Context } from '../pmapi/context.ts'
import { openShare, type Share } from '../sharing/open-share.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import { notifyReady } from '../sys/service-files.ts'
import { uptimeMs } from '../sys/uptime.ts'
import type { LoggerConfig } from './config.ts'
import { FarmHosts } from './farm-hosts.ts'
import type { FarmShared } from './farm-member.ts'
import { FarmMembers } from './farm-members.ts'
import { InternPool } from './pool.ts'
import { openProcessLog } from './process-log.ts'
import type { ProcessSettings } from './process-settings.ts'
import { readLoggerConfig } from './read-config.ts'
import { SelfMetrics } from './self-metrics.ts'
import { ProcessSignals } from './signals.ts'
import { watchProcess } from './watch-process.ts'

/** Environment of a farm. */
export interface FarmIo {
  readonly env: Variables
  readonly cwd: string
  /** Shuts the farm down. */
  readonly signal: AbortSignal
  readonly progname: string
  /** Connects to a collector by its host specification. */
  readonly open: (host: string, signal: AbortSignal) => Promise<Context>
}

/** Limit of simultaneous connection attempts. */
const STARTING = 16
/** Longest time in milliseconds to give the lease back at the end. */
const LEAVE_MS = 5_000

/** Records the collectors of a farm file until aborted, or until all have ended. Resolves to the exit status. */
export async function runFarm(path: string, settings: ProcessSettings, io: FarmIo): Promise<number> {
  const { username, endAtMs, watchedPid } = settings
  const log = openProcessLog(settings.logName, io.cwd, settings.checksOnly)
  const ends: (() => void)[] = []
  const signals = new ProcessSignals(io.signal)
  try {
    traceTo((line) => log.line(line))
    log.notice('info', 'Start')
    const farm = new Farm(path, settings, io, log)
    if (settings.checksOnly) return 0
    signals.listen({
      newVolume: () => farm.newVolumes(),
      newArchive: () => farm.newArchives(),
      end: (what) => farm.end(`${what}, exiting`),
    })
    const account =
      username === undefined ? undefined : serviceAccount(username, loadConfig(io.env).variables)
    if (account !== undefined) switchToAccount(account)
    if (endAtMs !== undefined)
      ends.push(setLongTimeout(endAtMs - Date.now(), () => farm.end('End of run time, exiting')))
    if (watchedPid !== undefined) ends.push(watchProcess(watchedPid, log, (reason) => farm.end(reason)))
    if (settings.notifies) await notifyReady(log)
    return await farm.run()
  } catch (error) {
    log.line(PcpError.from(error).message)
    return 1
  } finally {
    for (const end of ends) end()
    signals.close()
    log.close()
  }
}

/** Includes time asleep, because a lease ends meanwhile. */
const LEASE_CLOCK: Clock = { now: uptimeMs, sleep: (ms, signal) => SYSTEM_CLOCK.sleep(ms, signal) }

class Farm {
  readonly #hosts: FarmHosts
  readonly #members: FarmMembers
  readonly #share: Share | undefined
  /** Covers all collectors. */
  readonly #metrics: SelfMetrics
  readonly #ending = new AbortController()
  #reason = ''

  /** Reads the farm file and each configuration once. Throws PM_ERR_CONV, ENOENT... */
  constructor(path: string, settings: ProcessSettings, io: FarmIo, log: Log) {
    const { cwd, env, open } = io
    const { variables } = loadConfig(env)
    const { signal } = this.#ending
    // Each source adds a listener.
    setMaxListeners(0, signal)
    this.#metrics = new SelfMetrics('pmlogger_farm', variables)
    const configOf = configReader(cwd, variables, log)
    this.#hosts = new FarmHosts(path, {
      ...{ env, cwd, variables, log, clock: SYSTEM_CLOCK },
      say: (text) => log.notice('warning', text),
      check: (config) => void configOf(config),
      changed: (entries) => this.#members.want(entries),
    })
    const { share } = settings
    if (share !== undefined)
      this.#share = openShare(share, {
        env,
        clock: LEASE_CLOCK,
        changed: () => this.#members.update(),
        say: (problem) => log.notice('warning', problem),
      })
    const shared: FarmShared = {
      ...{ settings, cwd, env, open, variables, log, configOf },
      pool: new InternPool(),
      buffer: new RecordBuffer(),
      metrics: this.#metrics,
      starts: new Semaphore(STARTING),
      ...(this.#share === undefined ? {} : { mayRecord: (key) => this.#share!.owns(key) }),
    }
    this.#members = new FarmMembers(shared, this.#share, () => this.#checkDone())
  }

  async run(): Promise<number> {
    const { signal } = this.#ending
    this.#metrics.publish()
    const renewing = new AbortController()
    try {
      const keeping = this.#share?.run(renewing.signal)
      await this.#hosts.run(signal)
      const { status } = this.#members
      // The lease is renewed until nothing is recorded any more.
      await this.#members.end(this.#reason)
      renewing.abort()
      await keeping
      await this.#share?.close(LEAVE_MS)
      return status
    } finally {
      renewing.abort()
      this.#metrics.close()
    }
  }

  newVolumes(): void {
    this.#members.newVolumes()
  }

  newArchives(): void {
    this.#members.newArchives()
  }

  end(reason: string): void {
    this.#reason = reason
    this.#ending.abort()
  }

  /** A farm without sources ends with its last recording. */
  #checkDone(): void {
    if (this.#share === undefined && !this.#hosts.hasSources && this.#members.areDone) this.end('')
  }
}

/** Returns a function that reads each configuration once. */
function configReader(cwd: string, variables: Variables, log: Log): (name: string) => LoggerConfig {
  const configs = new Map<string, LoggerConfig>()
  const warn = (text: string): void => log.line(text.trimEnd())
  return (name) => {
    let config = configs.get(name)
    if (config === undefined) {
      config = readLoggerConfig(name, { cwd, variables, warn })
      configs.set(name, config)
    }
    return config
  }
}
