/** Sockets in use: by protocol, by state. /proc/net/sockstat, tcp, udp, raw, unix; proc(5) */
import type { Scanner } from '../../base/scan.ts'
import type { Ask } from '../../model/source.ts'
import type { MetricSpec, Sample } from '../../pmda/define.ts'
import { Reading, type Refreshable } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { type FieldRow, type FieldValue, fieldMetrics, numberOrNone } from './fields.ts'
import { ThreadedReading } from './slow-reading.ts'

/** Numbers of sockstat by `row field`, as in `TCP inuse`. */
export type SockStat = Map<string, FieldValue>

/** Fills `table` from lines such as `TCP: inuse 41 orphan 2 tw 7 alloc 55 mem 18`. */
export function parseSockStat(scan: Scanner, table: SockStat): SockStat {
  table.clear()
  while (!scan.atEnd) {
    const row = scan.until(':')
    for (let field = scan.word(); field !== ''; field = scan.word())
      table.set(`${row} ${field}`, numberOrNone(scan.int()))
    scan.nextLine()
  }
  return table
}

const TW = 'A closed connection stays in TIME_WAIT for a minute, so that late segments do no harm.'
const FRAG = 'Fragments of datagrams wait in these queues until all of them are there.'

const SOCKSTAT: readonly FieldRow[] = [
  ['total', 9, 'sockets used', 'Open sockets of all families'],
  ['tcp.inuse', 0, 'TCP inuse', 'TCP sockets bound or connected, IPv4 only'],
  ['tcp.orphan', 10, 'TCP orphan', 'TCP sockets no longer held by a process, still sending or closing'],
  ['tcp.tw', 11, 'TCP tw', 'TCP connections in TIME_WAIT', TW],
  ['tcp.alloc', 12, 'TCP alloc', 'TCP sockets that exist in any state, IPv4 and IPv6'],
  [
    'tcp.mem',
    13,
    'TCP mem',
    "Pages of memory in TCP's buffers",
    'Counted in pages. net.ipv4.tcp_mem has the limits.',
  ],
  ['udp.inuse', 3, 'UDP inuse', 'UDP sockets bound to a port, IPv4 only'],
  [
    'udp.mem',
    14,
    'UDP mem',
    "Pages of memory in UDP's buffers",
    'Counted in pages. net.ipv4.udp_mem has the limits.',
  ],
  ['udplite.inuse', 8, 'UDPLITE inuse', 'UDP-Lite sockets bound to a port, IPv4 only'],
  ['raw.inuse', 6, 'RAW inuse', 'Sockets that see IPv4 packets below TCP and UDP, as ping(8) may use'],
  ['frag.inuse', 15, 'FRAG inuse', 'IPv4 datagrams being put together from fragments', FRAG],
  [
    'frag.memory',
    16,
    'FRAG memory',
    'Bytes of memory in use for putting IPv4 fragments together',
    `Counted in bytes. ${FRAG}`,
  ],
]

const SOCKSTAT6: readonly FieldRow[] = [
  ['tcp6.inuse', 0, 'TCP6 inuse', 'TCP sockets bound or connected, IPv6 only'],
  ['udp6.inuse', 1, 'UDP6 inuse', 'UDP sockets bound to a port, IPv6 only'],
  ['udplite6.inuse', 2, 'UDPLITE6 inuse', 'UDP-Lite sockets bound to a port, IPv6 only'],
  ['raw6.inuse', 3, 'RAW6 inuse', 'Sockets that see IPv6 packets below TCP and UDP'],
  ['frag6.inuse', 4, 'FRAG6 inuse', 'IPv6 datagrams being put together from fragments', FRAG],
  [
    'frag6.memory',
    5,
    'FRAG6 memory',
    'Bytes of memory in use for putting IPv6 fragments together',
    `Counted in bytes. ${FRAG}`,
  ],
]

/** Number of sockets by state; index 0 is their total. */
export type StateCounts = Uint32Array

/** The kernel's socket states are 1 to 12. */
const STATES = 16

/** Counts the rows of /proc/net/tcp, udp or raw by the hexadecimal state in their fourth column. */
export function countStates(scan: Scanner, counts: StateCounts = new Uint32Array(STATES)): StateCounts {
  counts.fill(0)
  while (scan.nextLine()) {
    scan.skipWords(3)
    const state = scan.hex()
    if (Number.isNaN(state)) continue
    counts[0]!++
    if (state > 0 && state < STATES) counts[state]!++
  }
  return counts
}

/** Sockets of the Unix domain. */
export interface UnixCounts {
  readonly datagram: number
  readonly stream: number
  readonly listen: number
  readonly established: number
}

const SOCK_STREAM = 1
const SOCK_DGRAM = 2
const SS_UNCONNECTED = 1
const SS_CONNECTED = 3

/** Counts the rows of /proc/net/unix: fifth column the type, sixth the state. */
export function countUnix(scan: Scanner): UnixCounts {
  let datagram = 0
  let stream = 0
  let listen = 0
  let established = 0
  while (scan.nextLine()) {
    scan.skipWords(4)
    const type = scan.hex()
    const state = scan.hex()
    if (type === SOCK_DGRAM) datagram++
    if (type !== SOCK_STREAM) continue
    stream++
    // a named stream socket that is not connected is listening
    if (state === SS_UNCONNECTED) listen++
    else if (state === SS_CONNECTED) established++
  }
  return { datagram, stream, listen, established }
}

type StateRow = readonly [name: string, state: number, help: string]

/** TCP states; the item is the state's number. */
const TCP_STATES: readonly StateRow[] = [
  ['established', 1, 'open for data in both directions'],
  ['syn_sent', 2, 'opened by this host and not yet answered'],
  ['syn_recv', 3, 'opened by a peer and not yet confirmed'],
  ['fin_wait1', 4, 'closed here, the peer has not acknowledged it'],
  ['fin_wait2', 5, 'closed here, the peer has not closed its side'],
  ['time_wait', 6, 'at an end, lingering so that late segments do no harm'],
  ['close', 7, 'not in use'],
  ['close_wait', 8, 'closed by the peer, the program here has not closed its side'],
  ['last_ack', 9, 'closed by both, our closing not yet acknowledged'],
  ['listen', 10, 'waiting for peers to connect'],
  ['closing', 11, 'closed by both at once'],
]

/** UDP states in use. */
const UDP_STATES: readonly StateRow[] = [
  ['established', 1, 'tied to one peer by connect(2)'],
  ['listen', 7, 'bound to a port, ready for any peer'],
]

/** The metrics of /proc/net/sockstat and sockstat6 (clusters 11 and 73). */
export function sockStatMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const family = (
    file: string,
    cluster: number,
    rows: readonly FieldRow[],
  ): { [name: string]: OrderedRow } => {
    const table: SockStat = new Map()
    const reading = new Reading(() => parseSockStat(ctx.file(`/proc/net/${file}`).scan(), table))
    return fieldMetrics(
      {
        prefix: 'network.sockstat',
        cluster,
        reading,
        source: (field) => {
          const [row, column] = field.split(' ')
          return `Number after "${column}" in row ${row} of /proc/net/${file}, in this host's network name space.`
        },
        pick: (read: SockStat, field) => read.get(field),
        type: '32',
        sem: 'instant',
      },
      rows,
    )
  }
  return { ...family('sockstat', 11, SOCKSTAT), ...family('sockstat6', 73, SOCKSTAT6) }
}

/** Counts of connections by state (clusters 19, 76, 79, 80, 77, 78 and 81). */
export function connectionMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const spec = (
    cluster: number,
    item: number,
    help: string,
    text: string,
    reading: Refreshable,
    value: () => Sample,
  ): MetricSpec => ({
    cluster,
    item,
    type: 'u32',
    sem: 'instant',
    units: 'count',
    help,
    text,
    reading,
    value,
  })
  const metrics: { [name: string]: OrderedRow } = {}
  const byState = (
    prefix: string,
    cluster: number,
    file: string,
    what: string,
    rows: readonly StateRow[],
  ): void => {
    const counts: StateCounts = new Uint32Array(STATES)
    // for TCP the kernel scans a very large hash table, which takes 3 ms even when it is empty
    const reading = new ThreadedReading(ctx.file(`/proc/net/${file}`), (scan) => countStates(scan, counts))
    const prefetch = rows === TCP_STATES ? { prefetch: ({ batch }: Ask) => reading.begin(batch) } : {}
    const items = rows === UDP_STATES ? [1, 2] : rows.map((row) => row[1])
    for (const [i, [name, state, help]] of rows.entries())
      metrics[`${prefix}.${name}`] = {
        ...spec(
          cluster,
          items[i]!,
          `${what} ${help}`,
          `Rows of /proc/net/${file} whose column st is ${hexState(state)}. The kernel lists every socket for this, which is slow if there are very many.`,
          reading,
          () => reading.value[state],
        ),
        ...prefetch,
      }
  }
  byState('network.tcpconn', 19, 'tcp', 'IPv4 connections', TCP_STATES)
  byState('network.tcpconn6', 76, 'tcp6', 'IPv6 connections', TCP_STATES)
  byState('network.udpconn', 79, 'udp', 'IPv4 datagram sockets', UDP_STATES)
  byState('network.udpconn6', 80, 'udp6', 'IPv6 datagram sockets', UDP_STATES)
  for (const [prefix, cluster, file] of [
    ['network.rawconn', 77, 'raw'],
    ['network.rawconn6', 78, 'raw6'],
  ] as const) {
    const counts: StateCounts = new Uint32Array(STATES)
    const reading = new Reading(() => countStates(ctx.file(`/proc/net/${file}`).scan(), counts))
    const version = file === 'raw' ? 'IPv4' : 'IPv6'
    metrics[`${prefix}.count`] = spec(
      cluster,
      1,
      `Open sockets that see ${version} packets below TCP and UDP`,
      `Rows of /proc/net/${file}.`,
      reading,
      () => reading.value[0],
    )
  }
  const unix = new Reading(() => countUnix(ctx.file('/proc/net/unix').scan()))
  const local = (item: number, help: string, text: string, pick: keyof UnixCounts): MetricSpec =>
    spec(81, item, help, `Rows of /proc/net/unix ${text}.`, unix, () => unix.value[pick])
  return {
    ...metrics,
    'network.unix.datagram.count': local(
      1,
      'Local sockets that carry single messages',
      'of type 2',
      'datagram',
    ),
    'network.unix.stream.established': local(
      2,
      'Local sockets that carry a connected byte stream',
      'of type 1 in state 3',
      'established',
    ),
    'network.unix.stream.listen': local(
      3,
      'Local sockets on which a server waits for clients',
      'of type 1 in state 1',
      'listen',
    ),
    'network.unix.stream.count': local(
      4,
      'Local sockets for byte streams in any state',
      'of type 1',
      'stream',
    ),
  }
}

function hexState(state: number): string {
  return state.toString(16).padStart(2, '0').toUpperCase()
}
