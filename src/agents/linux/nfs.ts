/** nfs, nfs3, nfs4 and rpc: NFS clients and the NFS server of this host. /proc/net/rpc, /proc/fs/nfsd */
import type { IndomSpec, MetricSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { NFS2_CALLS, NFS3_CALLS, NFS4_CLIENT_CALLS, NFS4_SERVER_CALLS, RPC_ROWS } from './nfs-rows.ts'
import { orUndefined } from './sample.ts'

/** Rows of a file in /proc/net/rpc: name to numbers. */
export type RpcTable = ReadonlyMap<string, readonly number[]>

/** Parses lines such as `net 103 106 109 112`. */
export function parseRpc(text: string): RpcTable {
  const rows = new Map<string, readonly number[]>()
  for (const line of text.split('\n')) {
    const [name, ...numbers] = line.trim().split(/\s+/)
    if (name !== undefined && numbers.length > 0) rows.set(name, numbers.map(Number))
  }
  return rows
}

/** Thread pools of the server, added up. */
export interface PoolStats {
  readonly pools: number
  readonly sums: readonly number[]
}

/** Parses /proc/fs/nfsd/pool_stats: a heading, then a row of a pool's number and its counters. */
export function parsePools(text: string): PoolStats | undefined {
  const rows = text.split('\n').filter((line) => /^\d/.test(line))
  if (rows.length === 0) return undefined
  const sums: number[] = []
  for (const row of rows)
    for (const [i, value] of row.trim().split(/\s+/).slice(1).entries())
      sums[i] = (sums[i] ?? 0) + Number(value)
  return { pools: rows.length, sums }
}

/** Calls of one version of the protocol: the first metric item is their total, the second by kind. */
interface Version {
  readonly prefix: 'nfs' | 'nfs3' | 'nfs4'
  readonly side: 'client' | 'server'
  readonly row: string
  readonly items: readonly [calls: number, reqs: number]
  readonly indom: IndomSpec
}

const callIndom = (serial: number, calls: { readonly [name: string]: number }, what: string): IndomSpec => ({
  serial,
  instances: calls,
  help: `Kinds of call in ${what}`,
  text: 'Numbered by their place in the row of /proc/net/rpc that counts them.',
})

const NFS2 = callIndom(7, NFS2_CALLS, 'version 2 of NFS')
const NFS3 = callIndom(8, NFS3_CALLS, 'version 3 of NFS')
const NFS4_CLIENT = callIndom(14, NFS4_CLIENT_CALLS, 'version 4 of NFS that clients make')
const NFS4_SERVER = callIndom(15, NFS4_SERVER_CALLS, 'version 4 of NFS as the server takes compounds apart')

const VERSIONS: readonly Version[] = [
  { prefix: 'nfs', side: 'client', row: 'proc2', items: [1, 4], indom: NFS2 },
  { prefix: 'nfs', side: 'server', row: 'proc2', items: [50, 12], indom: NFS2 },
  { prefix: 'nfs3', side: 'client', row: 'proc3', items: [60, 61], indom: NFS3 },
  { prefix: 'nfs3', side: 'server', row: 'proc3', items: [62, 63], indom: NFS3 },
  { prefix: 'nfs4', side: 'client', row: 'proc4', items: [64, 65], indom: NFS4_CLIENT },
  { prefix: 'nfs4', side: 'server', row: 'proc4ops', items: [66, 67], indom: NFS4_SERVER },
]

const VERSION_WORDS = { nfs: 'version 2', nfs3: 'version 3', nfs4: 'version 4' } as const

/** The metrics of NFS and of the remote procedure calls under it (cluster 7). */
export function nfsMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  // the files exist while the kernel module is loaded
  const client = new Reading(() => parseRpc(ctx.optionalText('/proc/net/rpc/nfs')))
  const server = new Reading(() => parseRpc(ctx.optionalText('/proc/net/rpc/nfsd')))
  const pools = new Reading(() => parsePools(ctx.optionalText('/proc/fs/nfsd/pool_stats')))
  return {
    ...callMetrics(client, server),
    ...rpcMetrics(client, server),
    ...threadMetrics(server, pools),
  }
}

function callMetrics(client: Reading<RpcTable>, server: Reading<RpcTable>): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const { prefix, side, row, items, indom } of VERSIONS) {
    const reading = side === 'client' ? client : server
    const who = side === 'client' ? 'made by this host' : 'served by this host'
    const ids = Object.values(indom.instances as { readonly [name: string]: number })
    // the first number of a row is the number of values; operations of version 4 in the server are numbered from 1
    const base = ids[0]!
    const countOf = (inst: number): number | undefined => reading.value.get(row)?.[1 + inst - base]
    const source = `Row ${row} of /proc/net/rpc/${side === 'client' ? 'nfs' : 'nfsd'}. No value while the kernel module is not loaded.`
    const common = { cluster: 7, type: 'u32', sem: 'counter', units: 'count', reading } as const
    metrics[`${prefix}.${side}.calls`] = {
      ...common,
      item: items[0],
      help: `Requests of NFS ${VERSION_WORDS[prefix]} ${who}, of any kind`,
      text: `${source} The sum over all kinds.`,
      value: () => {
        const counts = ids.map(countOf).filter((count) => count !== undefined)
        return counts.length === 0 ? undefined : orUndefined(counts.reduce((sum, count) => sum + count, 0))
      },
    }
    metrics[`${prefix}.${side}.reqs`] = {
      ...common,
      item: items[1],
      indom,
      help: `Requests of NFS ${VERSION_WORDS[prefix]} ${who}, by kind`,
      text: source,
      value: (inst) => orUndefined(countOf(inst)),
    }
  }
  return metrics
}

function rpcMetrics(client: Reading<RpcTable>, server: Reading<RpcTable>): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const { name, item, row, column, help, text, units, sem } of RPC_ROWS) {
    const isClient = name.startsWith('client.')
    const reading = isClient ? client : server
    const columns = typeof column === 'number' ? [column] : (column ?? [])
    const place = columns.length === 0 ? '' : `, number ${columns.map((at) => at + 1).join(' and ')}`
    const source = `Row ${row} of /proc/net/rpc/${isClient ? 'nfs' : 'nfsd'}${place}.`
    metrics[`rpc.${name}`] = {
      cluster: 7,
      item,
      type: 'u32',
      sem: sem ?? 'counter',
      units: units ?? 'count',
      help,
      text: text === undefined ? source : `${source} ${text}`,
      reading,
      value: () => {
        const numbers = reading.value.get(row)
        let sum = columns.length === 0 ? Number.NaN : 0
        for (const at of columns) sum += numbers?.[at] ?? Number.NaN
        return orUndefined(sum)
      },
    }
  }
  return metrics
}

function threadMetrics(
  server: Reading<RpcTable>,
  pools: Reading<PoolStats | undefined>,
): { [name: string]: OrderedRow } {
  const counter = (item: number, column: number, help: string): MetricSpec => ({
    cluster: 7,
    item,
    type: 'u64',
    sem: 'counter',
    units: 'count',
    help,
    text: `Column ${column + 2} of /proc/fs/nfsd/pool_stats, all pools together.`,
    reading: pools,
    value: () => orUndefined(pools.value?.sums[column]),
  })
  return {
    'nfs.server.threads.total': {
      cluster: 7,
      item: 71,
      type: 'u32',
      sem: 'instant',
      units: 'count',
      help: 'How many kernel threads (nfsd) wait for requests of NFS clients',
      text: 'Row th of /proc/net/rpc/nfsd, number 1.',
      reading: server,
      value: () => orUndefined(server.value.get('th')?.[0]),
    },
    'nfs.server.threads.pools': {
      cluster: 7,
      item: 72,
      type: 'u32',
      sem: 'instant',
      units: 'count',
      help: 'Pools of nfsd threads, for example one for each NUMA node',
      text: 'Rows of /proc/fs/nfsd/pool_stats.',
      reading: pools,
      value: () => pools.value?.pools,
    },
    'nfs.server.threads.requests': counter(73, 0, 'Packets with requests that arrived for the nfsd threads'),
    'nfs.server.threads.enqueued': counter(
      74,
      1,
      'Times a connection had to queue, as no nfsd thread was idle',
    ),
    'nfs.server.threads.processed': counter(75, 2, 'Times an idle nfsd thread was woken to take a request'),
    'nfs.server.threads.timedout': counter(76, 3, 'Times an nfsd thread gave up waiting for work'),
  }
}
