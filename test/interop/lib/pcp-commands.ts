/** Cases for comparing pcp's commands with the reference: archives, sets of options, and intended differences. */

/** Cases of a command: every set of options over every archive. Options of `pcp` are before the bar, those of the command after it. */
export interface CommandCases {
  readonly archives: readonly string[]
  readonly options: readonly string[]
  /** Removes intended differences from a line. */
  readonly adapt?: (line: string) => string
  /** Lines may be in another order. */
  readonly isUnordered?: true
}

/**
 * Masks times of processes, their utilization and the state with -U, which differ, and arguments at the end of a line, which the reference
 * truncates: docs/explanation/differences.md.
 */
function processLine(line: string): string {
  return line
    .replace(/\t([^\t]{30})[^\t]*(\t\t)?$/, '\t$1')
    .replace(/\s+$/, '')
    .replace(/\t\d\d:\d\d:\d\d/g, '\tTIME')
    .replaceAll('None', '?')
    .replace(/\t[\d.?]+\t[\d.?]+\t(\d+\t\d+\t)/, '\tCPU\tMEM\t$1')
    .replace(/\t\S+ *\tTIME/, '\tSTAT\tTIME')
}

/** By command. */
export const COMMANDS: Readonly<Record<string, CommandCases>> = {
  free: {
    archives: ['20130706', 'pcp-free', 'pcp-free-tera', 'pcp-zeroconf'],
    options: [
      '-O +2s |',
      '-O +2s | -b',
      '-O +2s | -k -t',
      '-O +2s | -m -w',
      '-O +2s | -g -t -w',
      '-O +2s | -r',
      '-O +2s | -c 3 -s 1',
      '-O +2s | -s 1 -c 2 -w --total',
    ],
  },
  iostat: {
    archives: ['pmiostat_mark', 'dm-io', 'simple-nvme', 'zero_disk_activity'],
    options: [
      '-s 3 |',
      '-s 3 -t 10s | -x t',
      '-t 30m | -x t',
      '-t 10m | -x t,noidle',
      '-t 10m | -x h',
      '-s 2 -t 1m | -x dm -x t',
      '-s 4 | -P 0',
      '-s 4 | -P 1',
      '-s 4 | -P 4 -x t',
      '-s 4 -t 1m | -G sum',
      '-s 4 -t 1m | -G avg -R (sd|nvme)',
      '-s 4 -t 1m | -G max -R sd[ab] -x t',
      '-s 4 -t 1m | -G min',
      '-s 5 | -u',
      '| -u -x t',
      '-A 1m -t 1m -s 3 | -x t',
      '-O +3s -T +9s | -x t',
      '-s 30 -t 1s | -R sda',
    ],
  },
  ipcs: {
    archives: ['pcp-ipcs'],
    options: ['|', '-O +2s | -l', '-O +2s | -u', '-O +2s | --limits', '-O +2s | --summary'],
  },
  mpstat: {
    archives: ['pcp-mpstat', 'pcp-mpstat3', 'pcp-zeroconf'],
    options: [
      '-s 4 |',
      '-s 3 | -u',
      '-s 3 | -P ALL',
      '-s 3 | -P ON',
      '-s 3 | -P 1,0',
      '-s 3 | -I SUM',
      '-s 3 | -I CPU',
      '-s 3 | -I SCPU',
      '-s 3 | -I SCPU -P 0',
      '-s 3 | -I ALL',
      '-s 3 | -A',
      '-s 3 -t 2s | -P ALL -I SUM',
      '-S +2s -T +6s |',
    ],
  },
  numastat: {
    archives: ['numa', 'pcp-numastat-1-node', 'pcp-zeroconf'],
    options: ['-O +2s |', '-O +2s | -w 40', '-O +2s | -w 64', '-O +2s | --width=200'],
  },
  pidstat: {
    archives: ['pcp-pidstat', 'pcp-pidstat-process-args', 'pcp-pidstat-process-states'],
    options: [
      '-s 3 |',
      '-s 3 | -I',
      '-s 3 | -r',
      '-s 3 | -k',
      '-s 3 | -R',
      '-s 3 | -U',
      '-s 3 | -Uroot',
      '-s 3 | -l',
      '-s 3 | -r -l',
      '-s 3 | -G d$',
      '-s 3 | -p 1,2,3',
      '-s 3 | -p ALL',
      '-s 4 | -B all',
      '-s 4 | -B R,D',
      '-s 4 | -B detail -l',
      '-s 3 | -f %c',
      '-s 3 -t 2s |',
      '-S +1s -T +4s |',
    ],
  },
  ps: {
    archives: ['pcp-ps'],
    adapt: processLine,
    options: [
      '-s 3 |',
      '-s 3 | -u',
      '-s 3 | -U root',
      '-s 3 | -c systemd,sshd',
      '-s 3 | -p 1,2,3',
      '-s 3 | -P 1,2',
      '-s 3 | -o ALL',
      '-s 3 | -o pid,ppid,pri,state,rss,vsize,uname,cmd',
      '-s 3 | -o %mem,start,cmd,pname,tty,wchan',
    ],
  },
  ss: {
    archives: ['pcp-ss'],
    isUnordered: true,
    options: [
      '|',
      '-S 10s |',
      '-S 12.5s | -a -n -t',
      '-S 10s | -o -e -m -i -O',
      '-S 10s | -oemi',
      '-S 10s | -l',
      '-S 10s | -4 -H',
      '-S 10s | -6',
      '-S 10s | -u -e',
      '-S 10s | -t -m',
    ],
  },
  summary: {
    archives: [
      '20130706',
      'pcp-zeroconf',
      'pcp-mpstat',
      'coverage',
      'rep',
      'pcp-ss',
      '20180416.10.00',
      'numa',
      'kenj-pc-1',
      'all-sles9-sp1',
    ],
    options: ['|', '-P |', '| -P'],
  },
  uptime: {
    archives: ['20130706', 'pcp-zeroconf', 'pcp-uptime', 'pcp-uptime2', 'coverage', '20180416.10.00'],
    options: ['|', '-O +2s |', '-O -1s |'],
  },
  vmstat: {
    archives: ['20130706', 'pcp-zeroconf', 'pcp-vmstat', 'coverage', 'rep', '20180416.10.00'],
    options: ['| 1 3', '| 2s 3', '-s 3 -t 1s |', '-S +1s -T +4s | 1'],
  },
}
