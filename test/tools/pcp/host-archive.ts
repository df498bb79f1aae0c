/** An archive of a small Linux host for tests of commands run by `pcp`: two processors, a disk, two processes. */

import { openArchive } from '../../../src/pmapi/archive.ts'
import type { Tool } from '../../../src/tools/lib/tool.ts'
import { desc, text as helpText, indom, labels, mark, result, type TestSet } from '../../archive/build.ts'
import { onDisk } from '../archive-runner.ts'
import { type Printed, testIo } from '../run-tool.ts'

const [U32, U64, FLOAT64, STRING] = [1, 3, 5, 6]
const [COUNTER, INSTANT, DISCRETE] = [1, 3, 4]
/** Units: milliseconds, kilobytes, a count. */
const [MSEC, KBYTE, COUNT] = [(1 << 24) | (2 << 12), (1 << 28) | (1 << 16), 1 << 20]

/** A metric with its values at each second. */
interface HostMetric {
  readonly type?: number
  readonly sem?: number
  readonly units?: number
  readonly domain?: keyof typeof DOMAINS
  /** Values by instance; undefined if missing. */
  readonly at: (second: number) => readonly (number | string | undefined)[]
}

/** Instance domains with their instances. */
const DOMAINS = {
  cpus: [
    [0, 'cpu0'],
    [1, 'cpu1'],
  ],
  disks: [[0, 'sda']],
  processes: [
    [1, '000001 /sbin/init'],
    [42, '000042 worker'],
  ],
  loads: [
    [1, '1 minute'],
    [5, '5 minute'],
    [15, '15 minute'],
  ],
  agents: [
    [2, 'pmcd'],
    [60, 'linux'],
  ],
  nodes: [[0, 'node0']],
  softirqs: [
    [0, 'TIMER::cpu0'],
    [1, 'TIMER::cpu1'],
    [2, 'RCU::cpu1'],
  ],
  sockets: [
    [7, 'tcp/[::1]:44321'],
    [8, 'udp/10.0.0.1:53'],
  ],
} as const satisfies Record<string, readonly (readonly [number, string])[]>

const always =
  (...values: (number | string)[]): HostMetric['at'] =>
  () =>
    values
/** Recorded only at the beginning. */
const once =
  (value: number | string): HostMetric['at'] =>
  (second) => [second === 0 ? value : undefined]
const text = { type: STRING, sem: DISCRETE }
const counter = { type: U64, sem: COUNTER, units: COUNT }
const kilobytes = { type: U64, units: KBYTE }

const SHARES: Readonly<Record<string, number>> = {
  user: 500,
  nice: 0,
  sys: 250,
  'wait.total': 0,
  'irq.hard': 0,
}
const OTHER_SHARES = ['irq.soft', 'steal', 'guest', 'guest_nice', 'vuser']

function processorMetrics(): Record<string, HostMetric> {
  const metrics: Record<string, HostMetric> = {}
  const rates = { ...SHARES, ...Object.fromEntries(OTHER_SHARES.map((name) => [name, 0])), idle: 1250 }
  for (const [name, rate] of Object.entries(rates)) {
    metrics[`kernel.all.cpu.${name}`] = { ...counter, units: MSEC, at: (second) => [1000 + rate * second] }
    // The first processor does all the work.
    const shares = name === 'idle' ? [250, 1000] : [rate, 0]
    metrics[`kernel.percpu.cpu.${name}`] = {
      ...counter,
      units: MSEC,
      domain: 'cpus',
      at: (second) => shares.map((share) => share * second),
    }
  }
  return metrics
}

function processMetrics(): Record<string, HostMetric> {
  const metric = (type: number, ...values: (number | string)[]): HostMetric => ({
    type,
    domain: 'processes',
    at: always(...values),
  })
  const time = (rate: number): HostMetric => ({
    ...counter,
    units: MSEC,
    domain: 'processes',
    at: (second) => [0, 3_600_000 + rate * second],
  })
  return {
    'proc.nprocs': { type: U32, at: always(2) },
    'proc.id.uid': metric(U32, 0, 1000),
    'proc.id.uid_nm': metric(STRING, 'root', 'alice'),
    'proc.memory.vmstack': { ...metric(U32, 132, 0), units: KBYTE },
    'proc.psinfo.cmd': metric(STRING, 'init', 'worker'),
    'proc.psinfo.psargs': metric(STRING, '/sbin/init', 'worker --queue mail'),
    'proc.psinfo.pid': metric(U32, 1, 42),
    'proc.psinfo.ppid': metric(U32, 0, 1),
    'proc.psinfo.policy': metric(U32, 0, 1),
    'proc.psinfo.processor': metric(U32, 0, 1),
    'proc.psinfo.priority': metric(U32, 20, 20),
    'proc.psinfo.nice': metric(U32, 0, 0),
    'proc.psinfo.rt_priority': metric(U32, 0, 50),
    'proc.psinfo.rss': { ...metric(U32, 1000, 4000), units: KBYTE },
    'proc.psinfo.vsize': { ...metric(U32, 2000, 8000), units: KBYTE },
    'proc.psinfo.sname': metric(STRING, 'S', 'R'),
    'proc.psinfo.ttyname': metric(STRING, '?', 'pts/1'),
    'proc.psinfo.wchan_s': metric(STRING, 'ep_poll', '0'),
    'proc.psinfo.start_time': { ...metric(U64, 1000, 61_000), units: MSEC },
    'proc.psinfo.utime': time(300),
    'proc.psinfo.stime': time(200),
    'proc.psinfo.guest_time': time(0),
    'proc.psinfo.minflt': { ...counter, domain: 'processes', at: (second) => [0, 10 * second] },
    'proc.psinfo.maj_flt': { ...counter, domain: 'processes', at: () => [0, 0] },
  }
}

function socketMetrics(): Record<string, HostMetric> {
  const metric = (type: number, ...values: (number | string)[]): HostMetric => ({
    type,
    domain: 'sockets',
    at: always(...values),
  })
  return {
    'network.persocket.filter': { ...text, at: once('state connected') },
    'network.persocket.netid': metric(STRING, 'tcp', 'udp'),
    'network.persocket.state': metric(STRING, 'ESTAB', 'UNCONN'),
    'network.persocket.src': metric(STRING, '[::1]:44321', '10.0.0.1:53'),
    'network.persocket.dst': metric(STRING, '[::1]:50000', '0.0.0.0:*'),
    // Queue sizes are missing after the eighth second.
    'network.persocket.recvq': {
      type: U32,
      domain: 'sockets',
      at: (second) => (second > 8 ? [undefined, undefined] : [second, 0]),
    },
    'network.persocket.sendq': metric(U32, 0, 0),
    'network.persocket.timer.str': metric(STRING, 'keepalive,14sec,0', ''),
  }
}

function diskMetrics(): Record<string, HostMetric> {
  const rates = {
    read: 10,
    write: 5,
    read_bytes: 400,
    write_bytes: 100,
    read_merge: 1,
    write_merge: 2,
    blkread: 800,
    blkwrite: 200,
    read_rawactive: 20,
    write_rawactive: 20,
    avactive: 30,
  }
  const units = (name: string): number =>
    name.endsWith('bytes') ? KBYTE : name.endsWith('active') ? MSEC : COUNT
  return Object.fromEntries(
    Object.entries(rates).map(([name, rate]) => [
      `disk.dev.${name}`,
      {
        ...counter,
        units: units(name),
        domain: 'disks',
        at: (second) => [rate * second],
      } satisfies HostMetric,
    ]),
  )
}

const METRICS: Readonly<Record<string, HostMetric>> = {
  'kernel.uname.sysname': { ...text, at: once('Linux') },
  'kernel.uname.release': { ...text, sem: INSTANT, at: once('6.1.0') },
  'kernel.uname.nodename': { ...text, at: once('db1') },
  'kernel.uname.machine': { ...text, at: once('x86_64') },
  'hinv.ncpu': { type: U32, sem: DISCRETE, at: once(2) },
  'hinv.map.cpu_num': { type: U32, sem: DISCRETE, domain: 'cpus', at: always(0, 1) },
  'hinv.cpu.online': { type: U32, domain: 'cpus', at: always(1, 1) },
  'kernel.all.intr': { ...counter, at: (second) => [100 * second] },
  'kernel.percpu.intr': { ...counter, domain: 'cpus', at: (second) => [90 * second, 10 * second] },
  'kernel.percpu.interrupts.line9': { ...counter, domain: 'cpus', at: (second) => [4 * second, 0] },
  'kernel.percpu.interrupts.LOC': { ...counter, domain: 'cpus', at: (second) => [80 * second, 10 * second] },
  'kernel.percpu.softirqs': {
    ...counter,
    domain: 'softirqs',
    at: (second) => [5 * second, 6 * second, 7 * second],
  },
  'kernel.all.boottime': { type: U64, sem: DISCRETE, units: MSEC, at: always(0) },
  'kernel.all.uptime': { type: U32, at: (second) => [90_000 + second] },
  'kernel.all.nusers': { type: U32, at: always(2) },
  'kernel.all.load': { type: FLOAT64, domain: 'loads', at: always(0.5, 0.25, 0.125) },
  ...processorMetrics(),
  ...processMetrics(),
  ...diskMetrics(),
  'mem.physmem': { ...kilobytes, at: always(16_000) },
  'mem.util.free': { ...kilobytes, at: (second) => [4000 + second] },
  'mem.util.bufmem': { ...kilobytes, at: always(1000) },
  'mem.util.cached': { ...kilobytes, at: always(2000) },
  'mem.util.slabReclaimable': { ...kilobytes, at: always(500) },
  'mem.util.shmem': { ...kilobytes, at: always(300) },
  'mem.util.available': { ...kilobytes, at: always(7000) },
  'mem.util.swapTotal': { ...kilobytes, at: always(8000) },
  'mem.util.swapFree': { ...kilobytes, at: always(6000) },
  'mem.numa.alloc.hit': { ...counter, domain: 'nodes', at: always(12) },
  'mem.numa.alloc.miss': { ...counter, domain: 'nodes', at: always(1) },
  'mem.numa.alloc.foreign': { ...counter, domain: 'nodes', at: always(2) },
  'mem.numa.alloc.interleave_hit': { ...counter, domain: 'nodes', at: always(3) },
  'mem.numa.alloc.local_node': { ...counter, domain: 'nodes', at: always(4) },
  'mem.numa.alloc.other_node': { ...counter, domain: 'nodes', at: always(5) },
  ...socketMetrics(),
  'pmda.uname': { ...text, at: always('Linux db1 6.1.0 x86_64') },
  'pmcd.version': { ...text, at: always('7.2.1') },
  'pmcd.build': { ...text, at: always('1') },
  'pmcd.services': { ...text, at: always('pmcd pmproxy') },
  'pmcd.timezone': { ...text, at: always('UTC') },
  'pmcd.numagents': { type: U32, at: always(2) },
  'pmcd.numclients': { type: U32, at: always(3) },
  'pmcd.agent.status': { type: U32, domain: 'agents', at: always(0, 1) },
}

const DOMAIN_IDS = Object.keys(DOMAINS)
const domainId = (name: string): number => (9 << 22) | (DOMAIN_IDS.indexOf(name) + 1)

/**
 * Makes the archive: ten records, one a second, from 1 January 1970, without the metrics `missing`. Remove it when done. `evil` is
 * appended to all untrusted text: host, instances, values, labels and help texts.
 */
export function hostArchive(missing: readonly string[] = [], evil = ''): ReturnType<typeof onDisk> {
  const metrics = Object.entries(METRICS).filter(([name]) => !missing.includes(name))
  const seconds = Array.from({ length: 10 }, (_, i) => i)
  const records = seconds.map((second) =>
    result(
      3,
      second,
      ...metrics.flatMap(([, metric], item) => setOf((9 << 22) | item, metric, second, evil)),
    ),
  )
  return onDisk({
    version: 3,
    host: `db1${evil}`,
    meta: [
      ...metrics.map(([name, { type = U32, sem = INSTANT, units = 0, domain }], item) =>
        desc(
          {
            pmid: (9 << 22) | item,
            type,
            sem,
            units,
            ...(domain === undefined ? {} : { indom: domainId(domain) }),
          },
          name,
        ),
      ),
      ...Object.entries(DOMAINS).map(([name, instances]) =>
        indom(
          3,
          0,
          domainId(name),
          instances.map(([inst, text]) => [inst, `${text}${evil}`] as const),
        ),
      ),
      ...(evil === '' ? [] : notes(evil)),
    ],
    volumes: [[...records, mark(3, 9.5)]],
  })
}

/** Returns labels of the host and help texts of the first metric. */
function notes(evil: string): Uint8Array[] {
  const json = [...evil].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  return [
    labels(3, 0, 1, 0xffffffff, [[-1, { who: json }]]),
    ...[1, 2].map((what) => helpText(what | 4, 9 << 22, `About it${evil.replaceAll('\n', ' ')}`)),
  ]
}

function setOf(
  pmid: number,
  { type = U32, domain, at }: HostMetric,
  second: number,
  evil: string,
): readonly TestSet[] {
  const insts = domain === undefined ? [-1] : DOMAINS[domain].map(([inst]) => inst)
  const values = at(second).flatMap((value, i) => {
    if (value === undefined) return []
    return [
      [insts[i]!, type === U64 ? BigInt(value) : typeof value === 'string' ? value + evil : value] as const,
    ]
  })
  return values.length === 0 ? [] : [{ pmid, type, values }]
}

/** Runs a command as `pcp OPTIONS... COMMAND` does, with `options` in the environment. */
export async function runOver(
  tool: Tool,
  archive: string,
  args: readonly string[] = [],
  options: Readonly<Record<string, string>> = {},
): Promise<Printed & { readonly status: number }> {
  const env = { PCP_ARCHIVE: archive, PCP_DERIVED_CONFIG: '', ...options }
  const io = testIo(tool.name, args, env)
  const status = await tool.run({ ...io, openArchive: (names, more) => openArchive(names, more) })
  return { ...io.printed, status }
}
