/** pmcd.agent.*, pmcd.client.*: agents and clients connected to the collector. */
import { PcpError } from '../../model/errors.ts'
import type { IndomSpec, MetricSpec } from '../../pmda/define.ts'
import { ctime } from '../../sys/log.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { AgentInfo, ClientInfo, CollectorStatistics } from './statistics.ts'

const CLUSTER_AGENT = 4
const CLUSTER_CLIENT = 6
const SERIAL_AGENTS = 3
const SERIAL_CLIENTS = 6
/** pmcd.agent.type: kind of connection, shifted by one; the low bit once meant 'text protocol'. */
const AGENT_TYPES = { dso: 0, socket: 2, pipe: 4 } as const

/** Metrics about the configured agents. */
export function agentMetrics(statistics: CollectorStatistics): Record<string, OrderedRow> {
  const indom: IndomSpec = {
    serial: SERIAL_AGENTS,
    help: 'Agents the collector is configured with',
    text: 'One instance per agent: its identifier is the domain, its name the label in the configuration.',
    instances: () => {
      const agents = [...statistics.agents()]
      return { ids: agents.map((agent) => agent.domain), names: agents.map((agent) => agent.name) }
    },
  }
  const metric = (
    value: (agent: AgentInfo) => number | string,
  ): Pick<MetricSpec, 'cluster' | 'indom' | 'value'> => ({
    cluster: CLUSTER_AGENT,
    indom,
    value: (inst) => {
      for (const agent of statistics.agents()) if (agent.domain === inst) return value(agent)
      return undefined
    },
  })
  return {
    'pmcd.agent.type': {
      ...metric((agent) => AGENT_TYPES[agent.kind]),
      item: 0,
      type: 'u32',
      sem: 'discrete',
      units: 'none',
      help: 'How the collector is connected to each agent',
      text: '0 for an agent in the collector itself, 2 for one behind a socket, 4 for one behind a pipe.',
    },
    'pmcd.agent.status': {
      ...metric((agent) => agent.status),
      item: 1,
      type: '32',
      sem: 'discrete',
      units: 'none',
      help: 'State of each agent: 0 connected, 1 not ready, otherwise why it is gone',
      text: `The low byte is 0 for a connected agent and 1 for one that has asked not to be asked for a while. For an agent that is
gone it is 2 when it ended, 4 when it could not be started and 8 when it broke the protocol; the second byte is then
its exit status and the third the signal that ended it.`,
    },
    'pmcd.agent.fenced': {
      ...metric((agent) => (agent.isFenced ? 1 : 0)),
      item: 2,
      type: 'u32',
      sem: 'instant',
      units: 'none',
      help: 'Is the agent fenced off?',
      text: 'Storing 1 withholds all requests from the agent, which continues to run; storing 0 lifts the fence.',
      isControl: true,
      store: (value, inst) => {
        if (value !== 0 && value !== 1) throw new PcpError('PM_ERR_BADSTORE', 'Store 0 or 1')
        statistics.fence(inst, value === 1)
      },
    },
    'pmcd.agent.name': {
      ...metric((agent) => agent.name),
      item: 3,
      type: 'string',
      sem: 'discrete',
      units: 'none',
      help: 'Label of each agent in the configuration',
    },
    'pmcd.agent.failure': {
      ...metric((agent) => agent.failure),
      item: 100,
      isAddition: true,
      type: 'string',
      sem: 'discrete',
      units: 'none',
      help: 'Reason of the last failure of each agent',
      text: `Empty for an agent that has never failed. A restarted agent keeps the reason, with status 0. Reasons may name files, so only
clients on the unix socket and authenticated ones see them.`,
      isVisibleTo: ({ requester }) => requester.credentials !== undefined,
    },
  }
}

/** Metrics about the connected clients. */
export function clientMetrics(statistics: CollectorStatistics): Record<string, MetricSpec> {
  const indom: IndomSpec = {
    serial: SERIAL_CLIENTS,
    help: 'Clients connected to the collector',
    text: 'One instance per connection. Identifiers increase and are never reused.',
    instances: () => {
      const ids = [...statistics.clients()].map((client) => client.seq)
      return { ids, names: ids.map(String) }
    },
  }
  const metric = (
    value: (client: ClientInfo) => string,
  ): Pick<MetricSpec, 'cluster' | 'indom' | 'type' | 'units' | 'value'> => ({
    cluster: CLUSTER_CLIENT,
    indom,
    type: 'string',
    units: 'none',
    value: (inst) => {
      for (const client of statistics.clients()) if (client.seq === inst) return value(client)
      return undefined
    },
  })
  return {
    'pmcd.client.whoami': {
      ...metric((client) => client.whoami),
      item: 0,
      sem: 'discrete',
      help: 'Description of each client',
      text: 'A client stores a description of itself here, usually its command line. It may only set its own instance.',
      acceptsNullInstance: true,
      store: (value, inst, ask) => statistics.setWhoami(ask.requester.client, inst, String(value)),
    },
    'pmcd.client.start_date': {
      ...metric((client) => ctime(client.startMs)),
      item: 1,
      sem: 'discrete',
      help: 'When each client connected',
    },
    'pmcd.client.container': {
      ...metric((client) => client.container),
      item: 2,
      sem: 'instant',
      help: 'Container each client looks into',
      text: 'A client stores the name of a container here to get the values of that container. It may only set its own instance.',
      acceptsNullInstance: true,
      store: (value, inst, ask) => statistics.setContainer(ask.requester.client, inst, String(value)),
    },
  }
}
