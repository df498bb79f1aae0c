/** The agents that come with the package. A new agent is one folder and one row here. */
import type { AgentDefinition } from '../pmda/define-agent.ts'

/** A row of the table of agents. */
export interface AgentEntry {
  /** Name without 'pmda': its module is ./NAME/index.ts, its daemon bin/pmdaNAME. */
  readonly name: string
  /** Default domain; pmcd.conf may set another. */
  readonly domain: number
  /** The only platform (process.platform) it supports; undefined for all. */
  readonly platform?: string
  /** For tests and examples: runs only if configured explicitly. */
  readonly isDemonstration?: true
  /** Contacts other hosts, runs programs or listens to applications: runs only if configured explicitly. */
  readonly isExplicit?: true
  readonly load: () => Promise<AgentDefinition>
  /** Shared object and entry point in pmcd.conf that this agent replaces. */
  readonly dso: { readonly file: string; readonly entry: string }
}

/** Every agent except the collector's own, which only a collector can open. */
export const AGENTS: readonly AgentEntry[] = [
  {
    name: 'jbd2',
    domain: 122,
    platform: 'linux',
    load: async () => (await import('./jbd2/index.ts')).agent,
    dso: { file: 'pmda_jbd2.so', entry: 'jbd2_init' },
  },
  {
    name: 'kvm',
    domain: 95,
    platform: 'linux',
    load: async () => (await import('./kvm/index.ts')).agent,
    dso: { file: 'pmda_kvm.so', entry: 'kvm_init' },
  },
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
    name: 'node',
    domain: 460,
    load: async () => (await import('./node/index.ts')).agent,
    dso: { file: 'pmda_node.so', entry: 'node_init' },
  },
  {
    name: 'openmetrics',
    domain: 144,
    isExplicit: true,
    load: async () => (await import('./openmetrics/index.ts')).agent,
    dso: { file: 'pmda_openmetrics.so', entry: 'openmetrics_init' },
  },
  {
    name: 'otel',
    domain: 508,
    isExplicit: true,
    load: async () => (await import('./otel/index.ts')).agent,
    dso: { file: 'pmda_otel.so', entry: 'otel_init' },
  },
  {
    name: 'pmproxy',
    domain: 4,
    load: async () => (await import('./pmproxy/index.ts')).agent,
    dso: { file: 'pmda_mmv.so', entry: 'pmproxy_init' },
  },
  {
    name: 'proc',
    domain: 3,
    platform: 'linux',
    load: async () => (await import('./proc/index.ts')).agent,
    dso: { file: 'pmda_proc.so', entry: 'proc_init' },
  },
  {
    name: 'root',
    domain: 1,
    platform: 'linux',
    load: async () => (await import('./root/index.ts')).agent,
    dso: { file: 'pmda_root.so', entry: 'root_init' },
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
  {
    name: 'xfs',
    domain: 11,
    platform: 'linux',
    load: async () => (await import('./xfs/index.ts')).agent,
    dso: { file: 'pmda_xfs.so', entry: 'xfs_init' },
  },
]

/** Returns the agent that replaces a shared object and its entry point; undefined if there is none. */
export function replacementFor(path: string, entry: string): AgentEntry | undefined {
  const file = path.slice(path.lastIndexOf('/') + 1)
  return AGENTS.find(({ dso }) => dso.file === file && dso.entry === entry)
}
