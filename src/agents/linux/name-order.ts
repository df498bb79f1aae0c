/** Data: the names of the linux agent in the order PCP 6.0.3 has them in its name space. */

/** A line for each run of names with one parent: the parent, a colon, and the last parts; lines that are indented continue. */
export const NAME_ORDER: string = `
hinv: physmem pagesize ncpu ndisk nfilesys ninterface nnode machine hugepagesize ntape nfchost
hinv.map: scsi scsi_id cpu_num cpu_node dmname mdname
hinv.cpu: clock vendor model stepping cache bogomips model_name flags cache_alignment online
hinv.cpu.thermal_throttle.core: count time
hinv.cpu.thermal_throttle.package: count time
hinv.cpu.frequency_scaling: count time max min
hinv.node: online
kernel.all: load intr pswitch sysfork running blocked boottime hz uptime idletime nusers nroots nsessions
  lastpid runnable nprocs pid_max nptys
kernel.all.cpu: user nice sys idle intr steal guest vuser guest_nice vnice
kernel.all.cpu.wait: total
kernel.all.cpu.irq: soft hard
kernel.all.interrupts: total missed errors
kernel.all.softirqs: total
kernel.all.entropy: avail poolsize
kernel.all.pressure.cpu.some: avg total
kernel.all.pressure.memory.some: avg total
kernel.all.pressure.memory.full: avg total
kernel.all.pressure.io.some: avg total
kernel.all.pressure.io.full: avg total
kernel.all.pressure.irq.full: avg total
kernel.percpu: interrupts softirqs intr sirq
kernel.percpu.cpu: user nice sys idle intr steal guest vuser guest_nice vnice
kernel.percpu.cpu.wait: total
kernel.percpu.cpu.irq: soft hard
kernel.pernode.cpu: user nice sys idle intr steal guest vuser guest_nice vnice
kernel.pernode.cpu.wait: total
kernel.pernode.cpu.irq: soft hard
kernel.uname: release version sysname machine nodename distro
mem: physmem freemem
mem.util: used free shared bufmem cached other swapCached active inactive highTotal highFree lowTotal lowFree
  swapTotal swapFree dirty writeback mapped slab committed_AS pageTables reverseMaps cache_clean anonpages
  commitLimit bounce NFS_Unstable slabReclaimable slabUnreclaimable active_anon inactive_anon active_file
  inactive_file unevictable mlocked shmem kernelStack hugepagesTotal hugepagesFree hugepagesRsvd hugepagesSurp
  directMap4k directMap2M vmallocTotal vmallocUsed vmallocChunk mmap_copy quicklists corrupthardware
  anonhugepages directMap1G available hugepagesTotalBytes hugepagesFreeBytes hugepagesRsvdBytes
  hugepagesSurpBytes
mem.numa: max_bandwidth
mem.numa.util: total free used active inactive active_anon inactive_anon active_file inactive_file highTotal
  highFree lowTotal lowFree unevictable mlocked dirty writeback filePages mapped anonpages shmem kernelStack
  pageTables NFS_Unstable bounce writebackTmp slab slabReclaimable slabUnreclaimable hugepagesTotal
  hugepagesFree hugepagesSurp hugepagesTotalBytes hugepagesFreeBytes hugepagesSurpBytes
mem.numa.alloc: hit miss foreign interleave_hit local_node other_node
mem.vmstat: allocstall allocstall_dma allocstall_dma32 allocstall_high allocstall_movable allocstall_normal
  balloon_deflate balloon_inflate balloon_migrate compact_blocks_moved compact_daemon_free_scanned
  compact_daemon_migrate_scanned compact_daemon_wake compact_fail compact_free_scanned compact_isolated
  compact_migrate_scanned compact_pagemigrate_failed compact_pages_moved compact_stall compact_success
  drop_pagecache drop_slab htlb_buddy_alloc_fail htlb_buddy_alloc_success kswapd_inodesteal
  kswapd_low_wmark_hit_quickly kswapd_high_wmark_hit_quickly kswapd_skip_congestion_wait kswapd_steal
  nr_active_anon nr_active_file nr_anon_pages nr_anon_transparent_hugepages nr_bounce nr_dirtied nr_dirty
  nr_dirty_background_threshold nr_dirty_threshold nr_file_hugepages nr_file_pages nr_file_pmdmapped
  nr_foll_pin_acquired nr_foll_pin_released nr_free_cma nr_free_pages nr_inactive_anon nr_inactive_file
  nr_isolated_anon nr_isolated_file nr_kernel_misc_reclaimable nr_kernel_stack nr_mapped nr_mlock
  nr_pages_scanned nr_page_table_pages nr_shmem nr_shmem_hugepages nr_shmem_pmdmapped nr_slab
  nr_slab_reclaimable nr_slab_unreclaimable nr_unevictable nr_unstable nr_vmscan_immediate_reclaim
  nr_vmscan_write nr_writeback nr_writeback_temp nr_written nr_zone_active_anon nr_zone_active_file
  nr_zone_inactive_anon nr_zone_inactive_file nr_zone_unevictable nr_zone_write_pending nr_zspages
  numa_foreign numa_hint_faults numa_hint_faults_local numa_hit numa_huge_pte_updates numa_interleave
  numa_local numa_miss numa_other numa_pages_migrated numa_pte_updates oom_kill pageoutrun pgactivate
  pgalloc_dma pgalloc_dma32 pgalloc_high pgalloc_movable pgalloc_normal pgrefill_dma32 pgrefill_movable
  pgdeactivate pgfault pgfree pginodesteal pglazyfreed pgmajfault pgmigrate_fail pgmigrate_success pgpgin
  pgpgout pgrefill_dma pgrefill_high pgrefill_normal pgrotated pgscan_direct pgscan_direct_dma
  pgscan_direct_dma32 pgscan_direct_high pgscan_direct_movable pgscan_direct_normal pgscan_direct_throttle
  pgscan_direct_total pgscan_kswapd pgscan_kswapd_dma pgscan_kswapd_dma32 pgscan_kswapd_high
  pgscan_kswapd_movable pgscan_kswapd_normal pgscan_kswapd_total pgsteal_dma pgsteal_dma32 pgsteal_file
  pgsteal_high pgsteal_movable pgsteal_normal pgsteal_kswapd pgsteal_kswapd_dma pgsteal_kswapd_dma32
  pgsteal_kswapd_normal pgsteal_kswapd_movable pgsteal_direct pgsteal_direct_dma pgsteal_direct_dma32
  pgsteal_direct_normal pgsteal_direct_movable pgsteal_total pswpin pswpout slabs_scanned swap_ra swap_ra_hit
  thp_collapse_alloc thp_collapse_alloc_failed thp_deferred_split_page thp_fault_alloc thp_fault_fallback
  thp_fault_fallback_charge thp_file_alloc thp_file_mapped thp_split thp_split_page thp_split_page_failed
  thp_split_pmd thp_split_pud thp_swpout thp_swpout_fallback thp_zero_page_alloc thp_zero_page_alloc_failed
  unevictable_pgs_cleared unevictable_pgs_culled unevictable_pgs_mlocked unevictable_pgs_mlockfreed
  unevictable_pgs_munlocked unevictable_pgs_rescued unevictable_pgs_scanned unevictable_pgs_stranded
  workingset_activate workingset_nodes workingset_nodereclaim workingset_refault workingset_restore
  zone_reclaim_failed
mem.buddyinfo: pages total
mem.slabinfo.objects: active total size
mem.slabinfo.slabs: active total pages_per_slab objects_per_slab total_size
mem.zoneinfo: free min low high scanned spanned present managed nr_free_pages nr_alloc_batch nr_inactive_anon
  nr_active_anon nr_inactive_file nr_active_file nr_unevictable nr_mlock nr_anon_pages nr_mapped nr_file_pages
  nr_dirty nr_writeback nr_slab_reclaimable nr_slab_unreclaimable nr_page_table_pages nr_kernel_stack
  nr_unstable nr_bounce nr_vmscan_write nr_vmscan_immediate_reclaim nr_writeback_temp nr_isolated_anon
  nr_isolated_file nr_shmem nr_dirtied nr_written numa_hit numa_miss numa_foreign numa_interleave numa_local
  numa_other workingset_refault workingset_activate workingset_nodereclaim nr_anon_transparent_hugepages
  nr_free_cma cma nr_swapcached nr_shmem_hugepages nr_shmem_pmdmapped nr_file_hugepages nr_file_pmdmapped
  nr_kernel_misc_reclaimable nr_foll_pin_acquired nr_foll_pin_released workingset_refault_anon
  workingset_refault_file workingset_active_anon workingset_active_file workingset_restore_anon
  workingset_restore_file nr_zspages nr_zone_inactive_file nr_zone_active_file nr_zone_inactive_anon
  nr_zone_active_anon nr_zone_unevictable nr_zone_write_pending protection
mem.ksm: full_scans merge_across_nodes pages_shared pages_sharing pages_to_scan pages_unshared pages_volatile
  run_state sleep_time
swap: pagesin pagesout in out free length used
network.all.in: bytes packets errors drops
network.all.out: bytes packets errors drops
network.all.total: bytes packets errors drops
network.interface: collisions mtu speed baudrate duplex up running wireless type virtual inet_addr ipv6_addr
  ipv6_scope hw_addr
network.interface.in: bytes packets errors drops fifo frame compressed mcasts
network.interface.out: bytes packets errors drops fifo carrier compressed
network.interface.total: bytes packets errors drops mcasts
network.sockstat: total
network.sockstat.tcp: inuse orphan tw alloc mem
network.sockstat.udp: inuse mem
network.sockstat.udplite: inuse
network.sockstat.raw: inuse
network.sockstat.frag: inuse memory
network.sockstat.tcp6: inuse
network.sockstat.udp6: inuse
network.sockstat.udplite6: inuse
network.sockstat.raw6: inuse
network.sockstat.frag6: inuse memory
network.ip: forwarding defaultttl inreceives inhdrerrors inaddrerrors forwdatagrams inunknownprotos indiscards
  indelivers outrequests outdiscards outnoroutes reasmtimeout reasmreqds reasmoks reasmfails fragoks fragfails
  fragcreates innoroutes intruncatedpkts inmcastpkts outmcastpkts inbcastpkts outbcastpkts inoctets outoctets
  inmcastoctets outmcastoctets inbcastoctets outbcastoctets csumerrors noectpkts ect1pkts ect0pkts cepkts
  reasmoverlaps
network.icmp: inmsgs inerrors indestunreachs intimeexcds inparmprobs insrcquenchs inredirects inechos
  inechoreps intimestamps intimestampreps inaddrmasks inaddrmaskreps outmsgs outerrors outdestunreachs
  outtimeexcds outparmprobs outsrcquenchs outredirects outechos outechoreps outtimestamps outtimestampreps
  outaddrmasks outaddrmaskreps incsumerrors
network.icmpmsg: intype outtype
network.tcp: rtoalgorithm rtomin rtomax maxconn activeopens passiveopens attemptfails estabresets currestab
  insegs outsegs retranssegs inerrs outrsts incsumerrors syncookiessent syncookiesrecv syncookiesfailed
  embryonicrsts prunecalled rcvpruned ofopruned outofwindowicmps lockdroppedicmps arpfilter timewaited
  timewaitrecycled timewaitkilled pawspassiverejected pawsactiverejected pawsestabrejected delayedacks
  delayedacklocked delayedacklost listenoverflows listendrops prequeued directcopyfrombacklog
  directcopyfromprequeue prequeueddropped hphits hphitstouser pureacks hpacks renorecovery sackrecovery
  sackreneging fackreorder sackreorder renoreorder tsreorder fullundo partialundo dsackundo lossundo
  lostretransmit renofailures sackfailures lossfailures fastretrans forwardretrans slowstartretrans timeouts
  lossprobes lossproberecovery renorecoveryfail sackrecoveryfail schedulerfail rcvcollapsed dsackoldsent
  dsackofosent dsackrecv dsackoforecv abortondata abortonclose abortonmemory abortontimeout abortonlinger
  abortfailed memorypressures sackdiscard dsackignoredold dsackignorednoundo spuriousrtos md5notfound
  md5unexpected sackshifted sackmerged sackshiftfallback backlogdrop minttldrop deferacceptdrop iprpfilter
  timewaitoverflow reqqfulldocookies reqqfulldrop retransfail rcvcoalesce ofoqueue ofodrop ofomerge
  challengeack synchallenge fastopenactive fastopenactivefail fastopenpassive fastopenpassivefail
  fastopenlistenoverflow fastopencookiereqd spuriousrtxhostqueues busypollrxpackets autocorking
  fromzerowindowadv tozerowindowadv wantzerowindowadv synretrans origdatasent tcpbacklogcoalesce
  tcpmemorypressureschrono tcpmd5failure pfmemallocdrop tcpfastopenactivefail tcpfastopenblackhole
  tcphystarttraindetect tcphystarttraincwnd tcphystartdelaydetect tcphystartdelaycwnd tcpackskippedsynrecv
  tcpackskippedpaws tcpackskippedseq tcpackskippedfinwait2 tcpackskippedtimewait tcpackskippedchallenge
  tcpwinprobe tcpkeepalive tcpmtupfail tcpmtupsuccess tcpdelivered tcpdeliveredce tcpackcompressed
  tcpzerowindowdrop tcprcvqdrop tcpwqueuetoobig tcpfastopenpassivealtkey tcptimeoutrehash
  tcpduplicatedatarehash tcpdsackrecvsegs tcpdsackignoreddubious tcpmigratereqsuccess tcpmigratereqfailure
  tcploss
network.udp: indatagrams noports inerrors outdatagrams recvbuferrors sndbuferrors incsumerrors ignoredmulti
  memerrors
network.udplite: indatagrams noports inerrors outdatagrams recvbuferrors sndbuferrors incsumerrors
  ignoredmulti memerrors
network.udpconn: established listen
network.rawconn: count
network.tcpconn: established syn_sent syn_recv fin_wait1 fin_wait2 time_wait close close_wait last_ack listen
  closing
network.softnet: processed dropped time_squeeze cpu_collision received_rps flow_limit_count
network.softnet.percpu: processed dropped time_squeeze cpu_collision received_rps flow_limit_count
network.unix.datagram: count
network.unix.stream: established listen count
network.ip6: inreceives inhdrerrors intoobigerrors innoroutes inaddrerrors inunknownprotos intruncatedpkts
  indiscards indelivers outforwdatagrams outrequests outdiscards outnoroutes reasmtimeout reasmreqds reasmoks
  reasmfails fragoks fragfails fragcreates inmcastpkts outmcastpkts inoctets outoctets inmcastoctets
  outmcastoctets inbcastoctets outbcastoctets innoectpkts inect1pkts inect0pkts incepkts
network.icmp6: inmsgs inerrors outmsgs outerrors incsumerrors indestunreachs inpkttoobigs intimeexcds
  inparmproblems inechos inechoreplies ingroupmembqueries ingroupmembresponses ingroupmembreductions
  inroutersolicits inrouteradvertisements inneighborsolicits inneighboradvertisements inredirects
  inmldv2reports outdestunreachs outpkttoobigs outtimeexcds outparmproblems outechos outechoreplies
  outgroupmembqueries outgroupmembresponses outgroupmembreductions outroutersolicits outrouteradvertisements
  outneighborsolicits outneighboradvertisements outredirects outmldv2reports
network.udp6: indatagrams noports inerrors outdatagrams rcvbuferrors sndbuferrors incsumerrors ignoredmulti
network.udpconn6: established listen
network.udplite6: indatagrams noports inerrors outdatagrams rcvbuferrors sndbuferrors incsumerrors
network.rawconn6: count
network.tcpconn6: established syn_sent syn_recv fin_wait1 fin_wait2 time_wait close close_wait last_ack listen
  closing
network.mptcp: mpcapablesynrx mpcapableackrx mpcapablefallbackack mpcapablefallbacksynack mptcpretrans
  mpjoinnotokenfound mpjoinsynrx mpjoinsynackrx mpjoinsynackhmacfailure mpjoinackrx mpjoinackhmacfailure
  dssnotmatching infinitemaprx mpcapablesyntx mpcapablesynackrx mpfallbacktokeninit dssnomatchtcp datacsumerr
  ofoqueuetail ofoqueue ofomerge nodssinwindow duplicatedata addaddr echoadd portadd mpjoinportsynrx
  mpjoinportsynackrx mpjoinportackrx mismatchportsynrx mismatchportackrx rmaddr rmsubflow mppriotx mppriorx
  rcvpruned mpfailtx mpfailrx subflowstale subflowrecover addaddrdrop rmaddrdrop mpfastclosetx mpfastcloserx
  mprsttx mprstrx infinitemaptx sndwndshared rcvwndshared rcvwndconflictupdate rcvwndconflict
disk.dev: read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
  avactive read_rawactive write_rawactive total_rawactive aveq scheduler capacity discard blkdiscard
  discard_bytes discard_merge discard_rawactive flush flush_rawactive inflight
disk.all: read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
  avactive read_rawactive write_rawactive total_rawactive aveq discard blkdiscard discard_bytes discard_merge
  discard_rawactive flush flush_rawactive inflight
disk.partitions: read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge
  write_merge avactive aveq read_rawactive write_rawactive total_rawactive capacity discard blkdiscard
  discard_bytes discard_merge discard_rawactive flush flush_rawactive inflight
disk.dm: read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
  avactive aveq read_rawactive write_rawactive total_rawactive capacity discard blkdiscard discard_bytes
  discard_merge discard_rawactive flush flush_rawactive inflight
disk.md: read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
  avactive aveq read_rawactive write_rawactive total_rawactive status capacity discard blkdiscard
  discard_bytes discard_merge discard_rawactive flush flush_rawactive inflight
disk.wwid: scsi_paths read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge
  write_merge avactive read_rawactive write_rawactive total_rawactive aveq scheduler capacity discard
  blkdiscard discard_bytes discard_merge discard_rawactive flush flush_rawactive inflight
filesys: capacity used free maxfiles usedfiles freefiles mountdir full blocksize avail readonly
swapdev: free length maxswap vlength priority
rpc.client: rpccnt rpcretrans rpcauthrefresh netcnt netudpcnt nettcpcnt nettcpconn
rpc.server: rpccnt rpcerr rpcbadfmt rpcbadauth rpcbadclnt rchits rcmisses rcnocache fh_cached fh_valid
  fh_fixup fh_lookup fh_stale fh_concurrent netcnt netudpcnt nettcpcnt nettcpconn fh_anon fh_nocache_dir
  fh_nocache_nondir io_read io_write th_cnt th_fullcnt ra_size ra_hits ra_misses
nfs.client: calls reqs
nfs.server: calls reqs
nfs.server.threads: total pools requests enqueued processed timedout
nfs3.client: calls reqs
nfs3.server: calls reqs
nfs4.client: calls reqs
nfs4.server: calls reqs
pmda: uname version
ipc.sem: max_semmap max_semid max_sem num_undo max_perid max_ops max_undoent sz_semundo max_semval max_exit
  used_sem tot_sem key owner perms nsems
ipc.msg: sz_pool mapent max_msgsz max_defmsgq max_msgqid max_msgseg num_smsghdr max_seg used_queues tot_msg
  tot_bytes key owner perms msgsz messages last_send_pid last_recv_pid
ipc.shm: max_segsz min_segsz max_seg max_segproc max_shmsys tot rss swp used_ids swap_attempts swap_successes
  key owner perms segsz nattch status creator_pid last_access_pid
vfs.files: count free max
vfs.inodes: count free
vfs.dentry: count free
vfs.aio: count max
vfs.locks.posix: read write count
vfs.locks.flock: read write count
vfs.locks.lease: read write count
tmpfs: capacity used free maxfiles usedfiles freefiles full
sysfs.kernel: uevent_seqnum
sysfs.kernel.debug: extfrag_unusable
tape.dev: in_flight io_ns other_cnt read_byte_cnt read_cnt read_ns resid_cnt write_byte_cnt write_cnt write_ns
tty.serial: tx rx frame parity brk overrun irq
zram: read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
  avactive aveq read_rawactive write_rawactive total_rawactive capacity discard blkdiscard discard_bytes
  discard_merge discard_rawactive flush flush_rawactive inflight
zram.io_stat: invalid notify_free
zram.io_stat.failed: reads writes
zram.mm_stat.data_size: original compressed
zram.mm_stat.mem: used_total limit max_used
zram.mm_stat.pages: same compacted huge
zram.bd_stat: count reads writes
fchost: lip_count nos_count error_frames dumped_frames
fchost.in: frames bytes
fchost.out: frames bytes
`
