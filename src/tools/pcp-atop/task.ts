/** What a process or thread is, and what it did in an interval. pcp-atop(1) OUTPUT DESCRIPTION - PROCESS LEVEL */

/** What grows while a process runs. Times in milliseconds, sizes in bytes. */
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

/** How a process ended. */
export interface TaskEnd {
  readonly code: number
  readonly signal: number | undefined
  readonly hasCore: boolean
  /** Seconds since the epoch. */
  readonly time: number
}

/** Who it is: as whom it runs, each as a number and a name. */
export interface TaskOwner {
  readonly id: number
  readonly name: string
}

/** A process or a thread at the end of an interval; counts are those of the interval. */
export interface Task extends TaskCounts {
  readonly pid: number
  /** The process that a thread is of; its own number for a process. */
  readonly tgid: number
  readonly ppid: number
  readonly name: string
  readonly command: string
  /** R, S, D, I, T, Z and so on; E for one that ended. */
  readonly state: string
  readonly threads: number
  readonly nice: number
  readonly priority: number
  readonly realtimePriority: number
  readonly policy: number
  readonly processor: number
  /** Milliseconds since the host started. */
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
  /** Undefined where it was not gathered. */
  readonly proportionalKb: number | undefined
  readonly virtualGrowthKb: number
  readonly residentGrowthKb: number
  readonly gpu: GpuUse | undefined
  readonly isNew: boolean
  /** Another processor or another priority than at the beginning of the interval. */
  readonly isMoved: boolean
  readonly end: TaskEnd | undefined
}

/** Use of graphics processors. */
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

/** As whom a process runs. */
export type OwnerKind = 'uid' | 'euid' | 'suid' | 'fsuid' | 'gid' | 'egid' | 'sgid' | 'fsgid'

/** Processes together. */
export interface TaskTotals {
  readonly sysMs: number
  readonly userMs: number
  readonly processes: number
  readonly running: number
  readonly sleeping: number
  readonly waiting: number
  readonly zombies: number
  readonly exits: number
  /** Are processes that end accounted for? */
  readonly hasExits: boolean
}

/** Which metrics processes come from. */
export type TaskGroup = 'proc' | 'hotproc'

/** Container of processes that are in none. */
export const NO_CONTAINER = 'host--------'
