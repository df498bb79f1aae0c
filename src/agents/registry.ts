/** The agents that come with the package. A new agent is one folder and one row here. */
import type { AgentDefinition } from '../pmda/define-agent.ts'

/** A row of the table of agents. */
export interface AgentEntry {
  /** Name without 'pmda': its module is ./NAME/index.ts, its daemon bin/pmdaNAME. */
  readonly name: string
  /** The domain it has unless pmcd.conf says otherwise. */
  readonly domain: number
  /** The one platform (process.platform) it can do its work on; every one when absent. */
  readonly platform?: string
  /** Serves tests and examples: runs only where somebody names it. */
  readonly isDemonstration?: true
  readonly load: () => Promise<AgentDefinition>
  /** The shared object and its entry that this agent stands in for when a pmcd.conf names them. */
  readonly dso: { readonly file: string; readonly entry: string }
}

/** Every agent but the collector's own, which only a collector can open. */
export const AGENTS: readonly AgentEntry[] = [
  {
    name: 'linux',
    domain: 60,
    platform: 'linux',
    load: async () => (await import('./linux/index.ts')).agent,
    dso: { file: 'pmda_linux.so', entry: 'linux_init' },
  },
  {
    name: 'mmv',
    domain: 70,
    load: async () => (await import('./mmv/index.ts')).agent,
    dso: { file: 'pmda_mmv.so', entry: 'mmv_init' },
  },
  {
    name: 'sample',
    domain: 29,
    isDemonstration: true,
    load: async () => (await import('./sample/index.ts')).agent,
    dso: { file: 'pmda_sample.so', entry: 'sample_init' },
  },
  {
    name: 'simple',
    domain: 253,
    load: async () => (await import('./simple/index.ts')).agent,
    dso: { file: 'pmda_simple.so', entry: 'simple_init' },
  },
  {
    name: 'trivial',
    domain: 250,
    isDemonstration: true,
    load: async () => (await import('./trivial/index.ts')).agent,
    dso: { file: 'pmda_trivial.so', entry: 'trivial_init' },
  },
]
