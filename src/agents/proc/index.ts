/** The proc agent (domain 3): processes, control groups, and accounts of ended processes. */
import type { IndomSpec } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent } from '../../pmda/index.ts'
import { readAttribute } from '../../sys/proc.ts'
import { inNameOrder, type OrderedRow } from '../lib/name-order.ts'
import { acctMetrics } from './acct.ts'
import { AcctFile } from './acct-file.ts'
import { cgroupMetrics } from './cgroup.ts'
import { CgroupFiles } from './cgroup-tree.ts'
import { openContext, type ProcContext } from './context.ts'
import { Controls, controlMetrics } from './controls.ts'
import { HotConfig, hotDomain, hotMetrics } from './hot/metrics.ts'
import { HotSampler } from './hot/sampler.ts'
import { KeptFiles } from './kept-files.ts'
import { ProcessFiles } from './process-files.ts'
import { canonicalName, ProcessList } from './process-list.ts'
import { processMetrics } from './process-metrics.ts'
import { processReaders } from './process-readers.ts'
import { runqMetrics } from './runq.ts'

/** Groups of the name space whose order differs from that of the modules below. */
const GROUPS = ['cgroup', ...['proc', 'hotproc'].flatMap(groupsOf)].join(' ')

function groupsOf(root: string): string[] {
  const groups = ['psinfo', 'memory', 'id', 'io', 'schedstat', 'fd', 'namespaces', 'smaps', 'autogroup']
  return groups.map((group) => `${root}.${group}`)
}

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({
  name: 'proc',
  domain: 3,
  options: [
    {
      short: 'A',
      long: 'no-access-checks',
      help: 'show processes to every client with the rights of this agent',
    },
    { short: 'L', long: 'threads', help: 'list threads beside processes for clients that do not choose' },
    {
      short: 'r',
      long: 'cgroup',
      arg: 'CGROUP',
      help: 'by default list only the processes of the control group with this directory',
    },
  ],
  open: (env) => {
    const ctx = openContext(env)
    const { threads, cgroup } = env.options
    const controls = new Controls(
      threads === true || env.env['PROC_THREADS'] !== undefined,
      typeof cgroup === 'string' ? cgroup : '',
    )
    const files = new ProcessFiles(ctx.root)
    const kept = new KeptFiles(files)
    // files of a fixture tree may be replaced
    const cgroups = new CgroupFiles(ctx.root, ctx.root === '/' ? kept : files, ctx.env.clock)
    const list = new ProcessList(ctx, files, (ask) => controls.choices(ask))
    const readers = processReaders(ctx, files, kept, list, (ask) => controls.choices(ask).threads)
    const acct = new AcctFile(ctx)
    const top = topOf(env.env['PROC_HOT_TOP'])
    const sampler = new HotSampler(ctx, files, list, top)
    const hotConfig = new HotConfig(ctx, sampler)
    const hotProcesses = hotDomain(ctx, list, sampler)
    hotConfig.reload()
    const metrics: { [name: string]: OrderedRow } = Object.assign(
      Object.create(null),
      processMetrics(ctx, readers, { root: 'proc', indom: processDomain(list) }),
      autogroupSwitch(ctx, 'proc', 74),
      processMetrics(ctx, readers, {
        root: 'hotproc',
        indom: hotProcesses,
        ...(top > 0 ? { longestArguments: LONGEST_ARGUMENTS } : {}),
      }),
      autogroupSwitch(ctx, 'hotproc', 75),
      hotMetrics(ctx, hotProcesses, sampler, hotConfig),
      runqMetrics(list, readers.stat),
      controlMetrics(ctx, controls),
      cgroupMetrics(ctx, cgroups),
      acctMetrics(ctx, acct),
    )
    return {
      metrics: inNameOrder(metrics, GROUPS),
      endClient: (client) => controls.forget(client),
      close: () => {
        sampler.close()
        acct.close()
        cgroups.close()
        kept.close()
      },
    }
  },
})

/** Most characters of arguments of the busiest processes, which are recorded for each sample. */
const LONGEST_ARGUMENTS = 255
/** Limit of PROC_HOT_TOP. */
const MOST_TOP = 100

/** Returns the number of busiest processes by each resource; 0 for anything but a number. */
function topOf(text = ''): number {
  return /^\d{1,9}$/.test(text) ? Math.min(MOST_TOP, Number(text)) : 0
}

function processDomain(list: ProcessList): IndomSpec {
  return {
    serial: 9,
    isPerRequester: true,
    canonicalName,
    instances: (ask) => list.list(ask),
    help: 'Processes, and threads if they are listed too',
    text: 'The instance identifier is the PID. The name is the PID in six digits and the first word of the command line or, without one, the name in parentheses.',
    instanceLabels: (inst) => ({ pid: inst }),
  }
}

/** Whether autogroups are enabled. */
function autogroupSwitch(
  ctx: ProcContext,
  root: 'proc' | 'hotproc',
  cluster: number,
): { [name: string]: OrderedRow } {
  const path = '/proc/sys/kernel/sched_autogroup_enabled'
  return {
    [`${root}.autogroup.enabled`]: {
      cluster,
      item: 0,
      type: 'u32',
      sem: 'instant',
      units: 'none',
      help: 'Whether the scheduler puts the processes of a session in one group (1) or not (0)',
      text: `From ${path}; no value if the kernel does not support it.`,
      begin: root === 'proc' ? ctx.checkMaySeeProcesses : ctx.checkIsKnown,
      value: () => {
        const text = readAttribute(ctx.root, path)
        return text === undefined || text === '' ? undefined : Number(text)
      },
    },
  }
}
