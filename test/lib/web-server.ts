/** A pmproxy and a collector with predictable agents, both in this process. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCollector } from '../../src/pmcd/collector.ts'
import { builtinAgents } from '../../src/pmcd/open-agents.ts'
import type { Collector, CollectorOptions } from '../../src/pmcd/options.ts'
import type { SecurityOptions } from '../../src/pmcd/security.ts'
import { DEFAULT_CONFIG, type ProxyConfig } from '../../src/pmproxy/config.ts'
import { type ProxyOptions, type RunningProxy, startProxy } from '../../src/pmproxy/server.ts'
import { readHostLabels } from '../../src/routing/host-labels.ts'
import { type Log, logOnFd } from '../../src/sys/log.ts'

/** The two servers. */
export interface WebServer {
  readonly proxy: RunningProxy
  readonly collector: Collector
  /** Directory of their files. */
  readonly dir: string
  /** Log notices of the pmproxy. */
  readonly notices: readonly string[]
  /** Sends a request. */
  ask(target: string, options?: WebRequest): Promise<WebAnswer>
  /** Returns the parsed JSON of a response with status 200. */
  json<T>(target: string): Promise<T>
  close(): Promise<void>
}

/** Parts of a request besides its target. */
export interface WebRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** A response. */
export interface WebAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
}

/** Starts both; the collector has these agents. */
export async function startWebServer(
  agents: readonly string[] = ['pmcd', 'sample', 'simple'],
  config: Partial<ProxyConfig> = {},
  more: {
    readonly security?: SecurityOptions
    readonly collector?: Partial<CollectorOptions>
    readonly proxy?: Partial<ProxyOptions>
  } = {},
): Promise<WebServer> {
  const dir = mkdtempSync(join(tmpdir(), 'pmproxy-'))
  const notices: string[] = []
  const log: Log = {
    ...logOnFd(2, { progname: 'pmproxy', host: 'vm' }),
    notice: (level, text) => void notices.push(`${level}: ${text}`),
    line: () => undefined,
  }
  const collector = await startCollector({
    agents: builtinAgents(agents, []),
    ports: [0],
    localOnly: true,
    socketPath: join(dir, 'pmcd.socket'),
    hostname: 'vm',
    log: { ...log, notice: () => undefined },
    agentDir: dir,
    ...(more.security === undefined ? {} : { security: more.security }),
    variables: { ...process.env, PCP_TMP_DIR: dir, PCP_PMDAS_DIR: dir },
    readLabels: () => readHostLabels({ sysconfDir: dir, hostname: 'vm', root: labelsRoot(dir) }),
    ...more.collector,
  })
  const variables = {
    PATH: process.env['PATH'],
    PMCD_PORT: String(collector.port),
    PMCD_SOCKET: join(dir, 'pmcd.socket'),
  }
  const proxy = await startProxy({
    config: { ...DEFAULT_CONFIG, ...config },
    ports: [0],
    socketPath: join(dir, 'pmproxy.socket'),
    variables,
    log,
    tmpDir: dir,
    ...more.proxy,
  })
  const ask = (target: string, options?: WebRequest): Promise<WebAnswer> =>
    askWeb(proxy.port, target, options)
  return {
    proxy,
    collector,
    dir,
    notices,
    ask,
    json: async <T>(target: string) => {
      const { status, text } = await ask(target)
      if (status !== 200) throw new Error(`${target}: ${status} ${text}`)
      return JSON.parse(text) as T
    },
    close: async () => {
      await proxy.close()
      await collector.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Creates a root directory with a known machine id. */
function labelsRoot(dir: string): string {
  mkdirSync(join(dir, 'etc'))
  writeFileSync(join(dir, 'etc', 'machine-id'), `${'1'.repeat(32)}\n`)
  return dir
}

/** Sends one request over a new connection. */
export function askWeb(
  port: number,
  target: string,
  { method = 'GET', headers = {}, body }: WebRequest = {},
): Promise<WebAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path: target, method, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const whole = Buffer.concat(chunks)
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: whole,
            text: whole.toString(),
          })
        })
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
