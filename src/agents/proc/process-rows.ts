/** Data: the metrics of single processes: name, item, type, semantics, units, what it tells, what else there is to know. */
import type { SemName, TypeName } from '../../pmda/define.ts'

/** One metric: the last parts of its name, the item, type, semantics and units, one line of help, and more of it. */
export interface ProcessRow {
  readonly name: string
  /** Last part of the sibling that it follows in the name space. Default: the row after it, as in PCP. */
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
  ['pid', 0, 'id', 'Process identifier, which is also the instance number'],
  [
    'cmd',
    1,
    'name',
    'What the kernel calls the program: the file name it was started from, or what it calls itself',
    'Cut by the kernel after 15 bytes, and without the parentheses it stands in.',
  ],
  [
    'sname',
    2,
    'text',
    'What the process does now, as one letter: R runs, S sleeps, D waits for a device, Z has ended, T is stopped',
    'The letters are those of ps(1): R runs or could, S sleeps and can be woken by a signal, D sleeps and cannot, Z ended and nobody has asked how, T was stopped by a signal, t by a debugger, I is an idle kernel thread, X is about to go.',
  ],
  ['ppid', 3, 'id', 'Process that started this one, or took it over when that ended'],
  ['pgrp', 4, 'id', 'Group the process belongs to: those a shell treats as one job'],
  ['session', 5, 'id', 'Session: all jobs of one login'],
  [
    'tty',
    6,
    'id',
    'Device number of the terminal that controls it; 0 without terminal',
    'Minor number in the bits 0 to 7 and 20 to 31, major number in the bits 8 to 19.',
  ],
  [
    'tty_pgrp',
    7,
    'id',
    'Group that has the terminal now: the job in the foreground',
    'No value for a process without terminal.',
  ],
  ['flags', 8, 'id', 'Bits that the kernel keeps about the task: the PF_ constants of its sources'],
  ['minflt', 9, 'count', 'Page faults that were settled without reading from a disk'],
  ['cmin_flt', 10, 'count', 'Page faults without disk of children that ended and were waited for'],
  ['maj_flt', 11, 'count', 'Page faults for which a page had to be read from a disk'],
  ['cmaj_flt', 12, 'count', 'Page faults with disk of children that ended and were waited for'],
  ['utime', 13, 'ms', 'Processor time spent in the program itself since it was started'],
  ['stime', 14, 'ms', 'Processor time the kernel spent working for the process'],
  ['cutime', 15, 'ms', 'Time in their own code of children that ended and were waited for'],
  ['cstime', 16, 'ms', 'Time in the kernel of children that ended and were waited for'],
  [
    'priority',
    17,
    'signed',
    'How the scheduler ranks it: smaller goes first, below zero for real time',
    'For an ordinary process the nice value plus 20.',
  ],
  [
    'nice',
    18,
    'signed',
    'Nice value: from -20, which others have to wait for, to 19, which waits for others',
  ],
  ['it_real_value', 20, 'id', 'Time until the next alarm; 0 since Linux 2.6.17'],
  ['start_time', 21, 'start', 'When it was started, counted from the boot of the system'],
  ['vsize', 22, 'bigkb', 'Address space: all that is mapped, in memory or not'],
  ['rss', 23, 'bigkb', 'Memory it occupies: pages that are present, its own and shared ones'],
  ['rss_rlim', 24, 'bigkb', 'Most memory it may occupy (RLIMIT_RSS)'],
  ['start_code', 25, 'id', 'Low 32 bits of the address at which its program text begins'],
  ['end_code', 26, 'id', 'Low 32 bits of the address behind its program text'],
  ['start_stack', 27, 'id', 'Low 32 bits of the address at which its stack begins'],
  ['esp', 28, 'id', 'Stack pointer; 0 except while a core is dumped'],
  ['eip', 29, 'id', 'Instruction pointer; 0 except while a core is dumped'],
  [
    'signal',
    30,
    'id',
    'Signals 1 to 31 that wait to be delivered, a bit each',
    'proc.psinfo.signal_s has all of them.',
  ],
  [
    'blocked',
    31,
    'id',
    'Signals 1 to 31 that are held back, a bit each',
    'proc.psinfo.blocked_s has all of them.',
  ],
  [
    'sigignore',
    32,
    'id',
    'Signals 1 to 31 that are thrown away, a bit each',
    'proc.psinfo.sigignore_s has all of them.',
  ],
  [
    'sigcatch',
    33,
    'id',
    'Signals 1 to 31 that a handler takes, a bit each',
    'proc.psinfo.sigcatch_s has all of them.',
  ],
  [
    'wchan',
    34,
    'address',
    'Where in the kernel it waits: since Linux 4.2 only 1 for somewhere and 0 for nowhere',
  ],
  ['nswap', 35, 'count', 'Pages written to swap; the kernel has not counted them for long, so 0'],
  ['cnswap', 36, 'count', 'Pages of its children written to swap; not counted either'],
  ['exit_signal', 37, 'id', 'Signal that tells the parent of its end'],
  ['processor', 38, 'level', 'CPU on which it ran last'],
  [
    'rt_priority',
    42,
    'level',
    'Rank among real-time processes, 1 to 99; 0 for any other',
    'PCP 6.0.3 shows another column of the kernel here.',
  ],
  [
    'policy',
    43,
    'level',
    'How the scheduler treats it, as a number: 0 other, 1 fifo, 2 round robin, 3 batch, 5 idle, 6 deadline',
    'PCP 6.0.3 shows another column of the kernel here.',
  ],
  [
    'delayacct_blkio_time',
    44,
    'ms',
    'Time it waited for block devices, where delay accounting is switched on',
  ],
  ['guest_time', 45, 'ms', 'Time spent running virtual processors of guests'],
  ['cguest_time', 46, 'ms', 'Time for guests of children that ended and were waited for'],
  [
    'policy_s',
    48,
    'text',
    'How the scheduler treats it, as a word: NORMAL, FIFO, RR, BATCH, IDLE, DEADLN',
    'A question mark for a policy that has no word here.',
    'signal_s',
  ],
]

const PSINFO_STATUS: readonly Row[] = [
  ['signal_s', 16, 'text', 'Signals that wait to be delivered, in hexadecimal'],
  ['blocked_s', 17, 'text', 'Signals that are held back, in hexadecimal'],
  ['sigignore_s', 18, 'text', 'Signals that are thrown away, in hexadecimal'],
  ['sigcatch_s', 19, 'text', 'Signals that a handler takes, in hexadecimal'],
  ['threads', 28, 'level', 'Threads of the process, the first one included'],
  ['vctxsw', 29, 'level', 'How often it gave up its CPU by itself, to wait for something'],
  ['nvctxsw', 30, 'level', 'How often its CPU was taken away from it'],
  ['cpusallowed', 31, 'text', 'CPUs on which it may run, as a list like 0-3,8'],
  [
    'ngid',
    32,
    'id',
    'Group of tasks that are placed on NUMA nodes together; 0 for none',
    'PCP 6.0.3 shows a number that is not the kernel’s.',
  ],
  ['tgid', 41, 'id', 'Process that a thread belongs to; its own number for the first thread'],
]

const MEMORY_STATUS: readonly Row[] = [
  ['vmsize', 20, 'kb', 'Address space: all that is mapped (VmSize)'],
  ['vmlock', 21, 'kb', 'Memory that must not be paged out, by mlock (VmLck)'],
  ['vmrss', 22, 'kb', 'Memory it occupies now (VmRSS)'],
  ['vmdata', 23, 'kb', 'Private data that can be written: heap and the like (VmData)'],
  ['vmstack', 24, 'kb', 'Stack of the first thread (VmStk)'],
  ['vmexe', 25, 'kb', 'Code of the program itself (VmExe)'],
  ['vmlib', 26, 'kb', 'Code of the libraries it uses (VmLib)'],
  ['vmswap', 27, 'kb', 'Private memory that is in swap (VmSwap)'],
  ['vmpeak', 33, 'kb', 'Largest address space it ever had (VmPeak)'],
  ['vmpin', 34, 'kb', 'Memory that must not be moved, for devices that write to it (VmPin)'],
  ['vmhwm', 35, 'kb', 'Most memory it ever occupied (VmHWM)'],
  ['vmpte', 36, 'kb', 'Page tables that describe its memory (VmPTE)'],
  ['vmreal', 43, 'bigkb', 'Memory it needs, present or in swap: vmrss and vmswap together'],
  ['vmnonlib', 44, 'bigkb', 'Memory it needs besides library code: vmrss and vmswap without vmlib'],
]

const ID_STATUS: readonly Row[] = [
  ['uid', 0, 'id', 'User who started it'],
  ['euid', 1, 'id', 'User whose rights it has'],
  ['suid', 2, 'id', 'User whose rights it may take again'],
  ['fsuid', 3, 'id', 'User whose rights it has with files'],
  ['gid', 4, 'id', 'Group of who started it', 'PCP 6.0.3 shows the user here.'],
  ['egid', 5, 'id', 'Group whose rights it has'],
  ['sgid', 6, 'id', 'Group whose rights it may take again'],
  ['fsgid', 7, 'id', 'Group whose rights it has with files'],
  ['uid_nm', 8, 'name', 'Name of who started it; empty when that number has no name'],
  ['euid_nm', 9, 'name', 'Name of the user whose rights it has'],
  ['suid_nm', 10, 'name', 'Name of the user whose rights it may take again'],
  ['fsuid_nm', 11, 'name', 'Name of the user whose rights it has with files'],
  ['gid_nm', 12, 'name', 'Name of the group of who started it'],
  ['egid_nm', 13, 'name', 'Name of the group whose rights it has'],
  ['sgid_nm', 14, 'name', 'Name of the group whose rights it may take again'],
  ['fsgid_nm', 15, 'name', 'Name of the group whose rights it has with files'],
]

const NAMESPACES: readonly Row[] = [
  ['tgid', 37, 'name', 'Its number as a process, in each PID namespace from the outermost to its own'],
  ['pid', 38, 'name', 'Its number as a thread, in each PID namespace from the outermost to its own'],
  ['pgid', 39, 'name', 'Its process group, in each PID namespace from the outermost to its own'],
  ['sid', 40, 'name', 'Its session, in each PID namespace from the outermost to its own'],
  ['envid', 42, 'id', 'Container it is in, on kernels with OpenVZ'],
]

const STATM: readonly Row[] = [
  ['size', 0, 'kb', 'All pages that are mapped (first column of statm)'],
  ['rss', 1, 'kb', 'Pages that are present (second column of statm)'],
  ['share', 2, 'kb', 'Present pages that belong to files or to shared memory'],
  ['textrss', 3, 'kb', 'Pages of program code'],
  ['librss', 4, 'kb', 'Pages of library code; 0 since Linux 2.6'],
  ['datrss', 5, 'kb', 'Pages of data and stack'],
  ['dirty', 6, 'kb', 'Pages that were changed; 0 since Linux 2.6'],
]

const SCHEDSTAT: readonly Row[] = [
  ['cpu_time', 0, 'ns', 'Time it ran on a CPU'],
  ['run_delay', 1, 'ns', 'Time it could have run but had to wait for a CPU'],
  ['pcount', 2, 'bigcount', 'How often it was put on a CPU'],
]

const IO: readonly Row[] = [
  ['rchar', 0, 'bytes', 'What it read by read() and the like, from files, pipes or caches alike'],
  ['wchar', 1, 'bytes', 'What it wrote by write() and the like, to files, pipes or caches alike'],
  ['syscr', 2, 'bigcount', 'Calls of read() and the like'],
  ['syscw', 3, 'bigcount', 'Calls of write() and the like'],
  ['read_bytes', 4, 'bytes', 'What had to be fetched from block devices for it'],
  ['write_bytes', 5, 'bytes', 'What it made to be written to block devices'],
  [
    'cancelled_write_bytes',
    6,
    'bytes',
    'What it did not have to write after all, because the file was cut or removed before',
  ],
]

const SMAPS: readonly Row[] = [
  ['rss', 0, 'bigkb', 'Memory that is present'],
  ['pss', 1, 'bigkb', 'Its share: private memory, and shared memory divided by the number of sharers'],
  ['pss_anon', 2, 'bigkb', 'Its share of memory that belongs to no file'],
  ['pss_file', 3, 'bigkb', 'Its share of memory that belongs to files'],
  ['pss_shmem', 4, 'bigkb', 'Its share of shared memory and tmpfs'],
  ['shared_clean', 5, 'bigkb', 'Shared pages as they stand in their file'],
  ['shared_dirty', 6, 'bigkb', 'Shared pages that were changed'],
  ['private_clean', 7, 'bigkb', 'Pages only it has, as they stand in their file'],
  ['private_dirty', 8, 'bigkb', 'Pages only it has that were changed'],
  ['referenced', 9, 'bigkb', 'Pages that were used not long ago'],
  ['anonymous', 10, 'bigkb', 'Pages that belong to no file'],
  ['lazyfree', 11, 'bigkb', 'Pages it no longer needs (MADV_FREE), which it keeps until memory is short'],
  ['anonhugepages', 12, 'bigkb', 'Memory of no file in transparent huge pages'],
  ['shmempmdmapped', 13, 'bigkb', 'Shared memory and tmpfs mapped as huge pages'],
  ['filepmdmapped', 14, 'bigkb', 'Files mapped as huge pages'],
  ['shared_hugetlb', 15, 'bigkb', 'Shared pages of hugetlbfs, which rss does not count'],
  ['private_hugetlb', 16, 'bigkb', 'Private pages of hugetlbfs, which rss does not count'],
  ['swap', 17, 'bigkb', 'Pages of no file that are in swap'],
  ['swappss', 18, 'bigkb', 'Its share of what is in swap'],
  ['locked', 19, 'bigkb', 'Pages that must stay in memory'],
]

/** What rows come from: a file of a process, or something worked out from one. */
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

/** The rows by the file they come from. */
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
      'Terminal that controls it, like pts/0; a question mark without terminal',
      undefined,
      'rt_priority',
    ],
  ]),
  wchan: rowsOf('psinfo', [
    [
      'wchan_s',
      40,
      'text',
      'Function of the kernel in which it waits; 0 when it does not',
      undefined,
      'rt_priority',
    ],
  ]),
  psargs: rowsOf('psinfo', [
    [
      'psargs',
      41,
      'name',
      'Its command line with blanks between the arguments; the name in parentheses without one',
      undefined,
      'rt_priority',
    ],
  ]),
  environ: rowsOf('psinfo', [
    [
      'environ',
      47,
      'text',
      'Environment it was started with, with blanks between the variables',
      undefined,
      'policy_s',
    ],
  ]),
  maps: rowsOf('memory', [
    ['maps', 7, 'text', 'What is mapped where in its address space, a line each, as the kernel writes it'],
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
    ['labels', 0, 'text', 'What its security module calls it, as with SELinux', undefined, 'vctxsw'],
  ]),
  fd: rowsOf('fd', [['count', 0, 'number', 'Files, sockets and the like that it has open']]),
  oom: rowsOf('psinfo', [
    [
      'oom_score',
      0,
      'level',
      'How likely the kernel would end it to get memory back: the largest goes first',
    ],
  ]),
  exe: rowsOf('psinfo', [['exe', 0, 'name', 'Path of the program it runs']]),
  cwd: rowsOf('psinfo', [['cwd', 0, 'name', 'Directory it works in']]),
  autogroup: rowsOf('autogroup', [
    ['id', 1, 'id', 'Group in which the scheduler puts the processes of one session together; 0 for none'],
    ['nice', 2, 'signed', 'Nice value of that group of a session'],
  ]),
}
