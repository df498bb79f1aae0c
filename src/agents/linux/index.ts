/** The linux agent (domain 60): what the kernel says about the machine in /proc and /sys. */
import type { MetricSpec } from '../../pmda/define.ts'
import { inOrder } from '../../pmda/in-order.ts'
import { type AgentDefinition, defineAgent } from '../../pmda/index.ts'
import { classStatisticsMetrics } from './class-statistics.ts'
import { ContainerViews } from './container-view.ts'
import { type LinuxContext, openContext } from './context.ts'
import { cpuMetrics } from './cpu.ts'
import { cpuInfoMetrics } from './cpu-info.ts'
import { diskMetrics } from './disk.ts'
import { fileSystemMetrics } from './filesys.ts'
import { interruptMetrics, softirqMetrics } from './interrupts.ts'
import { ipcMetrics } from './ipc.ts'
import { kernelMetrics, limitMetrics, loadMetrics, uptimeMetrics } from './kernel.ts'
import { ksmMetrics } from './ksm.ts'
import { memoryMetrics } from './memory.ts'
import { memoryZoneMetrics } from './memory-zones.ts'
import { NAME_ORDER } from './name-order.ts'
import { addressMetrics } from './net-addr.ts'
import { interfaceMetrics } from './net-interface.ts'
import { protocol6Metrics, protocolMetrics } from './net-snmp.ts'
import { connectionMetrics, sockStatMetrics } from './net-sockets.ts'
import { softNetMetrics } from './net-softnet.ts'
import { nfsMetrics } from './nfs.ts'
import { numaMetrics } from './numa.ts'
import { pressureMetrics } from './pressure.ts'
import { restrictedMetrics } from './restricted.ts'
import { scsiMetrics } from './scsi.ts'
import { swapdevMetrics } from './swapdev.ts'
import { sysfsMetrics } from './sysfs.ts'
import { unameMetrics } from './uname.ts'
import { userMetrics } from './users.ts'
import { vfsMetrics } from './vfs.ts'
import { vmstatMetrics } from './vmstat.ts'

/** One subject: the metrics of one kernel file or a few that belong together. */
type Subject = (ctx: LinuxContext) => { readonly [name: string]: MetricSpec }

/** Every subject of the agent; a new file is one line here. */
const SUBJECTS: readonly Subject[] = [
  kernelMetrics,
  cpuMetrics,
  loadMetrics,
  uptimeMetrics,
  userMetrics,
  limitMetrics,
  pressureMetrics,
  interruptMetrics,
  softirqMetrics,
  memoryMetrics,
  swapdevMetrics,
  diskMetrics,
  scsiMetrics,
  cpuInfoMetrics,
  unameMetrics,
  fileSystemMetrics,
  classStatisticsMetrics,
  restrictedMetrics,
  sysfsMetrics,
  ipcMetrics,
  ksmMetrics,
  memoryZoneMetrics,
  addressMetrics,
  interfaceMetrics,
  protocol6Metrics,
  protocolMetrics,
  connectionMetrics,
  sockStatMetrics,
  softNetMetrics,
  nfsMetrics,
  numaMetrics,
  vfsMetrics,
  vmstatMetrics,
]

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({
  name: 'linux',
  domain: 60,
  options: [
    { short: 'A', long: 'no-access-checks', help: 'show every client what otherwise only root may see' },
  ],
  open: (env) => {
    const ctx = openContext(env)
    // without prototype it is a dictionary from the start: an ordinary object takes a microsecond for each name
    const metrics: { [name: string]: MetricSpec } = Object.create(null)
    for (const subject of SUBJECTS) Object.assign(metrics, subject(ctx))
    const containers = new ContainerViews(env, metrics)
    return {
      metrics: inOrder(metrics, NAME_ORDER),
      beforeRequest: (_kind, { moment }) => ctx.begin(moment),
      tablesFor: (ask) => containers.tablesFor(ask),
      close: () => {
        containers.close()
        ctx.close()
      },
    }
  },
})
