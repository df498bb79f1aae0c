/** Data: the plugins that dstat has where no configuration is installed; and what makes sections of their lines. */

/** name | settings, by blanks; then a line a column: name[=label] metric or expression. `~` begins refinements of a column. */
const PLUGINS = `
aio | width=5 label=async
  aio=#aio vfs.aio.count
battery | width=6 label=charge printtype=p colorstep=34
  perbat=left min(denki.bat.capacity)
cpu | width=3 label=%I_usage printtype=p colorstep=34 grouptype=2 filtertype=cpu
  usr 100 * (rate(kernel.percpu.cpu.user) + rate(kernel.percpu.cpu.nice) + rate(kernel.percpu.cpu.irq.soft) + rate(kernel.percpu.cpu.irq.hard))
  sys 100 * rate(kernel.percpu.cpu.sys)
  idl 100 * rate(kernel.percpu.cpu.idle)
  wai 100 * rate(kernel.percpu.cpu.wait.total)
  stl 100 * rate(kernel.percpu.cpu.steal)
cpu-adv | width=3 label=total_cpu_usage printtype=p colorstep=34
  usr 100 * (rate(kernel.all.cpu.user) + rate(kernel.all.cpu.nice)) / hinv.ncpu
  sys 100 * rate(kernel.all.cpu.sys) / hinv.ncpu
  idl 100 * rate(kernel.all.cpu.idle) / hinv.ncpu
  wai 100 * rate(kernel.all.cpu.wait.total) / hinv.ncpu
  hiq 100 * rate(kernel.all.cpu.irq.hard) / hinv.ncpu
  siq 100 * rate(kernel.all.cpu.irq.soft) / hinv.ncpu
  stl 100 * rate(kernel.all.cpu.steal) / hinv.ncpu
cpu-use | width=3 label=per_cpu_usage printtype=p colorstep=34
  percpu=%i 100 - 100 * rate(kernel.percpu.cpu.idle)
entropy |
  avail kernel.all.entropy.avail
  pool kernel.all.entropy.poolsize
freespace |
  used sum(filesys.used)
  free sum(filesys.free)
fs | width=6 label=filesystem
  files vfs.files.count
  inodes vfs.inodes.count - vfs.inodes.free
gpfs | label=fs/%I printtype=b grouptype=2 width=4
  reads gpfs.fsios.read_bytes
  writes gpfs.fsios.write_bytes
gpfs-ops | label=gpfs-ops/%I printtype=b grouptype=2 width=9
  opens gpfs.fsios.opens
  reads gpfs.fsios.reads
  writes gpfs.fsios.writes
  inode_updates gpfs.fsios.inode_updates
  readdir gpfs.fsios.readdir
  closes gpfs.fsios.closes
int | label=interrupts width=4 printtype=d grouptype=2 filtertype=int
  int=%I kernel.all.interrupts.total
io | label=io/total
  reads=read disk.all.read
  writes=writ disk.all.write
ipc | label=sysv_ipc printtype=d width=3 colorstep=10
  msg ipc.msg.used_queues
  sem ipc.sem.used_sem
  shm ipc.shm.used_ids
load | label=load_avg width=4 colorstep=0.5
  load=%dm kernel.all.load
lock | label=file_locks width=3 colorstep=10 printtype=f
  posix=pos vfs.locks.posix.count
  flock=lck vfs.locks.flock.count
  readlocks=rea vfs.locks.posix.read + vfs.locks.flock.read
  writelocks=wri vfs.locks.posix.write + vfs.locks.flock.write
mem | label=memory_usage
  used mem.physmem - mem.util.free - mem.util.bufmem - mem.util.cached - mem.util.slabReclaimable + mem.util.shmem
  free mem.util.free
  bufmem=buf mem.util.bufmem
  cached=cach mem.util.cached
mem-adv | label=advanced_memory_usage
  total mem.physmem
  used mem.physmem - mem.util.free - mem.util.bufmem - mem.util.cached - mem.util.slabReclaimable + mem.util.shmem
  free mem.util.free
  bufmem=buf mem.util.bufmem
  cached=cach mem.util.cached
  dirty mem.util.dirty
  shmem mem.util.shmem
  reclaim=recl mem.util.slabReclaimable
memcache | label=Memcache_Hits width=6 colorstep=50
  hit sum(memcache.hits)
  miss sum(memcache.misses)
mongodb-conn | colorstep=2 label=mongodb_con
  curr mongodb.serverStatus.connections.current
  avail mongodb.serverStatus.connections.available
mongodb-mem | label=mongodb_mem
  res mongodb.serverStatus.memory.resident
  virt mongodb.serverStatus.memory.virtual
mongodb-opcount | colorstep=2 label=mongodb_counts
  qry mongodb.serverStatus.opcounters.query
  ins mongodb.serverStatus.opcounters.insert
  upd mongodb.serverStatus.opcounters.update
  del mongodb.serverStatus.opcounters.delete
  gtm mongodb.serverStatus.opcounters.getmore
  cmd mongodb.serverStatus.opcounters.command
mongodb-latency | colorstep=2 label=mongodb_lat
  rd rate(mongodb.serverStatus.opLatencies.reads.latency) / rate(mongodb.serverStatus.opLatencies.reads.ops)
  wr rate(mongodb.serverStatus.opLatencies.writes.latency) / rate(mongodb.serverStatus.opLatencies.writes.ops)
  cmd rate(mongodb.serverStatus.opLatencies.commands.latency) / rate(mongodb.serverStatus.opLatencies.commands.ops)
mongodb-dbstats | colorstep=2 label=mongodb_dbstats
  dsize sum(mongodb.dbStats.dataSize)
  isize sum(mongodb.dbStats.indexSize)
  ssize sum(mongodb.dbStats.storageSize)
mysql-io | label=mysql_io
  bytes_received=recv mysql.status.bytes_received
  bytes_sent=sent mysql.status.bytes_sent
mysql-keys | label=mysql_key_status width=4 printtype=f
  key_blocks_used=used mysql.status.key_blocks_used
  key_reads=read mysql.status.key_reads
  key_writes=writ mysql.status.key_writes
  key_read_requests=rreq mysql.status.key_read_requests
  key_write_requests=wreq mysql.status.key_write_requests
innodb-buffer | label=innodb_pool width=3 printtype=f
  created=crt mysql.status.innodb_pages_created
  read=rea mysql.status.innodb_pages_read
  written=wri mysql.status.innodb_pages_written
innodb-io | label=innodb_io_ops width=3 printtype=f
  read=rea mysql.status.innodb_data_read
  written=wri mysql.status.innodb_data.writes
  sync=syn mysql.status.innodb_data_fsyncs
innodb-ops | label=innodb_ops width=3 printtype=f
  inserted=ins mysql.status.innodb_rows_inserted
  updated=upd mysql.status.innodb_rows_updated
  deleted=del mysql.status.innodb_rows_deleted
  read=rea mysql.status.innodb_rows_read
net | label=net/%I printtype=b cullinsts=^(?:lo|bond\\d+|team\\d+|face|.+\\.\\d+)$ filtertype=net
  bits_in=recv network.interface.in.bytes
  bits_out=send network.interface.out.bytes
net-packets | label=pkt/%I printtype=d cullinsts=^(?:lo|bond\\d+|team\\d+|face|.+\\.\\d+)$ filtertype=net
  pkts_in=#recv network.interface.in.packets
  pkts_out=#send network.interface.out.packets
raw | width=4
  raw network.rawconn.count + network.rawconn6.count
udp | width=4
  listen=lis network.udpconn.listen + network.udpconn6.listen
  active=act network.udpconn.established + network.udpconn6.established
unix | width=4
  datagram=dgm network.unix.datagram.count
  stream_count=str network.unix.stream.count
  stream_listen=lis network.unix.stream.listen
  stream_active=act network.unix.stream.established
nfs3 | label=nfs3_client printtype=d instances=read,write,readdir,other,filesystem,commit
  nfs3=%I nfs3.client.calls
nfs3-ops | label=extended_nfs3_client_operations printtype=d
  nfs3=%I nfs3.client.calls
nfsd3 | label=nfs3_server printtype=d instances=read,write,readdir,inode,filesystem,commit
  nfs3=%I nfs3.server.calls
nfsd3-ops | label=extended_nfs3_server_operations printtype=d
  nfs3=%I nfs3.server.calls
nfs4 | label=nfs4_client printtype=d instances=read,write,readdir,commit,getattr,create,link,remove
  nfs4=%I nfs4.client.calls
nfs4-ops | label=extended_nfs4_client_operations printtype=d
  nfs4=%I nfs4.client.calls
nfsd4 | label=nfs4_server printtype=d instances=read,write,readdir,getattr,setattr,commit,getfh,putfh,savefh,restorefh,open,open_conf,close,access,lookup,remove
  nfs4=%I nfs4.server.calls
nfsd4-ops | label=extended_nfs4_server_operations printtype=d
  nfs4=%I nfs4.server.calls
page | label=paging
  in swap.pagesin
  out swap.pagesout
postfix | width=4 colorstep=100 printtype=d
  incoming=inco sum(postfix.queues.incoming)
  active=actv sum(postfix.queues.active)
  deferred=dfrd sum(postfix.queues.deferred)
  bounce=bnce sum(postfix.queues.maildrop)
  hold sum(postfix.queues.hold)
proc | label=procs width=3 printtype=f colorstep=10
  running=run kernel.all.running - 1
  blocked=blk kernel.all.blocked
  sysfork=new kernel.all.sysfork
proc-count | label=procs width=4
  total proc.nprocs
redis | width=7 colorstep=10000
  tps redis.instantaneous_ops_per_sec
redis-mem | width=6 label=redis_memory
  lua redis.used_memory_lua
  used redis.used_memory
redis-client | width=6 label=redis_clients
  blk redis.blocked_clients
  conn redis.connected_clients
rpc | label=rpc_client printtype=d
  calls=call rpc.client.rpccnt
  retransmits=retr rpc.client.rpcretrans
  refreshes=refr rpc.client.rpcauthrefresh
rpcd | label=rpc_server printtype=d
  calls=call rpc.server.rpccnt
  badcalls=erca rpc.server.rpcbadfmt
  badauth=erau rpc.server.rpcbadauth
  badclnt=ercl rpc.server.rpcbadclnt
  xdrcall=xdrc rpc.server.rpcerr
socket | label=sockets width=4 printtype=d
  tot network.sockstat.total
  tcp network.sockstat.tcp.inuse
  udp network.sockstat.udp.inuse
  raw network.sockstat.raw.inuse
  frg network.sockstat.frag.inuse
socket6 | label=sockets width=4 printtype=d
  tcp6 network.sockstat.tcp6.inuse
  udp6 network.sockstat.udp6.inuse
  raw6 network.sockstat.raw6.inuse
  frg6 network.sockstat.frag6.inuse
swap | label=%I filtertype=swap
  used swapdev.length - swapdev.free
  free swapdev.free
sys | label=system type=raw printtype=d
  interrupts=int delta(kernel.all.intr)
  context_switches=csw delta(kernel.all.pswitch)
tcp | label=tcp_sockets width=4 printtype=d
  listen=lis network.tcpconn.listen
  active=act network.tcpconn.established
  syn network.tcpconn.syn_sent + network.tcpconn.syn_recv + network.tcpconn.last_ack
  wait=tim network.tcpconn.time_wait
  close=clo network.tcpconn.fin_wait1 + network.tcpconn.fin_wait2 + network.tcpconn.close + network.tcpconn.close_wait + network.tcpconn.closing
top-bio | label=most_expensive width=25 grouptype=4
  top=block_I/O_process rate(proc.io.read_bytes) + rate(proc.io.write_bytes)
  cmd proc.psinfo.cmd ~ width=13
  read proc.io.read_bytes ~ width=5 colorstep=1024
  write proc.io.write_bytes ~ width=5 colorstep=1024
top-bio-adv | label=most_expensive_block_I/O_process width=40 grouptype=4
  top=process______________pid__read_write_cpu rate(proc.io.read_bytes) + rate(proc.io.write_bytes)
  cmd proc.psinfo.cmd ~ width=15
  pid proc.psinfo.pid ~ width=8
  read proc.io.read_bytes ~ width=5 colorstep=1024
  write proc.io.write_bytes ~ width=5 colorstep=1024
  cpu (rate(proc.psinfo.utime) + rate(proc.psinfo.stime)) / hinv.ncpu ~ width=3 colorstep=34
top-childwait | label=most_waiting_for width=21 grouptype=4
  top=child_process (rate(proc.psinfo.cutime) + rate(proc.psinfo.cstime)) / hinv.ncpu
  cmd proc.psinfo.cmd ~ width=12
  max (rate(proc.psinfo.cutime) + rate(proc.psinfo.cstime)) / hinv.ncpu ~ width=8 colorstep=34
top-cpu | label=most_expensive width=16 grouptype=4
  top=cpu_process (rate(proc.psinfo.utime) + rate(proc.psinfo.stime)) / hinv.ncpu
  cmd proc.psinfo.cmd ~ width=12
  cpu 100 * (rate(proc.psinfo.utime) + rate(proc.psinfo.stime)) / hinv.ncpu ~ width=3 colorstep=34
top-cpu-adv | label=most_expensive_cpu_process width=29 grouptype=4
  top=process______________pid__cpu (rate(proc.psinfo.utime) + rate(proc.psinfo.stime)) / hinv.ncpu
  cmd proc.psinfo.cmd ~ width=16
  pid proc.psinfo.pid ~ width=8
  cpu 100 * (rate(proc.psinfo.utime) + rate(proc.psinfo.stime)) / hinv.ncpu ~ width=3 colorstep=34
top-cputime | label=highest_total width=17 grouptype=4
  top=cputime_process rate(proc.schedstat.cpu_time)
  cmd proc.psinfo.cmd ~ width=12
  avg rate(proc.schedstat.cpu_time) ~ width=4 colorstep=100
top-cputime-avg | label=highest_average width=17 grouptype=4
  top=cputime_process rate(proc.schedstat.cpu_time) / rate(proc.schedstat.pcount)
  cmd proc.psinfo.cmd ~ width=12
  avg rate(proc.schedstat.cpu_time) / rate(proc.schedstat.pcount) ~ width=4 colorstep=100
top-latency | label=highest_total width=17 grouptype=4
  top=latency_process rate(proc.schedstat.run_delay)
  cmd proc.psinfo.cmd ~ width=12
  avg rate(proc.schedstat.run_delay) ~ width=4 colorstep=100
top-latency-avg | label=highest_average width=17 grouptype=4
  top=latency_process rate(proc.schedstat.run_delay) / rate(proc.schedstat.pcount)
  cmd proc.psinfo.cmd ~ width=12
  avg rate(proc.schedstat.run_delay) / rate(proc.schedstat.pcount) ~ width=4 colorstep=100
top-io | label=most_expensive width=24 grouptype=4
  top=I/O_process rate(proc.io.rchar) + rate(proc.io.wchar)
  cmd proc.psinfo.cmd ~ width=12
  read proc.io.rchar ~ width=5 colorstep=1024
  write proc.io.wchar ~ width=5 colorstep=1024
top-io-adv | label=most_expensive_I/O_process width=40 grouptype=4
  top=process______________pid__read_write_cpu rate(proc.io.rchar) + rate(proc.io.wchar)
  cmd proc.psinfo.cmd ~ width=15
  pid proc.psinfo.pid ~ width=8
  read proc.io.rchar ~ width=5 colorstep=1024
  write proc.io.wchar ~ width=5 colorstep=1024
  cpu (rate(proc.psinfo.utime) + rate(proc.psinfo.stime)) / hinv.ncpu ~ width=3 colorstep=34
top-mem | label=most_expensive width=18 grouptype=4
  top=memory_process proc.psinfo.rss
  cmd proc.psinfo.cmd ~ width=12
  rss proc.psinfo.rss ~ width=5 colorstep=1024
top-oom | label=out_of_memory width=18 grouptype=4
  top=kill_score proc.psinfo.oom_score
  cmd proc.psinfo.cmd ~ width=13
  rss proc.psinfo.oom_score ~ width=4 colorstep=1000
utmp | width=3 colorstep=10
  ses kernel.all.nsessions
  usr kernel.all.nusers
  adm kernel.all.nroots
vm | label=virtual_memory printtype=d
  majpf mem.vmstat.pgmajfault
  minpf mem.vmstat.pgfault
  alloc sum(mem.vmstat.pgalloc_dma) + sum(mem.vmstat.pgalloc_dma32) + sum(mem.vmstat.pgalloc_movable) + sum(mem.vmstat.pgalloc_normal) + sum(mem.vmstat.pgalloc_high)
  free mem.vmstat.pgfree
vm-adv | label=advanced_virtual_memory printtype=d
  steal sum(mem.vmstat.pgsteal_direct) + sum(mem.vmstat.pgsteal_direct_dma) + sum(mem.vmstat.pgsteal_direct_dma32) + sum(mem.vmstat.pgsteal_direct_movable) + sum(mem.vmstat.pgsteal_direct_normal)
  scanK sum(mem.vmstat.pgscan_kswapd) + sum(mem.vmstat.pgscan_kswapd_dma) + sum(mem.vmstat.pgscan_kswapd_dma32) + sum(mem.vmstat.pgscan_kswapd_high) + sum(mem.vmstat.pgscan_kswapd_movable) + sum(mem.vmstat.pgscan_kswapd_normal)
  scanD sum(mem.vmstat.pgscan_direct) + sum(mem.vmstat.pgscan_direct_dma) + sum(mem.vmstat.pgscan_direct_dma32) + sum(mem.vmstat.pgscan_direct_high) + sum(mem.vmstat.pgscan_direct_movable) + sum(mem.vmstat.pgscan_direct_normal)
  pgoru sum(mem.vmstat.pageoutrun)
  astll sum(mem.vmstat.allocstall)
zfs-arc | label=ZFS_ARC
  size=mem zfs.arc.size ~ printtype=b
  hits zfs.arc.hits ~ printtype=d
  misses=miss zfs.arc.misses ~ printtype=d
  total=reads zfs.arc.hits + zfs.arc.misses ~ printtype=d
  hit_rate=hit% 100 * rate(zfs.arc.hits) / (rate(zfs.arc.hits) + rate(zfs.arc.misses)) ~ printtype=p colorstep=34
zfs-l2arc | label=ZFS_L2ARC
  size zfs.arc.l2.size ~ printtype=b
  hits=hit zfs.arc.l2.hits ~ printtype=d
  misses=miss zfs.arc.l2.misses ~ printtype=d
  hit_rate=hit% 100 * rate(zfs.arc.l2.hits) / (rate(zfs.arc.l2.hits) + rate(zfs.arc.l2.misses)) ~ printtype=p colorstep=34
  read_bytes=read zfs.arc.l2.read_bytes ~ printtype=b
  write_bytes=write zfs.arc.l2.write_bytes ~ printtype=b
zfs-zil | label=ZFS_ZIL
  count zfs.zil.itx.metaslab.slog_count ~ printtype=d
  bytes zfs.zil.itx.metaslab.slog_bytes ~ printtype=b
`

/** Plugins that every kind of disk has; DEV stands for where its metrics are, KIND for its option. */
const DISK_PLUGINS = `
KIND | label=LABEL printtype=b grouptype=2 filtertype=KIND
  reads=read DEV.read_bytes
  writes=writ DEV.write_bytes
KIND-avgqu | label=%I width=4 grouptype=1 printtype=f colorstep=10
  avgqu DEV.aveq
KIND-avgrq | label=%I width=4 grouptype=1 printtype=f colorstep=10
  avgrq (delta(DEV.read_bytes) + delta(DEV.write_bytes)) / (delta(DEV.read) + delta(DEV.write))
KIND-svctm | label=%I width=4 grouptype=1 printtype=f colorstep=1
  svctm (delta(DEV.avactive) / 1000 / 2) / (delta(DEV.read) + delta(DEV.write))
KIND-tps | label=LABEL width=5 printtype=d grouptype=2 filtertype=KIND
  reads=#read DEV.read
  writes=#writ DEV.write
KIND-util | label=%I width=4 grouptype=1 printtype=f colorstep=34
  util 100 * rate(DEV.avactive)
KIND-wait | label=%I width=4 grouptype=1 printtype=f colorstep=1
  rawait delta(DEV.read_rawactive) / delta(DEV.read)
  wawait delta(DEV.write_rawactive) / delta(DEV.write)
`

/** Kinds of disks, where their metrics are, and the heading of their groups. */
const DISKS: readonly (readonly [kind: string, metrics: string, label: string])[] = [
  ['disk', 'disk.dev', 'dsk/%I'],
  ['dm', 'disk.dm', '%I'],
  ['md', 'disk.md', 'dsk/%I'],
  ['part', 'disk.partitions', 'dsk/%I'],
]

/** The sections, as if they had been read from files. */
export function builtInPlugins(): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>()
  const disks = DISKS.map(([kind, metrics, label]) =>
    DISK_PLUGINS.replaceAll('KIND', kind).replaceAll('DEV', metrics).replaceAll('LABEL', label),
  )
  for (const text of [PLUGINS, ...disks]) addPlugins(text, sections)
  return sections
}

function addPlugins(text: string, sections: Map<string, Map<string, string>>): void {
  let keys = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (line === '') continue
    if (line.startsWith(' ')) {
      addColumn(line.trim(), keys)
      continue
    }
    const bar = line.indexOf(' |')
    keys = new Map()
    sections.set(line.slice(0, bar), keys)
    addSettings(line.slice(bar + 2), '', keys)
  }
}

function addColumn(line: string, keys: Map<string, string>): void {
  const blank = line.indexOf(' ')
  const [name = '', label] = line.slice(0, blank).split('=')
  const [metric = '', settings] = line.slice(blank + 1).split(' ~ ')
  keys.set(name, metric)
  if (label !== undefined) keys.set(`${name}.label`, label.replaceAll('_', ' '))
  if (settings !== undefined) addSettings(settings, `${name}.`, keys)
}

function addSettings(text: string, prefix: string, keys: Map<string, string>): void {
  for (const setting of text.split(' ')) {
    const at = setting.indexOf('=')
    if (at < 0) continue
    const value = setting.slice(at + 1)
    const name = setting.slice(0, at)
    keys.set(prefix + name, name === 'label' ? value.replaceAll('_', ' ') : value)
  }
}
