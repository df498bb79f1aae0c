/** Parses /proc/stat: CPU times and a few counters of the whole kernel. proc(5) */
import type { Scanner } from '../../base/scan.ts'

/** Columns of a cpu line, in file order. */
export const USER = 0
export const NICE = 1
export const SYS = 2
export const IDLE = 3
export const WAIT = 4
export const IRQ = 5
export const SOFTIRQ = 6
export const STEAL = 7
export const GUEST = 8
export const GUEST_NICE = 9
/** Most columns of a cpu line. */
export const CPU_COLUMNS = 10

/** /proc/stat as numbers; NaN for missing ones. Overwritten by each reading. */
export interface ProcStat {
  /** The CPUs that have a line, in file order. */
  ids: readonly number[]
  /** Ticks of all CPUs together, by column. */
  readonly all: Float64Array
  /** Ticks of CPU n start at n * CPU_COLUMNS. */
  perCpu: Float64Array
  /** Interrupts served. */
  intr: number
  /** Context switches. */
  ctxt: number
  /** When the system was booted: seconds since the epoch. */
  btime: number
  /** Processes and threads created. */
  processes: number
  running: number
  blocked: number
}

/** An empty table for `parseStat` to fill. */
export function newStat(): ProcStat {
  return {
    ids: [],
    all: new Float64Array(CPU_COLUMNS),
    perCpu: new Float64Array(0),
    intr: Number.NaN,
    ctxt: Number.NaN,
    btime: Number.NaN,
    processes: Number.NaN,
    running: Number.NaN,
    blocked: Number.NaN,
  }
}

/**
 * Fills `stat` and returns it. The last values of the wait column are kept to hide small decreases; to see these, pass a
 * new table each time.
 */
export function parseStat(scan: Scanner, stat: ProcStat): ProcStat {
  stat.intr = stat.ctxt = stat.btime = stat.processes = stat.running = stat.blocked = Number.NaN
  let cpus = 0
  let changed = false
  let hasTotal = false
  do {
    if (scan.accept('cpu')) {
      if (scan.accept(' ')) {
        readColumns(scan, stat.all, 0)
        hasTotal = true
        continue
      }
      const id = scan.uint()
      if (!(id < MAX_CPUS)) continue
      if ((id + 1) * CPU_COLUMNS > stat.perCpu.length) stat.perCpu = grown(stat.perCpu, id + 1)
      readColumns(scan, stat.perCpu, id * CPU_COLUMNS)
      if (stat.ids[cpus] !== id) changed = true
      if (changed) stat.ids = [...stat.ids.slice(0, cpus), id]
      cpus++
    } else if (scan.accept('intr ')) stat.intr = scan.uint()
    else if (scan.accept('ctxt ')) stat.ctxt = scan.uint()
    else if (scan.accept('btime ')) stat.btime = scan.uint()
    else if (scan.accept('processes ')) stat.processes = scan.uint()
    else if (scan.accept('procs_running ')) stat.running = scan.uint()
    else if (scan.accept('procs_blocked ')) stat.blocked = scan.uint()
  } while (scan.nextLine())
  if (stat.ids.length !== cpus) stat.ids = stat.ids.slice(0, cpus)
  if (!hasTotal) stat.all.fill(Number.NaN)
  else if (cpus <= 1) oneCpu(stat)
  return stat
}

/** Larger than any kernel's NR_CPUS: a limit for the numbers in lines. */
const MAX_CPUS = 65536

/** Hidden decrease of a CPU's wait time in ticks: the kernel's estimate is not monotonic. */
const WAIT_SLACK = 100

function readColumns(scan: Scanner, into: Float64Array, at: number): void {
  const wait = into[at + WAIT]!
  for (let i = 0; i < CPU_COLUMNS; i++) into[at + i] = scan.uint()
  const back = wait - into[at + WAIT]!
  if (back > 0 && back < WAIT_SLACK) into[at + WAIT] = wait
}

function grown(table: Float64Array, cpus: number): Float64Array {
  const larger = new Float64Array(Math.max(cpus * CPU_COLUMNS, table.length * 2))
  larger.set(table)
  return larger
}

/** Kernels without SMP write only the total; with one CPU it is also that CPU's line. */
function oneCpu(stat: ProcStat): void {
  const id = stat.ids[0] ?? 0
  if (stat.ids.length === 0) stat.ids = [id]
  if ((id + 1) * CPU_COLUMNS > stat.perCpu.length) stat.perCpu = grown(stat.perCpu, id + 1)
  stat.perCpu.set(stat.all, id * CPU_COLUMNS)
}
