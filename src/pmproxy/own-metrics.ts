/**
 * Metrics of pmproxy about itself, in memory-mapped files for PCP's mmv agent: pmproxy.pid, pmproxy.http.requests and so on.
 * Numbers and names are PCP's if PCP has them; `live` and `proxy` are specific to pcp-ts.
 */

import { join } from 'node:path'
import { every } from '../base/every.ts'
import type { Gauge } from '../mmv/handles.ts'
import { MmvWriter } from '../mmv/writer.ts'
import { PcpError } from '../model/errors.ts'
import type { DiscoveryStatistics } from '../series/discover/statistics.ts'
import { memoryUsage } from '../sys/live-memory.ts'
import type { Log } from '../sys/log.ts'
import type { Statistics } from './statistics.ts'

/** Update interval, ms. */
const UPDATE_MS = 1000

/** Values for the metrics. */
export interface OwnValues {
  readonly statistics: Statistics
  /** Current number of client contexts. */
  readonly contexts: () => number
  /** Counts of the last sweep: contexts checked and dropped. */
  readonly swept: () => { readonly scans: number; readonly drops: number }
  /** Archives loaded into a key server; undefined without one. */
  readonly discovery?: { readonly statistics: DiscoveryStatistics } | undefined
  /** Current number of connections to collectors. */
  readonly hosts: () => number
}

/** A metric: name, metadata and value. */
interface Row {
  readonly name: string
  readonly item: number
  readonly type: 'u32' | 'u64'
  readonly sem: 'counter' | 'instant' | 'discrete'
  readonly units?: string
  readonly help: string
  readonly value: (figures: OwnValues) => number
}

/** A file of metrics; with `prefix: false` their names do not start with the file's. */
interface Group {
  readonly file: string
  readonly cluster: number
  readonly prefix?: boolean
  readonly rows: readonly Row[]
}

const counter = (
  name: string,
  item: number,
  units: string,
  help: string,
  value: (statistics: Statistics) => number,
): Row => ({
  name,
  item,
  type: 'u64',
  sem: 'counter',
  units,
  help,
  value: ({ statistics }) => value(statistics),
})

const cpuMs = (part: 'user' | 'system'): number => Math.floor(process.cpuUsage()[part] / 1000)

/** A count of archive discovery. */
const discovered = (
  name: string,
  item: number,
  help: string,
  count: Exclude<keyof DiscoveryStatistics, 'throttleMs'>,
): Row => ({
  name,
  item,
  type: 'u64',
  sem: count === 'monitored' || count === 'purged' ? 'instant' : 'counter',
  ...(count === 'monitored' || count === 'purged' ? {} : { units: 'count' }),
  help,
  value: ({ discovery }) => discovery?.statistics[count] ?? 0,
})

const DISCOVERY: Group = {
  file: 'discover',
  cluster: 5,
  rows: [
    discovered('monitored', 1, 'archives being loaded', 'monitored'),
    discovered('purged', 2, 'archives that ended', 'purged'),
    discovered('metadata.decode.desc', 5, 'descriptors read', 'descs'),
    discovered('metadata.decode.indom', 6, 'instance domain changes read', 'indoms'),
    discovered('metadata.decode.label', 7, 'label records read', 'labels'),
    discovered('metadata.decode.helptext', 8, 'help texts read', 'texts'),
    discovered('logvol.loops', 10, 'turns of reading archives', 'passes'),
    discovered('logvol.change_vol', 11, 'volumes begun after the first', 'volumes'),
    discovered('logvol.decode.result', 12, 'records read', 'records'),
    discovered('logvol.decode.result_pmids', 13, 'value sets in these records', 'sets'),
    discovered('logvol.decode.mark_record', 14, 'marks read', 'marks'),
    discovered('changed_callbacks', 17, 'changes of archives', 'changes'),
    discovered(
      'throttled_changed_callbacks',
      18,
      'changes of archives that were due to be read already',
      'throttled',
    ),
    {
      name: 'throttle',
      item: 19,
      type: 'u64',
      sem: 'instant',
      units: 'sec',
      help: 'time between two readings of an archive',
      value: ({ discovery }) => Math.round((discovery?.statistics.throttleMs ?? 0) / 1000),
    },
    discovered('logvol.decode.result_errors', 21, 'records that could not be read', 'errors'),
    discovered('logvol.skipped', 100, 'records too old for the key server', 'skipped'),
  ],
}

const GROUPS: readonly Group[] = [
  {
    file: 'server',
    cluster: 1,
    prefix: false,
    rows: [
      {
        name: 'pid',
        item: 0,
        type: 'u32',
        sem: 'discrete',
        help: 'process ID of pmproxy',
        value: () => process.pid,
      },
      {
        name: 'cpu.user',
        item: 1,
        type: 'u64',
        sem: 'counter',
        units: 'millisec',
        help: 'CPU time in user mode',
        value: () => cpuMs('user'),
      },
      {
        name: 'cpu.sys',
        item: 2,
        type: 'u64',
        sem: 'counter',
        units: 'millisec',
        help: 'CPU time in system mode',
        value: () => cpuMs('system'),
      },
      {
        name: 'cpu.total',
        item: 3,
        type: 'u64',
        sem: 'counter',
        units: 'millisec',
        help: 'total CPU time',
        value: () => cpuMs('user') + cpuMs('system'),
      },
      {
        name: 'mem.maxrss',
        item: 4,
        type: 'u64',
        sem: 'instant',
        units: 'Kbyte',
        help: 'maximum resident set size',
        value: () => process.resourceUsage().maxRSS,
      },
      {
        name: 'mem.datasz',
        item: 5,
        type: 'u64',
        sem: 'instant',
        units: 'Kbyte',
        help: 'heap in use',
        value: () => Math.floor(memoryUsage().heapUsed / 1024),
      },
      {
        name: 'map.context.size',
        item: 6,
        type: 'u32',
        sem: 'instant',
        help: 'client contexts of the REST API',
        value: ({ contexts }) => contexts(),
      },
    ],
  },
  {
    file: 'http',
    cluster: 3,
    rows: [
      counter('compressed.count', 1, 'count', 'compressed responses', (s) => s.compressedCount),
      counter('uncompressed.count', 2, 'count', 'responses sent uncompressed', (s) => s.uncompressedCount),
      counter(
        'uncompressed.bytes',
        3,
        'byte',
        'bytes of responses sent uncompressed',
        (s) => s.uncompressedBytes,
      ),
      counter('compressed.bytes', 4, 'byte', 'bytes of compressed responses', (s) => s.compressedBytes),
      counter('requests', 100, 'count', 'requests', (s) => s.requests),
      counter('failures', 101, 'count', 'requests answered with a status of 400 or more', (s) => s.failures),
    ],
  },
  {
    file: 'webgroup',
    cluster: 7,
    rows: [
      {
        name: 'gc.context.scans',
        item: 1,
        type: 'u32',
        sem: 'instant',
        help: 'contexts checked in the last sweep for expired ones',
        value: ({ swept }) => swept().scans,
      },
      {
        name: 'gc.context.drops',
        item: 2,
        type: 'u32',
        sem: 'instant',
        help: 'contexts dropped in the last sweep',
        value: ({ swept }) => swept().drops,
      },
    ],
  },
  {
    file: 'live',
    cluster: 100,
    rows: [
      {
        name: 'pages',
        item: 1,
        type: 'u32',
        sem: 'instant',
        help: 'pages with a live stream',
        value: ({ statistics }) => statistics.pages,
      },
      counter('rows', 2, 'count', 'rows sent to live pages', (s) => s.rows),
      counter('missed', 3, 'count', 'rows dropped because pages were too slow', (s) => s.missedRows),
      counter('fetches', 4, 'count', 'fetches for live pages', (s) => s.liveFetches),
    ],
  },
  {
    file: 'proxy',
    cluster: 101,
    rows: [
      counter('connections', 1, 'count', 'accepted connections', (s) => s.connections),
      counter('forwarded', 2, 'count', 'connections forwarded to collectors', (s) => s.proxied),
      {
        name: 'hosts',
        item: 3,
        type: 'u32',
        sem: 'instant',
        help: 'collectors connected to',
        value: ({ hosts }) => hosts(),
      },
      counter('relayed', 4, 'count', 'connections relayed to a key server', (s) => s.relayed),
    ],
  },
]

/** Publishes the metrics below `tmpDir`; returns a function that removes them. Write errors are logged once. */
export function publishOwnMetrics(tmpDir: string, figures: OwnValues, log: Log): () => void {
  const writers: MmvWriter[] = []
  const updates: (() => void)[] = []
  const close = (): void => {
    for (const writer of writers) writer.close()
  }
  try {
    const groups = figures.discovery === undefined ? GROUPS : [...GROUPS, DISCOVERY]
    for (const { file, cluster, prefix = true, rows } of groups) {
      const writer = new MmvWriter(file, {
        directory: join(tmpDir, 'pmproxy'),
        cluster,
        prefix,
        onError: () => undefined,
      })
      writers.push(writer)
      for (const row of rows) updates.push(declare(writer, row, figures))
      for (const update of updates) update()
      writer.publish()
    }
  } catch (error) {
    log.notice('info', `Cannot publish metrics about pmproxy itself: ${PcpError.from(error).message}`)
    close()
    return () => undefined
  }
  const timer = every(
    UPDATE_MS,
    () => {
      for (const update of updates) update()
    },
    (error) =>
      log.notice('warning', `Cannot update metrics about pmproxy itself: ${PcpError.from(error).message}`),
  )
  timer.unref()
  return () => {
    clearInterval(timer)
    try {
      close()
    } catch (error) {
      // With -U, root created the directory but this process runs as another user; the next start rewrites the files.
      log.notice('warning', `Cannot remove metrics about pmproxy itself: ${PcpError.from(error).message}`)
    }
  }
}

function declare(writer: MmvWriter, row: Row, figures: OwnValues): () => void {
  const { name, item, type, sem, help, value } = row
  const options = { item, type, help, ...(row.units === undefined ? {} : { units: row.units }) }
  const handle: Pick<Gauge, 'set'> =
    sem === 'counter' ? writer.counter(name, options) : writer.gauge(name, { ...options, sem })
  return () => handle.set(value(figures))
}
