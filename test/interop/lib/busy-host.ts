/** Files of an archive of one hour with all metrics of the built-in pages, for pictures of pages that few hosts can fill. */
import { processDay } from '../../../bench/macro/lib/process-day.ts'
import { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../../src/archive/write/memory-output.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_INSTANT,
  PM_TYPE_32,
  PM_TYPE_DOUBLE,
  PM_TYPE_U64,
} from '../../../src/model/types.ts'

/** Time of the first record, seconds since 1970. */
export const BUSY_START: number = Date.parse('2026-11-19T14:00:00Z') / 1000
const EVERY = 10
const STEPS = 360
/** Records of an incident, from 14:36 to 14:48. */
const [WORSE, WELL] = [216, 288]
const CPUS = ['cpu0', 'cpu1', 'cpu2', 'cpu3']
const CONTAINERS = ['shop-web-1', 'shop-db-1', 'shop-cache-1', 'batch-nightly-report', 'monitoring-agent']
const SLICES = ['/system.slice', '/system.slice/postgresql.service', '/user.slice', '/kubepods.slice']
const NODES = ['2210 server.js', '2214 worker.js', '980 mailer.js']
const AGENTS = ['linux', 'proc', 'mmv', 'pmcd', 'node']

/** Instances, and lines of name, units (n for whole numbers), level, and factor of the incident; counters have the level a second. */
const HOST: readonly (readonly [instances: readonly string[], metrics: string])[] = [
  [
    [],
    `+kernel.all.cpu.user ms 900 1.8
+kernel.all.cpu.nice ms 8 1
+kernel.all.cpu.sys ms 320 2
+kernel.all.cpu.intr ms 30 1
+kernel.all.cpu.steal ms 20 4
+kernel.all.cpu.wait.total ms 60 8
+kernel.all.cpu.idle ms 0
kernel.all.running n 2 4
kernel.all.blocked n 0.6 9
+kernel.all.pswitch count 9000 3
+kernel.all.intr count 4000 2
+kernel.all.sysfork count 14 2
mem.physmem Kbyte 16200000
mem.util.used Kbyte 0
mem.util.bufmem Kbyte 210000 1
mem.util.cached Kbyte 7600000 0.8
mem.util.free Kbyte 3300000 0.5
mem.util.available Kbyte 0
mem.util.dirty Kbyte 24000 9
mem.util.writeback Kbyte 600 20
mem.util.slabReclaimable Kbyte 480000 1
mem.util.slabUnreclaimable Kbyte 120000 1
mem.util.pageTables Kbyte 60000 1
mem.util.kernelStack Kbyte 9000 1
mem.vmstat.oom_kill count 0
+mem.vmstat.pgmajfault count 2 60
+mem.vmstat.pgfault count 5200 3
+mem.vmstat.pgscan_kswapd count 0.2 900
+mem.vmstat.pgscan_direct count 0.02 2000
swap.length byte 4294967296
swap.used byte 90000000 3
+swap.pagesin count 0.1 900
+swap.pagesout count 0.1 1900
+kernel.all.pressure.cpu.some.total us 0
+kernel.all.pressure.memory.some.total us 0
+kernel.all.pressure.io.some.total us 0
+network.tcp.insegs count 2000 1.5
+network.tcp.outsegs count 2900 1.5
+network.tcp.retranssegs count 3 20
+network.tcp.activeopens count 14 1
+network.tcp.passiveopens count 90 2
+network.tcp.attemptfails count 0.4 6
+network.tcp.estabresets count 0.8 4
+network.tcp.listenoverflows count 0.01 90
+network.tcp.listendrops count 0.01 90
network.tcpconn.established n 212 2
network.tcpconn.time_wait n 480 1
network.tcpconn.close_wait n 6 3
network.tcpconn.listen n 19
network.sockstat.tcp.inuse n 0
network.sockstat.udp.inuse n 12
network.sockstat.raw.inuse n 1
network.sockstat.total n 0
+network.udp.indatagrams count 180 1
+network.udp.outdatagrams count 176 1
+network.udp.inerrors count 0
+network.udp.recvbuferrors count 0
+network.softnet.dropped count 0
+network.softnet.time_squeeze count 0.3 8
proc.runq.runnable n 0
proc.runq.blocked n 0
proc.runq.stopped n 0
proc.runq.defunct n 1
kernel.all.nprocs n 640 1.2
vfs.files.count n 14000 1.1
vfs.inodes.count n 390000 1
+pmcd.cputime.total ms 3 1
pmcd.datasize Kbyte 61000 1
+pmcd.pdu_in.total count 7 1
+pmcd.pdu_out.total count 11 1
+pmcd.pdu_out.error count 0
pmcd.numclients n 4
pmcd.numagents n 0
+mmv.pmlogger.bytes byte 1400 1
+mmv.pmlogger.failures.fetch count 0
+mmv.pmlogger.failures.write count 0
+mmv.pmlogger.late.left_out count 0
+pmproxy.cpu.user ms 4 1
+pmproxy.cpu.sys ms 1 1
pmproxy.mem.datasz Kbyte 58000 1
pmproxy.mem.maxrss Kbyte 91000
+pmproxy.http.requests count 2.4 1
+pmproxy.http.failures count 0
+pmproxy.live.rows count 2 1
+pmproxy.live.missed count 0`,
  ],
  [CPUS, '+kernel.percpu.cpu.idle ms 0\n+kernel.percpu.cpu.sys ms 0\n+kernel.percpu.cpu.irq.soft ms 0'],
  [['1 minute', '5 minute', '15 minute'], 'kernel.all.load - 1.6 3'],
  [
    ['10 second', '1 minute', '5 minute'],
    ['cpu.some 2 9', 'memory.some 0.2 40', 'memory.full 0', 'io.some 1.4 16', 'io.full 0']
      .map((line) => `kernel.all.pressure.${line.replace(' ', '.avg - ')}`)
      .join('\n'),
  ],
  [
    ['nvme0n1', 'nvme1n1', 'sda', 'sdb'],
    `+disk.dev.read count 90 12
+disk.dev.write count 240 4
+disk.dev.read_bytes Kbyte 2100 20
+disk.dev.write_bytes Kbyte 6200 4
+disk.dev.read_rawactive ms 60 18
+disk.dev.write_rawactive ms 110 9
+disk.dev.avactive ms 90 9`,
  ],
  [['vg0-root', 'vg0-data'], '+disk.dm.read_bytes Kbyte 900 9\n+disk.dm.write_bytes Kbyte 2100 4'],
  [['md0'], '+disk.md.read_bytes Kbyte 900 9\n+disk.md.write_bytes Kbyte 2100 4'],
  [
    ['eth0', 'eth1', 'docker0'],
    ['in', 'out']
      .flatMap((way) =>
        ['bytes byte 1800000 2', 'packets count 2100 2', 'errors count 0', 'drops count 0.2 9'].map(
          (line) => `+network.interface.${way}.${line}`,
        ),
      )
      .join('\n'),
  ],
  [
    ['/', '/var/lib/postgresql', '/backup/of/the/database/server', '/boot/efi'],
    'filesys.full - 63 1.1\nfilesys.usedfiles - 210000 1\nfilesys.maxfiles - 900000',
  ],
  [
    SLICES,
    `+cgroup.cpu.stat.usage us 210000 2
cgroup.memory.current byte 900000000 1.2
+cgroup.io.stat.rbytes byte 900000 9
+cgroup.io.stat.wbytes byte 1600000 4
cgroup.pressure.cpu.some.avg10sec - 1.2 9
cgroup.pressure.memory.some.avg10sec - 0.1 40
+cgroup.cpusched.throttled_time ns 9000000 20`,
  ],
  [
    CONTAINERS,
    `+containers.cpu.usage us 180000 2
+containers.cpu.throttled.time us 4000 60
containers.memory.working_set byte 410000000 1.4
+containers.io.rbytes byte 300000 9
+containers.io.wbytes byte 700000 4
+containers.network.in.bytes byte 240000 2
+containers.network.out.bytes byte 510000 2
+containers.memory.oom_kills count 0
+containers.memory.limit_hits count 0.01 90`,
  ],
  [
    NODES,
    `node.eventloop.utilization - 0.24 3
node.eventloop.delay.p99 us 11000 6
node.eventloop.delay.max us 19000 20
+node.process.cpu.user us 220000 2
+node.process.cpu.system us 30000 2
node.memory.rss byte 120000000 1.4
node.heap.used byte 61000000 1.4
+node.gc.time us 5000 9
node.gc.max us 9000 6
+node.http.server.requests count 60 1
node.http.server.duration.p50 us 2100 3
node.http.server.duration.p99 us 31000 9
node.http.server.active - 2 6
+node.http.client.requests count 110 1
node.http.client.duration.p99 us 21000 9
node.worker.utilization - 0.1 4`,
  ],
]

const UNITS: Readonly<Record<string, string>> = {
  ms: 'millisec',
  us: 'microsec',
  ns: 'nanosec',
  '-': '',
  n: '',
}

/** Values of a record by metric, one for each instance. */
type Values = ReadonlyMap<string, number[]>

/** Shares of the CPUs in the work. */
const WORK = [0.28, 0.26, 0.24, 0.22]
const MODES = ['user', 'nice', 'sys', 'intr', 'steal', 'wait.total']

/** Computes totals from their parts, so that charts of both agree. */
function addTotals(values: Values): void {
  const get = (name: string): number[] => values.get(name)!
  const set = (name: string, ...of: number[]): void => void get(name).splice(0, of.length, ...of)
  const sum = (of: readonly number[]): number => of.reduce((a, b) => a + b, 0)
  const total = (...names: string[]): number => sum(names.flatMap(get))
  const perCpu = (of: number): number[] => WORK.map((share) => share * of)
  const busy = total(...MODES.map((mode) => `kernel.all.cpu.${mode}`))
  const idle = perCpu(busy).map((one) => Math.max(0, 1000 - one))
  set('kernel.percpu.cpu.idle', ...idle)
  set('kernel.all.cpu.idle', sum(idle))
  set('kernel.percpu.cpu.sys', ...perCpu(total('kernel.all.cpu.sys')))
  set('kernel.percpu.cpu.irq.soft', ...perCpu(0.6 * total('kernel.all.cpu.intr')))
  set('mem.util.used', total('mem.physmem') - total('mem.util.free'))
  set('mem.util.available', total('mem.util.free') + 0.7 * total('mem.util.cached'))
  for (const part of ['memory', 'io'])
    set(
      `kernel.all.pressure.${part}.full.avg`,
      ...get(`kernel.all.pressure.${part}.some.avg`).map((some) => 0.6 * some),
    )
  // Microseconds a second, of a percentage.
  for (const part of ['cpu', 'memory', 'io'])
    set(`kernel.all.pressure.${part}.some.total`, 10_000 * get(`kernel.all.pressure.${part}.some.avg`)[0]!)
  set('disk.dev.avactive', ...get('disk.dev.avactive').map((active) => Math.min(1000, active)))
  const sockets = ['established', 'close_wait', 'listen'].map((state) => `network.tcpconn.${state}`)
  set('network.sockstat.tcp.inuse', total(...sockets))
  const kinds = ['tcp', 'udp', 'raw'].map((kind) => `network.sockstat.${kind}.inuse`)
  set('network.sockstat.total', 390 + total(...kinds)) // and those of Unix
  set('proc.runq.runnable', ...get('kernel.all.running'))
  set('proc.runq.blocked', ...get('kernel.all.blocked'))
  set('pmcd.numagents', AGENTS.length)
  // The containers are what runs in the last control group.
  for (const [group, container] of [
    ['cpu.stat.usage', 'cpu.usage'],
    ['memory.current', 'memory.working_set'],
    ['io.stat.rbytes', 'io.rbytes'],
    ['io.stat.wbytes', 'io.wbytes'],
  ])
    get(`cgroup.${group}`)[SLICES.length - 1] = total(`containers.${container}`)
}

/** Returns the files, named `busy.0`, `busy.meta` and `busy.index`. */
export function busyHost(): { name: string; bytes: Uint8Array }[] {
  const output = memoryOutput('busy')
  const made = new ArchiveImport(output, { hostname: 'db1', timezone: 'UTC', pid: 1, version: 3 })
  const courses = HOST.flatMap(([instances, metrics], i) =>
    metrics.split('\n').map((line, j) => {
      const [, plus, name, units, level, factor] = /^(\+?)(\S+) (\S+) (\S+) ?(\S*)$/.exec(line)!
      const isCounter = plus === '+'
      made.addMetric(name!, {
        type: isCounter ? PM_TYPE_U64 : PM_TYPE_DOUBLE,
        sem: isCounter ? PM_SEM_COUNTER : PM_SEM_INSTANT,
        units: UNITS[units!] ?? units!,
        ...(instances.length > 0 ? { indom: `host.${i}` } : {}),
      })
      const of = instances.length > 0 ? instances : [undefined]
      return {
        name: name!,
        isCounter,
        isWhole: units === 'n',
        level: Number(level),
        factor,
        seed: 7 * i + j,
        of,
        sums: of.map(() => 0),
      }
    }),
  )
  made.addMetric('hinv.ncpu', { type: PM_TYPE_32 })
  made.addMetric('pmcd.agent.status', { type: PM_TYPE_32, indom: 'agents' })
  const processes = processDay(made)
  for (let step = 0; step <= STEPS; step++) {
    made.put('hinv.ncpu', CPUS.length)
    for (const agent of AGENTS) made.put('pmcd.agent.status', 0, agent)
    const values = new Map(
      courses.map(({ name, isWhole, level, factor, seed, of }) => {
        const now = of.map((_, k) => {
          // Without a factor it is constant. Later instances are smaller.
          const wave =
            factor === '' ? 1 : 1 + 0.15 * Math.sin(step / 9 + seed + k) + 0.1 * Math.sin(step * (1.7 + seed))
          const isWorse = step >= WORSE && step < WELL && k === 0
          const value = (level * wave * (isWorse ? Number(factor || 1) : 1)) / (k + 1)
          return isWhole ? Math.round(value) : value
        })
        return [name, now] as const
      }),
    )
    addTotals(values)
    for (const { name, isCounter, of, sums } of courses)
      for (const [k, instance] of of.entries()) {
        const now = values.get(name)![k]!
        sums[k]! += now * EVERY
        made.put(name, isCounter ? Math.round(sums[k]!) : now, instance)
      }
    processes(step * EVERY)
    made.write({ sec: BUSY_START + step * EVERY, nsec: 0 })
  }
  made.close()
  return [...output.contents()].map(([part, bytes]) => ({ name: `busy.${part}`, bytes }))
}
