/**
 * The sample agent (domain 29, or 30 as `sampledso`): metrics of every type and with every fault, for tests. Random values
 * come from generators with a fixed seed. docs/reference/agent-toolkit.md
 */
import { pmid } from '../../model/ids.ts'
import type { AgentEnv, AgentTables, AliasSpec, MetricSpec } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent } from '../../pmda/define-agent.ts'
import { LiveMemory } from '../../sys/live-memory.ts'
import { binRows } from './bins.ts'
import { Clients } from './clients.ts'
import { colourRows, Mirage } from './colours.ts'
import { constantRows } from './constants.ts'
import { newContext, type Rows } from './context.ts'
import { eventRows } from './events.ts'
import { faultRows } from './faults.ts'
import { DYNAMIC_ROOTS, Ghosts, secretRows } from './ghosts.ts'
import { instanceRows } from './instances.ts'
import { metaRows } from './meta.ts'
import { processRows } from './processes.ts'
import { Readiness } from './readiness.ts'
import { scaleRows } from './scales.ts'
import { systemRows } from './system.ts'
import { walkRows } from './walks.ts'

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({ name: 'sample', domain: 29, open })

/** The domain of the twin, with the name prefix `sampledso`. */
const TWIN = 30

/** Metrics with a second name below `dupnames`, by their first name. */
const DUPLICATES: readonly (readonly [group: string, names: readonly string[]])[] = [
  ['two', ['seconds', 'bin', 'write_me', 'lights', 'float.ten', 'double.ten']],
  ['three', ['bin', 'write_me']],
  ['four', ['bin', 'colour']],
  ['five', ['bin', 'bucket', 'part_bin']],
]

function open(env: AgentEnv): AgentTables {
  const context = newContext(env, (item) => pmid(env.domain, 0, item))
  const prefix = env.domain === TWIN ? 'sampledso' : 'sample'
  const clients = new Clients()
  const mirage = new Mirage(context)
  const readiness = new Readiness(env)
  const memory = new LiveMemory()
  const ghosts = new Ghosts(context, () => env.replaceTables(tables()))
  const fixed: Rows = {
    ...systemRows(context, memory),
    ...colourRows(mirage),
    ...binRows(context),
    ...walkRows(context),
    ...clients.rows(),
    ...readiness.rows(),
    ...secretRows(),
    ...constantRows(context),
    ...instanceRows(context),
    ...faultRows(context),
    ...scaleRows(),
    ...metaRows(),
    ...eventRows(context),
    ...duplicateRows(),
    ...processRows(context),
  }
  const tables = (): AgentTables => ({
    labels: { agent: 'sample', role: 'testing' },
    clusterLabels: { 0: { cluster: 'zero' } },
    metrics: withPrefix(prefix, { ...fixed, ...ghosts.rows() }),
    indoms: [ghosts.indom],
    dynamicRoots: DYNAMIC_ROOTS.map((root) => `${prefix}.${root}`),
    hidesDynamicNodes: true, // as PCP 6.0.3's agent, on which tests of other programs depend
    beforeRequest: (kind, ask) => {
      readiness.check()
      clients.count(kind, ask)
      mirage.pass(kind)
    },
    beforeFetch: () => {
      context.fetches++
    },
    endClient: (client) => clients.end(client),
    close: () => {
      readiness.close()
      memory.close()
    },
  })
  return tables()
}

function duplicateRows(): Rows {
  const rows: { [name: string]: AliasSpec } = {
    'dupnames.daemon_pid': { alias: 'daemon_pid' },
    'dupnames.pid_daemon': { alias: 'daemon_pid' },
  }
  for (const [group, names] of DUPLICATES)
    for (const name of names) rows[`dupnames.${group}.${name}`] = { alias: name }
  rows['dupnames.five.long_bin'] = { alias: 'long.bin' }
  return rows
}

/** Adds the prefix to names of rows and targets of aliases. */
function withPrefix(prefix: string, rows: Rows): AgentTables['metrics'] {
  const entries = Object.entries(rows).map(([name, row]): readonly [string, MetricSpec | AliasSpec] => {
    const isNamed = 'alias' in row && typeof row.alias === 'string'
    return [`${prefix}.${name}`, isNamed ? { alias: `${prefix}.${row.alias}` } : row]
  })
  return Object.fromEntries(entries)
}
