/** The pmproxy process: configuration, log, signals, PID file. pmproxy(1) */

import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setLongTimeout } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import { setDebug, traceTo } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { serviceAccount, switchToAccount } from '../net/access/account.ts'
import { type TlsServer, tlsServer } from '../net/tls.ts'
import { loadTlsConfig } from '../net/tls-config.ts'
import { KEY_PORT, keyServerText } from '../series/keys/address.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import { makeDir } from '../sys/make-dir.ts'
import { notifyReady, openServiceLog, removePidFile, writePidFile } from '../sys/service-files.ts'
import { TIME_CONTROL_PORT } from '../wire/time-control.ts'
import { configFiles, configOf, type ProxyConfig, readConfigFiles } from './config.ts'
import { type RunningProxy, startProxy } from './server.ts'
import { PROXY_PORT, type ProxySettings, proxyEnvironment, WEB_PORT } from './settings.ts'

/** Environment and callbacks of a pmproxy process. */
export interface ProxyProcess {
  readonly env: Variables
  readonly cwd: string
  /** Ends the process. */
  readonly signal: AbortSignal
  /** Called when it serves clients. */
  readonly started: (proxy: RunningProxy) => void
  /** Called when it could not start; the message is in the log too. */
  readonly failed: (message: string) => void
  /** Directory of the page in this package. */
  readonly pageDir?: string
}

/** Returns PMTIME_PORT, or the default port of time controls. */
function timeControlPort(env: Variables): number {
  const port = Number(env['PMTIME_PORT'])
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : TIME_CONTROL_PORT
}

/**
 * Makes V8 collect the garbage of requests once in several hundred requests. By default every hundredth request takes some milliseconds
 * longer. Costs 25 MB.
 */
function growYoungSpace(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=16')
}

/** Runs a pmproxy until it is stopped. Resolves to the exit status. */
export async function runProxy(settings: ProxySettings, io: ProxyProcess): Promise<number> {
  process.umask(0o022)
  growYoungSpace()
  const ended = watchEnd(io.signal, settings.endSec)
  const log = openServiceLog(settings.logPath, { progname: 'pmproxy', host: hostname() }, describe)
  const defect = (error: Error): void =>
    log.notice('error', `pmproxy stops because of a defect: ${error.stack ?? error}`)
  process.on('uncaughtExceptionMonitor', defect) // a daemon has no standard error
  let isReloadDue = false
  let reload = (): void => {
    isReloadDue = true
  }
  const hangUp = (): void => reload()
  process.on('SIGHUP', hangUp)
  if (settings.debug !== '') {
    traceTo((line) => log.line(line))
    setDebug(settings.debug)
  }
  try {
    const { proxy, pidFile, readAgain } = await start(settings, io, log)
    reload = readAgain
    if (isReloadDue) reload()
    io.started(proxy)
    log.notice('info', `pmproxy stops: ${await ended}`)
    await proxy.close()
    if (pidFile !== undefined) removePidFile(pidFile, log, describe)
    log.notice('info', 'pmproxy Shutdown')
    return 0
  } catch (error) {
    const { message } = PcpError.from(error)
    log.notice('error', message)
    log.line('pmproxy not started due to errors!')
    io.failed(message)
    return 1
  } finally {
    process.off('uncaughtExceptionMonitor', defect)
    process.off('SIGHUP', hangUp)
    log.close()
  }
}

const describe = (error: unknown, what: string): string => PcpError.from(error, what).message

interface Started {
  readonly proxy: RunningProxy
  readonly pidFile: string | undefined
  /** Reloads certificates when a service manager requests a reload. */
  readonly readAgain: () => void
}

async function start(settings: ProxySettings, io: ProxyProcess, log: Log): Promise<Started> {
  const { variables } = loadConfig(io.env)
  const environment = proxyEnvironment(io.env)
  for (const notice of environment.notices) log.line(`Warning: ${notice}`)
  const account = settings.isService ? serviceAccount(settings.username, variables) : undefined
  const config = configuration(settings, variables, io, log)
  const socketPath =
    settings.socketPath ?? environment.socketPath ?? join(variables['PCP_RUN_DIR']!, 'pmproxy.socket')
  makeDir(dirname(resolve(socketPath)))
  const readTls = (): TlsServer | undefined =>
    config.hasTls ? tlsOf(variables, config.tls, settings.requiresCertificate, log) : undefined
  const tls = unlessNeeded(readTls, settings.requiresCertificate, log)
  const ports = [...settings.ports, ...environment.ports]
  const addresses =
    settings.addresses.length > 0 ? settings.addresses : environment.local === false ? [] : undefined
  const proxy = await startProxy({
    config,
    ports: ports.length > 0 ? ports : settings.isProxyOnly ? [PROXY_PORT] : [PROXY_PORT, WEB_PORT],
    ...(addresses === undefined ? {} : { addresses }),
    socketPath,
    variables,
    log,
    ...(variables['PCP_TMP_DIR'] === undefined ? {} : { tmpDir: variables['PCP_TMP_DIR'] }),
    ...(tls === undefined ? {} : { tls }),
    requiresCertificate: settings.requiresCertificate,
    ...(settings.mostPdu === undefined ? {} : { mostPdu: settings.mostPdu }),
    ...(settings.isProxyOnly ? {} : { timePort: timeControlPort(io.env) }),
  })
  tellEndpoints(proxy, log)
  const readAgain = (): void => {
    try {
      const again = readTls()
      proxy.useTls(again)
      log.notice('info', again === undefined ? 'No certificates to reload' : 'Certificates reloaded')
    } catch (error) {
      log.notice('error', `Certificates not reloaded: ${PcpError.from(error).message}`)
    }
  }
  if (!settings.isService) return { proxy, pidFile: undefined, readAgain }
  try {
    const pidFile = writePidFile(join(variables['PCP_RUN_DIR']!, 'pmproxy.pid'), log, describe)
    if (account !== undefined) switchToAccount(account)
    if (io.env['NOTIFY_SOCKET'] !== undefined) await notifyReady(log)
    return { proxy, pidFile, readAgain }
  } catch (error) {
    await proxy.close()
    throw error
  }
}

const LOADS = 'discover.enabled'

function configuration(
  settings: ProxySettings,
  variables: Variables,
  io: ProxyProcess,
  log: Log,
): ProxyConfig {
  const report = (problem: string): void => log.notice('warning', problem)
  const files = configFiles(settings.configName, variables, io.cwd)
  const { values, places } = readConfigFiles(files, report)
  const { keyHost, keyPort } = settings
  const keyServer =
    keyHost === undefined && keyPort === undefined
      ? {}
      : { KEY_SERVERS: keyServerText({ host: keyHost ?? 'localhost', port: keyPort ?? KEY_PORT }) }
  // As in PCP, options name a server for queries; archives are loaded into it only if the configuration names it.
  const asked =
    'KEY_SERVERS' in keyServer && !values.has(LOADS) ? new Map([...values, [LOADS, 'false']]) : values
  const config = configOf(asked, { ...variables, ...keyServer }, report, places)
  const pageDir = config.pageDir ?? io.pageDir
  return {
    ...config,
    hasHttp: config.hasHttp && !settings.isProxyOnly,
    requiresUser: settings.requiresUser,
    ...(pageDir === undefined ? {} : { pageDir }),
  }
}

/** Returns certificate and key if configured. PM_ERR_TLS if they are unusable. */
function tlsOf(
  variables: Variables,
  older: ProxyConfig['tls'],
  isNeeded: boolean,
  log: Log,
): TlsServer | undefined {
  const present = loadTlsConfig(variables)
  const given = Object.fromEntries(Object.entries(older).filter(([, value]) => value !== undefined))
  if (Object.keys(given).length > 0)
    log.notice('warning', `TLS is configured in pmproxy.conf, please switch to ${present.path}`)
  const tls = tlsServer({ ...given, ...present }, (problem) => log.notice('warning', problem))
  if (isNeeded && tls?.hasCa !== true)
    throw new PcpError(
      'PM_ERR_TLS',
      'Client certificates are required (-Q), but tls.conf lacks tls-cert-file, tls-key-file or tls-ca-cert-file',
    )
  return tls
}

function unlessNeeded(
  readTls: () => TlsServer | undefined,
  isNeeded: boolean,
  log: Log,
): TlsServer | undefined {
  try {
    return readTls()
  } catch (error) {
    if (isNeeded) throw error
    log.notice('error', `${PcpError.from(error).message}; connections are not encrypted`)
    return undefined
  }
}

function tellEndpoints({ endpoints }: RunningProxy, log: Log): void {
  log.line('pmproxy: listening on')
  for (const { family, address, port, error } of endpoints)
    log.line(
      `  ${error === undefined ? 'ok ' : 'err'} ${String(port || '').padStart(5)} ${family.padEnd(4)} ${address}${error === undefined ? '' : `: ${error.message}`}`,
    )
}

/** Resolves to the reason for stopping: a signal, or the end of the given time. */
function watchEnd(signal: AbortSignal, seconds: number | undefined): Promise<string> {
  return new Promise((done) => {
    let name = 'on request'
    const note = (received: NodeJS.Signals): void => {
      name = `caught ${received}`
    }
    process.on('SIGINT', note)
    process.on('SIGTERM', note)
    if (seconds !== undefined) setLongTimeout(seconds * 1000, () => done(`after ${seconds} seconds`))
    const end = (): unknown => setImmediate(() => done(name))
    if (signal.aborted) end()
    else onAbort(signal, end)
  })
}
