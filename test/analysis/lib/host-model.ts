/**
 * A host with a web service, a database and jobs of cron: what they use in each interval, and what follows from it. The figures of
 * noise are those of recordings of real machines: a tenth to a third for rates, strongly autocorrelated memory, bursts by timers.
 */
import type { Random } from './random.ts'

/** Seconds between records. */
export const STEP = 10
export const CPUS = 8
export const CONTAINERS = ['web', 'db', 'cache', 'batch'] as const
export type Container = (typeof CONTAINERS)[number]
const MEMORY_KB = 16 * 2 ** 20
const SWAP_KB = 4 * 2 ** 20

/** A disk in one interval; rates are by second. */
export interface Disk {
  reads: number
  writes: number
  readKb: number
  writeKb: number
  /** Milliseconds of an operation. */
  readMs: number
  writeMs: number
}

/** A file system. */
export interface FileSystem {
  readonly sizeKb: number
  readonly files: number
  usedKb: number
  usedFiles: number
}

/** The host in one interval; incidents change it. Rates are by second, CPU in processors. */
export interface Host {
  requests: number
  user: number
  sys: number
  steal: number
  hardirq: number
  softirq: number
  /** CPU by container; part of `user` and `sys`. */
  readonly cpu: Record<Container, number>
  readonly throttled: Record<Container, number>
  readonly anonKb: Record<Container, number>
  readonly fileKb: Record<Container, number>
  otherAnonKb: number
  cachedKb: number
  dirtyKb: number
  slabKb: number
  swapUsedKb: number
  swapIn: number
  swapOut: number
  majorFaults: number
  faults: number
  scanKswapd: number
  scanDirect: number
  stalls: number
  forks: number
  processes: number
  switches: number
  /** Interrupts by line: timer, disk, network, rescheduling. */
  readonly interrupts: number[]
  /** Further tasks in uninterruptible sleep, and runnable tasks without a CPU. */
  blocked: number
  queued: number
  readonly sda: Disk
  readonly sdb: Disk
  inBytes: number
  outBytes: number
  inPackets: number
  outPackets: number
  inErrors: number
  inDrops: number
  outDrops: number
  loopback: number
  retransmits: number
  tcpTimeouts: number
  listenDrops: number
  failedOpens: number
  resets: number
  opens: number
  established: number
  timeWait: number
  closeWait: number
  udp: number
  readonly root: FileSystem
  readonly var: FileSystem
  readonly data: FileSystem
  openFiles: number
  inodes: number
  users: number
  /** Results of `settle`. */
  wait: number
  cpuPressure: number
  ioPressure: number
  memoryPressure: number
}

/** The slow state of a host, and its normal life. */
export class HostModel {
  readonly #random: Random
  readonly #phase: number
  /** Autocorrelated noise by name. */
  readonly #slow = new Map<string, number>()
  readonly root: FileSystem = { sizeKb: 40e6, files: 2.6e6, usedKb: 22e6, usedFiles: 310e3 }
  readonly var: FileSystem = { sizeKb: 60e6, files: 3.9e6, usedKb: 31e6, usedFiles: 120e3 }
  readonly data: FileSystem = { sizeKb: 500e6, files: 32e6, usedKb: 290e6, usedFiles: 84e3 }
  #cachedKb = 5.6e6

  constructor(random: Random) {
    this.#random = random
    this.#phase = random.uniform() * 86400
  }

  /** Returns a factor about 1 that changes slowly: `minutes` is how long it remembers. */
  #drift(name: string, deviation: number, minutes = 4): number {
    const keep = Math.exp(-STEP / (60 * minutes))
    const before = this.#slow.get(name) ?? this.#random.normal()
    const now = keep * before + Math.sqrt(1 - keep ** 2) * this.#random.normal()
    this.#slow.set(name, now)
    return Math.exp(deviation * now)
  }

  /** Returns the host without an incident, at a time in seconds. */
  normal(time: number): Host {
    const { around, events, uniform } = this.#random
    const day = 1 + 0.35 * Math.sin((2 * Math.PI * (time + this.#phase)) / 86400)
    const requests = 600 * day * this.#drift('requests', 0.12) * around(0.08)
    const minute = Math.floor(time / 60)
    // Jobs of cron: one each 5 minutes, a larger one each 30, some seconds long.
    const job = (every: number, seconds: number): number =>
      time - Math.floor(minute / every) * every * 60 < seconds ? 1 : 0
    const small = job(5, 20) * around(0.2)
    const large = job(30, 60) * around(0.2)
    const cpu = {
      web: requests * 0.0014 * around(0.05),
      db: requests * 0.0007 * around(0.08) + 0.1 * large,
      cache: requests * 0.0002 * around(0.05),
      batch: 0.02 * around(0.3) + 0.35 * large,
    }
    const used = cpu.web + cpu.db + cpu.cache + cpu.batch + 0.15 * around(0.2) + 0.3 * small
    this.#cachedKb += 60 * this.#random.normal() + 25
    this.var.usedKb += 30 * around(0.3)
    this.data.usedKb += requests * 0.2
    this.var.usedFiles += events(0.05)
    const writes = requests * 0.05 * around(0.15) + 12 * this.#drift('journal', 0.2)
    const packets = requests * 9 * around(0.05)
    return {
      requests,
      user: used * 0.72,
      sys: used * 0.25,
      steal: 0.004 * around(0.5),
      hardirq: 0.01 * around(0.1),
      softirq: packets * 3e-6,
      cpu,
      throttled: { web: 0, db: 0, cache: 0, batch: large * 0.05 },
      anonKb: {
        web: 0.9e6 * this.#drift('web', 0.02, 20),
        db: 3.2e6 * this.#drift('db', 0.005, 30),
        cache: 1.1e6,
        batch: 0.05e6 + 0.2e6 * large,
      },
      fileKb: { web: 0.2e6, db: 3.1e6 * this.#drift('db files', 0.004, 30), cache: 0.02e6, batch: 0.1e6 },
      otherAnonKb: 0.7e6 * this.#drift('other', 0.006, 30),
      cachedKb: this.#cachedKb,
      dirtyKb: 14e3 * this.#drift('dirty', 0.4, 1),
      slabKb: 0.6e6 * this.#drift('slab', 0.003, 30),
      swapUsedKb: 21e3,
      swapIn: events(0.02),
      swapOut: 0,
      majorFaults: events(0.3) + 4 * small,
      faults: requests * 6 * around(0.1) + 9000 * small,
      scanKswapd: uniform() < 0.01 ? 300 * uniform() : 0,
      scanDirect: 0,
      stalls: 0,
      forks: 2.2 * around(0.2) + 18 * small + 30 * large,
      processes: 231 + Math.round(3 * this.#random.normal()) + 4 * Math.round(small),
      switches: 2400 + requests * 11 * around(0.06),
      interrupts: [
        1900 * around(0.05),
        (writes + 20) * around(0.1),
        packets * 0.4 * around(0.05),
        requests * 2 * around(0.1),
      ],
      blocked: 0,
      queued: 0,
      sda: {
        reads: 0.6 * around(0.6) + 20 * small,
        writes: 9 * this.#drift('sda', 0.15) * around(0.15),
        readKb: 0,
        writeKb: 0,
        readMs: 0.6 * around(0.2),
        writeMs: 1.4 * around(0.2),
      },
      sdb: {
        reads: requests * 0.02 * around(0.3),
        writes: writes + 160 * large,
        readKb: 0,
        writeKb: 0,
        readMs: 0.7 * around(0.15),
        writeMs: 1.2 * around(0.15),
      },
      inBytes: requests * 1500 * around(0.06),
      outBytes: requests * 14e3 * around(0.08),
      inPackets: packets,
      outPackets: packets * 1.2 * around(0.02),
      inErrors: 0,
      inDrops: events(0.02) / STEP,
      outDrops: 0,
      loopback: 30e3 * this.#drift('loopback', 0.2) + 40e3 * small,
      retransmits: events(requests * 0.01) / STEP,
      tcpTimeouts: events(0.4) / STEP,
      listenDrops: 0,
      failedOpens: events(0.3) / STEP,
      resets: events(1.5) / STEP,
      opens: requests * 0.3 * around(0.1),
      established: Math.round(180 * day * this.#drift('established', 0.06)),
      timeWait: Math.round(90 * this.#drift('time wait', 0.12)),
      closeWait: events(1),
      udp: 5 * around(0.4),
      root: this.root,
      var: this.var,
      data: this.data,
      openFiles: 4400 + Math.round(250 * this.#drift('files', 0.25, 3)),
      inodes: 142e3 + Math.round(1000 * this.#drift('inodes', 0.1, 20)),
      users: 1,
      wait: 0,
      cpuPressure: 0,
      ioPressure: 0,
      memoryPressure: 0,
    }
  }

  /** Computes what follows from demand: waiting, pressure, queues and sizes of operations. */
  settle(host: Host): void {
    const { around, uniform } = this.#random
    const busy = host.user + host.sys + host.steal + host.hardirq + host.softirq
    const over = Math.max(0, busy - CPUS * 0.97)
    if (over > 0) {
      const fits = 1 - over / (host.user + host.sys)
      host.user *= fits
      host.sys *= fits
      host.queued += over
    }
    host.cpuPressure = Math.min(0.98, 0.006 * around(0.4) + 0.02 * (busy / CPUS) ** 3 + over * 0.25)
    for (const disk of [host.sda, host.sdb]) {
      disk.readKb = (disk.readKb || disk.reads * 22) * around(0.1)
      disk.writeKb = (disk.writeKb || disk.writes * 18) * around(0.1)
    }
    const waiting = [host.sda, host.sdb].reduce(
      (sum, { reads, writes, readMs, writeMs }) => sum + (reads * readMs + writes * writeMs) / 1000,
      0,
    )
    host.ioPressure = Math.min(0.97, 0.002 * around(0.5) + waiting * 0.35 + host.blocked * 0.01)
    host.wait = Math.min(CPUS - Math.min(CPUS, busy), waiting * 0.5 + 0.01 * around(0.5))
    host.blocked += uniform() < Math.min(1, waiting) ? Math.ceil(waiting) : 0
    host.memoryPressure = Math.min(0.97, host.memoryPressure + (host.swapIn + host.scanDirect) * 2e-5)
  }

  /** Memory of a host in KB. */
  static memory(host: Host): { used: number; free: number; available: number; anon: number } {
    const swapped = host.swapUsedKb - 21e3
    const anon = Object.values(host.anonKb).reduce((sum, kb) => sum + kb, host.otherAnonKb) - swapped
    const used = Math.min(MEMORY_KB - 90e3, anon + host.cachedKb + host.slabKb + 0.6e6)
    const free = MEMORY_KB - used
    return { used, free, available: Math.min(MEMORY_KB, free + host.cachedKb * 0.85), anon }
  }

  static readonly swapKb: number = SWAP_KB
}
