/** Parseable lines of processes: PRG, PRC, PRM, PRD, PRN, PRE. pcp-atop(1) PARSEABLE OUTPUT */
import type { Zone } from '../../time/zone.ts'
import type { Settings } from './settings.ts'
import type { Step } from './step.ts'
import { NO_CONTAINER, type OwnerKind, type Task } from './task.ts'

/** Setup of parseable output. */
export interface ParseableSetup {
  readonly step: Step
  readonly tasks: readonly Task[]
  readonly host: string
  readonly zone: Zone
  readonly settings: Settings
  /** Replace blanks in names by underscores, and omit the parentheses around names. */
  readonly isDense: boolean
}

/** Returns the fields of each line of a label. */
export type Fields = (setup: ParseableSetup) => readonly (readonly (string | number)[])[]

type FieldsOf = (task: Task, setup: ParseableSetup) => readonly (string | number)[]

const whole = (value: number): number => Math.trunc(value)
const isProcess = ({ pid, tgid }: Task): string => (pid === tgid ? 'y' : 'n')
const SECTOR = 512

/** Formats a name or a command line as one field. */
function packed(text: string, { isDense }: ParseableSetup): string {
  return isDense ? text.replaceAll(' ', '_') : `(${text})`
}

/** Returns a line for each process; the first three fields are the same for all labels. */
const perTask =
  (fields: FieldsOf): Fields =>
  (setup) =>
    setup.tasks.map((task) => [task.pid, packed(task.name, setup), task.state, ...fields(task, setup)])

const inState = ({ state }: Task, states: string): number => (states.includes(state) ? 1 : 0)
const idOf = ({ owners }: Task, kind: OwnerKind): number => owners[kind].id
/** Added to signal numbers to distinguish them from exit codes. */
const SIGNAL_BASE = 256

const exitCode = ({ end }: Task): number =>
  end === undefined ? 0 : end.signal === undefined ? end.code : end.signal + SIGNAL_BASE

const general: FieldsOf = (task, setup) => [
  idOf(task, 'uid'),
  idOf(task, 'gid'),
  task.tgid,
  task.threads,
  exitCode(task),
  whole(task.startMs),
  packed(task.command, setup),
  task.ppid,
  inState(task, 'R'),
  inState(task, 'S'),
  inState(task, 'DI'),
  idOf(task, 'euid'),
  idOf(task, 'egid'),
  idOf(task, 'suid'),
  idOf(task, 'sgid'),
  idOf(task, 'fsuid'),
  idOf(task, 'fsgid'),
  0,
  isProcess(task),
  0,
  task.environment,
  task.container === NO_CONTAINER || task.container === '?' ? '-' : task.container,
  task.isNew ? 'N' : '-',
  packed(task.cgroup, setup),
]

const processors: FieldsOf = (task, setup) => [
  setup.step.value('kernel.all.hz') || 100,
  whole(task.userMs),
  whole(task.sysMs),
  task.nice,
  task.priority,
  task.realtimePriority,
  task.policy,
  task.processor,
  0,
  task.tgid,
  isProcess(task),
  whole(task.runDelayMs * 1e6),
  packed(task.wchan, setup),
  whole(task.blockDelayMs),
  // Limits of control groups, which no agent measures.
  -3,
  -3,
]

const memory: FieldsOf = (task, setup) => [
  setup.step.value('hinv.pagesize'),
  task.virtualKb,
  task.residentKb,
  task.textKb,
  task.virtualGrowthKb,
  task.residentGrowthKb,
  task.minorFaults,
  task.majorFaults,
  task.libraryKb,
  task.dataKb,
  task.stackKb,
  task.swappedKb,
  task.tgid,
  isProcess(task),
  task.proportionalKb ?? 0,
  task.lockedKb,
  -3,
  -3,
  -3,
  -3,
]

const disk: FieldsOf = (task) => {
  const read = whole(task.readBytes / SECTOR)
  const written = whole(task.writtenBytes / SECTOR)
  return [
    'n',
    'y',
    read,
    read,
    written,
    written,
    whole(task.cancelledBytes / SECTOR),
    task.tgid,
    'n',
    isProcess(task),
  ]
}

const network: FieldsOf = (task, { step }) => [
  step.has('bcc.proc.net.tcp.send.calls') ? 'y' : 'n',
  task.tcpSends,
  task.tcpSentBytes,
  task.tcpReceives,
  task.tcpReceivedBytes,
  task.udpSends,
  task.udpSentBytes,
  task.udpReceives,
  task.udpReceivedBytes,
  0,
  0,
  task.tgid,
  isProcess(task),
]

const graphics: FieldsOf = ({ gpu, end }) =>
  gpu === undefined
    ? ['N', 0, 0, 0, 0, 0, 0, 0]
    : [
        end === undefined && gpu.isRunning ? 'A' : 'E',
        gpu.count,
        gpu.list.toString(16),
        gpu.busy,
        gpu.memoryBusy,
        gpu.memory,
        gpu.memorySum,
        gpu.samples,
      ]

/** Labels of processes, in output order. */
export const TASK_LABELS: Readonly<Record<string, Fields>> = {
  PRG: perTask(general),
  PRC: perTask(processors),
  PRM: perTask(memory),
  PRD: perTask(disk),
  PRN: perTask(network),
  PRE: perTask(graphics),
}
