/** Process statistics of the system and of Node: items 60 to 89. */
import { isMainThread } from 'node:worker_threads'
import type { Measurement, NodeContext } from './context.ts'

/** Measures identity, uptime and resource use of the process. */
export function openProcess(context: NodeContext): Measurement {
  context.text('process.version', 60, 'Version of Node.js', process.version)
  context.text(
    'process.command',
    61,
    'Script of the process',
    [process.execPath, ...process.argv.slice(1)].join(' '),
  )
  const uptime = context.gauge('process.uptime', 62, 'Uptime of the process', { units: 'sec' })
  context.gauge('process.pid', 63, 'Process identifier', {
    type: 'u32',
    sem: 'discrete',
    initial: process.pid,
  })
  // Threads have no counts: those of the process are reported by its main thread.
  if (!isMainThread) return { sample: () => uptime.set(process.uptime()) }
  const time = (name: string, item: number, help: string) =>
    context.counter(name, item, help, { units: 'microsec' })
  const counters = [
    ['userCPUTime', time('process.cpu.user', 64, 'User CPU time')],
    ['systemCPUTime', time('process.cpu.system', 65, 'System CPU time')],
    ['minorPageFault', context.counter('process.faults.minor', 66, 'Page faults without I/O')],
    ['majorPageFault', context.counter('process.faults.major', 67, 'Page faults with I/O')],
    ['fsRead', context.counter('process.fs.reads', 68, 'File system reads that reached a device')],
    ['fsWrite', context.counter('process.fs.writes', 69, 'File system writes that will reach a device')],
    [
      'voluntaryContextSwitches',
      context.counter('process.switches.voluntary', 70, 'Context switches because the process waited'),
    ],
    [
      'involuntaryContextSwitches',
      context.counter(
        'process.switches.involuntary',
        71,
        'Context switches because another process had to run',
      ),
    ],
  ] as const
  return {
    sample() {
      uptime.set(process.uptime())
      const usage = process.resourceUsage()
      for (const [key, counter] of counters) counter.set(usage[key])
    },
  }
}
