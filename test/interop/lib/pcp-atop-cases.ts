/** Cases for comparing atop with the reference, and intended differences: docs/explanation/differences.md. */

const VIEWS = ['', '-g', '-m', '-d', '-n', '-s', '-v', '-c', '-u', '-p', '-j', '-X', '-a', '-y']
const ORDERS = ['-M', '-D', '-N', '-A', '-E']
const FORMS = ['-f', '-F', '-l', '-1', '-x', '-G', '-R', '-W', '-L 120', '-L 160', '-aM -L 140', '-ma', '-ca']
const LABELS = ['CPU', 'cpu,CPL', 'MEM,SWP,PAG', 'DSK,LVM,MDD', 'NET', 'PRG', 'PRC', 'PRM', 'PRD,PRN,PRE']

/** Sets of options, operands included, by archive of PCP's tests. */
export const CASES: Readonly<Record<string, readonly string[]>> = {
  'pcp-atop': [...VIEWS, ...ORDERS, ...FORMS, ...LABELS.map((label) => `-P ${label}`), '-Z -P PRG'].map(
    (options) => `${options} 1 4`,
  ),
  'pcp-atop-boot': [...FORMS, ...LABELS.map((label) => `-P ${label}`)].map((options) => `${options} 1 4`),
  'pcp-atop-threads': ['', '-y', '-m', '-d', '-s', '-P CPU', '-P PRG', '-P PRC'].map(
    (options) => `${options} 1 3`,
  ),
  'pcp-atop-nvidia': ['', '-m', '-P CPU', '-P DSK,NET'].map((options) => `${options} 1 3`),
  'pcp-hotatop': ['', '-m', '--hotproc', '--hotproc -m'].map((options) => `${options} 1 3`),
  'pcp-zeroconf': ['', '-m', '-d', '-P CPU'].map((options) => `${options} 60 3`),
}

/** Archives with short-lived processes: only host lines are compared. */
export const HOST_ONLY: ReadonlySet<string> = new Set(['pcp-hotatop', 'pcp-zeroconf'])

/** Lines, or parts of lines, that are not compared, with the reason. */
export interface LeftOut {
  readonly why: string
  /** Archives it applies to; default all. */
  readonly archives?: readonly string[]
  readonly from: RegExp
  /** Replacement to compare; undefined removes the whole line. */
  readonly to?: string
}

const ATOP = ['pcp-atop']
const BOOT = ['pcp-atop-boot']
const THREADS = ['pcp-atop-threads']
const NVIDIA = ['pcp-atop-nvidia']
const ZEROCONF = ['pcp-zeroconf']

/** Intended differences. */
export const LEFT_OUT: readonly LeftOut[] = [
  {
    why: 'processes between two records',
    from: /^ *\d+ .* \d+%( pmsleep| kworker\/.*)? *$|^ *\d+ +- - .*pmsleep|^PR[A-Z] (\S+ ){5}\d+ (\((pmsleep|kworker\S*)?\)|[ _] )/,
  },
  {
    why: 'number of processes, for that reason',
    archives: [...BOOT, ...THREADS, ...ZEROCONF],
    from: /#(proc|trun|tslpi|tslpu) +\d+/g,
    to: '#$1',
  },
  {
    why: 'processes per user, for that reason',
    archives: ATOP,
    from: /^ +\d+( .* \d+% (?:nathans|root) *)$/,
    to: '$1',
  },
  {
    why: 'start times',
    archives: ATOP,
    from: /^( *\d+ .* )\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /,
    to: '$1',
  },
  {
    why: 'start times more than 24 days after boot, which are 0 in 6.0.3',
    archives: BOOT,
    from: /^(PRG .*\) [A-Z] \d+ \d+ \d+ \d+ -?\d+ )(?:0|[2-4]\d{9}) /,
    to: '$1',
  },
  {
    why: 'priorities below 0',
    archives: ATOP,
    from: /^( *\d+ .* )(norm|fifo|rr|btch|idle) +-?\d+/,
    to: '$1$2',
  },
  {
    why: 'priorities below 0, for programs',
    archives: ATOP,
    from: /^(PRC .*\) \S \d+ \d+ \d+) -?\d+ -?\d+/,
    to: '$1',
  },
  { why: 'clocks of processors', from: /^((?:CPU|cpu) .*) \d+( 100 \d+ \d+)$/, to: '$1$2' },
  { why: 'discards that are not counted', from: /^((?:DSK|LVM|MDD) .*) -1 /, to: '$1 0 ' },
  {
    why: 'the parent of the first thread of the kernel, for programs',
    from: /(\(kthreadd\)\)? )[01] /,
    to: '$1',
  },
  { why: 'the same for people', archives: ATOP, from: /^( *2 +)[01]( root .*kthreadd)/, to: '$1$2' },
  { why: 'pressure', archives: [...ATOP, ...BOOT, ...ZEROCONF], from: /^PSI / },
  {
    why: 'unknown servers',
    archives: BOOT,
    from: /^(NF[CS]|WWW)( \| \S+ +0(\.0)?)+ \|$/,
  },
  {
    why: 'pages scanned, by names of newer kernels',
    archives: BOOT,
    from: /^(PAG \|) scan +\S+/,
    to: '$1',
  },
  {
    why: 'queues of mapped devices, which are not measured',
    archives: BOOT,
    from: /^(LVM .*) \d{12,} /,
    to: '$1 0 ',
  },
  {
    why: 'delays in the queue of a processor',
    archives: THREADS,
    from: /([A-Z-]) +\d+\.\d\ds +(\d+\.\d\ds +\d+% \S)/,
    to: '$1 $2',
  },
  { why: 'the same for programs', archives: THREADS, from: /^(PRC .* [yn] )\d+ /, to: '$1' },
  {
    why: 'memory of graphics processors, due to rounded means',
    archives: NVIDIA,
    from: /memocc +\d+%/,
    to: 'memocc',
  },
  {
    why: 'utilization of mapped devices',
    archives: ZEROCONF,
    from: /^(LVM .*)busy +\d+%(.*)avio.*/,
    to: '$1$2',
  },
  {
    why: 'the end of long names of mapped devices',
    archives: ZEROCONF,
    from: /^LVM \| +\S+/,
    to: 'LVM',
  },
  {
    why: 'memory of shared objects, terabytes in 6.0.3',
    archives: ZEROCONF,
    from: /shrss +\S+/,
    to: 'shrss',
  },
  {
    why: 'NFS mounts, shown by 6.0.3 from the second sample on',
    archives: ZEROCONF,
    from: /^NFM /,
  },
  { why: 'empty fields', from: / [ _]*$/, to: '' },
  { why: 'the end of long command lines', archives: ATOP, from: /^(.{250}).*/, to: '$1' },
]
