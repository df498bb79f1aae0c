/** From configuration lines to agents that can be opened: ours in this process or a thread of it, all others in theirs. pmcd(1) */
import { basename } from 'node:path'
import { PMCD_DOMAIN, pmcdAgent } from '../agents/pmcd/index.ts'
import { AGENTS, standIn } from '../agents/registry.ts'
import { PcpError } from '../model/errors.ts'
import type { AgentDefinition } from '../pmda/define-agent.ts'
import { openAgent } from '../pmda/open-agent.ts'
import type { OpenedAgent } from '../routing/agent-slot.ts'
import type { AgentConfig, DsoConfig, SocketConfig, WorkerConfig } from '../routing/pmcd-conf.ts'
import { type AgentPlace, isAgentModule, loadAgent } from './agent-module.ts'
import { openPipeAgent, openSocketAgent } from './open-process.ts'
import { openWorkerAgent } from './open-worker.ts'
import type { AgentOpenEnv, AgentOptions } from './options.ts'

/** The shared object that our own agent about the collector stands in for. */
const OWN_DSO = { file: 'pmda_pmcd.so', entry: 'pmcd_init' }

/** The agent of one line of pmcd.conf. */
export function agentFromConfig(config: AgentConfig): AgentOptions {
  const { name, domain, kind } = config
  const common = { name, domain, kind }
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
        open: async (env, signal) => openWorkerAgent({ name, domain, place: placeOf(config) }, env, signal),
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

/** Names of the agents that come with the package, the collector's own included. */
export const BUILTIN_AGENTS: readonly string[] = ['pmcd', ...AGENTS.map(({ name }) => name)]

const SERVING_AGENTS = [
  'pmcd',
  ...AGENTS.flatMap(({ name, isDemonstration, isOutgoing }) => (isDemonstration || isOutgoing ? [] : [name])),
]

/**
 * Agents that come with the package, in this process: what runs where there is no pmcd.conf. Default: all but those
 * that somebody must name. Those in `threads` run in threads of their own, where the collector's own agent cannot.
 * PM_ERR_GENERIC for an unknown name.
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
        `No agent is called "${name}"; there are ${BUILTIN_AGENTS.join(', ')}`,
      )
    const domain = entry?.domain ?? PMCD_DOMAIN
    const common = { name, domain, parameters: 'built in' }
    if (entry !== undefined && threads.includes(name)) {
      const place: AgentPlace = { kind: 'builtin', name }
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

/** A shared object is not loaded: the agent of ours that does the same is opened, or a module's. */
async function openDso(config: DsoConfig, env: AgentOpenEnv, signal: AbortSignal): Promise<OpenedAgent> {
  const { name, domain } = config
  const definition = isOwn(config) ? pmcdAgent(env.statistics) : await loadAgent(placeOf(config), signal)
  return openHere(name, domain, definition, env)
}

/** Where the agent of a line is found. PM_ERR_GENERIC when a shared object has no stand-in. */
function placeOf(config: DsoConfig | WorkerConfig): AgentPlace {
  const { name, path, entry } = config
  if (isAgentModule(path)) return { kind: 'module', path, entry }
  if (isOwn(config))
    throw new PcpError(
      'PM_ERR_GENERIC',
      `Agent "${name}" tells of the collector: write its entry as ${entry}`,
    )
  const found = standIn(path, entry)
  if (found === undefined)
    throw new PcpError(
      'PM_ERR_GENERIC',
      `Cannot find ${name} DSO at "${path}": no built-in agent stands in for ${entry} in ${basename(path)}`,
    )
  return { kind: 'builtin', name: found.name }
}

/** Does this line name the collector's own agent, which only the collector's thread can hold? */
function isOwn({ path, entry }: DsoConfig | WorkerConfig): boolean {
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
