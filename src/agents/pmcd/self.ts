/** pmcd.version, pmcd.cputime.*, pmcd.feature.*...: the collector as a process and a program. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { machine } from 'node:os'
import { join } from 'node:path'
import type { AgentEnv, IndomSpec, MetricSpec } from '../../pmda/define.ts'
import { hostTimezone, hostZoneName } from '../../sys/host-zone.ts'
import type { LiveMemory } from '../../sys/live-memory.ts'
import type { CollectorStatistics, FeatureFlags } from './statistics.ts'

const CLUSTER_CPU = 7
const CLUSTER_FEATURE = 8
const SERIAL_BUFFERS = 5

/** Metrics about the collector as a process and a program. */
export function selfMetrics(
  statistics: CollectorStatistics,
  env: AgentEnv,
  memory: LiveMemory,
): Record<string, MetricSpec> {
  return {
    ...identity(statistics, env),
    ...resources(statistics, env, memory),
    ...cpuTime(statistics),
    ...buffers(),
    ...features(statistics),
  }
}

type Row = Omit<MetricSpec, 'item' | 'sem' | 'units'> & Partial<Pick<MetricSpec, 'sem' | 'units'>>

/** A metric of cluster 0, by default discrete and without units. */
function row(item: number, rest: Row): MetricSpec {
  return { item, sem: 'discrete', units: 'none', ...rest }
}

function identity(statistics: CollectorStatistics, env: AgentEnv): Record<string, MetricSpec> {
  return {
    'pmcd.version': row(7, {
      type: 'string',
      help: 'Version of the collector',
      value: () => statistics.version,
    }),
    'pmcd.build': row(20, { type: 'string', help: 'Build of this version', value: () => statistics.build }),
    'pmcd.hostname': row(21, {
      type: 'string',
      help: 'Name of the host the metrics are about',
      text: 'The name of this host, or the one the collector was started with. Clients use it to label values.',
      value: () => statistics.hostname,
    }),
    'pmcd.simabi': row(6, {
      type: 'string',
      help: 'Machine type the collector runs on',
      text: 'As uname -m prints it.',
      value: () => machine(),
    }),
    'pmcd.timezone': row(5, {
      type: 'string',
      help: "The host's time zone in POSIX form",
      text: 'From the variable TZ, or derived from the clock. Clients use it to show times as they are on this host.',
      value: () => hostTimezone(env.env, env.clock()),
    }),
    'pmcd.zoneinfo': row(26, {
      type: 'string',
      help: "The host's time zone as the name of a zoneinfo file, after a colon",
      text: 'From the variable TZ when it holds such a name, else from /etc/timezone or the link /etc/localtime.',
      value: () => hostZoneName(env.env, env.root),
    }),
    'pmcd.labels': row(25, {
      type: 'string',
      sem: 'instant',
      help: 'Labels this host was given by configuration, as JSON',
      text: 'From the files in the directory labels of PCP_SYSCONF_DIR, without labels that the collector adds itself.',
      value: () => statistics.fileLabels(),
    }),
    'pmcd.services': row(16, {
      type: 'string',
      sem: 'instant',
      help: 'PCP services that run on this host',
      text: 'Names separated by spaces: the collector itself and services with a PID file in PCP_RUN_DIR.',
      value: () => services(env),
    }),
  }
}

function resources(
  statistics: CollectorStatistics,
  env: AgentEnv,
  memory: LiveMemory,
): Record<string, MetricSpec> {
  return {
    'pmcd.datasize': row(1, {
      type: 'u32',
      sem: 'instant',
      units: 'Kbyte',
      help: 'Memory the collector uses for data',
      text: `The heap of the JavaScript engine plus what is allocated outside it for buffers, as the last full collection of
garbage left it: what grows here is kept.`,
      value: () => Math.round(memory.bytes / 1024),
    }),
    'pmcd.numagents': row(2, {
      type: 'u32',
      sem: 'instant',
      help: 'Connected agents',
      value: () => count(statistics.agents(), (agent) => agent.isConnected),
    }),
    'pmcd.numclients': row(3, {
      type: 'u32',
      sem: 'instant',
      help: 'Connected clients',
      value: () => count(statistics.clients(), () => true),
    }),
    'pmcd.openfds': row(17, {
      type: 'u32',
      sem: 'instant',
      help: 'Highest file descriptor the collector has open',
      value: () => Math.max(...readdirSync(join(env.root, 'proc/self/fd')).map(Number)),
    }),
    'pmcd.sighups': row(22, {
      type: 'u32',
      sem: 'counter',
      units: 'count',
      help: 'HUP signals the collector has received',
      text: 'Automatic restarts of agents are not counted.',
      value: () => statistics.sighups(),
    }),
    'pmcd.pid': row(23, { type: 'u64', help: 'Process id of the collector', value: () => process.pid }),
    'pmcd.seqnum': row(24, {
      type: 'u32',
      help: 'Number incremented whenever an agent is started or the configuration is reloaded',
      text: 'Clients compare it to detect changes. Storing any value increments it.',
      value: () => statistics.seqnum(),
      store: () => statistics.advanceSeqnum(),
    }),
  }
}

function cpuTime(statistics: CollectorStatistics): Record<string, MetricSpec> {
  const microseconds = (): number => {
    const { user, system } = process.cpuUsage()
    return user + system
  }
  return {
    'pmcd.cputime.total': {
      cluster: CLUSTER_CPU,
      item: 0,
      type: 'u64',
      sem: 'counter',
      units: 'millisec',
      help: 'CPU time the collector has used',
      text: 'User and system time of its process together, agents in the same process included.',
      value: () => Math.floor(microseconds() / 1000),
    },
    'pmcd.cputime.per_pdu_in': {
      cluster: CLUSTER_CPU,
      item: 1,
      type: 'double',
      sem: 'instant',
      units: 'microsec / count',
      help: 'Average CPU time per received PDU',
      text: 'pmcd.cputime.total divided by pmcd.pdu_in.total, both since the start of the collector.',
      value: () => {
        let pdus = 0
        for (let i = 0; i < statistics.pdusIn.length; i++) pdus += statistics.pdusIn[i]!
        return pdus === 0 ? undefined : microseconds() / pdus
      },
    },
  }
}

/**
 * The buffer pools of PCP's collector. This collector has none, so every size has zero buffers; the metrics exist for
 * dashboards and logger configurations that use them.
 */
function buffers(): Record<string, MetricSpec> {
  const indom: IndomSpec = {
    serial: SERIAL_BUFFERS,
    help: 'Sizes of PDU buffers',
    instances: {
      '0012': 12,
      '0020': 20,
      '1024': 1024,
      '2048': 2048,
      '4196': 4196,
      '8192': 8192,
      '8192+': 8193,
    },
  }
  const none = { type: '32', sem: 'instant', units: 'count', indom, value: () => 0 } as const
  const text =
    'Always 0: the memory of PDUs is managed by the JavaScript engine and not kept in pools by size.'
  return {
    'pmcd.buf.alloc': { ...none, item: 18, help: 'PDU buffers allocated in the pool of each size', text },
    'pmcd.buf.free': { ...none, item: 19, help: 'PDU buffers unused in the pool of each size', text },
  }
}

const FEATURES: readonly (readonly [name: string, flag: keyof FeatureFlags | undefined, help: string])[] = [
  ['secure', 'secure', 'Can clients connect over TLS?'],
  ['compress', undefined, 'Can PDUs be compressed? A retired feature: always 0'],
  ['ipv6', 'ipv6', 'Can clients connect over IPv6?'],
  ['authentication', 'authentication', 'Can clients authenticate themselves?'],
  ['creds_required', 'credsRequired', 'Must clients authenticate themselves?'],
  ['unix_domain_sockets', 'unixSockets', 'Can clients connect over a unix socket?'],
  ['service_discovery', 'serviceDiscovery', 'Is the collector advertised on the network?'],
  ['containers', 'containers', 'Can clients look into containers?'],
  ['local', 'local', 'Can only clients of this host connect?'],
  ['client_cert_required', 'certRequired', 'Must clients present a certificate?'],
]

function features(statistics: CollectorStatistics): Record<string, MetricSpec> {
  const metrics: Record<string, MetricSpec> = {}
  FEATURES.forEach(([name, flag, help], item) => {
    metrics[`pmcd.feature.${name}`] = {
      cluster: CLUSTER_FEATURE,
      item,
      type: 'u32',
      sem: 'instant',
      units: 'none',
      help,
      value: () => (flag !== undefined && statistics.features()[flag] ? 1 : 0),
    }
  })
  return metrics
}

function count<T>(items: Iterable<T>, isCounted: (item: T) => boolean): number {
  let n = 0
  for (const item of items) if (isCounted(item)) n++
  return n
}

const SERVICES = ['pmie', 'pmlogger', 'pmproxy'] as const

function services(env: AgentEnv): string {
  const folder = env.env['PCP_RUN_DIR'] ?? '/run/pcp'
  const running = SERVICES.filter((name) => {
    try {
      const pid = readFileSync(join(env.root, folder, `${name}.pid`), 'utf8').trim()
      return existsSync(join(env.root, 'proc', pid))
    } catch {
      return false // no file: not running
    }
  })
  return ['pmcd', ...running].join(' ')
}
