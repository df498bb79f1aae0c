/**
 * The metrics that `npm start` records of the model: names and intervals of share/pmlogger/config.default, descriptors of the recorded agent
 * (test/vectors/metrics). Metrics that the model does not change are constant.
 */
import { readFileSync } from 'node:fs'
import { CONTAINERS, CPUS, type Disk, type FileSystem, type Host, HostModel, STEP } from './host-model.ts'
import type { Random } from './random.ts'

/** A metric of the model. */
export interface ModelMetric {
  readonly name: string
  readonly type: string
  readonly sem: string
  readonly units: string
  readonly instances: readonly string[] | undefined
  /** Seconds between values. */
  readonly every: number
  /** Returns the values by instance in the metric's units; those of a counter are rates by second. */
  readonly values: (host: Host, random: Random) => readonly number[]
}

const FILE_SYSTEMS = ['/dev/sda1', '/dev/sda2', '/dev/sdb1']
const MSEC = 1000
const USEC = 1e6

const one =
  (of: (host: Host, random: Random) => number) =>
  (host: Host, random: Random): readonly number[] => [of(host, random)]
const disks =
  (of: (disk: Disk) => number) =>
  ({ sda, sdb }: Host) => [of(sda), of(sdb)]
const files = (of: (files: FileSystem) => number) => (host: Host) => [
  of(host.root),
  of(host.var),
  of(host.data),
]
const containers =
  (of: (host: Host, name: (typeof CONTAINERS)[number], random: Random) => number) =>
  (host: Host, random: Random) =>
    CONTAINERS.map((name) => of(host, name, random))
const both = (of: (disk: Disk) => number) => one(({ sda, sdb }) => of(sda) + of(sdb))
const percpu = (of: (host: Host) => number) => (host: Host, random: Random) =>
  Array.from({ length: CPUS }, () => Math.min(1, (of(host) / CPUS) * random.around(0.25)) * MSEC)
const memory = (of: keyof ReturnType<typeof HostModel.memory>) => one((host) => HostModel.memory(host)[of])
const interfaces = (loopback: (host: Host) => number, of: (host: Host) => number) => (host: Host) => [
  loopback(host),
  of(host),
]
const none = (): number => 0
const idle = (host: Host): number =>
  Math.max(0, CPUS - host.user - host.sys - host.steal - host.wait - host.hardirq - host.softirq)
const active = ({ reads, writes, readMs, writeMs }: Disk): number =>
  Math.min(MSEC, reads * readMs + writes * writeMs)
const queue = ({ reads, writes, readMs, writeMs }: Disk): number => reads * readMs + writes * writeMs

type Values = ModelMetric['values']

/** Averages of load and of pressure over 1, 5 and 15 minutes, 10, 60 and 300 seconds. */
class Averages {
  readonly #levels = new Map<string, number[]>()

  next(name: string, value: number, seconds: readonly number[]): readonly number[] {
    const before = this.#levels.get(name) ?? seconds.map(() => value)
    const now = before.map((level, i) => level + (value - level) * (1 - Math.exp(-STEP / seconds[i]!)))
    this.#levels.set(name, now)
    return now
  }
}

function movedValues(): Readonly<Record<string, Values>> {
  const averages = new Averages()
  const running = (host: Host): number => host.user + host.sys + host.queued
  const pressure = (of: (host: Host) => number, name: string): Readonly<Record<string, Values>> => ({
    [`kernel.all.pressure.${name}.total`]: one((host) => of(host) * USEC),
    [`kernel.all.pressure.${name}.avg`]: (host) =>
      averages.next(name, of(host) * 100, [10, 60, 300]).map((value) => Math.round(value * 100) / 100),
  })
  return {
    'kernel.all.load': (host) => averages.next('load', running(host) + host.blocked, [60, 300, 900]),
    'kernel.all.cpu.user': one(({ user }) => user * MSEC),
    'kernel.all.cpu.sys': one(({ sys }) => sys * MSEC),
    'kernel.all.cpu.idle': one((host) => idle(host) * MSEC),
    'kernel.all.cpu.wait.total': one(({ wait }) => wait * MSEC),
    'kernel.all.cpu.steal': one(({ steal }) => steal * MSEC),
    'kernel.all.cpu.intr': one(({ hardirq, softirq }) => (hardirq + softirq) * MSEC),
    'kernel.all.cpu.irq.soft': one(({ softirq }) => softirq * MSEC),
    'kernel.all.cpu.irq.hard': one(({ hardirq }) => hardirq * MSEC),
    'kernel.all.cpu.vuser': one(({ user }) => user * MSEC),
    'kernel.all.intr': one(({ interrupts }) => interrupts.reduce((sum, rate) => sum + rate, 0)),
    'kernel.all.interrupts.total': ({ interrupts }) => interrupts,
    'kernel.all.softirqs.total': (host) => [
      host.interrupts[0]!,
      host.interrupts[2]! * 1.5,
      host.interrupts[1]!,
    ],
    'kernel.all.pswitch': one(({ switches }) => switches),
    'kernel.all.sysfork': one(({ forks }) => forks),
    'kernel.all.running': one((host, { events }) => 1 + events(running(host))),
    'kernel.all.blocked': one(({ blocked }) => blocked),
    'kernel.all.nprocs': one(({ processes }) => processes),
    'kernel.all.nusers': one(({ users }) => users),
    ...pressure(({ cpuPressure }) => cpuPressure, 'cpu.some'),
    ...pressure(({ ioPressure }) => ioPressure, 'io.some'),
    ...pressure(({ ioPressure }) => ioPressure * 0.7, 'io.full'),
    ...pressure(({ memoryPressure }) => memoryPressure, 'memory.some'),
    ...pressure(({ memoryPressure }) => memoryPressure * 0.6, 'memory.full'),
    'kernel.percpu.cpu.user': percpu(({ user }) => user),
    'kernel.percpu.cpu.sys': percpu(({ sys }) => sys),
    'kernel.percpu.cpu.idle': percpu(idle),
    'kernel.percpu.cpu.wait.total': percpu(({ wait }) => wait),
    'kernel.percpu.cpu.steal': percpu(({ steal }) => steal),
    'mem.freemem': memory('free'),
    'mem.util.used': memory('used'),
    'mem.util.free': memory('free'),
    'mem.util.available': memory('available'),
    'mem.util.anonpages': memory('anon'),
    'mem.util.active': one((host) => HostModel.memory(host).anon * 0.8 + host.cachedKb * 0.5),
    'mem.util.inactive': one((host) => HostModel.memory(host).anon * 0.2 + host.cachedKb * 0.5),
    'mem.util.committed_AS': one((host) => HostModel.memory(host).anon * 1.6 + 1e6),
    'mem.util.cached': one(({ cachedKb }) => cachedKb),
    'mem.util.dirty': one(({ dirtyKb }) => dirtyKb),
    'mem.util.writeback': one(({ dirtyKb }, { uniform }) => (uniform() < 0.1 ? dirtyKb * 0.1 : 0)),
    'mem.util.slab': one(({ slabKb }) => slabKb),
    'mem.util.slabReclaimable': one(({ slabKb }) => slabKb * 0.7),
    'mem.util.slabUnreclaimable': one(({ slabKb }) => slabKb * 0.3),
    'mem.util.bufmem': one(() => 210e3),
    'mem.util.shmem': one(() => 95e3),
    'mem.util.mapped': one((_, { normal }) => 640e3 + 900 * normal()),
    'mem.util.pageTables': one(({ processes }) => processes * 180),
    'mem.util.kernelStack': one(({ processes }) => processes * 40),
    'mem.util.swapCached': one(({ swapUsedKb }) => swapUsedKb * 0.1),
    'mem.vmstat.pgmajfault': one(({ majorFaults }) => majorFaults),
    'mem.vmstat.pgfault': one(({ faults }) => faults),
    'mem.vmstat.pgpgin': one(({ sda, sdb }) => sda.readKb + sdb.readKb),
    'mem.vmstat.pgpgout': one(({ sda, sdb }) => sda.writeKb + sdb.writeKb),
    'mem.vmstat.pgscan_kswapd': one(({ scanKswapd }) => scanKswapd),
    'mem.vmstat.pgsteal_kswapd': one(({ scanKswapd }) => scanKswapd * 0.9),
    'mem.vmstat.pgscan_direct': one(({ scanDirect }) => scanDirect),
    'mem.vmstat.pgsteal_direct': one(({ scanDirect }) => scanDirect * 0.8),
    'mem.vmstat.allocstall': one(({ stalls }) => stalls),
    'swap.used': one(({ swapUsedKb }) => swapUsedKb * 1024),
    'swap.free': one(({ swapUsedKb }) => (HostModel.swapKb - swapUsedKb) * 1024),
    'swap.length': one(() => HostModel.swapKb * 1024),
    'swap.pagesin': one(({ swapIn }) => swapIn),
    'swap.pagesout': one(({ swapOut }) => swapOut),
    'swapdev.length': () => [HostModel.swapKb],
    'swapdev.free': ({ swapUsedKb }) => [HostModel.swapKb - swapUsedKb],
    'disk.all.total': both(({ reads, writes }) => reads + writes),
    'disk.all.read': both(({ reads }) => reads),
    'disk.all.write': both(({ writes }) => writes),
    'disk.all.read_bytes': both(({ readKb }) => readKb),
    'disk.all.write_bytes': both(({ writeKb }) => writeKb),
    'disk.all.avactive': both(active),
    'disk.dev.read': disks(({ reads }) => reads),
    'disk.dev.write': disks(({ writes }) => writes),
    'disk.dev.read_bytes': disks(({ readKb }) => readKb),
    'disk.dev.write_bytes': disks(({ writeKb }) => writeKb),
    'disk.dev.read_rawactive': disks(({ reads, readMs }) => reads * readMs),
    'disk.dev.write_rawactive': disks(({ writes, writeMs }) => writes * writeMs),
    'disk.dev.avactive': disks(active),
    'disk.dev.aveq': disks(queue),
    'disk.dev.read_merge': disks(({ reads }) => reads * 0.05),
    'disk.dev.write_merge': disks(({ writes }) => writes * 0.6),
    'disk.dev.flush': disks(({ writes }) => writes * 0.1),
    'disk.partitions.read_bytes': ({ sda, sdb }) => [sda.readKb * 0.5, sda.readKb * 0.5, sdb.readKb],
    'disk.partitions.write_bytes': ({ sda, sdb }) => [sda.writeKb * 0.2, sda.writeKb * 0.8, sdb.writeKb],
    'network.interface.in.bytes': interfaces(
      ({ loopback }) => loopback,
      ({ inBytes }) => inBytes,
    ),
    'network.interface.out.bytes': interfaces(
      ({ loopback }) => loopback,
      ({ outBytes }) => outBytes,
    ),
    'network.interface.in.packets': interfaces(
      ({ loopback }) => loopback / 300,
      ({ inPackets }) => inPackets,
    ),
    'network.interface.out.packets': interfaces(
      ({ loopback }) => loopback / 300,
      ({ outPackets }) => outPackets,
    ),
    'network.interface.in.errors': interfaces(none, ({ inErrors }) => inErrors),
    'network.interface.in.drops': interfaces(none, ({ inDrops }) => inDrops),
    'network.interface.out.drops': interfaces(none, ({ outDrops }) => outDrops),
    'network.interface.up': () => [1, 1],
    'network.interface.running': () => [1, 1],
    'network.ip.inreceives': one(({ inPackets }) => inPackets),
    'network.ip.outrequests': one(({ outPackets }) => outPackets),
    'network.tcp.retranssegs': one(({ retransmits }) => retransmits),
    'network.tcp.insegs': one(({ inPackets }) => inPackets * 0.98),
    'network.tcp.outsegs': one(({ outPackets }) => outPackets * 0.98),
    'network.tcp.activeopens': one(({ opens }) => opens * 0.1),
    'network.tcp.passiveopens': one(({ opens }) => opens),
    'network.tcp.attemptfails': one(({ failedOpens }) => failedOpens),
    'network.tcp.estabresets': one(({ resets }) => resets),
    'network.tcp.outrsts': one(({ resets }) => resets * 1.3),
    'network.tcp.listenoverflows': one(({ listenDrops }) => listenDrops),
    'network.tcp.listendrops': one(({ listenDrops }) => listenDrops),
    'network.tcp.timeouts': one(({ tcpTimeouts }) => tcpTimeouts),
    'network.tcpconn.established': one(({ established }) => established),
    'network.tcpconn.time_wait': one(({ timeWait }) => timeWait),
    'network.tcpconn.close_wait': one(({ closeWait }) => closeWait),
    'network.tcpconn.listen': one(() => 24),
    'network.udp.indatagrams': one(({ udp }) => udp),
    'network.udp.outdatagrams': one(({ udp }) => udp),
    'network.sockstat.total': one(({ established, timeWait }) => established + timeWait + 210),
    'network.sockstat.tcp.tw': one(({ timeWait }) => timeWait),
    'network.sockstat.tcp.mem': one(({ established }, { around }) =>
      Math.round(established * 0.4 * around(0.2)),
    ),
    'filesys.capacity': files(({ sizeKb }) => sizeKb),
    'filesys.used': files(({ usedKb }) => usedKb),
    'filesys.avail': files(({ usedKb, sizeKb }) => sizeKb * 0.95 - usedKb),
    'filesys.full': files(({ usedKb, sizeKb }) => (100 * usedKb) / (sizeKb * 0.95)),
    'filesys.usedfiles': files(({ usedFiles }) => usedFiles),
    'filesys.freefiles': files(({ usedFiles, files: all }) => all - usedFiles),
    'vfs.files.count': one(({ openFiles }) => openFiles),
    'vfs.inodes.count': one(({ inodes }) => inodes),
    'kernel.all.entropy.avail': one(() => 256),
    'pmcd.numclients': one(() => 3),
    'pmcd.numagents': one(() => 9),
  }
}

const CPU_PARTS = { usage: 1, user: 0.75, system: 0.25 }

function containerValues(): Readonly<Record<string, readonly [sem: string, units: string, values: Values]>> {
  const counter = (units: string, values: Values) => ['counter', units, values] as const
  const gauge = (values: Values) => ['instant', 'byte', values] as const
  return {
    ...Object.fromEntries(
      Object.entries(CPU_PARTS).map(([part, share]) => [
        `containers.cpu.${part}`,
        counter(
          'microsec',
          containers(({ cpu }, name) => cpu[name] * share * USEC),
        ),
      ]),
    ),
    'containers.cpu.throttled.time': counter(
      'microsec',
      containers(({ throttled }, name) => throttled[name] * USEC),
    ),
    'containers.memory.current': gauge(
      containers(({ anonKb, fileKb }, name) => (anonKb[name] + fileKb[name]) * 1024),
    ),
    'containers.memory.working_set': gauge(
      containers(({ anonKb, fileKb }, name) => (anonKb[name] + fileKb[name] * 0.3) * 1024),
    ),
    'containers.memory.anon': gauge(containers(({ anonKb }, name) => anonKb[name] * 1024)),
    'containers.memory.file': gauge(containers(({ fileKb }, name) => fileKb[name] * 1024)),
    'containers.memory.swap': gauge(
      containers(({ swapUsedKb }, name) => (name === 'db' ? swapUsedKb * 400 : 0)),
    ),
    'containers.memory.oom_kills': counter('count', containers(none)),
    'containers.io.rbytes': counter(
      'byte',
      containers(({ sdb }, name) => (name === 'db' ? sdb.readKb * 900 : 0)),
    ),
    'containers.io.wbytes': counter(
      'byte',
      containers(({ sda, sdb }, name) =>
        name === 'db' ? sdb.writeKb * 900 : name === 'web' ? sda.writeKb * 500 : 0,
      ),
    ),
    'containers.network.in.bytes': counter(
      'byte',
      containers(({ inBytes, loopback }, name) => (name === 'web' ? inBytes : loopback * 0.3)),
    ),
    'containers.network.out.bytes': counter(
      'byte',
      containers(({ outBytes, loopback }, name) => (name === 'web' ? outBytes : loopback * 0.3)),
    ),
    'containers.pressure.cpu.some': counter(
      'microsec',
      containers(
        ({ cpuPressure, throttled }, name) => Math.min(1, cpuPressure * 0.8 + throttled[name]) * USEC,
      ),
    ),
    'containers.pressure.memory.some': counter(
      'microsec',
      containers(({ memoryPressure }) => memoryPressure * 0.8 * USEC),
    ),
    'containers.pressure.io.some': counter(
      'microsec',
      containers(({ ioPressure }, name) => (name === 'db' ? ioPressure * 0.9 : 0.001) * USEC),
    ),
    'containers.pids.current': [
      'instant',
      'count',
      containers(({ processes }, name) => (name === 'web' ? processes * 0.2 : 7)),
    ],
  }
}

const INSTANCES: readonly (readonly [prefix: RegExp, instances: readonly string[]])[] = [
  [/^kernel\.all\.load$/, ['1 minute', '5 minute', '15 minute']],
  [/^kernel\.all\.pressure\..*avg$/, ['10 second', '1 minute', '5 minute']],
  [/^kernel\.all\.interrupts\.total$/, ['timer', 'sdb', 'eth0', 'RES']],
  [/^kernel\.all\.softirqs\.total$/, ['TIMER', 'NET_RX', 'BLOCK']],
  [/^kernel\.percpu\./, Array.from({ length: CPUS }, (_, i) => `cpu${i}`)],
  [/^disk\.dev\./, ['sda', 'sdb']],
  [/^disk\.partitions\./, ['sda1', 'sda2', 'sdb1']],
  [/^network\.interface\./, ['lo', 'eth0']],
  [/^filesys\./, FILE_SYSTEMS],
  [/^swapdev\./, ['/dev/sda3']],
  [/^containers\./, CONTAINERS],
]

const instancesOf = (name: string): readonly string[] | undefined =>
  INSTANCES.find(([prefix]) => prefix.test(name))?.[1]

/** Statements of the default configuration: names, and the seconds between their values. */
function recordedNames(): Map<string, number> {
  const text = readFileSync('share/pmlogger/config.default', 'utf8')
  const names = new Map<string, number>()
  for (const [, , count, unit, list] of text.matchAll(/log mandatory on ((\d+) (sec|min)) \{(.*?)\n\}/gs))
    for (const name of list!.split(/\s+/).filter(Boolean))
      names.set(name, Number(count) * (unit === 'min' ? 60 : 1))
  return names
}

interface Described {
  readonly name: string
  readonly type: string
  readonly sem: string
  readonly units: string
}

/** Returns the metrics of a new model. */
export function modelMetrics(): readonly ModelMetric[] {
  const moved = movedValues()
  const described = ['linux', 'pmcd'].flatMap(
    (agent) => JSON.parse(readFileSync(`test/vectors/metrics/${agent}.json`, 'utf8')) as readonly Described[],
  )
  const metrics: ModelMetric[] = []
  for (const [name, every] of recordedNames())
    for (const desc of described) {
      if ((desc.name !== name && !desc.name.startsWith(`${name}.`)) || desc.type === 'string') continue
      const instances = instancesOf(desc.name)
      const still = (): readonly number[] => (instances ?? ['']).map(() => (desc.sem === 'counter' ? 0 : 1))
      metrics.push({ ...desc, instances, every, values: moved[desc.name] ?? still })
    }
  for (const [name, [sem, units, values]] of Object.entries(containerValues()))
    metrics.push({
      name,
      type: 'u64',
      sem,
      units,
      instances: CONTAINERS,
      every: /usage|time|current|working|pressure|bytes/.test(name) ? 10 : 60,
      values,
    })
  return metrics
}
