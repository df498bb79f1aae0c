/** Data: in which order PCP 6.0.3 has the children of a node in its name space, where it is not the order of our tables. */

/** Children by the name of their parent, '' for the root; blanks and line ends between them. */
export const NAME_ORDER: { readonly [node: string]: string } = {
  '': `
    hinv kernel mem swap network disk filesys swapdev rpc nfs nfs3 nfs4 pmda ipc vfs tmpfs sysfs tape tty
    zram fchost
  `,
  hinv: `
    physmem pagesize ncpu ndisk nfilesys ninterface nnode machine hugepagesize ntape nfchost map cpu node
  `,
  'hinv.map': 'scsi scsi_id cpu_num cpu_node dmname mdname',
  'hinv.cpu': `
    clock vendor model stepping cache bogomips model_name flags cache_alignment online thermal_throttle
    frequency_scaling
  `,
  'kernel.all': `
    load intr pswitch sysfork running blocked boottime hz uptime idletime nusers nroots nsessions lastpid
    runnable nprocs pid_max nptys cpu interrupts softirqs entropy pressure
  `,
  'kernel.percpu': 'interrupts softirqs intr sirq cpu',
  mem: 'physmem freemem util numa vmstat buddyinfo slabinfo zoneinfo ksm',
  'mem.util': `
    used free shared bufmem cached other swapCached active inactive highTotal highFree lowTotal lowFree
    swapTotal swapFree dirty writeback mapped slab committed_AS pageTables reverseMaps cache_clean anonpages
    commitLimit bounce NFS_Unstable slabReclaimable slabUnreclaimable active_anon inactive_anon active_file
    inactive_file unevictable mlocked shmem kernelStack hugepagesTotal hugepagesFree hugepagesRsvd
    hugepagesSurp directMap4k directMap2M vmallocTotal vmallocUsed vmallocChunk mmap_copy quicklists
    corrupthardware anonhugepages directMap1G available hugepagesTotalBytes hugepagesFreeBytes
    hugepagesRsvdBytes hugepagesSurpBytes
  `,
  'mem.numa': 'max_bandwidth util alloc',
  'mem.vmstat': `
    allocstall allocstall_dma allocstall_dma32 allocstall_high allocstall_movable allocstall_normal
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
    pgsteal_direct_normal pgsteal_direct_movable pgsteal_total pswpin pswpout slabs_scanned swap_ra
    swap_ra_hit thp_collapse_alloc thp_collapse_alloc_failed thp_deferred_split_page thp_fault_alloc
    thp_fault_fallback thp_fault_fallback_charge thp_file_alloc thp_file_mapped thp_split thp_split_page
    thp_split_page_failed thp_split_pmd thp_split_pud thp_swpout thp_swpout_fallback thp_zero_page_alloc
    thp_zero_page_alloc_failed unevictable_pgs_cleared unevictable_pgs_culled unevictable_pgs_mlocked
    unevictable_pgs_mlockfreed unevictable_pgs_munlocked unevictable_pgs_rescued unevictable_pgs_scanned
    unevictable_pgs_stranded workingset_activate workingset_nodes workingset_nodereclaim workingset_refault
    workingset_restore zone_reclaim_failed
  `,
  swap: 'pagesin pagesout in out free length used',
  network: `
    all interface sockstat ip icmp icmpmsg tcp udp udplite udpconn rawconn tcpconn softnet unix ip6 icmp6
    udp6 udpconn6 udplite6 rawconn6 tcpconn6 mptcp
  `,
  'network.interface': `
    collisions mtu speed baudrate duplex up running wireless type virtual inet_addr ipv6_addr ipv6_scope
    hw_addr in out total
  `,
  'network.icmp': `
    inmsgs inerrors indestunreachs intimeexcds inparmprobs insrcquenchs inredirects inechos inechoreps
    intimestamps intimestampreps inaddrmasks inaddrmaskreps outmsgs outerrors outdestunreachs outtimeexcds
    outparmprobs outsrcquenchs outredirects outechos outechoreps outtimestamps outtimestampreps outaddrmasks
    outaddrmaskreps incsumerrors
  `,
  'network.tcp': `
    rtoalgorithm rtomin rtomax maxconn activeopens passiveopens attemptfails estabresets currestab insegs
    outsegs retranssegs inerrs outrsts incsumerrors syncookiessent syncookiesrecv syncookiesfailed
    embryonicrsts prunecalled rcvpruned ofopruned outofwindowicmps lockdroppedicmps arpfilter timewaited
    timewaitrecycled timewaitkilled pawspassiverejected pawsactiverejected pawsestabrejected delayedacks
    delayedacklocked delayedacklost listenoverflows listendrops prequeued directcopyfrombacklog
    directcopyfromprequeue prequeueddropped hphits hphitstouser pureacks hpacks renorecovery sackrecovery
    sackreneging fackreorder sackreorder renoreorder tsreorder fullundo partialundo dsackundo lossundo
    lostretransmit renofailures sackfailures lossfailures fastretrans forwardretrans slowstartretrans
    timeouts lossprobes lossproberecovery renorecoveryfail sackrecoveryfail schedulerfail rcvcollapsed
    dsackoldsent dsackofosent dsackrecv dsackoforecv abortondata abortonclose abortonmemory abortontimeout
    abortonlinger abortfailed memorypressures sackdiscard dsackignoredold dsackignorednoundo spuriousrtos
    md5notfound md5unexpected sackshifted sackmerged sackshiftfallback backlogdrop minttldrop
    deferacceptdrop iprpfilter timewaitoverflow reqqfulldocookies reqqfulldrop retransfail rcvcoalesce
    ofoqueue ofodrop ofomerge challengeack synchallenge fastopenactive fastopenactivefail fastopenpassive
    fastopenpassivefail fastopenlistenoverflow fastopencookiereqd spuriousrtxhostqueues busypollrxpackets
    autocorking fromzerowindowadv tozerowindowadv wantzerowindowadv synretrans origdatasent
    tcpbacklogcoalesce tcpmemorypressureschrono tcpmd5failure pfmemallocdrop tcpfastopenactivefail
    tcpfastopenblackhole tcphystarttraindetect tcphystarttraincwnd tcphystartdelaydetect tcphystartdelaycwnd
    tcpackskippedsynrecv tcpackskippedpaws tcpackskippedseq tcpackskippedfinwait2 tcpackskippedtimewait
    tcpackskippedchallenge tcpwinprobe tcpkeepalive tcpmtupfail tcpmtupsuccess tcpdelivered tcpdeliveredce
    tcpackcompressed tcpzerowindowdrop tcprcvqdrop tcpwqueuetoobig tcpfastopenpassivealtkey tcptimeoutrehash
    tcpduplicatedatarehash tcpdsackrecvsegs tcpdsackignoreddubious tcpmigratereqsuccess tcpmigratereqfailure
    tcploss
  `,
  'network.softnet': `
    processed dropped time_squeeze cpu_collision received_rps flow_limit_count percpu
  `,
  'disk.dev': `
    read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
    avactive read_rawactive write_rawactive total_rawactive aveq scheduler capacity discard blkdiscard
    discard_bytes discard_merge discard_rawactive flush flush_rawactive inflight
  `,
  'disk.all': `
    read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
    avactive read_rawactive write_rawactive total_rawactive aveq discard blkdiscard discard_bytes
    discard_merge discard_rawactive flush flush_rawactive inflight
  `,
  'disk.partitions': `
    read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
    avactive aveq read_rawactive write_rawactive total_rawactive capacity discard blkdiscard discard_bytes
    discard_merge discard_rawactive flush flush_rawactive inflight
  `,
  'disk.dm': `
    read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
    avactive aveq read_rawactive write_rawactive total_rawactive capacity discard blkdiscard discard_bytes
    discard_merge discard_rawactive flush flush_rawactive inflight
  `,
  'disk.md': `
    read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
    avactive aveq read_rawactive write_rawactive total_rawactive status capacity discard blkdiscard
    discard_bytes discard_merge discard_rawactive flush flush_rawactive inflight
  `,
  'disk.wwid': `
    scsi_paths read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge
    write_merge avactive read_rawactive write_rawactive total_rawactive aveq scheduler capacity discard
    blkdiscard discard_bytes discard_merge discard_rawactive flush flush_rawactive inflight
  `,
  filesys: `
    capacity used free maxfiles usedfiles freefiles mountdir full blocksize avail readonly
  `,
  zram: `
    read write total blkread blkwrite blktotal read_bytes write_bytes total_bytes read_merge write_merge
    avactive aveq read_rawactive write_rawactive total_rawactive capacity discard blkdiscard discard_bytes
    discard_merge discard_rawactive flush flush_rawactive inflight io_stat mm_stat bd_stat
  `,
  'zram.io_stat': 'invalid notify_free failed',
}
