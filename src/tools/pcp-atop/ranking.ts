/** Selects and sorts processes, and computes their percentages. pcp-atop(1) */
import { cpuCount, cpuScale, diskWork, interfaceTraffic } from './host-activity.ts'
import type { Focus, Order, Settings } from './settings.ts'
import type { Step } from './step.ts'
import { NO_CONTAINER, type Task, type TaskCounts } from './task.ts'
import { isActive } from './tasks.ts'

/** Totals of a user, program or container. */
export interface TaskSum {
  /** The first process, with summed sizes and counts. */
  readonly task: Task
  readonly count: number
}

/** The sort order, and the heading of the percentages. */
export interface Ranking {
  readonly order: Exclude<Order, 'A'>
  readonly title: string
}

const TITLES: Readonly<Record<Exclude<Order, 'A'>, string>> = {
  C: 'CPU',
  M: 'MEM',
  D: 'DSK',
  N: 'NET',
  E: 'GPU',
}

/** Returns the order of a sample's processes: the chosen one, or that of the busiest resource. */
export function rankingOf({ order: wanted = 'C', view, limits }: Settings, step: Step): Ranking {
  // Without kernel traces the network view falls back to the default one.
  const isBlind = view === 'n' && wanted === 'N' && !step.has('bcc.proc.net.tcp.send.calls')
  const order = isBlind ? 'C' : wanted
  if (order !== 'A') return { order, title: TITLES[order] }
  const total = step.value('mem.physmem')
  const used =
    total - step.value('mem.freemem') - step.value('mem.util.cached') - step.value('mem.util.bufmem')
  const scale = cpuScale(step)
  const shares: readonly (readonly [Exclude<Order, 'A'>, number, number])[] = [
    ['C', 100 - (step.delta('kernel.all.cpu.idle') * 100) / scale / cpuCount(step), limits.cpu],
    ['M', total > 0 ? (used * 100) / total : 0, limits.mem],
    ['D', Math.max(0, ...diskWork(step, 'DSK').map(({ ioMs }) => (ioMs * 100) / scale)), limits.dsk],
    ['N', Math.max(0, ...interfaceTraffic(step).map(({ busy = 0 }) => busy)), limits.net],
  ]
  let best: Exclude<Order, 'A'> = 'C'
  let most = -1
  for (const [each, share, limit] of shares) {
    const weighted = limit > 0 ? share / limit : 0
    if (weighted <= most) continue
    most = weighted
    best = each
  }
  return { order: best, title: `A${TITLES[best]}` }
}

/** Returns the amount by which processes are compared. */
export function sortKey(task: Task, order: Exclude<Order, 'A'>): number {
  if (order === 'C') return task.userMs + task.sysMs
  if (order === 'M') return task.residentKb
  if (order === 'D') return task.readBytes + Math.max(0, task.writtenBytes - task.cancelledBytes)
  if (order === 'N')
    return task.tcpSentBytes + task.tcpReceivedBytes + task.udpSentBytes + task.udpReceivedBytes
  return task.gpu === undefined ? 0 : task.gpu.busy > 0 ? task.gpu.busy : task.gpu.memory / 2 ** 40
}

/** Compares by amount, descending, then by processor time, then by size. */
function byAmount(order: Exclude<Order, 'A'>): (a: Task, b: Task) => number {
  if (order === 'M') return (a, b) => b.residentKb - a.residentKb
  return (a, b) =>
    sortKey(b, order) - sortKey(a, order) || sortKey(b, 'C') - sortKey(a, 'C') || b.residentKb - a.residentKb
}

/** Returns a function from amount to percentage: of the host's capacity, or for disks and networks of the total of all processes. */
export function sharesOf(
  order: Exclude<Order, 'A'>,
  tasks: readonly Task[],
  step: Step,
): (task: Task) => number {
  if (order === 'E') return (task) => task.gpu?.busy ?? 0
  let whole: number
  if (order === 'C') whole = cpuScale(step)
  else if (order === 'M') whole = step.value('mem.physmem') / 1024
  // Threads are included in their process.
  else whole = tasks.reduce((sum, task) => (task.pid === task.tgid ? sum + sortKey(task, order) : sum), 0)
  return (task) => (whole > 0 ? (sortKey(task, order) * 100) / whole : 0)
}

/** Returns the selected processes, largest first; threads follow their process. */
export function rankTasks(tasks: readonly Task[], settings: Settings, { order }: Ranking): readonly Task[] {
  const shown = tasks.filter((task) => isWanted(task, settings, order))
  const processes = shown.filter(({ pid, tgid }) => pid === tgid)
  const sorted = [...processes].sort(byAmount(order))
  if (!settings.threads) return sorted
  const threads = new Map<number, Task[]>()
  for (const task of shown) {
    if (task.pid === task.tgid || task.threads < 2) continue
    const list = threads.get(task.tgid)
    if (list === undefined) threads.set(task.tgid, [task])
    else list.push(task)
  }
  return sorted.flatMap((task) => {
    const own = threads.get(task.pid) ?? []
    if (settings.sortsThreads) own.sort(byAmount(order))
    return [task, ...own]
  })
}

function isWanted(task: Task, settings: Settings, order: Order): boolean {
  if (settings.hidesExited && task.end !== undefined) return false
  if (!settings.showsAll && order !== 'M' && !isActive(task)) return false
  return isInFocus(task, settings.focus)
}

function isInFocus(task: Task, { user, program, command, container, pids, states }: Focus): boolean {
  if (user !== undefined && !user.test(task.owners.uid.name)) return false
  if (program !== undefined && !program.test(task.name)) return false
  if (command !== undefined && !command.test(task.command)) return false
  if (container !== undefined && !task.container.startsWith(container)) return false
  if (pids.length > 0 && !pids.includes(task.tgid)) return false
  return states === '' || states.includes(task.state)
}

const SUMMED: readonly (keyof TaskCounts | 'virtualKb' | 'residentKb' | 'lockedKb' | 'swappedKb')[] = [
  'userMs',
  'sysMs',
  'readBytes',
  'writtenBytes',
  'cancelledBytes',
  'tcpSends',
  'tcpSentBytes',
  'tcpReceives',
  'tcpReceivedBytes',
  'udpSends',
  'udpSentBytes',
  'udpReceives',
  'udpReceivedBytes',
  'virtualKb',
  'residentKb',
  'lockedKb',
  'swappedKb',
]

/** Totals processes by user (`u`), program (`p`) or container (`j`), largest first. */
export function sumTasks(
  tasks: readonly Task[],
  by: 'u' | 'p' | 'j',
  settings: Settings,
  { order }: Ranking,
): readonly TaskSum[] {
  const sums = new Map<string, { task: Task; count: number }>()
  for (const task of tasks) {
    if (task.pid !== task.tgid || !isWanted(task, settings, order)) continue
    const key = by === 'u' ? task.owners.uid.name : by === 'p' ? task.name : (task.container ?? NO_CONTAINER)
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, { task, count: 1 })
    else {
      sum.task = together(sum.task, task)
      sum.count++
    }
  }
  const compare = byAmount(order)
  return [...sums.values()].sort((a, b) => compare(a.task, b.task))
}

function together(a: Task, b: Task): Task {
  const sums: Partial<Record<(typeof SUMMED)[number], number>> = {}
  for (const key of SUMMED) sums[key] = a[key] + b[key]
  const proportionalKb =
    a.proportionalKb === undefined && b.proportionalKb === undefined
      ? undefined
      : (a.proportionalKb ?? 0) + (b.proportionalKb ?? 0)
  return { ...a, ...sums, proportionalKb }
}
