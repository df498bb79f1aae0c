/** Parses kvm.conf: paths of the kernel's file systems, and the trace points to count. docs/reference/environment.md */
import { join } from 'node:path'
import { readAttribute } from '../../sys/proc.ts'

/** Configuration of the agent. */
export interface KvmConfig {
  /** Mount points of debugfs and tracefs. */
  readonly debugfs: string
  readonly tracefs: string
  /** File with the kernel's lockdown state. */
  readonly lockdown: string
  /** Distinct trace points of the group kvm; the item is the index, from 1. */
  readonly traces: readonly string[]
}

/** Default trace points. */
const DEFAULT_TRACES = ['kvm_exit', 'kvm_entry', 'kvm_mmio', 'kvm_hypercall', 'kvm_vcpu_wakeup']
/** Items of a cluster without the one for the number of trace points. */
const MAX_TRACES = 1023

/**
 * Reads the configuration: `kvm/kvm.conf` below PCP_PMDAS_DIR takes precedence over KVM_DEBUGFS_PATH and KVM_TRACEFS_PATH,
 * and these over the defaults. `warn` is called for names that cannot be metric names.
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

/** Parses sections `[paths]` of `name=path` and `[trace]` of names, with `#` comments. `warn` receives `:LINE: problem`. */
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
    else warn(`:${at + 1}: "${words}" is neither a path nor a trace point: ignored`)
  }
  return { paths, traces: [...traces] }
}
