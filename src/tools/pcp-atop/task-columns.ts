/** Data: the columns of processes, and the columns of each view. pcp-atop(1), pcp-atoprc(5) ownprocline */
import { strftime } from '../../time/strftime.ts'
import type { Zone } from '../../time/zone.ts'
import type { TaskSum } from './ranking.ts'
import type { CustomColumn, Settings, View } from './settings.ts'
import type { OwnerKind, Task } from './task.ts'
import {
  countText,
  cpuTimeText,
  percentText,
  rateText,
  type SizeUnit,
  sizeRateText,
  sizeText,
} from './values.ts'

/** Setup for cells. */
export interface ColumnSetup {
  readonly pidWidth: number
  /** Seconds that counts are divided by; undefined to show plain counts. */
  readonly perSec: number | undefined
  readonly elapsedSec: number
  readonly shareTitle: string
  readonly share: (task: Task) => number
  readonly zone: Zone
  /** Boot time in seconds since the epoch. */
  readonly bootSec: number
  readonly settings: Settings
  /** Columns by which long texts are scrolled to the left. */
  readonly scrolled: number
}

/** A column. Titles and cells have its width; the last one of a line can be longer. */
export interface TaskColumn {
  readonly title: (setup: ColumnSetup) => string
  readonly cell: (sum: TaskSum, setup: ColumnSetup) => string
}

type CellOf = (task: Task, setup: ColumnSetup) => string

const right = (title: string, width: number, cell: CellOf): TaskColumn => ({
  title: () => title.padStart(width),
  cell: ({ task }, setup) => cell(task, setup).padStart(width),
})
const left = (title: string, width: number, cell: CellOf): TaskColumn => ({
  title: () => title.padEnd(width),
  cell: ({ task }, setup) => cell(task, setup).slice(0, width).padEnd(width),
})
const numbered = (title: string, cell: CellOf): TaskColumn => ({
  title: ({ pidWidth }) => title.padStart(pidWidth),
  cell: ({ task }, setup) => cell(task, setup).padStart(setup.pidWidth),
})

/** Shows a dash for a value that is unknown for an exited process. */
const unlessExited =
  (cell: CellOf): CellOf =>
  (task, setup) =>
    task.end === undefined ? cell(task, setup) : '-'
const time = (title: string, ms: (task: Task) => number): TaskColumn =>
  right(title, 6, (task) => cpuTimeText(ms(task)))
const delay = (title: string, ms: (task: Task) => number): TaskColumn =>
  right(
    title,
    6,
    unlessExited((task) => cpuTimeText(ms(task))),
  )
const sizeKb = (title: string, kb: (task: Task) => number, smallest: SizeUnit = 'B'): TaskColumn =>
  right(title, 6, (task) => (task.end === undefined ? sizeText(kb(task) * 1024, smallest) : '0K'))
const transfer = (
  title: string,
  bytes: (task: Task, settings: Settings) => number,
  smallest: SizeUnit = 'B',
): TaskColumn =>
  right(
    title,
    6,
    unlessExited((task, { perSec, settings }) => {
      const amount = bytes(task, settings)
      return perSec === undefined ? sizeText(amount, smallest) : sizeRateText(amount, perSec)
    }),
  )
const count = (title: string, width: number, of: (task: Task) => number): TaskColumn =>
  right(title, width, (task, { perSec }) => rateText(of(task), width, perSec))
const plain = (title: string, width: number, of: (task: Task) => number): TaskColumn =>
  right(title, width, (task) => countText(of(task), width))
const owner = (title: string, kind: OwnerKind): TaskColumn =>
  left(title, 8, (task) =>
    task.end !== undefined && kind !== 'uid' && kind !== 'gid' ? '-' : task.owners[kind].name,
  )
const threadsIn = (title: string, width: number, states: string): TaskColumn =>
  right(title, width, (task) => (states.includes(task.state) ? '1' : '0'))

const POLICIES = ['norm', 'fifo', 'rr', 'btch', 'iso', 'idle', 'dead']
const bits = (bytes: number, { elapsedSec }: ColumnSetup): string => {
  const kbits = (bytes * 8) / 1000 / elapsedSec
  if (kbits < 10_000) return `${Math.trunc(kbits)} Kbps`
  return kbits < 10_000_000 ? `${Math.trunc(kbits / 1000)} Mbps` : `${Math.trunc(kbits / 1e6)} Gbps`
}
const mean = (sum: number, calls: number): number => (calls > 0 ? sum / calls : 0)
const stamp = (format: string, sec: number, zone: Zone): string => strftime(format, Math.floor(sec), zone)
const DATE = '%Y/%m/%d'
const CLOCK = '%H:%M:%S'
const began = ({ startMs }: Task, { bootSec }: ColumnSetup): number => bootSec + startMs / 1000
const between = (title: string, width: number): string => {
  const before = (width - title.length) >> 1
  return title.padStart(before + title.length).padEnd(width)
}
const moment = (title: string, width: number, cell: CellOf): TaskColumn => ({
  title: () => between(title, width),
  cell: ({ task }, setup) => between(cell(task, setup), width),
})

const NAME_WIDTH = 14
/** Puts the name of an exited process in angle brackets. */
const nameOf = ({ name, end }: Task): string => {
  const room = end === undefined ? NAME_WIDTH : NAME_WIDTH - 2
  return end === undefined ? name.slice(0, room) : `<${name.slice(0, room)}>`
}
const written = ({ writtenBytes, cancelledBytes }: Task, { view }: Settings): number =>
  view === 'd' ? writtenBytes : Math.max(0, writtenBytes - cancelledBytes)

function endLetters({ isNew, end }: Task): string {
  const first = isNew ? 'N' : '-'
  if (end === undefined) return `${first}-`
  return first + (end.signal === undefined ? 'E' : end.hasCore ? 'C' : 'S')
}

export const TASK_COLUMNS: Readonly<Record<string, TaskColumn>> = {
  PID: numbered('PID', ({ tgid }) => String(tgid)),
  TID: numbered('TID', ({ pid, tgid }) => (pid === tgid ? '-' : String(pid))),
  PPID: numbered('PPID', ({ ppid }) => String(ppid)),
  SYSCPU: time('SYSCPU', ({ sysMs }) => sysMs),
  USRCPU: time('USRCPU', ({ userMs }) => userMs),
  RDELAY: delay('RDELAY', ({ runDelayMs }) => runDelayMs),
  BDELAY: delay('BDELAY', ({ blockDelayMs }) => blockDelayMs),
  VGROW: sizeKb('VGROW', ({ virtualGrowthKb }) => virtualGrowthKb),
  RGROW: sizeKb('RGROW', ({ residentGrowthKb }) => residentGrowthKb),
  VSIZE: sizeKb('VSIZE', ({ virtualKb }) => virtualKb),
  RSIZE: sizeKb('RSIZE', ({ residentKb }) => residentKb),
  PSIZE: right('PSIZE', 6, ({ proportionalKb }, { settings }) =>
    proportionalKb === undefined || !settings.pss ? '?K' : sizeText(proportionalKb * 1024, 'B'),
  ),
  VSTEXT: sizeKb('VSTEXT', ({ textKb }) => textKb),
  VSLIBS: sizeKb('VSLIBS', ({ libraryKb }) => libraryKb),
  VDATA: sizeKb('VDATA', ({ dataKb }) => dataKb),
  VSTACK: sizeKb('VSTACK', ({ stackKb }) => stackKb),
  LOCKSZ: sizeKb('LOCKSZ', ({ lockedKb }) => lockedKb, 'K'),
  SWAPSZ: sizeKb('SWAPSZ', ({ swappedKb }) => swappedKb),
  MINFLT: count('MINFLT', 6, ({ minorFaults }) => minorFaults),
  MAJFLT: count('MAJFLT', 6, ({ majorFaults }) => majorFaults),
  RDDSK: transfer('RDDSK', ({ readBytes }) => readBytes),
  WRDSK: transfer('WRDSK', written),
  WCANCL: transfer('WCANCL', ({ cancelledBytes }) => cancelledBytes, 'K'),
  RUID: owner('RUID', 'uid'),
  EUID: owner('EUID', 'euid'),
  SUID: owner('SUID', 'suid'),
  FSUID: owner('FSUID', 'fsuid'),
  RGID: owner('RGID', 'gid'),
  EGID: owner('EGID', 'egid'),
  SGID: owner('SGID', 'sgid'),
  FSGID: owner('FSGID', 'fsgid'),
  ST: left('ST', 2, endLetters),
  EXC: right('EXC', 3, ({ end }) => (end === undefined ? '-' : String(end.signal ?? end.code))),
  THR: plain('THR', 4, ({ threads }) => threads),
  S: left('S', 1, ({ state }) => state),
  CPUNR: right(
    'CPUNR',
    5,
    unlessExited(({ processor }) => String(processor)),
  ),
  TRUN: threadsIn('TRUN', 4, 'R'),
  TSLPI: threadsIn('TSLPI', 5, 'S'),
  TSLPU: threadsIn('TSLPU', 5, 'DI'),
  POLI: left(
    'POLI',
    4,
    unlessExited(({ policy }) => POLICIES[policy] ?? String(policy)),
  ),
  NICE: right(
    'NICE',
    4,
    unlessExited(({ nice }) => String(nice)),
  ),
  PRI: right(
    'PRI',
    3,
    unlessExited(({ priority }) => String(priority)),
  ),
  RTPR: right(
    'RTPR',
    4,
    unlessExited(({ realtimePriority }) => String(realtimePriority)),
  ),
  WCHAN: left('WCHAN', 15, ({ wchan }, { settings }) => (settings.wchan ? wchan : '')),
  CID: left('CID', 12, ({ container }) => container),
  VPID: numbered('VPID', () => '0'),
  CTID: right('CTID', 5, ({ environment }) => environment),
  ENVID: right('ENVID', 5, ({ environment }) => environment),
  STDATE: moment('STDATE', 10, (task, setup) => stamp(DATE, began(task, setup), setup.zone)),
  STTIME: moment('STTIME', 8, (task, setup) => stamp(CLOCK, began(task, setup), setup.zone)),
  ENDATE: moment('ENDATE', 10, ({ end }, { zone }) =>
    end === undefined ? 'active' : stamp(DATE, end.time, zone),
  ),
  ENTIME: moment('ENTIME', 8, ({ end }, { zone }) =>
    end === undefined ? 'active' : stamp(CLOCK, end.time, zone),
  ),
  SORTITEM: {
    title: ({ shareTitle }) => shareTitle.padStart(4),
    cell: ({ task }, { share }) => percentText(share(task)).padStart(4),
  },
  NPROCS: { title: () => 'NPROCS', cell: (sum) => countText(sum.count, 6) },
  RNET: count('RNET', 5, (task) => task.tcpReceives + task.udpReceives),
  SNET: count('SNET', 5, (task) => task.tcpSends + task.udpSends),
  TCPRCV: count('TCPRCV', 6, ({ tcpReceives }) => tcpReceives),
  TCPRASZ: count('TCPRASZ', 7, (task) => mean(task.tcpReceivedBytes, task.tcpReceives)),
  TCPSND: count('TCPSND', 6, ({ tcpSends }) => tcpSends),
  TCPSASZ: count('TCPSASZ', 7, (task) => mean(task.tcpSentBytes, task.tcpSends)),
  UDPRCV: count('UDPRCV', 6, ({ udpReceives }) => udpReceives),
  UDPRASZ: count('UDPRASZ', 7, (task) => mean(task.udpReceivedBytes, task.udpReceives)),
  UDPSND: count('UDPSND', 6, ({ udpSends }) => udpSends),
  UDPSASZ: count('UDPSASZ', 7, (task) => mean(task.udpSentBytes, task.udpSends)),
  BANDWI: right('BANDWI', 9, (task, setup) => bits(task.tcpReceivedBytes + task.udpReceivedBytes, setup)),
  BANDWO: right('BANDWO', 9, (task, setup) => bits(task.tcpSentBytes + task.udpSentBytes, setup)),
  GPUNUMS: right('GPUNUMS', 8, ({ gpu }) => (gpu === undefined ? '-' : gpuNumbers(gpu.list))),
  GPUBUSY: right('GPUBUSY', 7, ({ gpu }) => (gpu === undefined ? '-' : percentText(gpu.busy))),
  MEMBUSY: right('MEMBUSY', 7, ({ gpu }) => (gpu === undefined ? '-' : percentText(gpu.memoryBusy))),
  MEMNOW: right('MEMNOW', 6, ({ gpu }) => (gpu === undefined ? '-' : sizeText(gpu.memory * 1024, 'K'))),
  MEMAVG: right('MEMAVG', 6, ({ gpu }) =>
    gpu === undefined ? '-' : sizeText(mean(gpu.memorySum, gpu.samples) * 1024, 'K'),
  ),
  CMD: left('CMD', NAME_WIDTH, nameOf),
  CGROUP: {
    title: () => 'CGROUP (horizontal scroll with <- and -> keys)',
    cell: ({ task }, { scrolled }) => task.cgroup.slice(scrolled),
  },
  'COMMAND-LINE': {
    title: () => 'COMMAND-LINE (horizontal scroll with <- and -> keys)',
    cell: ({ task }, { scrolled }) => task.command.slice(scrolled),
  },
}

/** Returns the numbers of the set bits, or the bits themselves if the numbers are too long. */
function gpuNumbers(list: number): string {
  const numbers = Array.from({ length: 31 }, (_, i) => i).filter((i) => (list & (1 << i)) !== 0)
  const text = numbers.join(',')
  return text.length <= 8 ? text : `0x${list.toString(16)}`
}

/** Columns in line order, and again by weight, heaviest first. */
const VIEWS: Readonly<Record<Exclude<View, 'o'>, readonly [columns: string, byWeight: string]>> = {
  g: [
    'PID TID SYSCPU USRCPU RDELAY BDELAY VGROW RGROW RDDSK WRDSK RUID EUID ST EXC THR S CPUNR SORTITEM CMD',
    'CMD SORTITEM PID USRCPU SYSCPU RGROW VGROW WRDSK RDDSK TID BDELAY RDELAY CPUNR S THR EXC ST RUID EUID',
  ],
  m: [
    'PID TID MINFLT MAJFLT VSTEXT VSLIBS VDATA VSTACK LOCKSZ VSIZE RSIZE PSIZE VGROW RGROW SWAPSZ RUID EUID SORTITEM CMD',
    'CMD SORTITEM PID RGROW VGROW RSIZE VSIZE SWAPSZ PSIZE VSTACK VDATA VSLIBS VSTEXT LOCKSZ TID MAJFLT MINFLT RUID EUID',
  ],
  d: ['PID TID RDDSK WRDSK WCANCL SORTITEM CMD', 'CMD SORTITEM PID WRDSK RDDSK WCANCL TID'],
  n: [
    'PID TID TCPRCV TCPRASZ TCPSND TCPSASZ UDPRCV UDPRASZ UDPSND UDPSASZ BANDWI BANDWO SORTITEM CMD',
    'CMD SORTITEM PID TCPSND TCPRCV UDPSND UDPRCV BANDWO BANDWI TCPSASZ TCPRASZ UDPSASZ UDPRASZ TID',
  ],
  s: [
    'PID TID CID VPID CTID TRUN TSLPI TSLPU POLI NICE PRI RTPR CPUNR ST EXC S RDELAY BDELAY WCHAN SORTITEM CMD',
    'CMD SORTITEM PID NICE RTPR RDELAY S EXC ST CPUNR POLI BDELAY TSLPU TSLPI TRUN TID WCHAN PRI CID CTID VPID',
  ],
  v: [
    'PID TID PPID CID VPID CTID RUID RGID EUID EGID SUID SGID FSUID FSGID STDATE STTIME ENDATE ENTIME ST EXC S SORTITEM CMD',
    'CMD SORTITEM PID PPID RGID RUID STTIME STDATE S EXC ST ENTIME ENDATE EUID EGID TID FSUID SUID FSGID SGID CID CTID VPID',
  ],
  c: ['PID TID S SORTITEM COMMAND-LINE', 'PID SORTITEM COMMAND-LINE S TID'],
  X: ['PID TID SORTITEM CMD CGROUP', 'PID CMD CGROUP SORTITEM TID'],
  e: [
    'PID TID GPUNUMS GPUBUSY MEMBUSY MEMNOW MEMAVG RUID EUID S SORTITEM CMD',
    'CMD SORTITEM PID GPUBUSY MEMBUSY MEMNOW MEMAVG GPUNUMS S TID RUID EUID',
  ],
  u: ['', 'RUID SORTITEM NPROCS USRCPU SYSCPU PSIZE RSIZE WRDSK RDDSK SNET RNET VSIZE SWAPSZ LOCKSZ'],
  p: ['', 'CMD SORTITEM NPROCS USRCPU SYSCPU PSIZE RSIZE WRDSK RDDSK SNET RNET VSIZE SWAPSZ LOCKSZ'],
  j: ['', 'CID SORTITEM NPROCS USRCPU SYSCPU PSIZE RSIZE WRDSK RDDSK SNET RNET VSIZE SWAPSZ LOCKSZ'],
}
const SUM_COLUMNS = 'NPROCS SYSCPU USRCPU VSIZE RSIZE PSIZE LOCKSZ SWAPSZ RDDSK WRDSK RNET SNET SORTITEM'
const SUM_NAMES: Partial<Record<View, string>> = { u: 'RUID', p: 'CMD', j: 'CID' }
/** Views with a TID column only if threads are shown. */
const NO_TID: ReadonlySet<View> = new Set(['g', 'n', 'e', 'X'])

/** Returns the columns of a view with their weights. */
export function columnsOfView(view: View, { ownLine, threads }: Settings): readonly CustomColumn[] {
  if (view === 'o') return ownLine
  const [own, byWeight] = VIEWS[view]
  const columns = own === '' ? `${SUM_COLUMNS} ${SUM_NAMES[view]}` : own
  const order = byWeight.split(' ')
  return columns
    .split(' ')
    .filter((name) => name !== 'TID' || threads || !NO_TID.has(view))
    .map((name) => ({ name, weight: order.length - order.indexOf(name) }))
}
