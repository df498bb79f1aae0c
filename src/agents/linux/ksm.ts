/** mem.ksm: merging of equal pages (kernel samepage merging). /sys/kernel/mm/ksm */
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

type Row = readonly [
  name: string,
  item: number,
  file: string,
  units: string,
  help: string,
  text?: string | undefined,
  own?: Partial<OrderedRow>,
]

const MERGING =
  'Programs offer memory for merging by madvise(MADV_MERGEABLE), as hypervisors do for their guests.'

const ROWS: readonly Row[] = [
  [
    'full_scans',
    0,
    'full_scans',
    'count',
    'How often everything offered for merging has been scanned from end to end',
    MERGING,
  ],
  [
    'merge_across_nodes',
    1,
    'merge_across_nodes',
    'none',
    'May pages of different NUMA nodes be merged? 1 yes, 0 no',
    'A setting.',
  ],
  ['pages_shared', 2, 'pages_shared', 'none', 'Pages shared after merging', MERGING],
  [
    'pages_sharing',
    3,
    'pages_sharing',
    'none',
    'Additional uses of merged pages: pages saved by merging',
    MERGING,
  ],
  ['pages_to_scan', 4, 'pages_to_scan', 'none', 'Pages scanned before the scanner sleeps', 'A setting.'],
  ['pages_unshared', 5, 'pages_unshared', 'count', 'Pages repeatedly checked without finding an equal one'],
  ['pages_volatile', 6, 'pages_volatile', 'none', 'Pages that change too fast to be merged'],
  [
    'run_state',
    7,
    'run',
    'none',
    'Is the scanner running? 0 no, 1 yes, 2 no and merged pages are being separated',
    'A setting.',
  ],
  ['sleep_time', 8, 'sleep_millisecs', 'millisec', 'Time the scanner sleeps between batches', 'A setting.'],
]

/** The metrics of samepage merging (cluster 69). */
export function ksmMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, item, file, units, help, text, own] of ROWS) {
    const source = `From /sys/kernel/mm/ksm/${file}. No value where the kernel was built without samepage merging.`
    metrics[`mem.ksm.${name}`] = {
      cluster: 69,
      item,
      type: 'u64',
      sem: 'instant',
      units,
      help,
      text: text === undefined ? source : `${source} ${text}`,
      value: () => ctx.number(`/sys/kernel/mm/ksm/${file}`),
      ...own,
    }
  }
  return metrics
}
