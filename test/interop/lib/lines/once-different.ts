/** Lines that once differed from the reference's, each as short as its cause allows. */
export const ONCE_DIFFERENT: readonly string[] = [
  // A metric that is missing among others.
  'pmclient -a kenj-pc-1',
  // Words of messages, and the order of missing metrics.
  'pmrep -a rep -t x kernel.all.load',
  'pcp -a pcp-vmstat free -s x',
  'pcp -a rep mpstat',
  'pcp -a pcp-atop-log pidstat -R -r',
  'pcp -a pcp-atop-log pidstat -k -B all',
  'pcp -a pcp-atop-log ps -P x',
  // The window of a second archive, and a percentage.
  'pmdiff -T -1 viewqa3 pcp-mpstat2',
  'pmdiff -S @20:33:05.5 interpmark',
  'pmlogsize -x 0 540117-short',
  // Each column of swapping has its own fallback.
  'pmstat -a babylon.pmview_v2 -s 4 -t 30',
  // The moment that sockets are shown at.
  'pcp -a pcp-ss -A 5sec ss',
  'pcp -a pcp-ss -O +0 ss',
  // A sum keeps units, and averages cancel it.
  'pmlogsummary -s -m viewqa1',
  'pmlogsummary -s -x ok-mv-interp',
  'pmlogsummary -s -a log-derived',
  'pmlogsummary -s -b pcp-uptime',
  // Halves are rounded as by printf.
  'pmval -a reduce-1 -t 8.125sec sample.string.null',
  'pmevent -a reduce-1 -t 8.125sec sample.string.null',
  // A window that ends less than an interval before it starts.
  'pmval -a procpid-encode2 -S @07:30:14 proc.psinfo.cpusallowed',
  // A time that cannot be read, and words about options.
  `pmie -a sample-secs -v -A 0 -c '<<r0 = sample.seconds;\n'`,
  'pmlogreduce -A 0 value-test OUT/out',
  'pmlogreduce -s -1 ok-interp OUT/out',
  'pmlogreduce -z --timezone=EST5EDT count-mark OUT/out',
  'pmlogextract -Z UTC -z bad-derived OUT/out',
  // Sizes and counts of records with named metrics alone, no metric twice, and where a dump in reverse begins.
  'pmdumplog -s pcp-free mem.util.used',
  'pmdumplog -s omnibus_v3 sample.colour sample.string.hullo',
  'pmdumplog -m late sampledso sampledso.bin',
  "pmdumplog procpid-encode2 ''",
  'pmdumplog -r bug1057 hinv.map.lvname',
  "pmdumplog -r -T @2013-07-06 -S '@2013-07-06 05:40' 20130706",
  // A name with others below it, or none, that is taken for a metric of an archive.
  'pmprobe -a dstat-disks -F disk.dev.write_rawactive disk.dev',
  'pmprobe -a dstat-disks -F -v disk.dev disk.dev.write_rawactive',
]
