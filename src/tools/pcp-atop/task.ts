/** A process or thread, and its activity in an interval. pcp-atop(1) OUTPUT DESCRIPTION - PROCESS LEVEL */

/** Counters of a process. Times in milliseconds, sizes in bytes. */
export interface TaskCounts {
  readonly userMs: number
  readonly sysMs: number
  readonly runDelayMs: number
  readonly blockDelayMs: number
  readonly minorFaults: number
  readonly majorFaults: number
  readonly readBytes: number
  readonly writtenBytes: number
  readonly cancelledBytes: number
  readonly tcpSends: number
  readonly tcpSentBytes: number
  readonly tcpReceives: number
  readonly tcpReceivedBytes: number
  readonly udpSends: number
  readonly udpSentBytes: number
  readonly udpReceives: number
  readonly udpReceivedBytes: number
}

/** How and when a process exited. */
export interface TaskEnd {
  readonly code: number
  readonly signal: number | undefined
  readonly hasCore: boolean
  /** Seconds since the epoch. */
  readonly time: number
}

/** An account of a process, as id and name. */
export interface TaskOwner {
  readonly id: number
  readonly name: string
}

/** A process or thread at the end of an interval, with its counts for the interval. */
export interface Task extends TaskCounts {
  readonly pid: number
  /** PID of a thread's process; a process's own PID. */
  readonly tgid: number
  readonly ppid: number
  readonly name: string
  readonly command: string
  /** R, S, D, I, T, Z and so on; E if it exited. */
  readonly state: string
  readonly threads: number
  readonly nice: number
  readonly priority: number
  readonly realtimePriority: number
  readonly policy: number
  readonly processor: number
  /** Milliseconds since boot. */
  readonly startMs: number
  readonly wchan: string
  readonly container: string
  readonly environment: string
  readonly cgroup: string
  readonly owners: Readonly<Record<OwnerKind, TaskOwner>>
  /** Kibibytes. */
  readonly textKb: number
  readonly dataKb: number
  readonly stackKb: number
  readonly libraryKb: number
  readonly lockedKb: number
  readonly swappedKb: number
  readonly virtualKb: number
  readonly residentKb: number
  /** Undefined if not fetched. */
  readonly proportionalKb: number | undefined
  readonly virtualGrowthKb: number
  readonly residentGrowthKb: number
  readonly gpu: GpuUse | undefined
  readonly isNew: boolean
  /** Processor or priority changed during the interval. */
  readonly isMoved: boolean
  readonly end: TaskEnd | undefined
}

/** GPU use. */
export interface GpuUse {
  readonly busy: number
  readonly memoryBusy: number
  /** Bytes. */
  readonly memory: number
  readonly memorySum: number
  readonly samples: number
  readonly list: number
  readonly count: number
  readonly isRunning: boolean
}

/** Kinds of account. */
export type OwnerKind = 'uid' | 'euid' | 'suid' | 'fsuid' | 'gid' | 'egid' | 'sgid' | 'fsgid'

/** Totals of all processes. */
export interface TaskTotals {
  readonly sysMs: number
  readonly userMs: number
  readonly processes: number
  readonly running: number
  readonly sleeping: number
  readonly waiting: number
  readonly zombies: number
  readonly exits: number
  /** Is process accounting enabled? */
  readonly hasExits: boolean
}

/** Name space of process metrics. */
export type TaskGroup = 'proc' | 'hotproc'

/** Container of processes outside containers. */
export const NO_CONTAINER = 'host--------'
