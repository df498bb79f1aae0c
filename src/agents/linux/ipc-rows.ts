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
    help: 'How many sets of semaphores there may be',
  },
  {
    name: 'sem.max_sem',
    cluster: 21,
    item: 2,
    source: { file: 'sem', column: 1 },
    help: 'How many semaphores all sets together may have',
  },
  {
    name: 'sem.num_undo',
    cluster: 21,
    item: 3,
    source: { file: 'sem', column: 1 },
    help: 'How many structures for undoing operations there may be, which Linux does not limit',
  },
  {
    name: 'sem.max_perid',
    cluster: 21,
    item: 4,
    source: { file: 'sem', column: 0 },
    help: 'How many semaphores one set may have',
  },
  {
    name: 'sem.max_ops',
    cluster: 21,
    item: 5,
    source: { file: 'sem', column: 2 },
    help: 'How many operations one call of semop(2) may do',
  },
  {
    name: 'sem.max_undoent',
    cluster: 21,
    item: 6,
    source: { file: 'sem', column: 2 },
    help: 'How many operations of one process can be undone at its exit, which Linux does not limit',
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
    help: 'Room for all messages together, were every queue full',
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
    help: 'How many bytes one message may have',
  },
  {
    name: 'msg.max_defmsgq',
    cluster: 22,
    item: 3,
    source: { file: 'msgmnb' },
    help: 'How many bytes of messages a new queue has room for',
  },
  {
    name: 'msg.max_msgqid',
    cluster: 22,
    item: 4,
    source: { file: 'msgmni' },
    help: 'How many message queues there may be',
  },
  {
    name: 'msg.max_msgseg',
    cluster: 22,
    item: 5,
    source: 16,
    help: 'Bytes of a piece of a message, which Linux does not use',
  },
  {
    name: 'msg.num_smsghdr',
    cluster: 22,
    item: 6,
    source: { file: 'msgmnb' },
    help: 'How many messages all queues together may hold, which Linux does not limit',
  },
  {
    name: 'msg.max_seg',
    cluster: 22,
    item: 7,
    source: 65535,
    help: 'How many pieces of messages there may be, which Linux does not limit',
  },
  {
    name: 'shm.max_segsz',
    cluster: 23,
    item: 0,
    units: 'byte',
    source: { file: 'shmmax' },
    help: 'Largest shared memory segment that may be made',
  },
  {
    name: 'shm.min_segsz',
    cluster: 23,
    item: 1,
    units: 'byte',
    source: 1,
    help: 'Smallest shared memory segment that may be made',
  },
  {
    name: 'shm.max_seg',
    cluster: 23,
    item: 2,
    source: { file: 'shmmni' },
    help: 'How many shared memory segments there may be',
  },
  {
    name: 'shm.max_segproc',
    cluster: 23,
    item: 3,
    source: { file: 'shmmni' },
    help: 'How many segments one process may attach, which Linux does not limit',
  },
  {
    name: 'shm.max_shmsys',
    cluster: 23,
    item: 4,
    source: { file: 'shmall' },
    help: 'How many pages all shared memory segments together may have',
  },
]

/** A number about all objects of a kind: how many there are, or the sum of a column. */
export interface TotalRow {
  readonly name: string
  readonly cluster: number
  readonly item: number
  readonly kind: IpcKind
  readonly column?: string
  /** Each object counts in whole pages. */
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
  /** Stays as it is while the object lives. */
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
      text: '0x00000000 is one that only its maker and those it tells can find.',
    },
    {
      name: 'owner',
      column: 'uid',
      as: 'owner',
      isFixed: true,
      help: `User the ${thing} belongs to`,
      text: 'The name that /etc/passwd has for the number, or the number.',
    },
    {
      name: 'perms',
      column: 'perms',
      as: 'octal',
      help: `Who may read and write the ${thing}, as octal digits: 600 is its user alone`,
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
        help: 'Process that put something into the queue most recently',
        text: 'A process number, although its units say byte as in the reference.',
      },
      {
        name: 'last_recv_pid',
        column: 'lrpid',
        as: 'number',
        help: 'Process that took something out of the queue most recently',
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
        help: 'Size that the segment was made with',
        text: 'Only the low 32 bits are shown.',
      },
      {
        name: 'nattch',
        column: 'nattch',
        as: 'number',
        help: 'How often processes have the segment attached',
      },
      {
        name: 'status',
        column: 'perms',
        as: 'status',
        help: 'What is special about the segment: dest, it goes when nobody uses it any more; locked, it is never swapped',
      },
      {
        name: 'creator_pid',
        column: 'cpid',
        as: 'number',
        isFixed: true,
        help: 'Process that made the segment',
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
