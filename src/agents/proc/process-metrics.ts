/** Metrics of single processes in proc.* and hotproc.*: the same files, for all or for hot processes. */

import { containerOf } from '../../model/container-id.ts'
import { PcpError } from '../../model/errors.ts'
import type { Ask } from '../../model/source.ts'
import type { IndomSpec, Sample } from '../../pmda/define.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { ProcContext } from './context.ts'
import type { PerProcess } from './process-files.ts'
import type { ProcessReaders } from './process-readers.ts'
import { PROCESS_ROWS, type ProcessRow } from './process-rows.ts'
import { orUnsupported, unsupported } from './sample.ts'
import type { ProcessStat } from './stat.ts'
import type { TextLines } from './text-lines.ts'
import { TtyNames } from './ttyname.ts'

/** A metric family: its root name and instance domain. */
export interface ProcessFamily {
  readonly root: 'proc' | 'hotproc'
  readonly indom: IndomSpec
  /** Cuts command lines after so many characters. */
  readonly longestArguments?: number
}

/** Clusters of a file in both families. */
const CLUSTERS = {
  stat: [8, 52],
  statm: [9, 53],
  cgroup: [11, 54],
  labels: [12, 55],
  status: [24, 56],
  schedstat: [31, 57],
  io: [32, 58],
  smaps: [33, 34],
  fd: [51, 59],
  oom: [62, 63],
  exe: [69, 71],
  cwd: [72, 73],
  autogroup: [74, 75],
} as const

/** Extracts a metric's value from a file. */
type Pick<T> = (read: T) => Sample

/** Returns the metrics of a family. */
export function processMetrics(
  ctx: ProcContext,
  readers: ProcessReaders,
  family: ProcessFamily,
): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  const { root, indom, longestArguments } = family
  const add = <T extends object | string | number>(
    file: keyof typeof CLUSTERS,
    rows: readonly ProcessRow[],
    reader: PerProcess<T>,
    pickOf: (row: ProcessRow) => Pick<T>,
  ): void => {
    const cluster = CLUSTERS[file][root === 'proc' ? 0 : 1]
    for (const row of rows) {
      const { item, type, sem, units, help, after } = row
      const pick = pickOf(row)
      const isAddress = file === 'stat' && ADDRESSES.has(row.name)
      metrics[`${root}.${row.name}`] = {
        ...(after === undefined ? {} : { after }),
        cluster,
        item,
        type,
        sem,
        units,
        indom,
        help,
        text: row.text === undefined ? sourceOf(file, help) : `${row.text} ${sourceOf(file)}`,
        begin: root === 'proc' ? ctx.checkMaySeeProcesses : ctx.checkIsKnown,
        ...(file === 'smaps'
          ? { prefetch: (ask: Ask, wanted: () => Int32Array) => reader.prefetch(wanted, ask) }
          : {}),
        value: (inst, ask) => {
          if (isAddress && ctx.isGuest(ask)) return undefined
          const read = reader.of(inst, ask)
          return read === undefined || read instanceof PcpError ? read : pick(read as T)
        },
      }
    }
  }
  const rows = PROCESS_ROWS
  add('stat', rows.stat, readers.stat, (row) => statPick(ctx, row))
  add('stat', rows.ttyname, readers.stat, () => ttyPick(ctx))
  add('stat', rows.wchan, readers.wchan, same)
  add('stat', rows.psargs, readers.psargs, () => (text) => text.slice(0, longestArguments))
  add('stat', rows.environ, readers.environ, same)
  add('statm', rows.statm, readers.statm, ({ item }) => {
    const perPage = ctx.pagesize / 1024
    return (row) => orUnsupported(row[item]! * perPage)
  })
  add('statm', rows.maps, readers.maps, same)
  add('status', rows.status, readers.status, (row) => statusPick(ctx, row))
  add('cgroup', rows.cgroup, readers.cgroup, ({ name }) =>
    name === 'id.container' ? containerOf : cgroupsOf,
  )
  add('labels', rows.labels, readers.labels, same)
  add(
    'schedstat',
    rows.schedstat,
    readers.schedstat,
    ({ item }) =>
      (row) =>
        orUnsupported(row[item]!),
  )
  add('io', rows.io, readers.io, rowPick)
  add('smaps', rows.smaps, readers.smaps, smapsPick)
  add('fd', rows.fd, readers.fd, same)
  add('oom', rows.oom, readers.oom, () => orUnsupported)
  add('exe', rows.exe, readers.exe, same)
  add('cwd', rows.cwd, readers.cwd, same)
  add('autogroup', rows.autogroup, readers.autogroup, autogroupPick)
  return Object.fromEntries(Object.entries(metrics).reverse()) // PCP lists the last first
}

const FILES: { readonly [file in keyof typeof CLUSTERS]: string } = {
  stat: 'stat and other files',
  statm: 'statm and maps',
  cgroup: 'cgroup',
  labels: 'attr/current',
  status: 'status',
  schedstat: 'schedstat',
  io: 'io, which only the owner of the process and root may read',
  smaps: 'smaps_rollup, which only the owner of the process and root may read',
  fd: 'fd, which only the owner of the process and root may read',
  oom: 'oom_score',
  exe: 'exe',
  cwd: 'cwd',
  autogroup: 'autogroup',
}

function sourceOf(file: keyof typeof CLUSTERS, help?: string): string {
  const source = `From /proc/PID/${FILES[file]}.`
  return help === undefined ? source : `${help}. ${source}`
}

/** Addresses, which the kernel shows only to the owner of a process and to root. */
const ADDRESSES: ReadonlySet<string> = new Set(
  ['start_code', 'end_code', 'start_stack', 'esp', 'eip', 'wchan'].map((name) => `psinfo.${name}`),
)

const same = (): Pick<string | number> => (read) => read

/** Items of times in clock ticks. */
const TIMES: ReadonlySet<number> = new Set([13, 14, 15, 16, 21, 44, 45, 46])
/** Names of scheduling policies by number. */
const POLICIES = ['NORMAL', 'FIFO', 'RR', 'BATCH', '?', 'IDLE', 'DEADLN']
const POLICY_COLUMN = 41

/** The last item whose column is its number plus one. */
const PROCESSOR = 38

/** Column of proc(5) for an item of the stat cluster: items skip the state and the number of threads. */
function columnOf(item: number): number {
  if (item === 0) return 1
  return item <= PROCESSOR ? item + 1 : item - 2
}

function statPick(ctx: ProcContext, { name, item }: ProcessRow): Pick<ProcessStat> {
  const column = columnOf(item)
  switch (name) {
    case 'psinfo.cmd':
      return ({ comm }) => comm
    case 'psinfo.sname':
      return ({ state }) => state
    case 'psinfo.policy_s':
      return ({ columns }) => POLICIES[columns[POLICY_COLUMN]!] ?? '?'
    case 'psinfo.tty_pgrp':
      return ({ columns }) => (columns[column]! < 0 ? undefined : columns[column]!)
    case 'psinfo.vsize':
      return ({ columns }) => Math.floor(columns[column]! / 1024)
    case 'psinfo.rss':
      return ({ columns }) => (columns[column]! * ctx.pagesize) / 1024
    case 'psinfo.rss_rlim':
      return ({ rssLimit }) => (typeof rssLimit === 'bigint' ? rssLimit / 1024n : Math.floor(rssLimit / 1024))
    default: {
      const factor = TIMES.has(item) ? 1000 / ctx.hertz : 1
      return ({ columns }) => orUnsupported(Math.floor(columns[column]! * factor))
    }
  }
}

const TTY_COLUMN = 7

function ttyPick(ctx: ProcContext): Pick<ProcessStat> {
  const names = new TtyNames(ctx.root)
  return ({ columns }) => names.nameOf(columns[TTY_COLUMN]!)
}

/** Rows of /proc/PID/status by the last parts of the metrics' names. */
const STATUS_TEXTS: { readonly [name: string]: string } = {
  'psinfo.signal_s': '\nSigPnd:',
  'psinfo.blocked_s': '\nSigBlk:',
  'psinfo.sigignore_s': '\nSigIgn:',
  'psinfo.sigcatch_s': '\nSigCgt:',
  'psinfo.cpusallowed': '\nCpus_allowed_list:',
  'namespaces.tgid': '\nNStgid:',
  'namespaces.pid': '\nNSpid:',
  'namespaces.pgid': '\nNSpgid:',
  'namespaces.sid': '\nNSsid:',
}

const STATUS_NUMBERS: { readonly [name: string]: string } = {
  'psinfo.threads': '\nThreads:',
  'psinfo.vctxsw': '\nvoluntary_ctxt_switches:',
  'psinfo.nvctxsw': '\nnonvoluntary_ctxt_switches:',
  'psinfo.ngid': '\nNgid:',
  'psinfo.tgid': '\nTgid:',
  'namespaces.envid': '\nenvID:',
  'memory.vmsize': '\nVmSize:',
  'memory.vmlock': '\nVmLck:',
  'memory.vmrss': '\nVmRSS:',
  'memory.vmdata': '\nVmData:',
  'memory.vmstack': '\nVmStk:',
  'memory.vmexe': '\nVmExe:',
  'memory.vmlib': '\nVmLib:',
  'memory.vmswap': '\nVmSwap:',
  'memory.vmpeak': '\nVmPeak:',
  'memory.vmpin': '\nVmPin:',
  'memory.vmhwm': '\nVmHWM:',
  'memory.vmpte': '\nVmPTE:',
}

function statusPick(ctx: ProcContext, { name, item }: ProcessRow): Pick<TextLines> {
  if (name.startsWith('id.')) return idPick(ctx, item)
  const text = STATUS_TEXTS[name]
  if (text !== undefined) return (status) => status.text(text)?.replace(/\t/g, ',') ?? unsupported()
  if (name === 'memory.vmreal')
    return (status) => orUnsupported(sizeIn(status, '\nVmRSS:') + sizeIn(status, '\nVmSwap:'))
  if (name === 'memory.vmnonlib')
    return (status) => {
      const size = sizeIn(status, '\nVmRSS:') + sizeIn(status, '\nVmSwap:') - sizeIn(status, '\nVmLib:')
      return orUnsupported(Math.max(0, size)) // libraries need not be completely resident
    }
  if (name.startsWith('memory.')) {
    const label = STATUS_NUMBERS[name]!
    return (status) => orUnsupported(sizeIn(status, label))
  }
  const label = STATUS_NUMBERS[name]!
  return (status) => orUnsupported(status.number(label))
}

/** A size in KB. Kernel threads lack these rows and have no memory: 0. */
function sizeIn(status: TextLines, label: string): number {
  const size = status.number(label)
  return Number.isNaN(size) && !status.has('\nVmSize:') ? 0 : size
}

/** Items 0 to 3 are users and 4 to 7 groups (real, effective, saved, file system); the next eight are their names. */
function idPick(ctx: ProcContext, item: number): Pick<TextLines> {
  const isGroup = (item & 4) !== 0
  const label = isGroup ? '\nGid:' : '\nUid:'
  const column = item & 3
  if (item < 8) return (status) => orUnsupported(status.column(label, column))
  const { userName, groupName } = ctx.accounts
  return (status) => {
    const id = status.column(label, column)
    if (Number.isNaN(id)) return unsupported()
    return (isGroup ? groupName(id) : userName(id)) ?? ''
  }
}

/** The row of io has the name in lower case. */
function rowPick({ name }: ProcessRow): Pick<TextLines> {
  const label = `\n${name.slice(name.indexOf('.') + 1)}:`
  return (lines) => orUnsupported(lines.number(label))
}

/** Rows of smaps_rollup that are not the capitalized name. */
const SMAPS_ROWS: { readonly [name: string]: string } = {
  lazyfree: 'LazyFree',
  anonhugepages: 'AnonHugePages',
  shmempmdmapped: 'ShmemPmdMapped',
  filepmdmapped: 'FilePmdMapped',
  swappss: 'SwapPss',
  pss_anon: 'Pss_Anon',
  pss_file: 'Pss_File',
  pss_shmem: 'Pss_Shmem',
  shared_clean: 'Shared_Clean',
  shared_dirty: 'Shared_Dirty',
  private_clean: 'Private_Clean',
  private_dirty: 'Private_Dirty',
  shared_hugetlb: 'Shared_Hugetlb',
  private_hugetlb: 'Private_Hugetlb',
}

function smapsPick({ name }: ProcessRow): Pick<TextLines> {
  const last = name.slice(name.indexOf('.') + 1)
  const label = `\n${SMAPS_ROWS[last] ?? last[0]!.toUpperCase() + last.slice(1)}:`
  return (lines) => orUnsupported(lines.number(label))
}

/** Joins the lines `4:memory:/group` without their numbers. */
function cgroupsOf(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(line.indexOf(':') + 1))
    .join(';')
}

/** Parses `/autogroup-25 nice 0`. As in PCP a process without an autogroup has group 0 and nice value 0. */
function autogroupPick({ item }: ProcessRow): Pick<string> {
  const pattern = item === 1 ? /autogroup-(\d+)/ : /nice (-?\d+)/
  return (text) => {
    const match = pattern.exec(text)
    if (match !== null) return Number(match[1])
    return text.trim() === '' ? 0 : undefined
  }
}
