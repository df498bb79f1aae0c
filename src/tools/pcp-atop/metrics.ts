/** The metrics of atop. pcp-atop(1) */
import type { WantedMetric } from '../lib/sampled/metrics.ts'

const within = (group: string, items: string): string[] => items.split(' ').map((item) => `${group}.${item}`)

/** Modes of processor time. */
export const CPU_ITEMS: readonly string[] =
  'sys user nice idle wait.total irq.hard irq.soft steal guest'.split(' ')
/** Counters of a disk, logical volume or multiple device. */
const DISK_ITEMS = 'read write blkread blkwrite discard blkdiscard avactive aveq inflight'
const ICMP = within('network', 'icmp.inmsgs icmp.outmsgs icmp6.inmsgs icmp6.outmsgs')

const memory = (name: string): WantedMetric => ({ name, units: 'byte' })

/** Metrics of the host. */
export const SYSTEM_METRICS: readonly WantedMetric[] = [
  ...within('hinv', 'ncpu nnode pagesize map.dmname map.mdname hugepagesize'),
  ...within('kernel.all', 'hz load pswitch intr sysfork boottime uptime pid_max'),
  ...within(
    'kernel.all.pressure',
    'cpu.some.avg cpu.some.total memory.some.avg memory.some.total memory.full.avg memory.full.total io.some.avg io.some.total io.full.avg io.full.total',
  ),
  ...CPU_ITEMS.map((item) => `kernel.all.cpu.${item}`),
  ...CPU_ITEMS.map((item) => `kernel.percpu.cpu.${item}`),
  ...CPU_ITEMS.map((item) => `kernel.pernode.cpu.${item}`),
  'kernel.uname.nodename',
  'hinv.cpu.clock',
  'hinv.map.cpu_node',
  'perfevent.hwcounters.INSTRUCTIONS_RETIRED.value',
  'perfevent.hwcounters.UNHALTED_REFERENCE_CYCLES.value',
  'perfevent.hwcounters.instructions.value',
  'perfevent.hwcounters.cycles.value',
  ...within('mem', 'physmem freemem').map(memory),
  ...within(
    'mem.util',
    'cached bufmem slab slabReclaimable dirty shmem swapCached committed_AS commitLimit pageTables',
  ).map(memory),
  ...within('mem.util', 'hugepagesTotal hugepagesFree'),
  ...within('mem.ksm', 'pages_shared pages_sharing'),
  ...within('mem.zswap', 'pool_total_size stored_pages'),
  ...within('ipc.shm', 'rss swp'),
  memory('zfs.arc.size'),
  ...within('network.sockstat', 'tcp.mem udp.mem'),
  ...within('swap', 'length free').map(memory),
  ...within('swap', 'pagesin pagesout'),
  ...within(
    'mem.vmstat',
    'allocstall allocstall_normal allocstall_dma allocstall_dma32 allocstall_high allocstall_movable compact_stall pgmigrate_success numa_pages_migrated pgpgin pgpgout oom_kill',
  ),
  ...within(
    'mem.vmstat',
    'pgscan_direct pgscan_kswapd pgscan_direct_dma pgscan_direct_dma32 pgscan_direct_high pgscan_direct_movable pgscan_direct_normal pgscan_kswapd_dma pgscan_kswapd_dma32 pgscan_kswapd_high pgscan_kswapd_movable pgscan_kswapd_normal',
  ),
  ...within('mem.vmstat', 'pgsteal_dma pgsteal_dma32 pgsteal_high pgsteal_movable pgsteal_normal'),
  ...within('mem.numa.util', 'total free filePages dirty active inactive slab slabReclaimable shmem').map(
    memory,
  ),
  'mem.numa.util.hugepagesTotal',
  ...['dev', 'dm', 'md'].flatMap((group) => within(`disk.${group}`, DISK_ITEMS)),
  ...within(
    'network.interface',
    'in.packets out.packets in.bytes out.bytes in.mcasts in.errors out.errors in.drops out.drops collisions baudrate duplex',
  ),
  ...within('network.tcp', 'insegs outsegs activeopens passiveopens currestab retranssegs inerrs outrsts'),
  ...['udp', 'udp6'].flatMap((group) =>
    within(`network.${group}`, 'indatagrams outdatagrams noports inerrors'),
  ),
  ...within('network.ip', 'inreceives outrequests forwdatagrams indelivers'),
  ...within('network.ip6', 'inreceives outrequests outforwdatagrams indelivers'),
  ...ICMP,
  ...within('rpc.client', 'rpccnt rpcretrans rpcauthrefresh'),
  ...within(
    'rpc.server',
    'rpccnt rpcbadfmt rpcbadauth rpcbadclnt netcnt nettcpcnt netudpcnt nettcpconn rchits rcmisses rcnocache io_read io_write',
  ),
  ...['nfs', 'nfs3', 'nfs4'].flatMap((group) => within(group, 'client.reqs server.reqs')),
  ...within('nfsclient', 'export bytes.read.server bytes.write.server bytes.read.normal bytes.write.normal'),
  ...within('nfsclient', 'bytes.read.direct bytes.write.direct pages.read pages.write'),
  ...within('infiniband.port', 'in.bytes out.bytes in.packets out.packets rate linkwidth'),
  ...within('apache', 'total_accesses total_kbytes uptime busy_servers idle_servers'),
  ...within(
    'nvidia',
    'busid cardname gpuactive memactive memtotal memused nprocs samples gpuutilaccum memutilaccum memusedaccum',
  ),
]

/** Metrics of processes below their group: `proc` or `hotproc`. */
export const TASK_ITEMS: readonly string[] = [
  ...within(
    'psinfo',
    'cmd pid ppid tgid sname threads utime stime nice priority rt_priority policy processor start_time minflt maj_flt vsize rss wchan_s cgroups delayacct_blkio_time psargs',
  ),
  ...within(
    'id',
    'uid euid suid fsuid gid egid sgid fsgid uid_nm euid_nm suid_nm fsuid_nm gid_nm egid_nm sgid_nm fsgid_nm container',
  ),
  ...within('memory', 'vmexe vmdata vmstack vmlib vmlock vmswap'),
  ...within('io', 'read_bytes write_bytes cancelled_write_bytes'),
  'schedstat.run_delay',
  'namespaces.envid',
]
/** Expensive, so fetched only if requested. */
export const PSS_ITEM = 'smaps.pss'

/** Network traffic of processes, from the agent of kernel traces. */
export const NET_TASK_METRICS: readonly string[] = within(
  'bcc.proc.net',
  'tcp.send.calls tcp.send.bytes tcp.recv.calls tcp.recv.bytes udp.send.calls udp.send.bytes udp.recv.calls udp.recv.bytes',
)
/** GPU use of processes. */
export const GPU_TASK_METRICS: readonly string[] = within(
  'nvidia.proc.all',
  'gpuactive memactive memused memaccum samples gpulist ngpus running',
)
/** Processes that exited, from process accounting. */
export const EXIT_METRICS: readonly string[] = [
  'acct.control.enable_acct',
  ...within('acct.psinfo', 'exitcode pid ppid btime etime utime stime minflt majflt'),
  ...within('acct.id', 'uid gid uid_nm'),
  'acct.flag.xsig',
  'acct.flag.core',
]
