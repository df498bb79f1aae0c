/** The page about memory and swap. */
import { chart, derived, optional, plot, pressurePlots } from '../plots.ts'
import type { Chart, View } from '../view.ts'

const UTIL = 'mem.util'
const VMSTAT = 'mem.vmstat'

/** Physical memory by its use. */
export const MEMORY_USE: Chart = chart(
  'memory',
  'Memory',
  [
    derived(`${UTIL}.used - ${UTIL}.bufmem - ${UTIL}.cached`, { legend: 'programs', color: 'var(--c1)' }),
    plot(`${UTIL}.bufmem`, { legend: 'buffers', color: 'var(--c4)' }),
    plot(`${UTIL}.cached`, { legend: 'cache', color: 'var(--c2)' }),
    plot(`${UTIL}.free`, { legend: 'free', color: 'transparent' }),
  ],
  { style: 'stacking' },
)

/** Use, reclaim and shortage of memory. */
export const MEMORY_PAGE: View = {
  name: 'Memory',
  charts: [
    MEMORY_USE,
    chart('available', 'Available memory', [
      plot(`${UTIL}.available`, { legend: 'available', color: 'var(--c3)' }),
      plot('mem.physmem', { legend: 'physical', color: 'var(--faint)' }),
    ]),
    chart(
      'memory-pressure',
      'Memory pressure (PSI)',
      pressurePlots([
        ['memory.some', 'some tasks waited'],
        ['memory.full', 'all tasks waited'],
      ]),
      { unit: 'percent' },
    ),
    chart('swap', 'Swap space', [
      plot('swap.used', { legend: 'used', color: 'var(--c6)' }),
      plot('swap.length', { legend: 'size', color: 'var(--faint)' }),
    ]),
    chart('swapping', 'Pages swapped', [
      plot('swap.pagesin', { legend: 'in', color: 'var(--c1)' }),
      plot('swap.pagesout', { legend: 'out', color: 'var(--error)' }),
    ]),
    chart('major', 'Major page faults', [
      plot(`${VMSTAT}.pgmajfault`, { legend: 'major faults', color: 'var(--iowait)' }),
    ]),
    chart('faults', 'Page faults', [plot(`${VMSTAT}.pgfault`, { legend: 'faults', color: 'var(--c1)' })]),
    chart('reclaim', 'Pages scanned', [
      optional(plot(`${VMSTAT}.pgscan_kswapd`, { legend: 'in the background', color: 'var(--c3)' })),
      optional(plot(`${VMSTAT}.pgscan_direct`, { legend: 'while a task waits', color: 'var(--error)' })),
    ]),
    chart('dirty', 'Dirty memory', [
      plot(`${UTIL}.dirty`, { legend: 'dirty', color: 'var(--c2)' }),
      plot(`${UTIL}.writeback`, { legend: 'being written', color: 'var(--c1)' }),
    ]),
    chart(
      'kernel-memory',
      'Kernel memory',
      [
        plot(`${UTIL}.slabReclaimable`, { legend: 'slab, reclaimable', color: 'var(--c3)' }),
        plot(`${UTIL}.slabUnreclaimable`, { legend: 'slab, fixed', color: 'var(--c2)' }),
        plot(`${UTIL}.pageTables`, { legend: 'page tables', color: 'var(--c4)' }),
        plot(`${UTIL}.kernelStack`, { legend: 'stacks', color: 'var(--c7)' }),
      ],
      { style: 'stacking' },
    ),
    chart('oom', 'Out of memory', [
      optional(plot(`${VMSTAT}.oom_kill`, { legend: 'processes killed', color: 'var(--error)' })),
    ]),
  ],
}
