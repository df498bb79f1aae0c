/** Data: general rules of this package in the pmieconf-rules format. docs/reference/pmie.md */

/** Twenty-four rules about processors, memory, disks, file systems, networks and the collector. */
export const BUILT_IN_RULES = `#pmieconf-rules 1
string global.delta default = "2 min" help = "Time between evaluations.";
string global.holdoff default = "10 min" help = "Shortest time between two actions of a rule.";
hostlist global.hosts default = "" help = "Hosts to watch, by blanks. None: the host of pmie's -h, or this one.";
string global.action_expand default = "%v@%h" modify = no display = no;
shell global.user_action default = "$user_command$" enabled = no help = "Run user_command when a rule is true.";
string global.user_command default = "echo $rule$^ $action_expand$" help = "Command of user_action.";
shell global.email_action default = "mail -s 'PCP: $rule$' $email_recipients$ </dev/null" enabled = no help = "Send a message when a rule is true.";
string global.email_recipients default = "root" help = "Who gets messages, by blanks.";
shell global.pcplog_action default = "pmpost $rule$^ $action_expand$" enabled = no help = "Write to PCP's notices file when a rule is true.";
syslog global.syslog_action default = "$rule$^ $action_expand$" enabled = yes help = "Write to the system log when a rule is true.";

rule cpu.load_average default = "$rule$" version = 1 enabled = yes
  help = "Many processes want to run: the load of the last minute is above
threshold for each processor, and above minimum altogether."
  predicate = "some_host (
    kernel.all.load $hosts$ #'1 minute' > hinv.ncpu $hosts$ * $threshold$
    && kernel.all.load $hosts$ #'1 minute' > $minimum$
)";
string rule default = "High 1-minute load average" modify = no display = no;
double threshold default = 3 help = "Load per processor.";
double minimum default = 4 help = "Total load below which the rule is never true.";
string action_expand default = "%vload@%h" modify = no display = no;

rule cpu.util default = "$rule$" version = 1 enabled = yes
  help = "All processors together are busy for more than threshold of the time."
  predicate = "some_host (
    100 * (kernel.all.cpu.user $hosts$ + kernel.all.cpu.sys $hosts$ + kernel.all.cpu.nice $hosts$)
    / hinv.ncpu $hosts$ > $threshold$
)";
string rule default = "High average processor utilization" modify = no display = no;
percent threshold default = 90% help = "Share of the time.";
string action_expand default = "%v%util@%h" modify = no display = no;

rule cpu.system default = "$rule$" version = 1 enabled = yes
  help = "Processors are busy, mostly in kernel mode."
  predicate = "some_host (
    100 * (kernel.all.cpu.user $hosts$ + kernel.all.cpu.sys $hosts$) > $busy$ * hinv.ncpu $hosts$
    && 100 * kernel.all.cpu.sys $hosts$ > $threshold$ * (kernel.all.cpu.user $hosts$ + kernel.all.cpu.sys $hosts$)
)";
string rule default = "Busy executing in system mode" modify = no display = no;
percent busy default = 70% help = "Share of the time that counts as busy.";
percent threshold default = 75% help = "Share of kernel mode in the busy time.";
string action_expand default = "%v%sys@%h" modify = no display = no;

rule cpu.context_switch default = "$rule$" version = 1 enabled = yes
  help = "Each processor switches context more than threshold times a second."
  predicate = "some_host (
    kernel.all.pswitch $hosts$ > hinv.ncpu $hosts$ * $threshold$ count/sec
)";
string rule default = "High aggregate context switch rate" modify = no display = no;
double threshold default = 10000 help = "Switches a second per processor.";
string action_expand default = "%vctxsw/s@%h" modify = no display = no;

rule cpu.steal default = "$rule$" version = 1 enabled = no
  help = "The hypervisor runs other guests for more than threshold of the time."
  predicate = "some_host (
    100 * kernel.all.cpu.steal $hosts$ / hinv.ncpu $hosts$ > $threshold$
)";
string rule default = "Processor time taken by the hypervisor" modify = no display = no;
percent threshold default = 10% help = "Share of the time.";

rule cpu.iowait default = "$rule$" version = 1 enabled = no
  help = "Processors are idle waiting for I/O for more than threshold of the time."
  predicate = "some_host (
    100 * kernel.all.cpu.wait.total $hosts$ / hinv.ncpu $hosts$ > $threshold$
)";
string rule default = "Processors wait for input and output" modify = no display = no;
percent threshold default = 30% help = "Share of the time.";

rule per_cpu.some_util default = "$rule$" version = 1 enabled = yes
  help = "A processor is busy for more than threshold of the time."
  predicate = "some_host some_inst (
    100 * (kernel.percpu.cpu.user $hosts$ + kernel.percpu.cpu.sys $hosts$) > $threshold$
)";
string rule default = "High per CPU processor utilization" modify = no display = no;
percent threshold default = 95% help = "Share of the time.";
string action_expand default = "%v%util[%i]@%h" modify = no display = no;

rule entropy.available default = "$rule$" version = 1 enabled = yes
  help = "The kernel has little entropy left for random numbers."
  predicate = "some_host (
    kernel.all.entropy.avail $hosts$ < $threshold$
)";
string rule default = "Low random number entropy available" modify = no display = no;
unsigned threshold default = 100 help = "Bits.";

rule filesys.filling default = "$rule$" version = 1 enabled = yes
  help = "A file system is fuller than threshold and still filling up."
  predicate = "some_host some_inst (
    100 * filesys.used $hosts$ / filesys.capacity $hosts$ > $threshold$
    && rate filesys.used $hosts$ > 0
)";
string rule default = "File system is filling up" modify = no display = no;
percent threshold default = 95% help = "Limit of used space.";
string action_expand default = "%v%used[%i]@%h" modify = no display = no;

rule filesys.inodes default = "$rule$" version = 1 enabled = no
  help = "A file system has few free inodes left."
  predicate = "some_host some_inst (
    100 * filesys.usedfiles $hosts$ / filesys.maxfiles $hosts$ > $threshold$
)";
string rule default = "File system runs out of inodes" modify = no display = no;
percent threshold default = 95% help = "Limit of used inodes.";
string action_expand default = "%v%inodes[%i]@%h" modify = no display = no;

rule filesys.vfs_files default = "$rule$" version = 1 enabled = yes
  help = "The number of open files is close to the kernel's limit."
  predicate = "some_host (
    100 * vfs.files.count $hosts$ / vfs.files.max $hosts$ > $threshold$
)";
string rule default = "Approaching open file descriptor limit" modify = no display = no;
percent threshold default = 85% help = "Share of the limit.";

rule memory.exhausted default = "$rule$" version = 1 enabled = yes
  help = "Memory is short for long: in at least pct of the last ten samples at least
threshold pages a second went out to swap space."
  predicate = "some_host (
    avg_sample (swap.pagesout $hosts$ @0..9) > 0
    && $pct$ %_sample swap.pagesout $hosts$ @0..9 >= $threshold$
)";
string rule default = "Severe demand for real memory" modify = no display = no;
double threshold default = 5 help = "Pages a second.";
percent pct default = 30% help = "Share of the samples.";
string action_expand default = "%vpgsout/s@%h" modify = no display = no;

rule memory.available default = "$rule$" version = 1 enabled = no
  help = "Less than threshold of the memory is available without swapping."
  predicate = "some_host (
    100 * mem.util.available $hosts$ / mem.physmem $hosts$ < $threshold$
)";
string rule default = "Little memory available" modify = no display = no;
percent threshold default = 5% help = "Share of the memory.";
string action_expand default = "%v%available@%h" modify = no display = no;

rule memory.oom_kill default = "$rule$" version = 1 enabled = yes
  help = "The kernel killed a process because no memory was left."
  predicate = "some_host (
    mem.vmstat.oom_kill $hosts$ > 0
)";
string rule default = "OOM kill" modify = no display = no;
string action_expand default = "%v/s@%h" modify = no display = no;

rule memory.swap_low default = "$rule$" version = 1 enabled = no
  help = "Less than threshold of the swap space is free."
  predicate = "some_host (
    100 * (swap.free $hosts$ / swap.length $hosts$) < $threshold$
    && swap.length $hosts$ > 0
)";
string rule default = "Low free swap space" modify = no display = no;
percent threshold default = 10% help = "Share of the swap space.";
string action_expand default = "%v%free@%h" modify = no display = no;

rule memory.pressure default = "$rule$" version = 1 enabled = no
  help = "All tasks stall on memory for more than threshold of the time."
  predicate = "some_host (
    kernel.all.pressure.memory.full.avg $hosts$ #'1 minute' > $threshold$
)";
string rule default = "Tasks stall on memory" modify = no display = no;
percent threshold default = 10% help = "Share of the time.";

rule network.listenoverflows default = "$rule$" version = 1 enabled = yes
  help = "Connections were refused because a server did not accept them in time."
  predicate = "some_host (
    network.tcp.listenoverflows $hosts$ > $threshold$
)";
string rule default = "TCP listen overflows" modify = no display = no;
double threshold default = 0 help = "Overflows a second.";
string action_expand default = "%v/s@%h" modify = no display = no;

rule network.tcp_retransmit default = "$rule$" version = 1 enabled = no
  help = "More than threshold of the sent segments are retransmissions."
  predicate = "some_host (
    100 * network.tcp.retranssegs $hosts$ / network.tcp.outsegs $hosts$ > $threshold$
    && network.tcp.outsegs $hosts$ > $minimum$
)";
string rule default = "High rate of TCP retransmissions" modify = no display = no;
percent threshold default = 5% help = "Share of the sent segments.";
double minimum default = 10 help = "Segments a second below which the rule is never true.";
string action_expand default = "%v%retrans@%h" modify = no display = no;

rule per_disk.average_queue_length default = "$rule$" version = 1 enabled = yes
  help = "More than threshold requests wait for a disk."
  predicate = "some_host some_inst (
    disk.dev.aveq $hosts$ > $threshold$
)";
string rule default = "High per disk average queue length" modify = no display = no;
double threshold default = 20 help = "Requests.";
string action_expand default = "%v[%i]@%h" modify = no display = no;

rule per_disk.util default = "$rule$" version = 1 enabled = no
  help = "A disk is busy for more than threshold of the time."
  predicate = "some_host some_inst (
    100 * disk.dev.avactive $hosts$ > $threshold$
)";
string rule default = "High per disk utilization" modify = no display = no;
percent threshold default = 90% help = "Share of the time.";
string action_expand default = "%v%util[%i]@%h" modify = no display = no;

rule per_disk.iops default = "$rule$" version = 1 enabled = no
  help = "A disk does more than threshold transfers a second."
  predicate = "some_host some_inst (
    disk.dev.total $hosts$ > $threshold$ count/sec
)";
string rule default = "High system device IOPS utilization" modify = no display = no;
double threshold default = 5000 help = "Transfers a second.";
string action_expand default = "%viops[%i]@%h" modify = no display = no;

rule per_netif.errors default = "$rule$" version = 1 enabled = yes
  help = "A network interface has more than threshold errors a second."
  predicate = "some_host some_inst (
    network.interface.total.errors $hosts$ > $threshold$
)";
string rule default = "High network interface error rate" modify = no display = no;
double threshold default = 15 help = "Errors a second.";
string action_expand default = "%verrors/s[%i]@%h" modify = no display = no;

rule per_netif.util default = "$rule$" version = 1 enabled = yes
  help = "A network interface uses more than threshold of its bandwidth."
  predicate = "some_host some_inst (
    100 * network.interface.total.bytes $hosts$ / network.interface.baudrate $hosts$ > $threshold$
    && network.interface.baudrate $hosts$ > 0
)";
string rule default = "High network interface utilization" modify = no display = no;
percent threshold default = 85% help = "Share of the bandwidth.";
string action_expand default = "%v%util[%i]@%h" modify = no display = no;

rule primary.pmda_restart default = "$rule$" version = 1 enabled = no
  help = "An agent of the collector does not respond, so the collector is signaled to restart it."
  predicate = "some_host some_inst (
    pmcd.agent.status $hosts$ != 0
)";
string rule default = "Unresponsive agent" modify = no display = no;
string action_expand default = "%i@%h" modify = no display = no;
`
