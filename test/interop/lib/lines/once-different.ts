/** Lines that once differed from the reference, each as short as possible. */
export const ONCE_DIFFERENT: readonly string[] = [
  // A missing metric among others.
  'pmclient -a kenj-pc-1',
  // Texts of messages, and the order of missing metrics.
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
  // The finish time takes precedence over counts, and archives without data repeat the message.
  'pmstat -a kenj-pc-1 -T @02:37:33 -s 9',
  'pmstat -a pcp-free -a pcp-dstat -t 1 -s 11',
  // Order of checks: the window, numbers of options, metrics, then units and numbers of each.
  'pmrep -a runq --align 0 pmcd.pmlogger.port,%,,KB/s,instant',
  'pmrep -a section-a -9 1e3',
  'pmrep -a rep -w x -8 x kernel.all.load',
  'pmrep -a instant-1 disk.dev.total,,,nosuch,,20,x',
  'pmrep -a tzchange-12-a --interval 0 -N sample.drift sample.drift',
  // A metric keeps its own specification if a name above it follows.
  "pmrep -a dupname-a hinv.cpu.clock hinv.cpu 'hinv.cpu.clock,a b'",
  "pmrep -a mirage 'sample.mirage,,,count x 10^-1' sample",
  // No file of an invalid report; a duplicate key.
  'pmrep -a section-a -F OUT/out pmcd.pmlogger.archive,%,,raw,instant,,',
  'pcp2json -a rep -F OUT/out.txt kernel.all.load,,,nosuch,,x',
  "pmrep -a viewqa2 -c '<<[set]\nkernel.all.cpu.intr = x,,,\nkernel.all.cpu.intr = x,,,\n'",
  // Missing metrics are reported even if nothing is shown.
  'pcp -a uwrap ipcs',
  'pcp -a uwrap ipcs -u',
  // The time at which sockets are shown.
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
  // An invalid time, and messages about options.
  `pmie -a sample-secs -v -A 0 -c '<<r0 = sample.seconds;\n'`,
  'pmlogreduce -A 0 value-test OUT/out',
  'pmlogreduce -s -1 ok-interp OUT/out',
  'pmlogreduce -z --timezone=EST5EDT count-mark OUT/out',
  'pmlogextract -Z UTC -z bad-derived OUT/out',
  // Sizes and counts of records with only the named metrics, no duplicates, and the start of a reverse dump.
  'pmdumplog -s pcp-free mem.util.used',
  'pmdumplog -s omnibus_v3 sample.colour sample.string.hullo',
  'pmdumplog -m late sampledso sampledso.bin',
  "pmdumplog procpid-encode2 ''",
  'pmdumplog -r bug1057 hinv.map.lvname',
  "pmdumplog -r -T @2013-07-06 -S '@2013-07-06 05:40' 20130706",
  // A name with or without other names below it, treated as a metric of an archive.
  'pmprobe -a dstat-disks -F disk.dev.write_rawactive disk.dev',
  'pmprobe -a dstat-disks -F -v disk.dev disk.dev.write_rawactive',
  // The end shown with the label, and the record that ends a window.
  'pmlogcheck -l --finish @18:34:48 ok-mv-foo',
  'pmlogcheck -v --finish @1999-10-08 moomba.client',
  // NaN in CSV.
  'pcp2csv -a value-test sample.float',
  // A check prints no document header, and errors leave no file behind.
  'pcp2xml -a new_mysql -C pmcd.pmlogger.port',
  'pcp2json -a new_mysql -C -F OUT/out.txt pmcd.pmlogger.port',
  'pcp2json -a new_mysql -F OUT/out.txt pmcd.pmlogger.port',
  'pcp2csv -a tzchange-10-b -F OUT/out.txt pmcd.pmlogger.host,,2392223922',
  // Position and text of an error in rules.
  `pmie -a sample-secs -t 2sec -v -c '<<r0 = sample.seconds > 1;\nr1 = match_inst "a" pmcd.pmlogger.archive;\nr2 = pmcd.pmlogger.port;\n'`,
  `pmie -a sample-secs -t 2sec -v -c '<<r0 = sample.seconds > "x";\n'`,
  // Error codes instead of values, and an invalid specification.
  'pmlogsummary -v mysql-1',
  "pmlogsummary tzchange-11-a ''",
]
