/** The overview: the state of one host. */
import { CPU_BY_MODE, CPU_HEAT, LOAD } from './pages/cpu.ts'
import { DISK_OPERATIONS, DISK_THROUGHPUT, FILE_SYSTEMS } from './pages/disks.ts'
import { MEMORY_USE } from './pages/memory.ts'
import { THROUGHPUT } from './pages/network.ts'
import { PROCESS_TABLE } from './pages/processes.ts'
import { chart, pressurePlots } from './plots.ts'
import type { View } from './view.ts'

/** The overview of a host. */
export const OVERVIEW: View = {
  name: 'Overview',
  charts: [
    CPU_BY_MODE,
    // Beside it on wide screens (cards.css), so that a click on a spike lists its processes in view.
    PROCESS_TABLE,
    LOAD,
    MEMORY_USE,
    chart(
      'pressure',
      'Pressure stall (PSI)',
      pressurePlots([
        ['cpu.some', 'CPU'],
        ['memory.some', 'memory'],
        ['io.some', 'I/O'],
      ]),
      { unit: 'percent' },
    ),
    DISK_THROUGHPUT,
    DISK_OPERATIONS,
    { ...THROUGHPUT, title: 'Network' },
    CPU_HEAT,
    FILE_SYSTEMS,
  ],
}
