/** The page about processes. */
import { chart, plot } from '../plots.ts'
import type { Chart, View } from '../view.ts'

/** The processes of an instant; its kind reads them. */
export const PROCESS_TABLE: Chart = chart('processes', 'Processes', [], {
  style: 'processes',
  legend: false,
  every: 5,
  wide: true,
})

/** All processes, and their number by state. */
export const PROCESSES_PAGE: View = {
  name: 'Processes',
  charts: [
    PROCESS_TABLE,
    chart('states', 'Processes by state', [
      plot('proc.runq.runnable', { legend: 'runnable', color: 'var(--c1)' }),
      plot('proc.runq.blocked', { legend: 'blocked', color: 'var(--iowait)' }),
      plot('proc.runq.stopped', { legend: 'stopped', color: 'var(--c4)' }),
      plot('proc.runq.defunct', { legend: 'zombies', color: 'var(--error)' }),
    ]),
    // The kernel counts threads here; the table above counts processes.
    chart('process-count', 'Processes and threads', [
      plot('kernel.all.nprocs', { legend: 'processes and threads', color: 'var(--c1)' }),
    ]),
    chart('process-forks', 'New processes', [
      plot('kernel.all.sysfork', { legend: 'forks', color: 'var(--c3)' }),
    ]),
    chart('files', 'Open files', [plot('vfs.files.count', { legend: 'open', color: 'var(--c1)' })]),
    chart('inodes', 'Inodes in memory', [plot('vfs.inodes.count', { legend: 'inodes', color: 'var(--c1)' })]),
  ],
}
