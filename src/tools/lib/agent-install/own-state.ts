/** The agents of a running instance, as its collector reports them on its unix socket. pmcd.agent.* */
import { setTimeout as pause } from 'node:timers/promises'
import { isError, PcpError } from '../../../model/errors.ts'
import { connect } from '../../../pmapi/connect.ts'
import type { Context } from '../../../pmapi/context.ts'
import { presentNames } from '../../../pmapi/present-names.ts'
import type { Variables } from '../../../sys/config.ts'

/** One agent of a collector. */
export interface AgentState {
  readonly name: string
  readonly domain: number
  /** pmcd.agent.status: 0 connected, 1 not ready, otherwise why it is gone. */
  readonly status: number
  readonly isConnected: boolean
  /** Metrics with its domain in the name space. */
  readonly metrics: number
  /** Reason of its last failure; '' for none. */
  readonly failure: string
}

/** A metric and the agent that has it. */
export interface NameOwner {
  readonly metric: string
  readonly agent: string
}

/** Questions to the collector of an instance. */
export interface OwnCollector {
  isRunning(): Promise<boolean>
  /** Returns all agents; undefined if no collector runs, or it does not report about its agents. */
  agents(): Promise<readonly AgentState[] | undefined>
  /** Waits for an agent that is being started; resolves to its state after it has failed, or when the time is over. */
  awaitAgent(domain: number): Promise<AgentState | undefined>
  /** Waits until an agent has been closed. */
  awaitGone(domain: number): Promise<void>
  /** Returns the first of the names that an agent of another domain has. */
  ownerOf(names: readonly string[], domain: number): Promise<NameOwner | undefined>
}

/** Time for an agent to be started and to report its names, once the configuration was reread. */
const AWAIT_MS = 15_000
const PAUSE_MS = 50
/** PCP's collector does not have the last. */
const METRICS = ['pmcd.agent.name', 'pmcd.agent.status', 'pmcd.agent.failure'] as const

/** Returns the collector of an instance; its other endpoints are not tried, as another collector may answer there. */
export function ownCollector(variables: Variables, signal: AbortSignal): OwnCollector {
  const using = async <T>(use: (context: Context) => Promise<T>): Promise<T | undefined> => {
    let context: Context
    try {
      context = await connect('unix:', { env: variables, signal })
    } catch (error) {
      signal.throwIfAborted()
      const { code } = PcpError.from(error)
      if (code === 'ECONNREFUSED' || code === 'ENOENT') return undefined
      throw error
    }
    try {
      return await use(context)
    } finally {
      await context.close()
    }
  }
  return {
    isRunning: async () => (await using(async () => true)) === true,
    agents: () => using((context) => agentsOf(context, signal)),
    awaitAgent: async (domain) => {
      const deadline = Date.now() + AWAIT_MS
      for (;;) {
        const found = (await using((context) => agentsOf(context, signal)))?.find(
          (each) => each.domain === domain,
        )
        const isDecided =
          found !== undefined && ((found.isConnected && found.metrics > 0) || found.failure !== '')
        if (isDecided || Date.now() >= deadline) return found
        await pause(PAUSE_MS, undefined, { signal })
      }
    },
    awaitGone: async (domain) => {
      const deadline = Date.now() + AWAIT_MS
      for (;;) {
        const found = await using((context) => agentsOf(context, signal))
        if (found?.some((each) => each.domain === domain) !== true || Date.now() >= deadline) return
        await pause(PAUSE_MS, undefined, { signal })
      }
    },
    ownerOf: (names, domain) => using((context) => ownerIn(context, names, domain, signal)),
  }
}

async function agentsOf(context: Context, signal: AbortSignal): Promise<readonly AgentState[] | undefined> {
  const present = await presentNames(context, METRICS, { signal })
  if (!present.includes('pmcd.agent.name')) return undefined // it runs without the agent pmcd
  const counts = await countsOf(context, signal)
  const row = await context.values(present, { signal })
  const { instances: statuses } = row.get('pmcd.agent.status')
  const { instances: names } = row.get('pmcd.agent.name')
  const failures = [...row].find(({ name }) => name === 'pmcd.agent.failure')?.instances
  const ids = await idsOf(context, signal)
  return [...names].map(([key, name]) => {
    const status = Number(statuses.get(key) ?? -1)
    const domain = ids.get(key) ?? -1
    return {
      name: String(name),
      domain,
      status,
      isConnected: status === 0 || status === 1,
      metrics: counts.get(domain) ?? 0,
      failure: String(failures?.get(key) ?? ''),
    }
  })
}

/** Returns the domain of each agent: the number of its instance. */
async function idsOf(context: Context, signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
  const id = await context.lookupName(METRICS[0], { signal })
  const desc = await context.desc(id, { signal })
  const { ids, names } = await context.instances(desc.indom, { signal })
  return new Map(ids.map((each, i) => [names[i]!, each]))
}

async function countsOf(context: Context, signal: AbortSignal): Promise<ReadonlyMap<number, number>> {
  const names = await context.traverse('', { signal })
  const counts = new Map<number, number>()
  for (const id of await context.lookupNames(names, { signal })) {
    if (isError(id)) continue
    counts.set(id >>> 22, (counts.get(id >>> 22) ?? 0) + 1)
  }
  return counts
}

async function ownerIn(
  context: Context,
  names: readonly string[],
  domain: number,
  signal: AbortSignal,
): Promise<NameOwner | undefined> {
  if (names.length === 0) return undefined
  const ids = await context.lookupNames(names, { signal })
  const at = ids.findIndex((id) => !isError(id) && id >>> 22 !== domain)
  if (at < 0) return undefined
  const owner = (ids[at] as number) >>> 22
  const domains = await idsOf(context, signal)
  const [agent = `domain ${owner}`] = [...domains].find(([, each]) => each === owner) ?? []
  return { metric: names[at]!, agent }
}
