/** Runs a collector as a process: configuration, log, signals, PID file. pmcd(1) */

import { accessSync, constants, existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { onAbort } from '../base/on-abort.ts'
import { debug, replaceDebug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { type ServiceAccount, serviceAccount, switchToAccount } from '../net/access/account.ts'
import { defaultSocketPath } from '../net/host-spec.ts'
import { readHostLabels } from '../routing/host-labels.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import { makeDir } from '../sys/make-dir.ts'
import { peerCredentials } from '../sys/native/peer-credentials.ts'
import { defaultPmnsPath } from '../sys/pmns-files.ts'
import { notifyReady, openServiceLog, removePidFile, writePidFile } from '../sys/service-files.ts'
import { startCollector } from './collector.ts'
import { FileConfiguration, readConfig } from './configuration.ts'
import { EventTrace } from './event-trace.ts'
import { killWithStuckThreads, stuckThreads } from './open-worker.ts'
import type { Collector } from './options.ts'
import { processSecurity } from './security.ts'
import { type CollectorSettings, environmentSettings } from './settings.ts'

/** Default port of a collector. */
export const PMCD_PORT = 44321

/** Environment of a collector process. */
export interface CollectorProcess {
  readonly env: Variables
  /** Stops the collector. */
  readonly signal: AbortSignal
  /** Called when it serves clients. */
  readonly started: (collector: Collector) => void
  /** Called with the reason, also logged, if it could not start. */
  readonly failed: (message: string) => void
}

/** Runs a collector until it is stopped. Resolves to the exit status. */
export async function runCollector(settings: CollectorSettings, io: CollectorProcess): Promise<number> {
  process.umask(0o022)
  const signals = watchSignals(io.signal)
  const host = settings.hostname ?? hostname()
  const log = openServiceLog(settings.logPath, { progname: 'pmcd', host }, describe)
  const defect = (error: Error): void => log.notice('error', `A defect ends pmcd: ${error.stack ?? error}`)
  process.on('uncaughtExceptionMonitor', defect) // a daemon has no standard error
  try {
    const started = await start(settings, io, log, host).catch((error: unknown) => {
      if (io.signal.aborted) return undefined
      throw error
    })
    if (started === undefined) {
      log.notice('info', `pmcd caught ${await signals.ended} from unknown process before it had started`)
      log.notice('info', 'pmcd Shutdown')
      io.failed('pmcd was stopped before it had started')
      return 0
    }
    const { collector, pidFile } = started
    io.started(collector)
    signals.onHangup(() => void collector.reconfigure())
    log.notice('info', `pmcd caught ${await signals.ended} from unknown process`)
    await collector.close()
    if (pidFile !== undefined) removePidFile(pidFile, log, describe)
    log.notice('info', 'pmcd Shutdown')
    return 0
  } catch (error) {
    const { message } = PcpError.from(error)
    log.notice('error', message)
    log.line('pmcd not started due to errors!')
    io.failed(message)
    return 1
  } finally {
    process.off('uncaughtExceptionMonitor', defect)
    signals.close()
    if ((await stuckThreads()) > 0) log.line('A thread of an agent does not end: pmcd is killed with it')
    log.close()
    killWithStuckThreads()
  }
}

/** Checks a configuration without starting anything; reports messages to `report`. Resolves to the exit status. */
export async function verifyConfiguration(
  settings: CollectorSettings,
  env: Variables,
  report: (text: string) => void,
): Promise<number> {
  try {
    const path = settings.configPath ?? loadConfig(env).variables['PCP_PMCDCONF_PATH']!
    if (!existsSync(path)) {
      report(`pmcd verify ${path}: No such file or directory`)
      return 1
    }
    await readConfig(path, (problem) => report(`pmcd config${problem}`))
    return 0
  } catch (error) {
    report(`pmcd verify ${PcpError.from(error).message}`)
    return 1
  }
}

const describe = (error: unknown, what: string): string => PcpError.from(error, what).message

async function start(
  settings: CollectorSettings,
  io: CollectorProcess,
  log: Log,
  host: string,
): Promise<{ collector: Collector; pidFile: string | undefined }> {
  const { path: confPath, variables } = loadConfig(io.env)
  const environment = environmentSettings(io.env)
  const write = (line: string): void => log.line(line)
  const events = new EventTrace(write, Date.now, settings.traceMask)
  replaceDebug(settings.debug, write)
  if (debug.config) trace('config', `settings from ${confPath ?? 'built-in defaults'}`)
  for (const notice of environment.notices) log.line(`Warning: ${notice}`)
  const account = settings.isService ? serviceAccount(settings.username, variables) : undefined
  // Without pcp.conf and pmcd.conf nothing is installed: the built-in agents run.
  const defaultConfig = variables['PCP_PMCDCONF_PATH']!
  const hasConfig = confPath !== undefined || existsSync(defaultConfig)
  const configPath = settings.configPath ?? (hasConfig ? defaultConfig : undefined)
  const pmnsPath =
    settings.pmnsPath ??
    (configPath !== undefined || io.env['PMNS_DEFAULT'] ? defaultPmnsPath(variables) : undefined)
  const files = new FileConfiguration({
    configPath,
    pmnsPath,
    isPmnsOptional: settings.pmnsPath === undefined && !variables['PMNS_DEFAULT'],
    isPmnsUnique: settings.isPmnsUnique ?? false,
    variables,
    log,
  })
  const configuration = await files.read()
  const ports = [...settings.ports, ...environment.ports]
  const socketPath = settings.socketPath ?? defaultSocketPath(variables)
  makeDir(dirname(resolve(socketPath)))
  const { timeoutSec, pduBytes, contexts, metrics, addresses } = settings
  const credsTimeoutSec = settings.credsTimeoutSec ?? environment.credsTimeoutSec
  const collector = await startCollector(
    {
      ...configuration,
      ports: ports.length === 0 ? [PMCD_PORT] : ports,
      addresses,
      localOnly: environment.localOnly,
      ...(environment.backlog === undefined ? {} : { backlog: environment.backlog }),
      socketPath,
      hostname: host,
      log,
      agentDir: agentDirectory(settings.logPath, variables),
      variables,
      limits: {
        ...(pduBytes === undefined ? {} : { pduBytes }),
        ...(contexts === undefined ? {} : { contexts }),
        ...(metrics === undefined ? {} : { metrics }),
      },
      ...(timeoutSec === undefined ? {} : { timeoutSec }),
      ...(credsTimeoutSec === undefined ? {} : { credsTimeoutSec }),
      restartsAgents: environment.restartsAgents,
      reload: () => files.reload(),
      reloadNames: () => files.reloadNames(),
      readLabels: () =>
        readHostLabels({ sysconfDir: variables['PCP_SYSCONF_DIR']!, hostname: host, root: '/' }),
      events,
      peerCredentials: peerCredentials(),
      security: processSecurity(variables, log, settings),
    },
    io.signal,
  )
  if (!settings.isService) return { collector, pidFile: undefined }
  for (const line of exposureLines(settings, environment.localOnly, account)) log.line(line)
  try {
    const pidFile = writePidFile(join(variables['PCP_RUN_DIR']!, 'pmcd.pid'), log, describe)
    if (account !== undefined) switchToAccount(account)
    if (io.env['NOTIFY_SOCKET'] !== undefined) await notifyReady(log)
    return { collector, pidFile }
  } catch (error) {
    await collector.close()
    throw error
  }
}

/** Returns log lines of a service about who can connect and its privileges. */
function exposureLines(
  { addresses }: CollectorSettings,
  localOnly: boolean,
  account: ServiceAccount | undefined,
): readonly string[] {
  const isClosed = localOnly && addresses.length === 0
  const isRoot = account === undefined && process.geteuid?.() === 0
  return [
    ...(isClosed
      ? ['Clients of other hosts cannot connect: PMCD_LOCAL=0 in the environment, or -i ADDRESS, lets them']
      : []),
    ...(isRoot
      ? ['Warning: pmcd runs as root: -U USER, or PCP_USER in pcp.conf, names another account']
      : []),
    ...(account === undefined ? [] : [`pmcd runs as user ${account.name} (${account.uid})`]),
  ]
}

/** Returns the directory where agent processes start: that of the collector's log, because agents write their logs there. */
function agentDirectory(logPath: string, variables: Variables): string {
  if (logPath !== '-') return dirname(resolve(logPath))
  const dir = join(variables['PCP_LOG_DIR']!, 'pmcd')
  try {
    accessSync(dir, constants.W_OK)
    return dir
  } catch {
    return process.cwd() // PCP is not installed, or the directory is not writable
  }
}

/** Signals are queued during start-up; none interrupts shutdown. */
interface Signals {
  /** Resolves to the name of the signal that ends the collector. */
  readonly ended: Promise<string>
  /** Calls `listener` for each SIGHUP, and once if there were earlier ones. */
  onHangup(listener: () => void): void
  close(): void
}

function watchSignals(signal: AbortSignal): Signals {
  let name: string | undefined
  let isHangupDue = false
  let hangup = (): void => {
    isHangupDue = true
  }
  const onHangup = (): void => hangup()
  const note = (received: NodeJS.Signals): void => {
    name = received
  }
  process.on('SIGHUP', onHangup)
  process.on('SIGINT', note)
  process.on('SIGTERM', note)
  const ended = new Promise<string>((done) => {
    const end = (): unknown => setImmediate(() => done(name ?? 'a request to end'))
    if (signal.aborted) end()
    else onAbort(signal, end)
  })
  return {
    ended,
    onHangup(listener) {
      hangup = listener
      if (isHangupDue) listener()
    },
    close() {
      process.off('SIGHUP', onHangup)
      // A second signal must not kill a process that is about to exit with status 0.
      if (name !== undefined) return
      process.off('SIGINT', note)
      process.off('SIGTERM', note)
    },
  }
}
