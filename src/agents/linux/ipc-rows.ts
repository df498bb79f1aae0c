/** Data: limits, totals and objects of System V IPC. */

/** Kinds of object, as the files of /proc/sysvipc are called. */
export type IpcKind = 'sem' | 'msg' | 'shm'

/** Where a limit comes from: a number of a file of /proc/sys/kernel, or the kernel's source. */
export type LimitSource =
  | number
  | { readonly file: string; readonly column?: number; readonly times?: string }

/** A limit. */
export interface LimitRow {
  readonly name: string
  readonly cluster: number
  readonly item: number
  readonly source: LimitSource
  readonly units?: string
  readonly help: string
}

/** All limits. kernel.sem has semaphores a set, semaphores, operations a call, and sets. */
export const IPC_LIMITS: readonly LimitRow[] = [
  {
    name: 'sem.max_semmap',
    cluster: 21,
    item: 0,
    source: { file: 'sem', column: 1 },
    help: 'Entries in a map of semaphores, which Linux does not use',
  },
  {
    name: 'sem.max_semid',
    cluster: 21,
    item: 1,
    source: { file: 'sem', column: 3 },
    help: 'Maximum number of semaphore sets',
  },
  {
    name: 'sem.max_sem',
    cluster: 21,
    item: 2,
    source: { file: 'sem', column: 1 },
    help: 'Maximum number of semaphores in all sets together',
  },
  {
    name: 'sem.num_undo',
    cluster: 21,
    item: 3,
    source: { file: 'sem', column: 1 },
    help: 'Maximum number of undo structures, not limited by Linux',
  },
  {
    name: 'sem.max_perid',
    cluster: 21,
    item: 4,
    source: { file: 'sem', column: 0 },
    help: 'Maximum number of semaphores in one set',
  },
  {
    name: 'sem.max_ops',
    cluster: 21,
    item: 5,
    source: { file: 'sem', column: 2 },
    help: 'Maximum number of operations in one call of semop(2)',
  },
  {
    name: 'sem.max_undoent',
    cluster: 21,
    item: 6,
    source: { file: 'sem', column: 2 },
    help: 'Maximum number of operations that can be undone at the exit of a process, not limited by Linux',
  },
  {
    name: 'sem.sz_semundo',
    cluster: 21,
    item: 7,
    source: 20,
    help: 'Bytes of a structure for undoing operations',
  },
  {
    name: 'sem.max_semval',
    cluster: 21,
    item: 8,
    source: 32767,
    help: 'Largest number a semaphore can hold',
  },
  {
    name: 'sem.max_exit',
    cluster: 21,
    item: 9,
    source: 32767,
    help: 'Largest correction made to a semaphore when a process exits',
  },
  {
    name: 'msg.sz_pool',
    cluster: 22,
    item: 0,
    units: 'Kbyte',
    source: { file: 'msgmni', times: 'msgmnb' },
    help: 'Space for all messages if every queue is full',
  },
  {
    name: 'msg.mapent',
    cluster: 22,
    item: 1,
    source: { file: 'msgmnb' },
    help: 'Entries in a map of messages, which Linux does not use',
  },
  {
    name: 'msg.max_msgsz',
    cluster: 22,
    item: 2,
    source: { file: 'msgmax' },
    help: 'Largest message, in bytes',
  },
  {
    name: 'msg.max_defmsgq',
    cluster: 22,
    item: 3,
    source: { file: 'msgmnb' },
    help: 'Default size of a queue, in bytes of messages',
  },
  {
    name: 'msg.max_msgqid',
    cluster: 22,
    item: 4,
    source: { file: 'msgmni' },
    help: 'Maximum number of message queues',
  },
  {
    name: 'msg.max_msgseg',
    cluster: 22,
    item: 5,
    source: 16,
    help: 'Size of a message segment, not used by Linux',
  },
  {
    name: 'msg.num_smsghdr',
    cluster: 22,
    item: 6,
    source: { file: 'msgmnb' },
    help: 'Maximum number of messages in all queues, not limited by Linux',
  },
  {
    name: 'msg.max_seg',
    cluster: 22,
    item: 7,
    source: 65535,
    help: 'Maximum number of message segments, not limited by Linux',
  },
  {
    name: 'shm.max_segsz',
    cluster: 23,
    item: 0,
    units: 'byte',
    source: { file: 'shmmax' },
    help: 'Largest shared memory segment that may be created',
  },
  {
    name: 'shm.min_segsz',
    cluster: 23,
    item: 1,
    units: 'byte',
    source: 1,
    help: 'Smallest shared memory segment that may be created',
  },
  {
    name: 'shm.max_seg',
    cluster: 23,
    item: 2,
    source: { file: 'shmmni' },
    help: 'Maximum number of shared memory segments',
  },
  {
    name: 'shm.max_segproc',
    cluster: 23,
    item: 3,
    source: { file: 'shmmni' },
    help: 'Maximum number of segments attached by one process, not limited by Linux',
  },
  {
    name: 'shm.max_shmsys',
    cluster: 23,
    item: 4,
    source: { file: 'shmall' },
    help: 'Maximum number of pages of all shared memory segments together',
  },
]

/** A total over all objects of a kind: their number, or the sum of a column. */
export interface TotalRow {
  readonly name: string
  readonly cluster: number
  readonly item: number
  readonly kind: IpcKind
  readonly column?: string
  /** Each object is rounded up to whole pages. */
  readonly isSize?: boolean
  readonly units?: string
  readonly help: string
}

/** All totals. */
export const IPC_TOTALS: readonly TotalRow[] = [
  { name: 'sem.used_sem', cluster: 61, item: 0, kind: 'sem', help: 'Sets of semaphores that exist' },
  {
    name: 'sem.tot_sem',
    cluster: 61,
    item: 1,
    kind: 'sem',
    column: 'nsems',
    help: 'Semaphores in all sets together',
  },
  { name: 'msg.used_queues', cluster: 62, item: 0, kind: 'msg', help: 'Message queues that exist' },
  {
    name: 'msg.tot_msg',
    cluster: 62,
    item: 1,
    kind: 'msg',
    column: 'qnum',
    help: 'Messages that wait in all queues together',
  },
  {
    name: 'msg.tot_bytes',
    cluster: 62,
    item: 2,
    kind: 'msg',
    column: 'cbytes',
    units: 'byte',
    help: 'Size of all messages that wait',
  },
  {
    name: 'shm.tot',
    cluster: 56,
    item: 0,
    kind: 'shm',
    column: 'size',
    isSize: true,
    units: 'byte',
    help: 'Size of all shared memory segments together',
  },
  {
    name: 'shm.rss',
    cluster: 56,
    item: 1,
    kind: 'shm',
    column: 'rss',
    units: 'byte',
    help: 'Part of the shared segments that is in memory',
  },
  {
    name: 'shm.swp',
    cluster: 56,
    item: 2,
    kind: 'shm',
    column: 'swap',
    units: 'byte',
    help: 'Part of the shared segments that is in swap',
  },
  { name: 'shm.used_ids', cluster: 56, item: 3, kind: 'shm', help: 'Shared memory segments that exist' },
]

/** A column of a kind of object. Items count from 0 in the order given. */
export interface ObjectRow {
  readonly name: string
  readonly column: string
  readonly as: 'number' | 'octal' | 'key' | 'owner' | 'status'
  /** Constant for the lifetime of an object. */
  readonly isFixed?: boolean
  readonly units?: string
  readonly help: string
  readonly text?: string
}

/** A kind of object with its columns. */
export interface ObjectKind {
  readonly kind: IpcKind
  readonly cluster: number
  readonly serial: number
  readonly what: string
  readonly rows: readonly ObjectRow[]
}

/** The columns that every kind of object has. */
function commonRows(thing: string): readonly ObjectRow[] {
  return [
    {
      name: 'key',
      column: 'key',
      as: 'key',
      isFixed: true,
      help: `Name by which programs find the ${thing}, as a hexadecimal number`,
      text: '0x00000000 is a private object without a key.',
    },
    {
      name: 'owner',
      column: 'uid',
      as: 'owner',
      isFixed: true,
      help: `Owner of the ${thing}`,
      text: 'The user name in /etc/passwd, or the number.',
    },
    {
      name: 'perms',
      column: 'perms',
      as: 'octal',
      help: `Permissions of the ${thing} in octal digits: 600 is only its owner`,
    },
  ]
}

/** All kinds of object. */
export const IPC_OBJECTS: readonly ObjectKind[] = [
  {
    kind: 'sem',
    cluster: 66,
    serial: 30,
    what: 'Sets of semaphores',
    rows: [
      ...commonRows('set of semaphores'),
      { name: 'nsems', column: 'nsems', as: 'number', help: 'How many semaphores are in the set' },
    ],
  },
  {
    kind: 'msg',
    cluster: 65,
    serial: 29,
    what: 'Message queues',
    rows: [
      ...commonRows('message queue'),
      {
        name: 'msgsz',
        column: 'cbytes',
        as: 'number',
        isFixed: true,
        units: 'byte',
        help: 'Size of the messages that wait in the queue',
      },
      { name: 'messages', column: 'qnum', as: 'number', help: 'How many messages wait in the queue' },
      {
        name: 'last_send_pid',
        column: 'lspid',
        as: 'number',
        units: 'byte',
        help: 'Process that last sent a message to the queue',
        text: 'A process identifier, although its units are byte as in the reference.',
      },
      {
        name: 'last_recv_pid',
        column: 'lrpid',
        as: 'number',
        help: 'Process that last received a message from the queue',
      },
    ],
  },
  {
    kind: 'shm',
    cluster: 64,
    serial: 28,
    what: 'Shared memory segments',
    rows: [
      ...commonRows('shared memory segment'),
      {
        name: 'segsz',
        column: 'size',
        as: 'number',
        isFixed: true,
        units: 'byte',
        help: 'Size of the segment when created',
        text: 'Only the low 32 bits.',
      },
      {
        name: 'nattch',
        column: 'nattch',
        as: 'number',
        help: 'Number of attachments of the segment',
      },
      {
        name: 'status',
        column: 'perms',
        as: 'status',
        help: 'Flags of the segment: dest, removed after the last detach; locked, never swapped',
      },
      {
        name: 'creator_pid',
        column: 'cpid',
        as: 'number',
        isFixed: true,
        help: 'Process that created the segment',
      },
      {
        name: 'last_access_pid',
        column: 'lpid',
        as: 'number',
        help: 'Process that attached or detached the segment most recently',
      },
    ],
  },
]
