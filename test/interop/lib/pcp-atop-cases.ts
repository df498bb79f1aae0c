/** What of atop is compared with the reference's, and what differs on purpose: docs/differences.md. */

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

/** Archives whose processes come and go between records: only lines of the host are compared. */
export const HOST_ONLY: ReadonlySet<string> = new Set(['pcp-hotatop', 'pcp-zeroconf'])

/** Lines, or what of them is not compared, by why. `to` undefined: the whole line. */
export const LEFT_OUT: readonly { readonly why: string; readonly from: RegExp; readonly to?: string }[] = [
  {
    why: 'which processes there are between two records',
    from: /^ *\d+ .* \d+%( pmsleep| kworker\/.*)? *$|^ *\d+ +- [- ] |^PR[A-Z] .*\((pmsleep|kworker\S*)?\)|^PR[A-Z] (\S+ ){5}\d+ [ _]|^PR. .*pmsleep/,
  },
  { why: 'how many there are, by that', from: /#(proc|trun|tslpi|tslpu) +\d+/g, to: '#$1' },
  { why: 'how many a user, a program, a container has', from: /^ +\d+ ( *\S+s|\S+m\S*)/, to: '$1' },
  { why: 'when they started', from: /\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /, to: '' },
  { why: 'priorities below 0', from: /^( *\d+ .* )(norm|fifo|rr|btch|idle) +-?\d+/, to: '$1$2' },
  {
    why: 'priorities below 0, for programs',
    from: /^(PRC .*\) \S \d+ \d+ \d+) -?\d+ -?\d+/,
    to: '$1',
  },
  { why: 'clocks of processors', from: /^((?:CPU|cpu) .*) \d+( 100 \d+ \d+)$/, to: '$1$2' },
  { why: 'clocks of processors, for people', from: /curf +\S+/, to: 'curf' },
  { why: 'discards where nobody counts them', from: /^((?:DSK|LVM|MDD) .*) -1 /, to: '$1 0 ' },
  { why: 'sizes of discards', from: /KiB\/d +\d+/, to: 'KiB/d' },
  { why: 'the parent of the first thread of the kernel', from: /^PRG .*\(?kthreadd\)?/ },
  { why: 'the same for people', from: /^ *2 .*kthreadd/ },
  { why: 'pressure', from: /^PSI / },
  { why: 'servers where nobody knows of one', from: /^(NF[CS]|WWW) .* 0(\.0)? \|$/ },
  { why: 'pages scanned, by names of newer kernels', from: /^(PAG \|) scan +\S+/, to: '$1' },
  { why: 'the same for programs', from: /^(PAG (?:\S+ ){3}\d+) \d+/, to: '$1' },
  { why: 'queues of mapped devices that nobody measures', from: /^(LVM .*) \d{12,} /, to: '$1 0 ' },
  { why: 'delays in the queue of a processor', from: /([A-Z-]) +\S+s +(\S+s +\d+% \S)/, to: '$1 $2' },
  { why: 'memory of graphics processors, of means that are rounded', from: /memocc +\d+%/, to: 'memocc' },
  { why: 'how busy mapped devices are', from: /^(LVM .*)busy +\d+%(.*)avio.*/, to: '$1$2' },
  { why: 'the end of long names of mapped devices', from: /^LVM \| +\S+/, to: 'LVM' },
  { why: 'memory of shared objects, terabytes in 6.0.3', from: /shrss +\S+/, to: 'shrss' },
  { why: 'mounts of NFS, which 6.0.3 has from the second sample on', from: /^NFM / },
  { why: 'empty fields', from: /[ _]+$/, to: '' },
  { why: 'the end of long command lines', from: /^(.{230}).*/, to: '$1' },
  { why: 'the last digit of a rate', from: /\d[KM]\/s/g, to: '/s' },
]
