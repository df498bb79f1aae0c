/** Twenty incidents: what each does to the host, and which metrics name its cause. */
import type { Host } from './host-model.ts'
import type { Random } from './random.ts'

/** Progress of an incident. */
export interface Progress {
  /** Seconds since its start. */
  readonly seconds: number
  /** Seconds from its start to the end of the recording. */
  readonly of: number
  readonly random: Random
}

/** An incident. */
export interface Incident {
  readonly name: string
  /** Metrics that name the cause, as a pattern of `METRIC[INSTANCE]`. */
  readonly named: RegExp
  /** Changes the host of one interval. */
  act(host: Host, progress: Progress): void
}

/** Slows requests down: less is done while something is in the way. */
function slow(host: Host, by: number): void {
  host.requests *= by
  for (const part of [
    'user',
    'sys',
    'inBytes',
    'outBytes',
    'inPackets',
    'outPackets',
    'opens',
    'softirq',
  ] as const)
    host[part] *= by
  host.cpu.web *= by
  host.cpu.db *= by
  host.established = Math.round(host.established * (1 + (1 - by) * 0.6))
}

export const INCIDENTS: readonly Incident[] = [
  {
    name: 'CPU hog',
    named:
      /^(kernel\.(all|percpu)\.cpu\.(user|idle|vuser)|kernel\.all\.pressure\.cpu|containers\.cpu\.(usage|user)\[batch)/,
    act(host, { random }) {
      const hog = 6.5 * random.around(0.04)
      host.user += hog
      host.cpu.batch += hog
      host.switches *= 1.1
    },
  },
  {
    name: 'memory leak',
    named:
      /^(mem\.(util\.(anonpages|available|used|free|committed_AS)|freemem)|containers\.memory\.(current|working_set|anon)\[web)/,
    act(host, { seconds, random }) {
      host.anonKb.web += seconds * 1.6e3 * random.around(0.01)
      host.faults += 400
    },
  },
  {
    name: 'disk full',
    named: /^filesys\.(used|avail|full)\[\/dev\/sda2/,
    act(host, { seconds, of }) {
      const before = host.var.usedKb
      host.var.usedKb += (56e6 - before) * Math.min(1, seconds / of) ** 0.5
      host.sda.writes += 25
      host.sda.writeKb = host.sda.writes * 300
    },
  },
  {
    name: 'slow disk',
    named: /^disk\.(dev|all)\.(avactive|aveq|read_rawactive|write_rawactive)/,
    act(host, { random }) {
      host.sdb.readMs *= 18 * random.around(0.1)
      host.sdb.writeMs *= 18 * random.around(0.1)
      slow(host, 0.75)
    },
  },
  {
    name: 'packet loss',
    named: /^network\.interface\.in\.(errors|drops)\[eth0/,
    act(host, { random }) {
      host.inErrors += random.events(90) / 10
      host.retransmits += random.events(300) / 10
      slow(host, 0.9)
    },
  },
  {
    name: 'steal',
    named: /^kernel\.(all|percpu)\.cpu\.steal/,
    act(host, { random }) {
      host.steal += 2.2 * random.around(0.15)
      host.queued += 1.5 * random.around(0.3)
      host.cpuPressure += 0.2
      slow(host, 0.85)
    },
  },
  {
    name: 'fork bomb',
    named: /^kernel\.all\.(sysfork|nprocs|running)|^containers\.pids/,
    act(host, { seconds, random }) {
      const processes = Math.min(6000, seconds * 12)
      host.forks += 180 * random.around(0.1)
      host.processes += processes
      host.queued += processes * 0.01
      host.sys += 3.5 * random.around(0.05)
      host.switches += 15_000 * random.around(0.1)
      host.faults += 60_000 * random.around(0.1)
    },
  },
  {
    name: 'lock contention',
    named: /^kernel\.all\.pswitch/,
    act(host, { random }) {
      slow(host, 0.7)
      host.switches += 90_000 * random.around(0.1)
      host.sys += 1.1 * random.around(0.1)
      host.cpu.db += 1.1
      host.interrupts[3]! += 9000 * random.around(0.1)
    },
  },
  {
    name: 'swap storm',
    named: /^(swap\.|swapdev\.|mem\.util\.swapCached|containers\.memory\.swap)/,
    act(host, { seconds, of, random }) {
      const pages = 2500 * random.around(0.3)
      host.otherAnonKb += 6.5e6
      host.swapUsedKb += 3.2e6 * Math.min(1, (2 * seconds) / of)
      host.swapIn += pages
      host.swapOut += pages * 0.8
      host.majorFaults += pages * 0.5
      host.cachedKb *= 0.35
      host.scanDirect += pages * 2
      host.scanKswapd += pages * 4
      host.stalls += 20 * random.around(0.4)
      host.memoryPressure += 0.25 * random.around(0.2)
      host.sda.reads += pages / 8
      host.sda.writes += pages / 10
      slow(host, 0.6)
    },
  },
  {
    name: 'cgroup throttling',
    named: /^containers\.(cpu\.throttled\.time|pressure\.cpu\.some)\[web/,
    act(host, { random }) {
      host.throttled.web += 0.6 * random.around(0.15)
      slow(host, 0.7)
    },
  },
  {
    name: 'interrupt storm',
    named: /^kernel\.(all\.(intr|interrupts\.total|softirqs)|(all|percpu)\.cpu\.(intr|irq))/,
    act(host, { random }) {
      host.interrupts[1]! += 45_000 * random.around(0.1)
      host.hardirq += 0.7 * random.around(0.1)
    },
  },
  {
    name: 'inode exhaustion',
    named: /^filesys\.(usedfiles|freefiles)\[\/dev\/sda2/,
    act(host, { seconds, of, random }) {
      host.var.usedFiles += (3.88e6 - host.var.usedFiles) * Math.min(1, seconds / of) ** 0.5
      host.inodes += Math.min(400e3, seconds * 300)
      host.slabKb += Math.min(0.3e6, seconds * 200)
      host.sda.writes += 20 * random.around(0.2)
    },
  },
  {
    name: 'TCP retransmits',
    named: /^network\.tcp\.(retranssegs|timeouts)/,
    act(host, { random }) {
      host.retransmits += random.events(900) / 10
      host.tcpTimeouts += random.events(120) / 10
      slow(host, 0.85)
    },
  },
  {
    name: 'SYN flood',
    named: /^network\.tcp\.(listendrops|listenoverflows|attemptfails)/,
    act(host, { random }) {
      host.listenDrops += random.events(4000) / 10
      host.failedOpens += random.events(3000) / 10
      host.inPackets += 5000 * random.around(0.1)
      host.inBytes += 300e3 * random.around(0.1)
      host.softirq += 0.1
      host.interrupts[2]! += 2000
    },
  },
  {
    name: 'file descriptor leak',
    named: /^(vfs\.files\.count|network\.tcpconn\.close_wait|network\.sockstat\.total)/,
    act(host, { seconds }) {
      host.openFiles += Math.round(seconds * 5)
      host.closeWait += Math.round(seconds * 1.5)
      host.slabKb += seconds * 12
    },
  },
  {
    name: 'zombie processes',
    named: /^kernel\.all\.nprocs/,
    act(host, { seconds }) {
      host.processes += Math.round(seconds * 0.5)
    },
  },
  {
    name: 'runaway logging',
    named:
      /^(disk\.(dev|all|partitions)\.(write|write_bytes|total)|containers\.io\.wbytes\[web|filesys\.(used|avail|full)\[\/dev\/sda2)/,
    act(host, { random }) {
      host.sda.writes += 220 * random.around(0.15)
      host.sda.writeKb = host.sda.writes * 120
      host.var.usedKb += 180e3
      host.dirtyKb *= 8
      host.sys += 0.2
    },
  },
  {
    name: 'page cache eviction',
    named:
      /^mem\.(util\.cached|vmstat\.(pgmajfault|pgscan|pgsteal|pgpgin))|^disk\.(dev|all)\.read|^mem\.util\.anonpages/,
    act(host, { random }) {
      host.otherAnonKb += 5.2e6
      host.cachedKb *= 0.3
      host.majorFaults += 160 * random.around(0.3)
      host.scanKswapd += 5000 * random.around(0.3)
      host.sdb.reads += 350 * random.around(0.2)
      slow(host, 0.85)
    },
  },
  {
    name: 'NFS stall',
    named: /^kernel\.all\.(blocked|load)/,
    act(host, { seconds }) {
      host.blocked += Math.min(60, 1 + Math.floor(seconds / 20))
      host.ioPressure = 0
      slow(host, 0.8)
    },
  },
  {
    name: 'network saturation',
    named:
      /^(network\.interface\.out\.(bytes|packets|drops)\[eth0|containers\.network\.out|network\.(ip\.outrequests|tcp\.outsegs))/,
    act(host, { random }) {
      host.outBytes += 108e6 * random.around(0.03)
      host.outPackets += 76_000 * random.around(0.03)
      host.inPackets += 20_000 * random.around(0.05)
      host.outDrops += random.events(60) / 10
      host.retransmits += random.events(200) / 10
      host.sdb.reads += 60
      host.sdb.readKb = 100e3
      host.softirq += 0.3
      host.interrupts[2]! += 12_000 * random.around(0.1)
    },
  },
]

/** Small changes that are of no importance, at any time: an incident is never alone. */
export const DISTRACTORS: readonly ((host: Host, random: Random) => void)[] = [
  (host) => (host.udp *= 1.7),
  (host) => (host.loopback *= 1.6),
  (host) => (host.users += 1),
  (host) => (host.fileKb.cache *= 1.3),
  (host) => (host.timeWait = Math.round(host.timeWait * 1.4)),
  (host) => (host.resets *= 1.5),
  (host) => (host.dirtyKb *= 1.5),
  (host) => (host.processes += 6),
  (host) => (host.forks *= 1.4),
  (host) => (host.openFiles += 120),
  (host) => (host.anonKb.web *= 1.1),
  (host, { events }) => (host.inDrops += events(0.2) / 10),
  (host) => {
    host.sdb.reads *= 1.5
    host.cpu.db *= 1.1
  },
  (host) => {
    host.requests *= 1.2
    host.user *= 1.15
    host.outBytes *= 1.2
    host.inBytes *= 1.2
  },
]
