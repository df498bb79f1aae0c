/** kvm.conf: where the kernel's file systems are, and which trace points are counted. docs/environment.md */
import { join } from 'node:path'
import { readAttribute } from '../../sys/proc.ts'

/** What the agent goes by. */
export interface KvmConfig {
  /** Mount points of debugfs and tracefs. */
  readonly debugfs: string
  readonly tracefs: string
  /** What the kernel tells of being locked down. */
  readonly lockdown: string
  /** Names of trace points of the group kvm, each once; the place in the list, from 1, is the item. */
  readonly traces: readonly string[]
}

/** The trace points of a machine without configuration. */
const DEFAULT_TRACES = ['kvm_exit', 'kvm_entry', 'kvm_mmio', 'kvm_hypercall', 'kvm_vcpu_wakeup']
/** As many as there are items in a cluster, but for the one that counts them. */
const MAX_TRACES = 1023

/**
 * Reads the configuration: `kvm/kvm.conf` below PCP_PMDAS_DIR wins over KVM_DEBUGFS_PATH and KVM_TRACEFS_PATH, and these over what is
 * usual. Names that cannot be names of metrics are told to `warn`.
 */
export function readKvmConfig(
  env: Readonly<Record<string, string | undefined>>,
  root: string,
  warn: (text: string) => void,
): KvmConfig {
  const file = join(env['PCP_PMDAS_DIR'] || '/var/lib/pcp/pmdas', 'kvm', 'kvm.conf')
  const text = readAttribute(root, file)
  const { paths, traces } = parseKvmConfig(text ?? '', (problem) => warn(`${file}${problem}`))
  return {
    debugfs: paths.get('debugfs') ?? (env['KVM_DEBUGFS_PATH'] || '/sys/kernel/debug'),
    tracefs: paths.get('tracefs') ?? (env['KVM_TRACEFS_PATH'] || '/sys/kernel/debug/tracing'),
    lockdown: env['KVM_LOCKDOWN_PATH'] || '/sys/kernel/security/lockdown',
    traces: text === undefined ? DEFAULT_TRACES : traces,
  }
}

/** Takes sections `[paths]` of `name=path` and `[trace]` of names apart; `#` begins a comment. `warn` is told `:LINE: problem`. */
export function parseKvmConfig(
  text: string,
  warn: (problem: string) => void,
): { readonly paths: ReadonlyMap<string, string>; readonly traces: readonly string[] } {
  const paths = new Map<string, string>()
  const traces = new Set<string>()
  let section = ''
  for (const [at, line] of text.split('\n').entries()) {
    const words = line.replace(/#.*/, '').trim()
    const [, name] = /^\[(\w+)\]$/.exec(words) ?? []
    const [, key, path] = /^(debugfs|tracefs)\s*=\s*(\/.*)$/.exec(words) ?? []
    if (words === '') continue
    if (name !== undefined) section = name
    else if (section === 'paths' && key !== undefined) paths.set(key, path!)
    else if (
      section === 'trace' &&
      /^[A-Za-z]\w*$/.test(words) &&
      words !== 'count' &&
      traces.size < MAX_TRACES
    )
      traces.add(words)
    else warn(`:${at + 1}: "${words}" is neither a path nor a trace point: passed over`)
  }
  return { paths, traces: [...traces] }
}
