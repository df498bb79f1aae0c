/** Starts the web side of `npm start`, a pmproxy for the collector. docs/start/npm-start.md, docs/reference/pmproxy.md */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { type TlsServer, tlsServer } from '../net/tls.ts'
import { loadTlsConfig } from '../net/tls-config.ts'
import { configOf, DEFAULT_CONFIG, type ProxyConfig, readConfigFiles } from '../pmproxy/config.ts'
import { type RunningProxy, startProxy } from '../pmproxy/server.ts'
import type { Variables } from '../sys/config.ts'
import { RUN_DIRS } from '../sys/instances.ts'
import type { Log } from '../sys/log.ts'
import { makeDir } from '../sys/make-dir.ts'
import { writeNewFile } from '../sys/new-file.ts'
import { TIME_CONTROL_PORT } from '../wire/time-control.ts'
import { alertLogPath, hostArchiveDir, type StartDirectories } from './directories.ts'
import { openPartLog } from './part-log.ts'
import type { CollectorAddress } from './parts.ts'
import { type StartOptions, settingText } from './settings.ts'

/** Setup of the web side. */
export interface WebSetup {
  readonly collector: CollectorAddress
  readonly place: StartDirectories
  readonly options: StartOptions
  /** Environment and pcp.conf variables. */
  readonly variables: Variables
  /** Directory of our commands; the page is beside it. */
  readonly binDir: string
  /** Key that authenticates the user's requests. */
  readonly ownerKey?: string
  /** Prints a line for the user. */
  readonly say: (line: string) => void
}

/** Starts the web side. Rejects with a remedy if its port is not available. */
export async function startWeb(setup: WebSetup): Promise<RunningProxy> {
  const { collector, place, options, variables, binDir, ownerKey, say } = setup
  const logPath = join(variables['PCP_LOG_DIR']!, 'pmproxy', 'pmproxy.log')
  makeDir(dirname(logPath))
  const log = openPartLog(logPath, { progname: 'pmproxy', host: hostname() }, options)
  const pageDir = join(binDir, '..', 'share', 'web')
  const listen = options.webListen ?? options.listen
  const addresses = listen?.includes('all') ? [] : listen
  const tls = readTls(variables, log, say)
  let proxy: RunningProxy
  try {
    proxy = await startProxy({
      config: {
        ...settingsIn(variables, log),
        archiveDirs: [place.archiveDir],
        historyDir: options.records ? hostArchiveDir(place) : undefined,
        alertLog: options.alerts ? alertLogPath(place) : undefined,
        pageDir: existsSync(pageDir) ? pageDir : undefined,
      },
      ports: [options.webPort],
      ...(addresses === undefined ? {} : { addresses }),
      ...(tls === undefined ? {} : { tls }),
      ...(ownerKey === undefined ? {} : { ownerKey }),
      timePort: TIME_CONTROL_PORT,
      // Its own collector, whatever else runs.
      variables: {
        ...variables,
        PMCD_PORT: String(collector.port),
        PMCD_SOCKET: place.socketPath,
        [RUN_DIRS]: '',
      },
      log,
      tmpDir: place.variables['PCP_TMP_DIR']!,
    })
    // A browser would reach the program that uses this port for the other address family.
    const taken = proxy.endpoints.find(({ error }) => error?.code === 'EADDRINUSE')
    if (taken !== undefined) {
      await proxy.close()
      throw taken.error!
    }
  } catch (error) {
    log.close()
    const { code, message } = PcpError.from(error)
    const why = code === 'EADDRINUSE' ? `port ${options.webPort} is taken` : message
    throw new PcpError(
      code,
      `${why}; use another: ${settingText(options.command, 'web-port', options.webPort + 100)}`,
      {
        cause: error,
      },
    )
  }
  return {
    ...proxy,
    close: async () => {
      await proxy.close()
      log.close()
    },
  }
}

/** Returns the access settings and key servers of pmproxy.conf and of KEY_SERVERS in the settings directory; `npm start` decides all others. */
function settingsIn(variables: Variables, log: Log): ProxyConfig {
  const path = join(variables['PCP_SYSCONF_DIR']!, 'pmproxy', 'pmproxy.conf')
  const report = (problem: string): void => log.notice('warning', problem)
  const { values, places } = existsSync(path)
    ? readConfigFiles([{ path, needsTrust: false }], report)
    : { values: new Map<string, string>(), places: new Map<string, string>() }
  const { names, origins, hosts, offeredHosts, allowsStore, keySettings } = configOf(
    values,
    variables,
    report,
    places,
  )
  return { ...DEFAULT_CONFIG, names, origins, hosts, offeredHosts, allowsStore, keySettings }
}

/** Returns the collector's TLS, which the charts share; undefined without certificates, or with a warning if they are unusable. */
function readTls(variables: Variables, log: Log, say: (line: string) => void): TlsServer | undefined {
  const warn = (problem: string): void => {
    log.notice('warning', problem)
    say(problem)
  }
  try {
    return tlsServer(loadTlsConfig(variables), warn)
  } catch (error) {
    warn(`${PcpError.from(error).message}: connections are not encrypted`)
    return undefined
  }
}

const KEY_BYTES = 32

/** Returns a random key. */
export function newOwnerKey(): string {
  return process.getBuiltinModule('node:crypto').randomBytes(KEY_BYTES).toString('base64url')
}

/** Returns the link; its key is after #, so that it is neither sent nor logged. */
export function chartsLink(port: number, key: string): string {
  return `http://localhost:${port}/ui/#key=${key}`
}

/** Returns the path of the file with the link, readable by its user only. */
export function linkPath(place: StartDirectories): string {
  return join(dirname(place.socketPath), 'charts-link')
}

/** Writes the link to a new file, replacing an older one. */
export function writeLink(path: string, link: string): void {
  writeNewFile(path, `${link}\n`, 0o600)
}
