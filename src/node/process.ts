/** What the system and Node say of the process: items 60 to 89. */
import { isMainThread } from 'node:worker_threads'
import type { NodeContext, Part } from './context.ts'

/** What it is, how long it runs and what it has used. */
export function openProcess(context: NodeContext): Part {
  context.text('process.version', 60, 'Version of Node.js', process.version)
  context.text(
    'process.command',
    61,
    'What was started',
    [process.execPath, ...process.argv.slice(1)].join(' '),
  )
  const uptime = context.gauge('process.uptime', 62, 'How long the process runs', { units: 'sec' })
  context.gauge('process.pid', 63, 'Number of the process', {
    type: 'u32',
    sem: 'discrete',
    initial: process.pid,
  })
  // A thread has no counts of its own: those of the process are with its main thread.
  if (!isMainThread) return { sample: () => uptime.set(process.uptime()) }
  const time = (name: string, item: number, help: string) =>
    context.counter(name, item, help, { units: 'microsec' })
  const counters = [
    ['userCPUTime', time('process.cpu.user', 64, 'Time of processors in the program')],
    ['systemCPUTime', time('process.cpu.system', 65, 'Time of processors in the kernel')],
    ['minorPageFault', context.counter('process.faults.minor', 66, 'Page faults that needed no reading')],
    ['majorPageFault', context.counter('process.faults.major', 67, 'Page faults that needed reading')],
    ['fsRead', context.counter('process.fs.reads', 68, 'Reads of file systems that reached a device')],
    ['fsWrite', context.counter('process.fs.writes', 69, 'Writes to file systems that will reach a device')],
    [
      'voluntaryContextSwitches',
      context.counter('process.switches.voluntary', 70, 'Switches because the process waited'),
    ],
    [
      'involuntaryContextSwitches',
      context.counter('process.switches.involuntary', 71, 'Switches because another process had to run'),
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
