/** Local contexts over agents of this package or of the caller. pmNewContext(3) PM_CONTEXT_LOCAL, docs/reference/client-library.md */
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { AGENTS, type AgentEntry, replacementFor } from '../agents/registry.ts'
import { PcpError } from '../model/errors.ts'
import type { LabelSet } from '../model/labels.ts'
import type { Ask, MetricSource } from '../model/source.ts'
import type { Clock } from '../pmapi/clock.ts'
import { Context } from '../pmapi/context.ts'
import { type DerivedSetup, derivedSetup } from '../pmapi/derived.ts'
import type { AgentDefinition } from '../pmda/define-agent.ts'
import { type AgentSource, openAgent } from '../pmda/open-agent.ts'
import { loadPmns } from '../pmns/load.ts'
import { Pmns } from '../pmns/tree.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import { defaultPmnsPath, pmnsFiles } from '../sys/pmns-files.ts'
import { contextLabels, readHostLabels } from './host-labels.ts'
import { editLocalAgents, type LocalAgentRow, parseLocalSpec } from './local-spec.ts'
import { parseConfig } from './pmcd-conf.ts'
import { type Route, Router } from './router.ts'

/** Options of `openLocal`. */
export interface LocalContextOptions {
  /** Agents to use instead of those installed as shared objects. */
  readonly agents?: readonly AgentDefinition[]
  /**
   * Edits of the installation's table of agents, in order: `del,60`, `add,253,simple/pmda_simple.so,simple_init`...
   * Default: those in PCP_SPECLOCAL.
   */
  readonly specs?: readonly string[]
  /** Metric names; default: the installation's name space, else the names that the agents report. */
  readonly names?: Pmns
  /** Environment with PCP_CONF, PMNS_DEFAULT...; default: that of this process. */
  readonly env?: Variables
  /** Called for requested agents that are not available; default: ignored. */
  readonly warn?: (text: string) => void
  /** Derived metrics; default: those of `registerDerived`, and of the files that PCP_DERIVED_CONFIG names. */
  readonly derived?: () => DerivedSetup
  /** Clock used by `sample`; replaced in tests. */
  readonly clock?: Clock
}

/**
 * Opens a context over agents in this process, without a collector. Close it when done. PM_ERR_CONV or PM_ERR_INDOM for
 * an invalid spec, PM_ERR_PMNS for an invalid name space.
 *
 * @example
 * const pcp = await openLocal()
 * console.log((await pcp.values(['kernel.all.load'])).value('kernel.all.load', '1 minute'))
 * await pcp.close()
 *
 * @see pmNewContext(3)
 */
export async function openLocal(options: LocalContextOptions = {}): Promise<Context> {
  const { variables } = loadConfig(options.env ?? process.env)
  const { warn = () => {}, clock, derived = () => derivedSetup(variables) } = options
  const names = options.names ?? (options.agents === undefined ? installedNames(variables) : undefined)
  const host = hostname()
  const labels = readHostLabels({ sysconfDir: variables['PCP_SYSCONF_DIR']!, hostname: host, root: '/' })
  const opened: AgentSource[] = []
  try {
    // Log lines of agents are discarded; callers receive the errors.
    for (const [domain, definition] of await wantedAgents(options, variables, warn))
      opened.push(openAgent(definition, { domain, env: variables }))
    return Context.over(
      routed(opened, names ?? namesOf(opened), (ask) => contextLabels(labels, ask.requester)),
      { hostname: host, credentials: ownCredentials(), derived, ...(clock === undefined ? {} : { clock }) },
    )
  } catch (error) {
    await Promise.allSettled(opened.map((source) => source.close()))
    throw error
  }
}

const NOAGENT = new PcpError('PM_ERR_NOAGENT', 'No agent in this process answers for the domain')

/** Route for domains without an agent. */
const NO_AGENT_ROUTE: Route = {
  domain: -1,
  refusal: NOAGENT.status,
  request: () => Promise.reject(NOAGENT),
  endClient() {},
}

/** Returns one source over agents in this process; its `close` closes the agents. */
function routed(agents: readonly AgentSource[], pmns: Pmns, labelsOf: (ask: Ask) => LabelSet): MetricSource {
  const router: Router = new Router(
    { slots: agents.map(routeTo), defaultRoute: NO_AGENT_ROUTE, pmns },
    {
      contextLabels: labelsOf,
      changed: (changes) => router.announce({ type: 'changed', changes }),
      close: async () => {
        await Promise.all(agents.map((agent) => agent.close()))
      },
    },
  )
  for (const agent of agents) agent.subscribe((event) => router.announce(event))
  return router
}

function routeTo(agent: AgentSource): Route {
  return {
    domain: agent.domain,
    refusal: 0,
    request: (question) => question(agent),
    endClient: (client) => agent.endClient?.(client),
  }
}

/** Agents that a local context has even if a collector runs them as processes: proc and the platform's. */
const ALWAYS: ReadonlySet<number> = new Set([3, 60])
/** The collector's own agent has no values without a collector. */
const COLLECTOR = 'pmda_pmcd.so'

/** Returns the shared objects in pmcd.conf, or without that file all that this package can replace. */
function installedRows(variables: Variables): readonly LocalAgentRow[] {
  const ours = AGENTS.filter(
    ({ platform = process.platform, isDemonstration, isExplicit }) =>
      platform === process.platform && !isDemonstration && !isExplicit,
  )
  const rowOf = ({ name, domain, dso }: AgentEntry): LocalAgentRow => ({
    domain,
    path: join(variables['PCP_PMDAS_DIR']!, name, dso.file),
    entry: dso.entry,
  })
  const path = variables['PCP_PMCDCONF_PATH']!
  if (!existsSync(path)) return ours.map(rowOf)
  const { agents } = parseConfig(readFileSync(path, 'utf8'))
  const rows = agents.flatMap((agent) =>
    (agent.kind === 'dso' || agent.kind === 'worker') && basename(agent.path) !== COLLECTOR
      ? [{ domain: agent.domain, path: agent.path, entry: agent.entry }]
      : [],
  )
  const isMissing = ({ domain }: AgentEntry): boolean => !rows.some((row) => row.domain === domain)
  return [...rows, ...ours.filter((agent) => ALWAYS.has(agent.domain) && isMissing(agent)).map(rowOf)]
}

/** An agent and its domain. */
type DomainAgent = readonly [domain: number, definition: AgentDefinition]

/** Returns the given agents, or those of the edited table; among several for one domain the first. */
async function wantedAgents(
  { agents, specs }: LocalContextOptions,
  variables: Variables,
  warn: (text: string) => void,
): Promise<readonly DomainAgent[]> {
  if (agents !== undefined) return agents.map((definition) => [definition.domain, definition])
  const installed = installedRows(variables)
  const fromEnv = variables['PCP_SPECLOCAL']
  const edits = (specs ?? (fromEnv === undefined ? [] : [fromEnv])).flatMap(parseLocalSpec)
  const wanted = new Map<number, AgentDefinition>()
  for (const row of edits.reduce(editLocalAgents, installed)) {
    const agent = agentOf(row, variables)
    if (typeof agent === 'string') {
      // No warning for installed agents that we lack; fetching their metrics reports it.
      if (!installed.includes(row)) warn(`__pmConnectLocal: Warning: ${agent}`)
    } else if (!wanted.has(row.domain)) wanted.set(row.domain, await agent.load())
  }
  return [...wanted]
}

/** Returns our agent for a shared object, or the reason as text if there is none. */
function agentOf({ path, entry }: LocalAgentRow, variables: Variables): AgentEntry | string {
  const file = path.endsWith('.so') ? path : `${path}.so`
  const agent = replacementFor(file, entry)
  if (agent !== undefined) return agent
  return AGENTS.some(({ dso }) => dso.file === basename(file))
    ? `couldn't find init function "${entry}" in DSO "${resolve(variables['PCP_PMDAS_DIR']!, file)}"`
    : `cannot find DSO at "${path}.so" or "${path}": this package has no agent to replace it`
}

/** Returns the installation's name space; undefined if it has none. */
function installedNames(variables: Variables): Pmns | undefined {
  const path = defaultPmnsPath(variables)
  const isAsked = Boolean(variables['PMNS_DEFAULT'])
  return isAsked || existsSync(path) ? loadPmns(path, pmnsFiles(variables), {}) : undefined
}

function namesOf(agents: readonly AgentSource[]): Pmns {
  const names = new Pmns()
  for (const agent of agents) for (const [name, id] of agent.names()) names.add(name, id)
  return names
}

/** Returns the credentials of this process, for agents that restrict values to root. */
function ownCredentials(): { uid?: number; gid?: number; pid: number } {
  const { geteuid, getegid, pid } = process
  return geteuid === undefined || getegid === undefined ? { pid } : { uid: geteuid(), gid: getegid(), pid }
}
