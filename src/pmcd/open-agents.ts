/** Opens agents of configuration lines: ours in this process or a thread, others in their own process. pmcd(1) */
import { basename } from 'node:path'
import { PMCD_DOMAIN, pmcdAgent } from '../agents/pmcd/index.ts'
import { AGENTS, replacementFor } from '../agents/registry.ts'
import { PcpError } from '../model/errors.ts'
import type { AgentDefinition } from '../pmda/define-agent.ts'
import { openAgent } from '../pmda/open-agent.ts'
import type { OpenedAgent } from '../routing/agent-slot.ts'
import type {
  AgentConfig,
  DaemonConfig,
  DsoConfig,
  SocketConfig,
  WorkerConfig,
} from '../routing/pmcd-conf.ts'
import { type AgentLocation, isAgentModule, loadAgent } from './agent-module.ts'
import { openDaemonAgent, openPipeAgent, openSocketAgent } from './open-process.ts'
import { openWorkerAgent } from './open-worker.ts'
import type { AgentOpenEnv, AgentOptions } from './options.ts'

/** The shared object that our own agent about the collector replaces. */
const OWN_DSO = { file: 'pmda_pmcd.so', entry: 'pmcd_init' }

/** Returns the agent of one line of pmcd.conf. */
export function agentFromConfig(config: AgentConfig): AgentOptions {
  const { name, domain } = config
  const common = { name, domain, kind: config.kind === 'daemon' ? 'pipe' : config.kind }
  switch (config.kind) {
    case 'dso':
      return {
        ...common,
        parameters: `lib=${config.path} entry=${config.entry}`,
        open: (env, signal) => openDso(config, env, signal),
      }
    case 'worker':
      return {
        ...common,
        parameters: `lib=${config.path} entry=${config.entry}`,
        open: async (env, signal) =>
          openWorkerAgent({ name, domain, place: locationOf(config) }, env, signal),
      }
    case 'daemon':
      return {
        ...common,
        parameters: `lib=${config.path} entry=daemon:${config.entry}`,
        open: async (env, signal) =>
          openDaemonAgent({ name, domain, place: locationOf(config) }, env, signal),
      }
    case 'pipe':
      return {
        ...common,
        parameters: `cmd=${config.argv.join(' ')}`,
        startsNotReady: config.startsNotReady,
        open: (env, signal) => openPipeAgent(config, env, signal),
      }
    case 'socket':
      return {
        ...common,
        parameters: socketParameters(config),
        open: (env, signal) => openSocketAgent(config, env, signal),
      }
  }
}

/** Names of the agents in the package, including the collector's own. */
export const BUILTIN_AGENTS: readonly string[] = ['pmcd', ...AGENTS.map(({ name }) => name)]

const SERVING_AGENTS = [
  'pmcd',
  ...AGENTS.flatMap(({ name, isDemonstration, isExplicit }) => (isDemonstration || isExplicit ? [] : [name])),
]

/**
 * Returns agents of the package to run in this process, used without a pmcd.conf. Default: all except those that must
 * be requested by name. Agents in `threads` run in threads, which the collector's own agent cannot. PM_ERR_GENERIC for
 * an unknown name.
 */
export function builtinAgents(
  names: readonly string[] = SERVING_AGENTS,
  threads: readonly string[] = [],
): AgentOptions[] {
  return names.map((name) => {
    const entry = AGENTS.find((each) => each.name === name)
    if (entry === undefined && name !== 'pmcd')
      throw new PcpError(
        'PM_ERR_GENERIC',
        `No agent is called "${name}"; use one of ${BUILTIN_AGENTS.join(', ')}`,
      )
    const domain = entry?.domain ?? PMCD_DOMAIN
    const common = { name, domain, parameters: 'built in' }
    if (entry !== undefined && threads.includes(name)) {
      const place: AgentLocation = { kind: 'builtin', name }
      return {
        ...common,
        kind: 'worker',
        open: (env, signal) => openWorkerAgent({ name, domain, place }, env, signal),
      }
    }
    return {
      ...common,
      kind: 'dso',
      open: async (env) => openHere(name, domain, (await entry?.load()) ?? pmcdAgent(env.statistics), env),
    }
  })
}

/** Opens our equivalent of a shared object, or the agent of a JavaScript module; shared objects are not loaded. */
async function openDso(config: DsoConfig, env: AgentOpenEnv, signal: AbortSignal): Promise<OpenedAgent> {
  const { name, domain } = config
  const definition = isOwn(config) ? pmcdAgent(env.statistics) : await loadAgent(locationOf(config), signal)
  return openHere(name, domain, definition, env)
}

/** Returns the location of a line's agent. PM_ERR_GENERIC for a shared object without an equivalent. */
function locationOf(config: DsoConfig | WorkerConfig | DaemonConfig): AgentLocation {
  const { name, path, entry } = config
  if (isAgentModule(path)) return { kind: 'module', path, entry }
  if (isOwn(config))
    throw new PcpError(
      'PM_ERR_GENERIC',
      `Agent "${name}" reports about the collector: write its entry as ${entry}`,
    )
  const found = replacementFor(path, entry)
  if (found === undefined)
    throw new PcpError(
      'PM_ERR_GENERIC',
      `Cannot find ${name} DSO at "${path}": no built-in agent replaces ${entry} in ${basename(path)}`,
    )
  return { kind: 'builtin', name: found.name }
}

/** Returns whether a line names the collector's own agent, which can run only in the collector's thread. */
function isOwn({ path, entry }: DsoConfig | WorkerConfig | DaemonConfig): boolean {
  return basename(path) === OWN_DSO.file && entry === OWN_DSO.entry
}

function openHere(name: string, domain: number, definition: AgentDefinition, env: AgentOpenEnv): OpenedAgent {
  const source = openAgent(definition, {
    domain,
    env: env.variables,
    ...(env.statistics.uid === undefined ? {} : { owner: env.statistics.uid }),
    timeoutMs: env.timeoutMs,
    log: (level, text) => env.log.notice(level, `${name}: ${text}`),
  })
  return { source }
}

function socketParameters(config: SocketConfig): string {
  const place = config.family === 'unix' ? `sock=${config.path}` : `port=${config.port}`
  const command = config.argv.length === 0 ? '' : ` cmd=${config.argv.join(' ')}`
  return `dom=${config.family} ${place}${command}`
}
