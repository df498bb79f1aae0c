/** kernel.uname, pmda and hinv.machine: identification of the system. uname(2) */
import { hostname, machine, release, type as sysname, version } from 'node:os'
import { VERSION } from '../../base/version.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** Release files of distributions in order of preference, with a prefix for their text. */
const RELEASE_FILES: readonly (readonly [path: string, words: string])[] = [
  ['/etc/debian_version', 'Debian '],
  ['/etc/oracle-release', ''],
  ['/etc/fedora-release', ''],
  ['/etc/redhat-release', ''],
  ['/etc/slackware-version', ''],
  ['/etc/SuSE-release', ''],
  ['/etc/lsb-release', ''],
  ['/etc/amazon-linux-release', ''],
]

/** First line of the first existing release file; '?' without one. `read` returns a file's text or undefined. */
export function distro(read: (path: string) => string | undefined): string {
  for (const [path, words] of RELEASE_FILES) {
    const text = read(path)
    if (text !== undefined) return words + text.split('\n', 1)[0]!
  }
  return '?'
}

type Row = readonly [name: string, item: number, value: () => string, help: string, text: string]

/** Returns the metrics of cluster 12, and hinv.machine. `nodename` is by default that of the machine. */
export function unameMetrics(
  ctx: LinuxContext,
  nodename: () => string = hostname,
): { [name: string]: OrderedRow } {
  const rows: readonly Row[] = [
    [
      'kernel.uname.release',
      0,
      release,
      'Release of the running kernel, such as 6.1.0-18-amd64',
      'As uname -r prints it.',
    ],
    [
      'kernel.uname.version',
      1,
      version,
      'Build date and options of the running kernel',
      'As uname -v prints it; not a number to compare, use kernel.uname.release for that.',
    ],
    ['kernel.uname.sysname', 2, sysname, 'Name of the operating system: Linux', 'As uname -s prints it.'],
    [
      'kernel.uname.machine',
      3,
      machine,
      'Processor architecture the kernel runs on',
      'As uname -m prints it: x86_64, aarch64...',
    ],
    ['kernel.uname.nodename', 4, nodename, 'Host name of the machine', 'As uname -n prints it.'],
    [
      'kernel.uname.distro',
      7,
      () => distro(ctx.attribute),
      'Name and version of the Linux distribution',
      `The first line of the first of ${RELEASE_FILES.map(([path]) => path).join(', ')}; a question mark when there is none.`,
    ],
    [
      'pmda.uname',
      5,
      () => [sysname(), nodename(), release(), version(), machine()].join(' '),
      'System, host, release, version and architecture in one line',
      'As uname -a prints it: the kernel.uname metrics separated by spaces.',
    ],
    ['pmda.version', 6, () => VERSION, 'Version of this agent', 'The version of the pcp-ts package.'],
  ]
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, item, value, help, text] of rows) {
    metrics[name] = { cluster: 12, item, type: 'string', sem: 'discrete', units: 'none', help, text, value }
  }
  metrics['hinv.machine'] = {
    cluster: 18,
    item: 7,
    type: 'string',
    sem: 'discrete',
    units: 'none',
    help: 'Hardware of this machine, by processor architecture',
    text: 'The same as kernel.uname.machine.',
    value: machine,
  }
  return metrics
}
