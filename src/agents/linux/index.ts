/** The linux agent (domain 60): the kernel's statistics in /proc and /sys. */
import { type AgentDefinition, defineAgent } from '../../pmda/index.ts'
import { inNameOrder, type OrderedRow } from '../lib/name-order.ts'
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

/** Returns the metrics of one or a few related kernel files. */
type MetricTable = (ctx: LinuxContext) => { readonly [name: string]: OrderedRow }

/** Modules of the agent, in the order of their names where they share a group; a new module is one line here. */
const SUBJECTS: readonly MetricTable[] = [
  loadMetrics,
  kernelMetrics,
  uptimeMetrics,
  userMetrics,
  cpuMetrics,
  interruptMetrics,
  softirqMetrics,
  limitMetrics,
  pressureMetrics,
  memoryMetrics,
  numaMetrics,
  vmstatMetrics,
  memoryZoneMetrics,
  restrictedMetrics,
  ksmMetrics,
  scsiMetrics,
  cpuInfoMetrics,
  diskMetrics,
  fileSystemMetrics,
  swapdevMetrics,
  interfaceMetrics,
  addressMetrics,
  sockStatMetrics,
  protocolMetrics,
  connectionMetrics,
  softNetMetrics,
  protocol6Metrics,
  nfsMetrics,
  unameMetrics,
  ipcMetrics,
  vfsMetrics,
  sysfsMetrics,
  classStatisticsMetrics,
]

/** Groups of the name space whose order differs from that of the modules. */
const GROUPS = `
  hinv kernel mem.util mem.numa mem.vmstat mem.buddyinfo mem.slabinfo swap
  network.all network.interface network.sockstat network.ip network.icmp network.icmpmsg network.tcp network.udp network.udplite
  network.udpconn network.rawconn network.tcpconn network.softnet network.unix
  network.ip6 network.icmp6 network.udp6 network.udpconn6 network.udplite6 network.rawconn6 network.tcpconn6
  disk filesys swapdev rpc nfs nfs3 nfs4 pmda ipc vfs tmpfs sysfs tape tty zram
`

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({
  name: 'linux',
  domain: 60,
  options: [
    { short: 'A', long: 'no-access-checks', help: 'show every client what otherwise only root may see' },
  ],
  open: (env) => {
    const ctx = openContext(env)
    const metrics: { [name: string]: OrderedRow } = Object.create(null) // a hash table from the start, as in inNameOrder
    for (const subject of SUBJECTS) Object.assign(metrics, subject(ctx))
    const containers = new ContainerViews(env, metrics)
    return {
      metrics: inNameOrder(metrics, GROUPS),
      beforeRequest: (_kind, { batch }) => ctx.begin(batch),
      tablesFor: (ask) => containers.tablesFor(ask),
      close: () => {
        containers.close()
        ctx.close()
      },
    }
  },
})
