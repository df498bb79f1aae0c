/** Data: metrics of single processes: name, item, type, semantics, units, help texts. */
import type { SemName, TypeName } from '../../pmda/define.ts'

/** One metric: last parts of its name, item, type, semantics, units and help texts. */
export interface ProcessRow {
  readonly name: string
  /** Last part of the name of the preceding sibling. Default: the row after it, as in PCP. */
  readonly after?: string
  readonly item: number
  readonly type: TypeName
  readonly sem: SemName
  readonly units: string
  readonly help: string
  readonly text?: string
}

type Row = readonly [
  name: string,
  item: number,
  kind: string,
  help: string,
  text?: string | undefined,
  after?: string,
]

const KINDS: { readonly [kind: string]: readonly [TypeName, SemName, string] } = {
  id: ['u32', 'discrete', 'none'],
  level: ['u32', 'instant', 'none'],
  signed: ['32', 'instant', 'none'],
  count: ['u32', 'counter', 'count'],
  number: ['u32', 'instant', 'count'],
  bigcount: ['u64', 'counter', 'count'],
  bytes: ['u64', 'counter', 'byte'],
  ms: ['u64', 'counter', 'millisec'],
  ns: ['u64', 'counter', 'nanosec'],
  start: ['u64', 'discrete', 'millisec'],
  address: ['u64', 'discrete', 'none'],
  kb: ['u32', 'instant', 'Kbyte'],
  bigkb: ['u64', 'instant', 'Kbyte'],
  name: ['string', 'discrete', 'none'],
  text: ['string', 'instant', 'none'],
}

function rowsOf(group: string, rows: readonly Row[]): readonly ProcessRow[] {
  return rows.map(([name, item, kind, help, text, after]) => {
    const [type, sem, units] = KINDS[kind]!
    const more = { ...(text === undefined ? {} : { text }), ...(after === undefined ? {} : { after }) }
    return { name: `${group}.${name}`, item, type, sem, units, help, ...more }
  })
}

const PSINFO_STAT: readonly Row[] = [
  ['pid', 0, 'id', 'Process identifier, which is also the instance identifier'],
  [
    'cmd',
    1,
    'name',
    'Name of the program in the kernel: that of its file, or one it set itself',
    'Cut by the kernel after 15 bytes; without the parentheses.',
  ],
  [
    'sname',
    2,
    'text',
    'State of the process as one letter: R runs, S sleeps, D waits for a device, Z has ended, T is stopped',
    'The letters are those of ps(1): R running or runnable, S interruptible sleep, D uninterruptible sleep, Z ended but not waited for, T stopped by a signal, t stopped by a debugger, I idle kernel thread, X dead.',
  ],
  ['ppid', 3, 'id', 'Process that started this one, or adopted it'],
  ['pgrp', 4, 'id', 'Process group: one job of a shell'],
  ['session', 5, 'id', 'Session: all jobs of one login'],
  [
    'tty',
    6,
    'id',
    'Device number of the controlling terminal; 0 without one',
    'Minor number in the bits 0 to 7 and 20 to 31, major number in the bits 8 to 19.',
  ],
  [
    'tty_pgrp',
    7,
    'id',
    'Foreground process group of the terminal',
    'No value for a process without a terminal.',
  ],
  ['flags', 8, 'id', 'Kernel flags of the task: the PF_ constants of its sources'],
  ['minflt', 9, 'count', 'Page faults without disk reads'],
  ['cmin_flt', 10, 'count', 'Page faults without disk of children that ended and were waited for'],
  ['maj_flt', 11, 'count', 'Page faults with disk reads'],
  ['cmaj_flt', 12, 'count', 'Page faults with disk of children that ended and were waited for'],
  ['utime', 13, 'ms', 'User CPU time since the start of the process'],
  ['stime', 14, 'ms', 'System CPU time of the process'],
  ['cutime', 15, 'ms', 'User CPU time of children that ended and were waited for'],
  ['cstime', 16, 'ms', 'System CPU time of children that ended and were waited for'],
  [
    'priority',
    17,
    'signed',
    'Scheduling priority: smaller is more urgent, below zero for real time',
    'For an ordinary process the nice value plus 20.',
  ],
  ['nice', 18, 'signed', 'Nice value: from -20, most favoured, to 19, least favoured'],
  ['it_real_value', 20, 'id', 'Time until the next alarm; 0 since Linux 2.6.17'],
  ['start_time', 21, 'start', 'Start time of the process since boot'],
  ['vsize', 22, 'bigkb', 'Virtual size: all mappings, resident or not'],
  ['rss', 23, 'bigkb', 'Resident memory, private and shared'],
  ['rss_rlim', 24, 'bigkb', 'Limit of resident memory (RLIMIT_RSS)'],
  ['start_code', 25, 'id', 'Low 32 bits of the address at which its program text begins'],
  ['end_code', 26, 'id', 'Low 32 bits of the address behind its program text'],
  ['start_stack', 27, 'id', 'Low 32 bits of the address at which its stack begins'],
  ['esp', 28, 'id', 'Stack pointer; 0 except while a core is dumped'],
  ['eip', 29, 'id', 'Instruction pointer; 0 except while a core is dumped'],
  ['signal', 30, 'id', 'Pending signals 1 to 31, a bit each', 'proc.psinfo.signal_s has all of them.'],
  ['blocked', 31, 'id', 'Blocked signals 1 to 31, a bit each', 'proc.psinfo.blocked_s has all of them.'],
  ['sigignore', 32, 'id', 'Ignored signals 1 to 31, a bit each', 'proc.psinfo.sigignore_s has all of them.'],
  [
    'sigcatch',
    33,
    'id',
    'Signals 1 to 31 with a handler, a bit each',
    'proc.psinfo.sigcatch_s has all of them.',
  ],
  [
    'wchan',
    34,
    'address',
    'Kernel address at which it waits: since Linux 4.2 only 1 if it waits and 0 if not',
  ],
  ['nswap', 35, 'count', 'Pages written to swap; no longer counted by the kernel, so 0'],
  ['cnswap', 36, 'count', 'Pages of its children written to swap; not counted either'],
  ['exit_signal', 37, 'id', 'Signal sent to the parent when it ends'],
  ['processor', 38, 'level', 'CPU on which it last ran'],
  [
    'rt_priority',
    42,
    'level',
    'Real-time priority, 1 to 99; 0 for other processes',
    'PCP 6.0.3 exports a different column of the kernel.',
  ],
  [
    'policy',
    43,
    'level',
    'Scheduling policy as a number: 0 other, 1 fifo, 2 round robin, 3 batch, 5 idle, 6 deadline',
    'PCP 6.0.3 exports a different column of the kernel.',
  ],
  ['delayacct_blkio_time', 44, 'ms', 'Time it waited for block devices, if delay accounting is enabled'],
  ['guest_time', 45, 'ms', 'Time spent running virtual CPUs of guests'],
  ['cguest_time', 46, 'ms', 'Time for guests of children that ended and were waited for'],
  [
    'policy_s',
    48,
    'text',
    'Scheduling policy as a word: NORMAL, FIFO, RR, BATCH, IDLE, DEADLN',
    'A question mark for an unknown policy.',
    'signal_s',
  ],
]

const PSINFO_STATUS: readonly Row[] = [
  ['signal_s', 16, 'text', 'Pending signals, in hexadecimal'],
  ['blocked_s', 17, 'text', 'Blocked signals, in hexadecimal'],
  ['sigignore_s', 18, 'text', 'Ignored signals, in hexadecimal'],
  ['sigcatch_s', 19, 'text', 'Signals with a handler, in hexadecimal'],
  ['threads', 28, 'level', 'Threads of the process, including the first'],
  ['vctxsw', 29, 'level', 'Voluntary context switches, because it waited'],
  ['nvctxsw', 30, 'level', 'Involuntary context switches'],
  ['cpusallowed', 31, 'text', 'CPUs on which it may run, as a list like 0-3,8'],
  [
    'ngid',
    32,
    'id',
    'NUMA group of tasks placed together; 0 for none',
    'PCP 6.0.3 exports a number that is not from the kernel.',
  ],
  ['tgid', 41, 'id', 'Process that a thread belongs to; its own PID for the first thread'],
]

const MEMORY_STATUS: readonly Row[] = [
  ['vmsize', 20, 'kb', 'Virtual size: all mappings (VmSize)'],
  ['vmlock', 21, 'kb', 'Memory locked by mlock (VmLck)'],
  ['vmrss', 22, 'kb', 'Resident memory (VmRSS)'],
  ['vmdata', 23, 'kb', 'Private writable data such as the heap (VmData)'],
  ['vmstack', 24, 'kb', 'Stack of the first thread (VmStk)'],
  ['vmexe', 25, 'kb', 'Code of the program itself (VmExe)'],
  ['vmlib', 26, 'kb', 'Code of the libraries it uses (VmLib)'],
  ['vmswap', 27, 'kb', 'Private memory in swap (VmSwap)'],
  ['vmpeak', 33, 'kb', 'Peak virtual size (VmPeak)'],
  ['vmpin', 34, 'kb', 'Memory pinned for device access (VmPin)'],
  ['vmhwm', 35, 'kb', 'Peak resident memory (VmHWM)'],
  ['vmpte', 36, 'kb', 'Page tables that describe its memory (VmPTE)'],
  ['vmreal', 43, 'bigkb', 'Memory resident or in swap: sum of vmrss and vmswap'],
  ['vmnonlib', 44, 'bigkb', 'Memory without library code: vmrss and vmswap minus vmlib'],
]

const ID_STATUS: readonly Row[] = [
  ['uid', 0, 'id', 'Real user'],
  ['euid', 1, 'id', 'Effective user'],
  ['suid', 2, 'id', 'Saved user'],
  ['fsuid', 3, 'id', 'File system user'],
  ['gid', 4, 'id', 'Real group', 'PCP 6.0.3 exports the user here.'],
  ['egid', 5, 'id', 'Effective group'],
  ['sgid', 6, 'id', 'Saved group'],
  ['fsgid', 7, 'id', 'File system group'],
  ['uid_nm', 8, 'name', 'Name of the real user; empty if it has no name'],
  ['euid_nm', 9, 'name', 'Name of the effective user'],
  ['suid_nm', 10, 'name', 'Name of the saved user'],
  ['fsuid_nm', 11, 'name', 'Name of the file system user'],
  ['gid_nm', 12, 'name', 'Name of the real group'],
  ['egid_nm', 13, 'name', 'Name of the effective group'],
  ['sgid_nm', 14, 'name', 'Name of the saved group'],
  ['fsgid_nm', 15, 'name', 'Name of the file system group'],
]

const NAMESPACES: readonly Row[] = [
  ['tgid', 37, 'name', 'Its PID in each PID namespace, from the outermost to its own'],
  ['pid', 38, 'name', 'Its thread ID in each PID namespace, from the outermost to its own'],
  ['pgid', 39, 'name', 'Its process group, in each PID namespace from the outermost to its own'],
  ['sid', 40, 'name', 'Its session, in each PID namespace from the outermost to its own'],
  ['envid', 42, 'id', 'Container it is in, on kernels with OpenVZ'],
]

const STATM: readonly Row[] = [
  ['size', 0, 'kb', 'Mapped pages (first column of statm)'],
  ['rss', 1, 'kb', 'Resident pages (second column of statm)'],
  ['share', 2, 'kb', 'Resident pages of files and shared memory'],
  ['textrss', 3, 'kb', 'Pages of program code'],
  ['librss', 4, 'kb', 'Pages of library code; 0 since Linux 2.6'],
  ['datrss', 5, 'kb', 'Pages of data and stack'],
  ['dirty', 6, 'kb', 'Modified pages; 0 since Linux 2.6'],
]

const SCHEDSTAT: readonly Row[] = [
  ['cpu_time', 0, 'ns', 'Time it ran on a CPU'],
  ['run_delay', 1, 'ns', 'Time it was runnable and waited for a CPU'],
  ['pcount', 2, 'bigcount', 'Number of times it was scheduled on a CPU'],
]

const IO: readonly Row[] = [
  ['rchar', 0, 'bytes', 'Bytes read by read() and similar calls, also from pipes and caches'],
  ['wchar', 1, 'bytes', 'Bytes written by write() and similar calls, also to pipes and caches'],
  ['syscr', 2, 'bigcount', 'Calls of read() and similar'],
  ['syscw', 3, 'bigcount', 'Calls of write() and similar'],
  ['read_bytes', 4, 'bytes', 'Bytes fetched from block devices'],
  ['write_bytes', 5, 'bytes', 'Bytes it caused to be written to block devices'],
  [
    'cancelled_write_bytes',
    6,
    'bytes',
    'Bytes not written after all because the file was truncated or removed',
  ],
]

const SMAPS: readonly Row[] = [
  ['rss', 0, 'bigkb', 'Resident memory'],
  ['pss', 1, 'bigkb', 'Its share: private memory, and shared memory divided by the number of sharers'],
  ['pss_anon', 2, 'bigkb', 'Its share of anonymous memory'],
  ['pss_file', 3, 'bigkb', 'Its share of file pages'],
  ['pss_shmem', 4, 'bigkb', 'Its share of shared memory and tmpfs'],
  ['shared_clean', 5, 'bigkb', 'Unmodified shared pages'],
  ['shared_dirty', 6, 'bigkb', 'Modified shared pages'],
  ['private_clean', 7, 'bigkb', 'Unmodified private pages'],
  ['private_dirty', 8, 'bigkb', 'Modified private pages'],
  ['referenced', 9, 'bigkb', 'Recently used pages'],
  ['anonymous', 10, 'bigkb', 'Memory without a file'],
  ['lazyfree', 11, 'bigkb', 'Pages marked as free to reclaim (MADV_FREE)'],
  ['anonhugepages', 12, 'bigkb', 'Anonymous memory in transparent huge pages'],
  ['shmempmdmapped', 13, 'bigkb', 'Shared memory and tmpfs mapped as huge pages'],
  ['filepmdmapped', 14, 'bigkb', 'Files mapped as huge pages'],
  ['shared_hugetlb', 15, 'bigkb', 'Shared pages of hugetlbfs, not included in rss'],
  ['private_hugetlb', 16, 'bigkb', 'Private pages of hugetlbfs, not included in rss'],
  ['swap', 17, 'bigkb', 'Anonymous pages in swap'],
  ['swappss', 18, 'bigkb', 'Its share of pages in swap'],
  ['locked', 19, 'bigkb', 'Pages locked in memory'],
]

/** Source of a row: a file of a process, or a value derived from one. */
export type RowFile =
  | 'stat'
  | 'status'
  | 'statm'
  | 'schedstat'
  | 'io'
  | 'smaps'
  | 'ttyname'
  | 'wchan'
  | 'psargs'
  | 'environ'
  | 'maps'
  | 'cgroup'
  | 'labels'
  | 'fd'
  | 'oom'
  | 'exe'
  | 'cwd'
  | 'autogroup'

/** The rows by source. */
export const PROCESS_ROWS: Readonly<Record<RowFile, readonly ProcessRow[]>> = {
  stat: rowsOf('psinfo', PSINFO_STAT),
  status: [
    ...rowsOf('psinfo', PSINFO_STATUS),
    ...rowsOf('memory', MEMORY_STATUS),
    ...rowsOf('id', ID_STATUS),
    ...rowsOf('namespaces', NAMESPACES),
  ],
  statm: rowsOf('memory', STATM),
  schedstat: rowsOf('schedstat', SCHEDSTAT),
  io: rowsOf('io', IO),
  smaps: rowsOf('smaps', SMAPS),
  ttyname: rowsOf('psinfo', [
    [
      'ttyname',
      39,
      'name',
      'Controlling terminal such as pts/0; a question mark without one',
      undefined,
      'rt_priority',
    ],
  ]),
  wchan: rowsOf('psinfo', [
    ['wchan_s', 40, 'text', 'Kernel function in which it waits; 0 if it does not', undefined, 'rt_priority'],
  ]),
  psargs: rowsOf('psinfo', [
    [
      'psargs',
      41,
      'name',
      'Its command line with spaces between the arguments; the name in parentheses without one',
      undefined,
      'rt_priority',
    ],
  ]),
  environ: rowsOf('psinfo', [
    ['environ', 47, 'text', 'Initial environment, with spaces between the variables', undefined, 'policy_s'],
  ]),
  maps: rowsOf('memory', [
    ['maps', 7, 'text', 'Mappings of its address space, one per line, in the format of the kernel'],
  ]),
  cgroup: [
    ...rowsOf('psinfo', [
      [
        'cgroups',
        0,
        'text',
        'Control groups it is in: controllers and path, with semicolons between the hierarchies',
        undefined,
        'vctxsw',
      ],
    ]),
    ...rowsOf('id', [
      ['container', 1, 'name', 'Long id of the container it is in; empty outside of containers'],
    ]),
  ],
  labels: rowsOf('psinfo', [
    ['labels', 0, 'text', 'Security label, such as that of SELinux', undefined, 'vctxsw'],
  ]),
  fd: rowsOf('fd', [['count', 0, 'number', 'Open file descriptors']]),
  oom: rowsOf('psinfo', [
    [
      'oom_score',
      0,
      'level',
      'Badness when memory runs out: the kernel kills the process with the highest score first',
    ],
  ]),
  exe: rowsOf('psinfo', [['exe', 0, 'name', 'Path of the program it runs']]),
  cwd: rowsOf('psinfo', [['cwd', 0, 'name', 'Current directory']]),
  autogroup: rowsOf('autogroup', [
    ['id', 1, 'id', 'Scheduling group of the processes of one session; 0 for none'],
    ['nice', 2, 'signed', 'Nice value of the scheduling group of a session'],
  ]),
}
