/** Settings of a container by environment variables, named as in PCP's image. docs/how-to/containers.md */
import { join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { parseHostSpec } from '../../../net/host-spec.ts'
import { parseSizeLimit } from '../../../pmlogger/sizes.ts'
import { parseKeyServer } from '../../../series/keys/address.ts'
import { DEFAULT_PORT } from '../../../start/settings.ts'
import type { Variables } from '../../../sys/config.ts'

/** Services of a container, with PCP's names. */
export const SERVICES = ['pmcd', 'pmie', 'pmlogger', 'pmproxy'] as const
export type Service = (typeof SERVICES)[number]

/** What a container runs. */
export interface ContainerSettings {
  readonly services: ReadonlySet<Service>
  /** Names of agents. */
  readonly agents: readonly string[]
  /** Directory of settings, archives and sockets. */
  readonly dir: string
  /** Root of the host's file system; undefined to measure the container. */
  readonly hostMount: string | undefined
  /** Port of the collector. */
  readonly port: number
  /** Port of the web server. */
  readonly webPort: number
  /** Addresses to listen on, or 'all'. */
  readonly listen: readonly string[]
  /** Collectors of other hosts, recorded by a container without a collector. */
  readonly hosts: readonly string[]
  /** DNS name whose addresses are collectors of other hosts. */
  readonly nodes: string | undefined
  /** Names by which browsers and Grafana reach the web server. */
  readonly names: readonly string[]
  readonly keepDays: number
  readonly keepBytes: number
  /** Environment of the services: the variables given, and those that follow from HOST_MOUNT. */
  readonly variables: Variables
  /** Labels of the collector: where it runs in Kubernetes. */
  readonly labels: Readonly<Record<string, string>>
  /** Lines for the user about settings without effect. */
  readonly remarks: readonly string[]
}

/** Facts about the container that the settings are checked against. */
export interface ContainerFacts {
  /** Agents that can be named. */
  readonly knownAgents: readonly string[]
  /** Agents that run without being named. */
  readonly defaultAgents: readonly string[]
  readonly isDirectory: (path: string) => boolean
}

/** Most hosts of a container, named or found: each costs a connection and an archive. */
export const MAX_HOSTS = 1024
const DEFAULT_DIR = '/var/lib/pcp-ts'
/** The port of pmproxy in PCP's image. */
const DEFAULT_WEB_PORT = '44322'
const DEFAULT_KEEP_DAYS = '14'
const DEFAULT_KEEP_SIZE = '1Gb'

/** Variables of Kubernetes' downward API and the labels made of them. */
const LABELS = { NODE_NAME: 'k8s.node', POD_NAME: 'k8s.pod', POD_NAMESPACE: 'k8s.namespace' } as const

/** Reads the environment. Throws PM_ERR_ARG with the variable and a remedy. */
export function readEnvironment(env: Variables, facts: ContainerFacts): ContainerSettings {
  const services = servicesOf(env['PCP_SERVICES'])
  const hosts = hostsOf(env)
  const nodes = env['PCP_TS_NODES'] || undefined
  if (services.has('pmcd') && (hosts.length > 0 || nodes !== undefined))
    throw new PcpError(
      'PM_ERR_ARG',
      `${hosts.length > 0 ? 'PCP_TS_HOSTS' : 'PCP_TS_NODES'}: a container records either its own collector or others; ` +
        'set PCP_SERVICES without pmcd',
    )
  if (!services.has('pmcd') && hosts.length === 0 && nodes === undefined)
    throw new PcpError(
      'PM_ERR_ARG',
      'PCP_SERVICES without pmcd: name the collectors in PCP_TS_HOSTS, or their DNS name in PCP_TS_NODES',
    )
  const agents = agentsOf(env['PCP_DOMAIN_AGENTS'], facts)
  const hostMount = hostMountOf(env['HOST_MOUNT'], facts)
  return {
    services,
    agents: agents.names,
    dir: absolute('PCP_TS_DIR', env['PCP_TS_DIR'] || DEFAULT_DIR),
    hostMount,
    port: portOf('PCP_TS_PORT', env['PCP_TS_PORT'] || String(DEFAULT_PORT)),
    webPort: portOf('PCP_TS_WEB_PORT', env['PCP_TS_WEB_PORT'] || DEFAULT_WEB_PORT),
    listen: env['PCP_TS_LISTEN'] ? words(env['PCP_TS_LISTEN']) : ['all'],
    hosts,
    nodes,
    names: words(env['PCP_TS_NAMES']),
    keepDays: daysOf(env['PCP_TS_KEEP_DAYS'] || DEFAULT_KEEP_DAYS),
    keepBytes: bytesOf(env['PCP_TS_KEEP_SIZE'] || DEFAULT_KEEP_SIZE),
    variables: { ...hostVariables(hostMount), ...given(env) },
    labels: Object.fromEntries(
      Object.entries(LABELS).flatMap(([name, label]) => (env[name] ? [[label, env[name]]] : [])),
    ),
    remarks: [...agents.remarks, ...keyServerRemarks(env['KEY_SERVERS'], services)],
  }
}

function words(text: string | undefined): string[] {
  return [...new Set((text ?? '').split(/[\s,]+/).filter((word) => word !== ''))]
}

function servicesOf(text: string | undefined): ReadonlySet<Service> {
  const named = words(text)
  if (named.length === 0) return new Set(SERVICES)
  return new Set(
    named.map((name) => {
      const service = SERVICES.find((each) => each === name)
      if (service !== undefined) return service
      throw new PcpError('PM_ERR_ARG', `PCP_SERVICES: unknown service "${name}"; use ${SERVICES.join(', ')}`)
    }),
  )
}

function agentsOf(
  text: string | undefined,
  { knownAgents, defaultAgents }: ContainerFacts,
): { names: readonly string[]; remarks: readonly string[] } {
  const wanted = words(text)
  // PCP's image ignores these too: a list made for it must not stop the container.
  const unknown = wanted.filter((name) => !knownAgents.includes(name))
  const found = wanted.filter((name) => knownAgents.includes(name))
  return {
    names: [...new Set([...defaultAgents, ...found])],
    remarks:
      unknown.length === 0
        ? []
        : [`PCP_DOMAIN_AGENTS: no agent ${unknown.join(', ')}, ignored; there are ${knownAgents.join(', ')}`],
  }
}

function hostMountOf(text: string | undefined, { isDirectory }: ContainerFacts): string | undefined {
  const path = (text ?? '').replace(/\/+$/, '')
  if (path === '') return undefined
  absolute('HOST_MOUNT', path)
  for (const part of ['proc', 'sys'])
    if (!isDirectory(join(path, part)))
      throw new PcpError(
        'PM_ERR_ARG',
        `HOST_MOUNT=${path}: there is no ${join(path, part)}; mount the host's root there: --volume /:${path}:ro,rslave`,
      )
  return path
}

function absolute(name: string, path: string): string {
  if (path.startsWith('/')) return path
  throw new PcpError('PM_ERR_ARG', `${name}=${path}: must be an absolute path`)
}

/** Variables with which the agents read the host's files. */
function hostVariables(hostMount: string | undefined): Record<string, string> {
  if (hostMount === undefined) return {}
  return {
    LINUX_STATSPATH: hostMount,
    PROC_STATSPATH: hostMount,
    XFS_STATSPATH: hostMount,
    ROOT_STATSPATH: hostMount,
  }
}

/** Returns the variables with a value: an empty one in a manifest means the default. */
function given(env: Variables): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

function hostsOf(env: Variables): readonly string[] {
  const hosts = words(env['PCP_TS_HOSTS'])
  if (hosts.length > MAX_HOSTS)
    throw new PcpError(
      'PM_ERR_ARG',
      `PCP_TS_HOSTS: ${hosts.length} hosts, but at most ${MAX_HOSTS} are recorded`,
    )
  for (const host of hosts)
    try {
      parseHostSpec(host, {})
    } catch (error) {
      throw new PcpError('PM_ERR_ARG', `PCP_TS_HOSTS: ${host}: ${(error as Error).message.trim()}`, {
        cause: error,
      })
    }
  return hosts
}

function portOf(name: string, text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port >= 1 && port <= 65535) return port
  throw new PcpError('PM_ERR_ARG', `${name}=${text}: must be a port, from 1 to 65535`)
}

function daysOf(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new PcpError('PM_ERR_ARG', `PCP_TS_KEEP_DAYS=${text}: must be at least 1`)
}

function bytesOf(text: string): number {
  const limit = parseSizeLimit(text)
  if (limit?.kind === 'bytes') return limit.bytes
  throw new PcpError(
    'PM_ERR_ARG',
    `PCP_TS_KEEP_SIZE=${text}: must be a number with its unit, e.g. 500Mb or 2Gb`,
  )
}

function keyServerRemarks(text: string | undefined, services: ReadonlySet<Service>): readonly string[] {
  const servers = words(text)
  if (servers.length === 0) return []
  for (const server of servers)
    if (parseKeyServer(server) === undefined)
      throw new PcpError('PM_ERR_ARG', `KEY_SERVERS: invalid key server ${server}; use HOST:PORT`)
  if (!services.has('pmproxy')) return [`KEY_SERVERS=${servers.join(',')}: not used without pmproxy`]
  return [`key servers: ${servers.join(', ')}`]
}
