/** sysfs.kernel: single files of /sys/kernel. */
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { orUndefined } from './sample.ts'

/** Parses extfrag/unusable_index to sums of the last row of each node: `Node 0, zone Normal 0.000 0.100 ...`. */
export function parseUnusable(text: string): ReadonlyMap<number, number> {
  const nodes = new Map<number, number>()
  for (const line of text.split('\n')) {
    const match = /^Node (\d+), zone +\S+ (.*)$/.exec(line)
    if (match === null) continue
    const sum = match[2]!
      .trim()
      .split(/\s+/)
      .reduce((total, word) => total + Number(word), 0)
    nodes.set(Number(match[1]), sum)
  }
  return nodes
}

/** The metrics of /sys/kernel (cluster 35). */
export function sysfsMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const index = ctx.file('/sys/kernel/debug/extfrag/unusable_index')
  const unusable = new Reading(() => parseUnusable(index.text()))
  return {
    'sysfs.kernel.uevent_seqnum': {
      cluster: 35,
      item: 0,
      type: 'u64',
      sem: 'counter',
      units: 'count',
      help: 'Messages about devices that the kernel has sent to udev and others since boot',
      text: 'From /sys/kernel/uevent_seqnum.',
      value: () => ctx.number('/sys/kernel/uevent_seqnum'),
    },
    'sysfs.kernel.debug.extfrag_unusable': {
      cluster: 35,
      item: 1,
      type: 'float',
      sem: 'instant',
      units: 'none',
      indom: ctx.nodes,
      help: 'Share of free memory of a node in blocks that are too small, summed over block sizes',
      text:
        'From /sys/kernel/debug/extfrag/unusable_index, which needs debugfs and root: for each size of block the part (0 to ' +
        '1) of free memory that cannot serve it. The sum is that of the last zone listed for the node.',
      reading: unusable,
      value: (node) => orUndefined(unusable.value.get(node)),
    },
  }
}
