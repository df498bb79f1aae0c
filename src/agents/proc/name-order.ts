/** Data: the names of the proc agent in the order PCP 6.0.3 has them in its name space. */

/** A line for each run of names with one parent: the parent, a colon, and the last parts; lines that are indented continue. */
export const NAME_ORDER: string = `
cgroup.subsys: hierarchy count num_cgroups enabled
cgroup.mounts: subsys count
cgroup.cpu.stat: user system usage
cgroup.cpuset: cpus mems
cgroup.cpuset.id: container
cgroup.cpuacct: usage usage_percpu
cgroup.cpuacct.stat: user system
cgroup.cpuacct.id: container
cgroup.cpusched: shares periods throttled throttled_time cfs_period cfs_quota
cgroup.cpusched.id: container
cgroup.memory: usage limit failcnt current
cgroup.memory.stat: cache rss rss_huge mapped_file writeback swap pgpgin pgpgout pgfault pgmajfault
  inactive_anon active_anon inactive_file active_file unevictable anon anon_thp file file_dirty file_mapped
  file_writeback kernel_stack pgactivate pgdeactivate pglazyfree pglazyfreed pgrefill pgscan pgsteal shmem
  slab slab_reclaimable slab_unreclaimable sock thp_collapse_alloc thp_fault_alloc
cgroup.memory.stat.total: cache rss rss_huge mapped_file writeback swap pgpgin pgpgout pgfault pgmajfault
  inactive_anon active_anon inactive_file active_file unevictable
cgroup.memory.stat.recent: rotated_anon rotated_file scanned_anon scanned_file
cgroup.memory.stat.workingset: activate nodereclaim refault
cgroup.memory.id: container
cgroup.netclass: classid
cgroup.netclass.id: container
cgroup.blkio.dev: sectors time
cgroup.blkio.dev.io_merged: read write sync async total
cgroup.blkio.dev.io_queued: read write sync async total
cgroup.blkio.dev.io_service_bytes: read write sync async total
cgroup.blkio.dev.io_serviced: read write sync async total
cgroup.blkio.dev.io_service_time: read write sync async total
cgroup.blkio.dev.io_wait_time: read write sync async total
cgroup.blkio.dev.throttle.io_service_bytes: read write sync async total
cgroup.blkio.dev.throttle.io_serviced: read write sync async total
cgroup.blkio.all: sectors time
cgroup.blkio.all.io_merged: read write sync async total
cgroup.blkio.all.io_queued: read write sync async total
cgroup.blkio.all.io_service_bytes: read write sync async total
cgroup.blkio.all.io_serviced: read write sync async total
cgroup.blkio.all.io_service_time: read write sync async total
cgroup.blkio.all.io_wait_time: read write sync async total
cgroup.blkio.all.throttle.io_service_bytes: read write sync async total
cgroup.blkio.all.throttle.io_serviced: read write sync async total
cgroup.blkio.id: container
cgroup.pressure.cpu.some: avg10sec avg1min avg5min total
cgroup.pressure.memory.some: avg10sec avg1min avg5min total
cgroup.pressure.memory.full: avg10sec avg1min avg5min total
cgroup.pressure.io.some: avg10sec avg1min avg5min total
cgroup.pressure.io.full: avg10sec avg1min avg5min total
cgroup.pressure.irq.full: avg10sec avg1min avg5min total
cgroup.io.stat: rbytes wbytes rios wios dbytes dios
proc: nprocs
proc.psinfo: cwd exe oom_score tgid ngid cpusallowed nvctxsw vctxsw labels cgroups threads sigcatch_s
  sigignore_s blocked_s signal_s policy_s environ cguest_time guest_time delayacct_blkio_time policy
  rt_priority psargs wchan_s ttyname processor exit_signal cnswap nswap wchan sigcatch sigignore blocked
  signal eip esp start_stack end_code start_code rss_rlim rss vsize start_time it_real_value nice priority
  cstime cutime stime utime cmaj_flt maj_flt cmin_flt minflt flags tty_pgrp tty session pgrp ppid sname cmd
  pid
proc.memory: vmnonlib vmreal vmpte vmhwm vmpin vmpeak vmswap vmlib vmexe vmstack vmdata vmrss vmlock vmsize
  maps dirty datrss librss textrss share rss size
proc.id: container fsgid_nm sgid_nm egid_nm gid_nm fsuid_nm suid_nm euid_nm uid_nm fsgid sgid egid gid fsuid
  suid euid uid
proc.io: cancelled_write_bytes write_bytes read_bytes syscw syscr wchar rchar
proc.schedstat: pcount run_delay cpu_time
proc.fd: count
proc.namespaces: envid sid pgid pid tgid
proc.smaps: locked swappss swap private_hugetlb shared_hugetlb filepmdmapped shmempmdmapped anonhugepages
  lazyfree anonymous referenced private_dirty private_clean shared_dirty shared_clean pss_shmem pss_file
  pss_anon pss rss
proc.autogroup: nice id enabled
proc.runq: runnable blocked sleeping stopped swapped defunct unknown kernel
proc.control.all: threads
proc.control.perclient: threads cgroups
hotproc: nprocs
hotproc.psinfo: cwd exe oom_score tgid ngid cpusallowed nvctxsw vctxsw labels cgroups threads sigcatch_s
  sigignore_s blocked_s signal_s policy_s environ cguest_time guest_time delayacct_blkio_time policy
  rt_priority psargs wchan_s ttyname processor exit_signal cnswap nswap wchan sigcatch sigignore blocked
  signal eip esp start_stack end_code start_code rss_rlim rss vsize start_time it_real_value nice priority
  cstime cutime stime utime cmaj_flt maj_flt cmin_flt minflt flags tty_pgrp tty session pgrp ppid sname cmd
  pid
hotproc.memory: vmnonlib vmreal vmpte vmhwm vmpin vmpeak vmswap vmlib vmexe vmstack vmdata vmrss vmlock
  vmsize maps dirty datrss librss textrss share rss size
hotproc.id: container fsgid_nm sgid_nm egid_nm gid_nm fsuid_nm suid_nm euid_nm uid_nm fsgid sgid egid gid
  fsuid suid euid uid
hotproc.io: cancelled_write_bytes write_bytes read_bytes syscw syscr wchar rchar
hotproc.schedstat: pcount run_delay cpu_time
hotproc.fd: count
hotproc.namespaces: envid sid pgid pid tgid
hotproc.smaps: locked swappss swap private_hugetlb shared_hugetlb filepmdmapped shmempmdmapped anonhugepages
  lazyfree anonymous referenced private_dirty private_clean shared_dirty shared_clean pss_shmem pss_file
  pss_anon pss rss
hotproc.autogroup: nice id enabled
hotproc.control: refresh config config_gen reload_config
hotproc.total: cpuidle cpuburn
hotproc.total.cpuother: transient not_cpuburn total percent
hotproc.predicate: ctxswitch virtualsize residentsize iodemand iowait schedwait cpuburn
acct.psinfo: tty exitcode pid ppid btime etime utime stime mem io rw minflt majflt swaps ttyname
acct.id: uid gid uid_nm gid_nm
acct.flag: fork su core xsig
acct.control: open_retry_interval check_acct_interval file_size_threshold lifetime refresh enable_acct
`
