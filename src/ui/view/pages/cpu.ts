/** The page about processors. */
import { chart, cpuShare, derived, optional, plot, pressurePlots } from '../plots.ts'
import type { Chart, View } from '../view.ts'

const CPU = 'kernel.all.cpu'

/** Time of all CPUs by what they did. */
export const CPU_BY_MODE: Chart = chart(
  'cpu',
  'CPU',
  [
    plot(`${CPU}.user`, { legend: 'user', color: 'var(--c1)' }),
    plot(`${CPU}.nice`, { legend: 'nice', color: 'var(--c7)' }),
    plot(`${CPU}.sys`, { legend: 'system', color: 'var(--c2)' }),
    plot(`${CPU}.intr`, { legend: 'interrupts', color: 'var(--c4)' }),
    plot(`${CPU}.steal`, { legend: 'steal', color: 'var(--steal)', optional: true }),
    plot(`${CPU}.wait.total`, { legend: 'I/O wait', color: 'var(--iowait)' }),
    plot(`${CPU}.idle`, { legend: 'idle', color: 'transparent' }),
  ],
  { style: 'utilization' },
)

/** Load averages beside the number of CPUs. */
export const LOAD: Chart = chart('load', 'Load average', [
  ...(
    [
      ['1 minute', '1 minute'],
      ['5 minute', '5 minutes'],
      ['15 minute', '15 minutes'],
    ] as const
  ).map(([text, legend], i) =>
    plot('kernel.all.load', { instances: { mode: 'instance', text }, legend, color: `var(--c${i + 1})` }),
  ),
  plot('hinv.ncpu', { legend: 'CPUs', color: 'var(--faint)' }),
])

/** A row for each CPU. */
export const CPU_HEAT: Chart = chart(
  'percpu',
  'Busy time per CPU',
  [derived('1 - rate(kernel.percpu.cpu.idle)', { legend: '%i' })],
  { style: 'heat', unit: 'share', legend: false, scale: [0, 1] },
)

/** Utilisation, saturation and what makes CPUs wait. */
export const CPU_PAGE: View = {
  name: 'CPU',
  charts: [
    CPU_BY_MODE,
    CPU_HEAT,
    LOAD,
    chart('runqueue', 'Runnable and blocked tasks', [
      plot('kernel.all.running', { legend: 'running or ready', color: 'var(--c1)' }),
      plot('kernel.all.blocked', { legend: 'blocked by I/O', color: 'var(--iowait)' }),
      plot('hinv.ncpu', { legend: 'CPUs', color: 'var(--faint)' }),
    ]),
    chart(
      'cpu-lost',
      'I/O wait and steal',
      [
        optional(derived(cpuShare('wait.total'), { legend: 'I/O wait', color: 'var(--iowait)' })),
        optional(derived(cpuShare('steal'), { legend: 'steal', color: 'var(--steal)' })),
      ],
      { unit: 'share' },
    ),
    chart('cpu-pressure', 'CPU pressure (PSI)', pressurePlots([['cpu.some', 'some tasks waited']]), {
      unit: 'percent',
    }),
    chart('switches', 'Switches and interrupts', [
      plot('kernel.all.pswitch', { legend: 'context switches', color: 'var(--c1)' }),
      plot('kernel.all.intr', { legend: 'interrupts', color: 'var(--c4)' }),
    ]),
    chart('forks', 'New processes', [plot('kernel.all.sysfork', { legend: 'forks', color: 'var(--c3)' })]),
    chart('cpu-system', 'System time per CPU', [derived('rate(kernel.percpu.cpu.sys)', { legend: '%i' })], {
      style: 'heat',
      unit: 'share',
      legend: false,
      scale: [0, 1],
    }),
    // As lines: a share far below 1 % is the same colour as none.
    chart(
      'cpu-softirq',
      'Software interrupts',
      [derived('rate(kernel.percpu.cpu.irq.soft)', { legend: '%i' })],
      { unit: 'share' },
    ),
  ],
}
