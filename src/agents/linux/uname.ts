/** kernel.uname, pmda and hinv.machine: what system this is. uname(2) */
import { hostname, machine, release, type as sysname, version } from 'node:os'
import { VERSION } from '../../base/version.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** Where distributions write what they are, in order of preference; the words are put before the content. */
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

/** First line of the first release file there is; '?' without one. `read` gives a file's content or undefined. */
export function distro(read: (path: string) => string | undefined): string {
  for (const [path, words] of RELEASE_FILES) {
    const text = read(path)
    if (text !== undefined) return words + text.split('\n', 1)[0]!
  }
  return '?'
}

type Row = readonly [name: string, item: number, value: () => string, help: string, text: string]

/** The metrics of cluster 12, and hinv.machine. `nodename` is that of the machine unless somebody asks about another. */
export function unameMetrics(
  ctx: LinuxContext,
  nodename: () => string = hostname,
): { [name: string]: PlacedRow } {
  const rows: readonly Row[] = [
    [
      'kernel.uname.release',
      0,
      release,
      'Which kernel is running, by its release: 6.1.0-18-amd64',
      'As uname -r prints it.',
    ],
    [
      'kernel.uname.version',
      1,
      version,
      'When and with which options the running kernel was built',
      'As uname -v prints it; not a number to compare, use kernel.uname.release for that.',
    ],
    ['kernel.uname.sysname', 2, sysname, 'Which operating system this is: Linux', 'As uname -s prints it.'],
    [
      'kernel.uname.machine',
      3,
      machine,
      'Processor architecture the kernel runs on',
      'As uname -m prints it: x86_64, aarch64...',
    ],
    [
      'kernel.uname.nodename',
      4,
      nodename,
      'What the machine calls itself, without asking the network',
      'As uname -n prints it.',
    ],
    [
      'kernel.uname.distro',
      7,
      () => distro(ctx.attribute),
      'Which Linux distribution is installed, and which version of it',
      `The first line of the first of ${RELEASE_FILES.map(([path]) => path).join(', ')}; a question mark when there is none.`,
    ],
    [
      'pmda.uname',
      5,
      () => [sysname(), nodename(), release(), version(), machine()].join(' '),
      'System, host, release, version and architecture in one line',
      'As uname -a prints it: the kernel.uname metrics with blanks between them.',
    ],
    [
      'pmda.version',
      6,
      () => VERSION,
      'Which version of this agent answers',
      'The version of the pcp-ts package it came with.',
    ],
  ]
  const metrics: { [name: string]: PlacedRow } = {}
  for (const [name, item, value, help, text] of rows) {
    metrics[name] = { cluster: 12, item, type: 'string', sem: 'discrete', units: 'none', help, text, value }
  }
  metrics['hinv.machine'] = {
    cluster: 18,
    item: 7,
    type: 'string',
    sem: 'discrete',
    units: 'none',
    help: 'What kind of hardware this is, by its processor architecture',
    text: 'The same as kernel.uname.machine.',
    value: machine,
  }
  return metrics
}
