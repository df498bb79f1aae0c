/** The kvm agent (domain 95): the kernel's statistics of virtual machines. debugfs, trace points; docs/reference/environment.md */
import { exactInteger } from '../../base/exact-integer.ts'
import { type ErrorCode, PcpError } from '../../model/errors.ts'
import type { AgentEnv, AgentTables, Sample } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent, Reading } from '../../pmda/index.ts'
import { readAttribute, readSmallFile, rooted } from '../../sys/proc.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import { readKvmConfig } from './config.ts'
import { KVM_FILES } from './files.ts'
import { traceMetrics } from './traces.ts'

/** The agent for the collector's registry. Environment: KVM_DEBUGFS_PATH, KVM_TRACEFS_PATH, KVM_LOCKDOWN_PATH, KVM_NCPUS. */
export const agent: AgentDefinition = defineAgent({ name: 'kvm', domain: 95, open })

const REFUSED: ReadonlySet<ErrorCode> = new Set(['EACCES', 'EPERM'])

function open(env: AgentEnv): AgentTables {
  const config = readKvmConfig(env.env, env.root, (text) => env.log('warning', text))
  const { root } = env
  const given = Number(env.env['KVM_NCPUS'])
  const traces = traceMetrics({
    root,
    config,
    cpuCount: given > 0 ? given : undefined,
    log: env.log,
  })
  const permission = new Reading(() => checkLockdown(root, config.lockdown))
  const metrics: { [name: string]: OrderedRow } = { ...traces.metrics }
  for (const [item, [name, help]] of KVM_FILES.entries())
    metrics[`kvm.${name}`] = {
      item,
      type: 'u64',
      sem: name === 'guest_mode' ? 'instant' : 'counter',
      units: 'count',
      help,
      text: `Sum of all running virtual machines: it decreases when one ends. From the file kvm/${name} of debugfs; no value if the kernel does not have it.`,
      reading: permission,
      value: () => statistic(root, `${config.debugfs}/kvm/${name}`),
    }
  return {
    metrics,
    close: traces.close,
  }
}

/** A locked-down kernel denies access to debugfs. */
function checkLockdown(root: string, path: string): void {
  const state = readAttribute(root, path)
  if (state === undefined || !/\[(?!none\])/.test(state)) return
  throw new PcpError('PM_ERR_PERMISSION', `The kernel is locked down: ${rooted(root, path)} is "${state}"`)
}

/** Reads the number in a file; undefined without one. */
function statistic(root: string, path: string): Sample {
  let text: string
  try {
    text = readSmallFile(root, path).trim()
  } catch (error) {
    const { code } = PcpError.from(error)
    return REFUSED.has(code as ErrorCode)
      ? new PcpError('PM_ERR_PERMISSION', `${path}: only root may read it`)
      : undefined
  }
  return /^\d+$/.test(text) ? exactInteger(text) : undefined
}
