/** Parseable output: lines of a label, host and time, and fields. pcp-atop(1) PARSEABLE OUTPUT */
import { formatF } from '../../base/printf.ts'
import { strftime } from '../../time/strftime.ts'
import {
  allCpuTimes,
  type CpuTimes,
  cpuCount,
  type DiskKind,
  diskWork,
  eachCpuTimes,
  eachNodeTimes,
  hardwareCounts,
  interfaceTraffic,
  nfsRequests,
} from './host-activity.ts'
import { hasPressure, pagingOf, pressureOf } from './memory-cells.ts'
import { layerCounts } from './network-cells.ts'
import { type Fields, type ParseableSetup, TASK_LABELS } from './parseable-tasks.ts'
import type { Step } from './step.ts'

const whole = (value: number): number => Math.trunc(value)
const KIB = 1024
const kib = (step: Step, metric: string): number => whole(step.value(metric) / KIB)
const page = (step: Step): number => step.value('hinv.pagesize')

/** Milliseconds, although the field before gives the tick rate: readers expect them, as PCP's atop writes them. */
const shares = (times: CpuTimes): number[] =>
  [
    times.sys,
    times.user,
    times.nice,
    times.idle,
    times.wait,
    times.irq,
    times.softirq,
    times.steal,
    times.guest,
  ].map(whole)

const hertz = (step: Step): number => step.value('kernel.all.hz') || 100

function cpuFields(step: Step, times: CpuTimes, inst: number | undefined): readonly number[] {
  const clocks = step.now.numbers('hinv.cpu.clock')
  const mhz =
    inst === undefined ? [...clocks.values()].reduce((sum, each) => sum + each, 0) : (clocks.get(inst) ?? 0)
  const counts = hardwareCounts(step, inst)
  return [...shares(times), whole(mhz), 100, counts?.instructions ?? 0, counts?.cycles ?? 0]
}

const disks =
  (kind: DiskKind): Fields =>
  ({ step }) =>
    diskWork(step, kind).map((disk) => [
      disk.name,
      whole(disk.ioMs),
      disk.reads,
      disk.readSectors,
      disk.writes,
      disk.writeSectors,
      disk.discards ?? -1,
      disk.discardSectors,
      disk.inFlight,
      formatF(disk.queue, 2),
    ])

const PRESSURES = ['cpu.some', 'memory.some', 'memory.full', 'io.some', 'io.full']
const LAYERS = 'tcpi tcpo udpi udpo ipi ipo deliv ipfrw udpie udpnp tcpao tcppo'.split(' ')

/** Labels in output order. */
const LABELS: Readonly<Record<string, Fields>> = {
  CPU: ({ step }) => [[hertz(step), cpuCount(step), ...cpuFields(step, allCpuTimes(step), undefined)]],
  cpu: ({ step }) =>
    eachCpuTimes(step).map((times) => [hertz(step), times.number, ...cpuFields(step, times, times.inst)]),
  CPL: ({ step }) => [
    [
      cpuCount(step),
      ...[1, 5, 15].map((minutes) => formatF(step.value('kernel.all.load', minutes), 2)),
      step.delta('kernel.all.pswitch'),
      step.delta('kernel.all.intr'),
    ],
  ],
  GPU: ({ step }) =>
    [...step.instances('nvidia.memtotal')].map(([inst], i) => [
      i,
      step.now.text('nvidia.busid', inst) ?? '',
      (step.now.text('nvidia.cardname', inst) ?? '').replaceAll(' ', '_'),
      step.value('nvidia.gpuactive', inst),
      step.value('nvidia.memactive', inst),
      whole(step.value('nvidia.memtotal', inst) / KIB),
      whole(step.value('nvidia.memused', inst) / KIB),
      step.delta('nvidia.samples', inst),
      step.delta('nvidia.gpuutilaccum', inst),
      step.delta('nvidia.memutilaccum', inst),
      whole(step.delta('nvidia.memusedaccum', inst) / KIB),
    ]),
  MEM: ({ step }) => [
    [
      page(step),
      kib(step, 'mem.physmem'),
      kib(step, 'mem.freemem'),
      ...['cached', 'bufmem', 'slab', 'dirty', 'slabReclaimable'].map((item) =>
        kib(step, `mem.util.${item}`),
      ),
      0,
      kib(step, 'mem.util.shmem'),
      kib(step, 'ipc.shm.rss'),
      kib(step, 'ipc.shm.swp'),
      step.value('hinv.hugepagesize'),
      step.value('mem.util.hugepagesTotal'),
      step.value('mem.util.hugepagesFree'),
      kib(step, 'zfs.arc.size'),
      step.value('mem.ksm.pages_sharing'),
      step.value('mem.ksm.pages_shared'),
      step.value('network.sockstat.tcp.mem'),
      step.value('network.sockstat.udp.mem'),
      kib(step, 'mem.util.pageTables'),
    ],
  ],
  SWP: ({ step }) => [
    [
      page(step),
      kib(step, 'swap.length'),
      kib(step, 'swap.free'),
      kib(step, 'mem.util.swapCached'),
      kib(step, 'mem.util.committed_AS'),
      kib(step, 'mem.util.commitLimit'),
      kib(step, 'mem.util.swapCached'),
      step.value('mem.zswap.stored_pages'),
      kib(step, 'mem.zswap.pool_total_size'),
    ],
  ],
  PAG: ({ step }) => {
    const paging = pagingOf(step)
    return [
      [
        page(step),
        paging.scans,
        paging.stalls,
        0,
        paging.swapIn,
        paging.swapOut,
        paging.oomKills,
        paging.compactions,
        paging.migrations,
        paging.numaMigrations,
        paging.pagesIn,
        paging.pagesOut,
      ],
    ]
  },
  PSI: ({ step }) => [
    [
      hasPressure(step) ? 'y' : 'n',
      ...PRESSURES.flatMap((item) => {
        const { means, stalledUs } = pressureOf(step, item)
        return [...means.map((mean) => formatF(mean, 1)), whole(stalledUs)]
      }),
    ],
  ],
  LVM: disks('LVM'),
  MDD: disks('MDD'),
  DSK: disks('DSK'),
  NFM: ({ step }) =>
    [...step.instances('nfsclient.bytes.read.server')].map(([inst, name]) => [
      step.now.text('nfsclient.export', inst) ?? name,
      ...'read.server write.server read.normal write.normal read.direct write.direct'
        .split(' ')
        .map((item) => step.delta(`nfsclient.bytes.${item}`, inst)),
      step.delta('nfsclient.pages.read', inst),
      step.delta('nfsclient.pages.write', inst),
    ]),
  NFC: ({ step }) => [
    [
      step.delta('rpc.client.rpccnt'),
      nfsRequests(step, 'client', 'read'),
      nfsRequests(step, 'client', 'write'),
      step.delta('rpc.client.rpcretrans'),
      step.delta('rpc.client.rpcauthrefresh'),
    ],
  ],
  NFS: ({ step }) => [
    [
      step.delta('rpc.server.rpccnt'),
      nfsRequests(step, 'server', 'read'),
      nfsRequests(step, 'server', 'write'),
      ...'io_read io_write rpcbadfmt rpcbadauth rpcbadclnt netcnt nettcpcnt netudpcnt nettcpconn rchits rcmisses rcnocache'
        .split(' ')
        .map((item) => step.delta(`rpc.server.${item}`)),
    ],
  ],
  NET: ({ step }) => {
    const counts = layerCounts(step)
    return [
      [
        'upper',
        ...LAYERS.map((name) => counts[name]!),
        step.value('network.tcp.currestab'),
        ...['tcprs', 'tcpie', 'tcpor'].map((name) => counts[name]!),
      ],
      ...interfaceTraffic(step).map((traffic) => [
        traffic.name,
        traffic.packetsIn,
        traffic.bytesIn,
        traffic.packetsOut,
        traffic.bytesOut,
        whole(traffic.speed),
        traffic.speed > 0 && traffic.isFullDuplex ? 1 : 0,
      ]),
    ]
  },
  IFB: ({ step }) =>
    [...step.instances('infiniband.port.in.bytes')].map(([inst, name]) => [
      ...(name.includes(':') ? name.split(':', 2) : [name, 1]),
      ...['linkwidth', 'rate'].map((item) => step.value(`infiniband.port.${item}`, inst)),
      ...'in.bytes out.bytes in.packets out.packets'
        .split(' ')
        .map((item) => step.delta(`infiniband.port.${item}`, inst)),
    ]),
  NUM: ({ step }) =>
    step.value('hinv.nnode') <= 1
      ? []
      : [...step.instances('mem.numa.util.total')].map(([inst, name]) => [
          Number(/\d+$/.exec(name)?.[0] ?? inst),
          page(step),
          0,
          ...'total free active inactive filePages dirty slab slabReclaimable shmem'
            .split(' ')
            .map((item) => whole(step.value(`mem.numa.util.${item}`, inst) / KIB)),
          step.value('mem.numa.util.hugepagesTotal', inst),
        ]),
  NUC: ({ step }) => {
    const nodes = eachNodeTimes(step)
    return nodes.map((node) => [node.number, Math.round(cpuCount(step) / nodes.length), ...shares(node)])
  },
  ...TASK_LABELS,
}
/** Labels known to readers of this output that no agent measures. */
const EMPTY_LABELS: ReadonlySet<string> = new Set(['LLC'])

/** Parses a comma-separated list of labels; ALL selects all. Returns the first unknown one as an error. */
export function parseLabels(
  list: string,
): { readonly labels: readonly string[] } | { readonly unknown: string } {
  const given = list.split(',')
  const unknown = given.find(
    (label) => label !== 'ALL' && LABELS[label] === undefined && !EMPTY_LABELS.has(label),
  )
  if (unknown !== undefined) return { unknown }
  const isAll = given.includes('ALL')
  return { labels: Object.keys(LABELS).filter((label) => isAll || given.includes(label)) }
}

/** Formats a sample: RESET before the first one of a live host, and SEP after each. */
export function parseableText(labels: readonly string[], setup: ParseableSetup): string {
  const { step, host, zone } = setup
  const sec = step.now.time.sec
  const head = `${host} ${sec} ${strftime('%Y/%m/%d %H:%M:%S', sec, zone)} ${Math.round(step.elapsedSec)}`
  let text = step.isSinceBoot ? 'RESET\n' : ''
  for (const label of labels)
    for (const fields of LABELS[label]!(setup)) text += `${label} ${head} ${fields.join(' ')}\n`
  return `${text}SEP\n`
}
