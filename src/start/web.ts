/** Starts the web side of `npm start`: pmproxy in front of the collector. docs/start.md, docs/pmproxy.md */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { type TlsServer, tlsServer } from '../net/tls.ts'
import { loadTlsConfig } from '../net/tls-config.ts'
import { configOf, DEFAULT_CONFIG, type ProxyConfig, readConfigFiles } from '../pmproxy/config.ts'
import { type RunningProxy, startProxy } from '../pmproxy/server.ts'
import type { Variables } from '../sys/config.ts'
import { type Log, openLog } from '../sys/log.ts'
import { makeDir } from '../sys/make-dir.ts'
import { writeNewFile } from '../sys/new-file.ts'
import { TIME_CONTROL_PORT } from '../wire/time-control.ts'
import type { StartOptions } from './options.ts'
import type { CollectorAddress } from './parts.ts'
import type { Place } from './place.ts'

/** What the web side is put in front of. */
export interface WebSetup {
  readonly collector: CollectorAddress
  readonly place: Place
  readonly options: StartOptions
  /** Environment and pcp.conf variables. */
  readonly variables: Variables
  /** Where our commands are: the page is beside them. */
  readonly binDir: string
  /** Proves that a request is from the user. */
  readonly ownerKey?: string
  /** A line for the user. */
  readonly say: (line: string) => void
}

/** Starts it. Rejects with what to do when its port cannot be had. */
export async function startWeb(setup: WebSetup): Promise<RunningProxy> {
  const { collector, place, options, variables, binDir, ownerKey, say } = setup
  const logPath = join(variables['PCP_LOG_DIR']!, 'pmproxy', 'pmproxy.log')
  makeDir(dirname(logPath))
  const log = openLog(logPath, { progname: 'pmproxy', host: hostname() })
  const pageDir = join(binDir, '..', 'share', 'web')
  const addresses = options.listen?.includes('all') ? [] : options.listen
  const tls = readTls(variables, log, say)
  let proxy: RunningProxy
  try {
    proxy = await startProxy({
      config: {
        ...settingsIn(variables, log),
        archiveDirs: [place.archiveDir],
        historyDir: options.records ? join(place.archiveDir, hostname()) : undefined,
        pageDir: existsSync(pageDir) ? pageDir : undefined,
      },
      ports: [options.webPort],
      ...(addresses === undefined ? {} : { addresses }),
      ...(tls === undefined ? {} : { tls }),
      ...(ownerKey === undefined ? {} : { ownerKey }),
      timePort: TIME_CONTROL_PORT,
      variables: { ...variables, PMCD_PORT: String(collector.port), PMCD_SOCKET: place.socketPath },
      log,
      tmpDir: place.variables['PCP_TMP_DIR']!,
    })
    // A browser would find the program that has the rest of this port.
    const taken = proxy.endpoints.find(({ error }) => error?.code === 'EADDRINUSE')
    if (taken !== undefined) {
      await proxy.close()
      throw taken.error!
    }
  } catch (error) {
    log.close()
    const { code, message } = PcpError.from(error)
    const why = code === 'EADDRINUSE' ? `port ${options.webPort} is taken` : message
    throw new PcpError(code, `${why}; use another: npm start -- --web-port ${options.webPort + 100}`, {
      cause: error,
    })
  }
  return {
    ...proxy,
    close: async () => {
      await proxy.close()
      log.close()
    },
  }
}

/** The settings about who may ask what, from pmproxy.conf in the settings directory; the rest is decided by `npm start`. */
function settingsIn(variables: Variables, log: Log): ProxyConfig {
  const path = join(variables['PCP_SYSCONF_DIR']!, 'pmproxy', 'pmproxy.conf')
  if (!existsSync(path)) return DEFAULT_CONFIG
  const report = (problem: string): void => log.notice('warning', problem)
  const { values, places } = readConfigFiles([{ path, needsTrust: false }], report)
  const { names, origins, hosts, offeredHosts, allowsStore } = configOf(values, variables, report, places)
  return { ...DEFAULT_CONFIG, names, origins, hosts, offeredHosts, allowsStore }
}

/** What the collector encrypts with, the charts do too; undefined without certificates, and with ones that cannot be used, which is told. */
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

/** Makes a key that cannot be guessed. */
export function newOwnerKey(): string {
  return process.getBuiltinModule('node:crypto').randomBytes(KEY_BYTES).toString('base64url')
}

/** Returns the link; the key is behind #, so it is neither sent nor logged. */
export function chartsLink(port: number, key: string): string {
  return `http://localhost:${port}/ui/#key=${key}`
}

/** Path of the file with the link, for its user alone. */
export function linkPath(place: Place): string {
  return join(dirname(place.socketPath), 'charts-link')
}

/** Writes the link to a new file in place of an older one. */
export function writeLink(path: string, link: string): void {
  writeNewFile(path, `${link}\n`, 0o600)
}
