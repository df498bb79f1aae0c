/** Samples all processes periodically and selects the hot ones. */
import { every } from '../../../base/every.ts'
import { Scanner } from '../../../base/scan.ts'
import { PcpError } from '../../../model/errors.ts'
import { counterRate } from '../../../model/rate.ts'
import { readAttribute } from '../../../sys/proc.ts'
import type { ProcContext } from '../context.ts'
import type { Content, ProcessFiles } from '../process-files.ts'
import type { ProcessList } from '../process-list.ts'
import { columnAfter, numberAfter } from '../sample.ts'
import { parseStat } from '../stat.ts'
import { busiest, type ResourceUse } from './busiest.ts'
import type { HotVariables, Predicate } from './predicate.ts'

/** Resource use of a process since its start. */
interface Used {
  /** Ticks after boot: a different start means a different process. */
  readonly start: number
  readonly cpuSec: number
  readonly switches: number
  readonly ioBytes: number
  readonly ioWaitSec: number
  readonly runDelaySec: number
  readonly minorFaults: number
  readonly majorFaults: number
}

/** Shares of CPU time, in seconds per second. */
export interface HotTotals {
  readonly cpuidle: number
  readonly cpuburn: number
  readonly transient: number
  readonly notCpuburn: number
}

const NO_TOTALS: HotTotals = { cpuidle: 0, cpuburn: 0, transient: 0, notCpuburn: 0 }
/** Columns of /proc/PID/stat. */
const MINOR_FAULTS = 10
const MAJOR_FAULTS = 12
const UTIME = 14
const STIME = 15
const START = 22
const VSIZE = 23
const RSS = 24
const BLKIO_DELAY = 42
/** Characters of arguments compared, as in PCP. */
const ARGUMENTS = 255

/** The hot processes, as of the last sample. */
export class HotSampler {
  readonly #ctx: ProcContext
  readonly #files: ProcessFiles
  readonly #list: ProcessList
  readonly #scan = new Scanner()
  #used = new Map<number, Used>()
  #sampledAt = 0
  #hasRates = false
  #idleSec = 0
  #hot = new Map<number, HotVariables>()
  #totals: HotTotals = NO_TOTALS
  #timer: NodeJS.Timeout | undefined
  #refreshSec = 10
  #predicate: Predicate | undefined
  /** Without a predicate, so many processes of each resource are hot. */
  readonly #top: number

  /** With `top` and no predicate, the `top` busiest processes by each resource are hot; 0 for none, as in PCP. */
  constructor(ctx: ProcContext, files: ProcessFiles, list: ProcessList, top = 0) {
    this.#ctx = ctx
    this.#files = files
    this.#list = list
    this.#top = top
    this.#restart()
  }

  /** Facts about the hot processes by PID, in ascending order. */
  get hot(): ReadonlyMap<number, HotVariables> {
    return this.#hot
  }

  /** Whether rates are known. PCP has 0 before the second sample, without which a predicate has no values to compare. */
  get hasRates(): boolean {
    return this.#hasRates || this.#predicate !== undefined
  }

  /** Without a predicate: takes a sample if the last one is so old that a process may be missing that is the busiest since. */
  refresh(): void {
    if (this.#predicate !== undefined || !this.#isSampling) return
    const age = this.#ctx.env.clock() / 1000 - this.#sampledAt
    if (age < this.#refreshSec / 2) return
    this.sample()
    this.#schedule()
  }

  get totals(): HotTotals {
    return this.#totals
  }

  get refreshSec(): number {
    return this.#refreshSec
  }

  set refreshSec(seconds: number) {
    this.#refreshSec = seconds
    this.#restart()
  }

  get predicate(): Predicate | undefined {
    return this.#predicate
  }

  /** Sets the predicate; without one the busiest processes are hot, if the constructor was given a number of them. */
  set predicate(predicate: Predicate | undefined) {
    this.#predicate = predicate
    this.#restart()
  }

  /** Stops sampling. */
  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Takes a sample. The first one only provides the base of the next one's rates. */
  sample(): void {
    if (!this.#isSampling) return
    const now = this.#ctx.env.clock() / 1000
    const seconds = this.#sampledAt === 0 ? 0 : now - this.#sampledAt
    const used = new Map<number, Used>()
    const all = new Map<number, HotVariables>()
    const hot = new Map<number, HotVariables>()
    let burnt = 0
    let others = 0
    for (const pid of this.#list.all()) {
      const read = this.#read(pid)
      if (read === undefined) continue // ended in the meantime
      all.set(pid, this.#facts(pid, read, seconds))
      used.set(pid, read.used)
    }
    const isHot = this.#choice(all, used, seconds)
    for (const [pid, facts] of all) {
      if (isHot(pid, facts)) {
        hot.set(pid, facts)
        burnt += facts.cpuburn
      } else others += facts.cpuburn
    }
    const { idleSec, cpus } = this.#machine()
    const idle = counterRate(this.#idleSec, idleSec, seconds) ?? 0
    this.#totals =
      seconds > 0
        ? {
            cpuidle: idle,
            cpuburn: burnt,
            notCpuburn: others,
            transient: Math.max(0, cpus - idle - burnt - others),
          }
        : NO_TOTALS
    this.#hasRates = seconds > 0
    this.#used = used
    this.#hot = hot
    this.#sampledAt = now
    this.#idleSec = idleSec
  }

  get #isSampling(): boolean {
    return this.#predicate !== undefined || this.#top > 0
  }

  /** Returns which processes are hot: those that match the predicate, else the busiest. */
  #choice(
    all: ReadonlyMap<number, HotVariables>,
    used: ReadonlyMap<number, Used>,
    seconds: number,
  ): (pid: number, facts: HotVariables) => boolean {
    const predicate = this.#predicate
    if (predicate !== undefined) return (_, facts) => predicate.matches(facts)
    const uses = Array.from(all, ([pid, { cpuburn, iodemand, residentsize }]): ResourceUse => {
      const now = used.get(pid)!
      return {
        pid,
        cpu: cpuburn,
        io: iodemand,
        rss: residentsize,
        minorFaults: this.#rate(pid, now, 'minorFaults', seconds),
        majorFaults: this.#rate(pid, now, 'majorFaults', seconds),
      }
    })
    const chosen = busiest(uses, this.#top)
    return (pid) => chosen.has(pid)
  }

  #rate(pid: number, now: Used, what: keyof Used, seconds: number): number {
    const before = this.#used.get(pid)
    if (seconds <= 0) return 0
    if (before?.start === now.start) return counterRate(before[what], now[what], seconds) ?? 0
    // In PCP a new process has no rates yet. Of the busiest, one that lives for seconds only must not be missed.
    return this.#predicate === undefined ? now[what] / seconds : 0
  }

  #restart(): void {
    this.close()
    this.#hasRates = false
    this.#used = new Map()
    this.#hot = new Map()
    this.#totals = NO_TOTALS
    this.#sampledAt = 0
    if (!this.#isSampling) return
    this.sample()
    this.#schedule()
  }

  #schedule(): void {
    this.close()
    this.#timer = every(
      this.#refreshSec * 1000,
      () => this.sample(),
      (error) =>
        this.#ctx.env.log('warning', `Hot processes are not sampled: ${PcpError.from(error).message}`),
    )
    this.#timer.unref()
  }

  #facts(pid: number, { used, vsize, rss, comm, uid, gid }: Read, seconds: number): HotVariables {
    const rate = (what: keyof Used): number => this.#rate(pid, used, what, seconds)
    const { accounts } = this.#ctx
    const list = this.#list
    return {
      cpuburn: rate('cpuSec'),
      ctxswitch: rate('switches'),
      virtualsize: vsize,
      residentsize: rss,
      iodemand: rate('ioBytes'),
      iowait: rate('ioWaitSec'),
      schedwait: rate('runDelaySec'),
      uid,
      gid,
      fname: comm,
      // read on demand: expensive, and rarely used in predicates
      get uname() {
        return accounts.userName(uid) ?? ''
      },
      get gname() {
        return accounts.groupName(gid) ?? ''
      },
      get psargs() {
        return list.arguments(pid).slice(0, ARGUMENTS)
      },
    }
  }

  #read(pid: number): Read | undefined {
    try {
      const stat = parseStat(this.#start(this.#content(pid, 'stat')))
      if (stat === undefined) return undefined
      const { columns, comm } = stat
      const status = this.#text(pid, 'status')
      const io = this.#text(pid, 'io')
      const { hertz, pagesize } = this.#ctx
      const delay = this.#start(this.#content(pid, 'schedstat'))
      delay.skipWords(1)
      return {
        comm,
        vsize: Math.floor(columns[VSIZE]! / 1024),
        rss: (columns[RSS]! * pagesize) / 1024,
        uid: columnAfter(status, '\nUid:', 0),
        gid: columnAfter(status, '\nGid:', 0),
        used: {
          start: columns[START]!,
          cpuSec: (columns[UTIME]! + columns[STIME]!) / hertz,
          switches:
            numberAfter(status, '\nvoluntary_ctxt_switches:') +
            numberAfter(status, '\nnonvoluntary_ctxt_switches:'),
          ioBytes: numberAfter(io, '\nread_bytes:') + numberAfter(io, '\nwrite_bytes:'),
          ioWaitSec: columns[BLKIO_DELAY]! / hertz,
          runDelaySec: delay.uint() / 1e9,
          minorFaults: columns[MINOR_FAULTS]!,
          majorFaults: columns[MAJOR_FAULTS]!,
        },
      }
    } catch (error) {
      if (error instanceof PcpError) throw error
      return undefined
    }
  }

  #content(pid: number, file: string): Content {
    return this.#files.read(this.#files.path(pid, file, false))
  }

  #start({ bytes, end }: Content): Scanner {
    this.#scan.reset(bytes, end).pos = 1
    return this.#scan
  }

  /** '' for a file that is not readable or does not exist in this kernel. */
  #text(pid: number, file: string): string {
    try {
      const { bytes, end } = this.#content(pid, file)
      return bytes.toString('latin1', 0, end)
    } catch {
      return ''
    }
  }

  #machine(): { readonly idleSec: number; readonly cpus: number } {
    const text = `\n${readAttribute(this.#ctx.root, '/proc/stat') ?? ''}`
    return {
      idleSec: columnAfter(text, '\ncpu ', 3) / this.#ctx.hertz,
      cpus: (text.match(/\ncpu\d/g) ?? []).length,
    }
  }
}

interface Read {
  readonly comm: string
  readonly vsize: number
  readonly rss: number
  readonly uid: number
  readonly gid: number
  readonly used: Used
}
