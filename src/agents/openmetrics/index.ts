/** The openmetrics agent (domain 144): metrics of OpenMetrics endpoints and scripts. docs/reference/agents/openmetrics.md */
import { join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv, AgentTables } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent } from '../../pmda/define-agent.ts'
import { rooted } from '../../sys/proc.ts'
import { controlMetrics } from './controls.ts'
import { sourceTables } from './tables.ts'
import { SourceWatcher } from './watch.ts'

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({
  name: 'openmetrics',
  domain: 144,
  options: [
    {
      short: 'c',
      long: 'config',
      arg: 'DIR',
      help: 'directory of sources (default: openmetrics/config.d in $PCP_PMDAS_DIR)',
    },
    { short: 'r', long: 'root', arg: 'NAME', help: 'first part of all names (default: openmetrics)' },
    { short: 't', long: 'timeout', arg: 'SEC', help: 'how long a server may take to answer (default: 2)' },
    { long: 'interval', arg: 'SEC', help: 'time between two probes of a source (default: 10)' },
    {
      short: 'n',
      long: 'nosort',
      help: 'number sources in directory order, not in order of their names',
    },
  ],
  open,
})

/** Most names remembered as left out, so that each is logged once. */
const MAX_TOLD = 1000

function open(env: AgentEnv): AgentTables {
  const root = setting(env, 'root') ?? 'openmetrics'
  if (!/^[A-Za-z]\w*$/.test(root))
    throw new PcpError(
      'PM_ERR_GENERIC',
      `The root "${root}" must be a letter followed by letters, digits or _`,
    )
  const told = new Set<string>()
  const log = (text: string): void => {
    if (told.has(text) || told.size >= MAX_TOLD) return
    told.add(text)
    env.log('warning', text)
  }
  let isStale = false
  let soon: NodeJS.Immediate | undefined
  const watch = new SourceWatcher(env, {
    directory: rooted(env.root, directoryOf(env)),
    isSorted: env.options['nosort'] !== true,
    tables: rooted(env.root, join(env.env['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'config', 'pmda')),
    intervalMs: seconds(env, 'interval', 10) * 1000,
    timeoutMs: seconds(env, 'timeout', 2) * 1000,
    onChange: () => {
      isStale = true
      // Many sources change in the same turn when the agent starts.
      soon ??= setImmediate(replace)
    },
  })
  const controls = controlMetrics(root, watch, env.clock)
  const tables = (): AgentTables => ({
    ...sourceTables(root, watch.sources, controls, log),
    dynamicRoots: [root],
    beforeRequest: (kind) => {
      if (kind === 'names') watch.rescan()
      replace()
    },
    close: () => {
      clearImmediate(soon)
      isStale = false
      watch.close()
    },
  })
  function replace(): void {
    soon = undefined
    if (!isStale) return
    isStale = false
    try {
      env.replaceTables(tables())
    } catch (error) {
      env.log('error', PcpError.from(error).message) // the old tables stay
    }
  }
  isStale = false
  clearImmediate(soon)
  soon = undefined
  return tables()
}

/** An option of the daemon or, in a collector, its environment variable. */
function setting(
  { env, options }: AgentEnv,
  name: 'config' | 'root' | 'timeout' | 'interval',
): string | undefined {
  const given = options[name]
  return typeof given === 'string' ? given : env[`PCP_OPENMETRICS_${name.toUpperCase()}`]
}

/** An absolute path without a trailing slash. */
function directoryOf(env: AgentEnv): string {
  const pmdas = env.env['PCP_PMDAS_DIR'] ?? '/var/lib/pcp/pmdas'
  return resolve(setting(env, 'config') ?? join(pmdas, 'openmetrics', 'config.d'))
}

/** A setting in seconds. PM_ERR_GENERIC if it is invalid. */
function seconds(env: AgentEnv, name: 'timeout' | 'interval', otherwise: number): number {
  const text = setting(env, name)
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!(value >= 0.1 && value <= 86_400))
    throw new PcpError(
      'PM_ERR_GENERIC',
      `The ${name} is "${text}": it must be a number of seconds from 0.1 to 86400`,
    )
  return value
}
