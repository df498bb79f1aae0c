/** Counters of the Internet protocols. /proc/net/snmp, /proc/net/netstat, /proc/net/snmp6 */
import type { Scanner } from '../../base/scan.ts'
import type { MetricSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { LinuxContext } from './context.ts'
import {
  type FieldFamily,
  type FieldRow,
  type FieldValue,
  fieldMetrics,
  numberOrNone,
  readFields,
  slotsOf,
} from './fields.ts'
import * as netstat from './net-netstat-rows.ts'
import * as snmp from './net-snmp-rows.ts'

/** A file of row pairs: row name to field to value. Rows that the kernel leaves out are missing. */
export type ProtocolTable = Map<string, Map<string, FieldValue>>

const COLON = ':'
const NEWLINE = 0x0a
const MINUS = 0x2d

/**
 * Fills `table` from pairs of lines: `Ip: Forwarding DefaultTTL` and below it `Ip: 2 64`. Which fields there are, and
 * in which order, is up to the kernel. A negative number counts as the unsigned one of the same bits.
 */
export function parseProtocols(scan: Scanner, table: ProtocolTable): ProtocolTable {
  for (const row of table.values()) row.clear()
  const fields: string[] = []
  while (!scan.atEnd) {
    const name = scan.until(COLON)
    fields.length = 0
    for (let field = scan.word(); field !== ''; field = scan.word()) fields.push(field)
    // the values' line repeats the name; a heading without values says nothing
    if (!scan.nextLine() || !scan.accept(`${name}:`)) continue
    let row = table.get(name)
    if (row === undefined) {
      row = new Map()
      table.set(name, row)
    }
    for (const field of fields) {
      const value = readValue(scan)
      if (value === undefined) break
      row.set(field, value)
    }
    scan.nextLine()
  }
  return table
}

function readValue(scan: Scanner): FieldValue {
  scan.skipBlanks()
  if (scan.peek() === NEWLINE) return undefined
  if (scan.peek() === MINUS) return BigInt.asUintN(64, BigInt(scan.int() || 0))
  return numberOrNone(scan.uintExact())
}

const field = (table: ProtocolTable, row: string, name: string): FieldValue => table.get(row)?.get(name)

/** How many types of ICMP message there are. */
const ICMP_TYPES = 256

const ICMP_TYPE_INDOM = {
  serial: 23,
  instances: Object.fromEntries(Array.from({ length: ICMP_TYPES }, (_, type) => [`Type${type}`, type])),
  help: 'Types of ICMP message, by number',
  text: 'Type3 is "destination unreachable", Type8 an echo request; the Internet Assigned Numbers Authority keeps the list.',
}

/** The metrics of IPv4, ICMP, TCP, UDP, UDP-Lite and multipath TCP (clusters 14 and 53). */
export function protocolMetrics(ctx: LinuxContext): { [name: string]: MetricSpec } {
  const snmpTable: ProtocolTable = new Map()
  const netstatTable: ProtocolTable = new Map()
  const snmpReading = new Reading(() => parseProtocols(ctx.file('/proc/net/snmp').scan(), snmpTable))
  const netstatReading = new Reading(() => parseProtocols(ctx.file('/proc/net/netstat').scan(), netstatTable))
  const family = (
    file: 'snmp' | 'netstat',
    row: string,
    prefix: string,
    rest: Partial<FieldFamily<ProtocolTable>> = {},
  ): FieldFamily<ProtocolTable> => ({
    prefix: `network.${prefix}`,
    cluster: file === 'snmp' ? 14 : 53,
    reading: file === 'snmp' ? snmpReading : netstatReading,
    source: (name) =>
      `Field ${name} in row ${row} of /proc/net/${file}. No value where the kernel has no such field.`,
    pick: (table, name) => field(table, row, name),
    ...rest,
  })
  const level = { sem: 'instant', units: 'none' } as const
  return {
    ...fieldMetrics(family('snmp', 'Ip', 'ip'), snmp.IP_ROWS),
    ...fieldMetrics(family('netstat', 'IpExt', 'ip'), netstat.IPEXT_ROWS),
    ...fieldMetrics(family('snmp', 'Icmp', 'icmp'), snmp.ICMP_ROWS),
    ...fieldMetrics(
      family('snmp', 'IcmpMsg', 'icmpmsg', {
        indom: ICMP_TYPE_INDOM,
        pick: (table, name, inst) => field(table, 'IcmpMsg', name.replace('N', String(inst))),
      }),
      ICMP_MESSAGES,
    ),
    ...fieldMetrics(family('snmp', 'Tcp', 'tcp'), snmp.TCP_ROWS),
    ...fieldMetrics(family('snmp', 'Tcp', 'tcp', level), snmp.TCP_LEVELS),
    ...fieldMetrics(family('snmp', 'Tcp', 'tcp', { sem: 'instant', units: 'millisec' }), snmp.TCP_TIMES),
    ...fieldMetrics(family('netstat', 'TcpExt', 'tcp'), netstat.TCPEXT_ROWS),
    ...fieldMetrics(family('netstat', 'TcpExt', 'tcp', { units: 'Mbyte' }), netstat.TCPEXT_TIMES),
    ...fieldMetrics(family('snmp', 'Udp', 'udp'), snmp.UDP_ROWS),
    ...fieldMetrics(family('snmp', 'UdpLite', 'udplite'), snmp.UDPLITE_ROWS),
    ...fieldMetrics(family('netstat', 'MPTcpExt', 'mptcp'), netstat.MPTCP_ROWS),
  }
}

/** Row IcmpMsg: the N stands for the instance. */
const ICMP_MESSAGES: readonly FieldRow[] = [
  [
    'intype',
    88,
    'InTypeN',
    'ICMP messages that arrived, by type',
    'Only types that have been seen have a value.',
  ],
  [
    'outtype',
    89,
    'OutTypeN',
    'ICMP messages that were sent, by type',
    'Only types that have been seen have a value.',
  ],
]

const SNMP6_FAMILIES = [
  ['ip6', snmp.IP6_ROWS],
  ['icmp6', snmp.ICMP6_ROWS],
  ['udp6', snmp.UDP6_ROWS],
  ['udplite6', snmp.UDPLITE6_ROWS],
] as const

const SNMP6_SLOTS: ReadonlyMap<string, number> = slotsOf(
  SNMP6_FAMILIES.flatMap(([, rows]) => rows.map((row) => row[2])),
)

/** Reads /proc/net/snmp6 into `values`, by the position of each field. */
function parseSnmp6(scan: Scanner, values: FieldValue[] = newSnmp6()): readonly FieldValue[] {
  return readFields(scan, SNMP6_SLOTS, values)
}

/** The value of a field of /proc/net/snmp6. */
function snmp6Field(values: readonly FieldValue[], name: string): FieldValue {
  const slot = SNMP6_SLOTS.get(name)
  return slot === undefined ? undefined : values[slot]
}

function newSnmp6(): FieldValue[] {
  return new Array<FieldValue>(SNMP6_SLOTS.size).fill(undefined)
}

/** The metrics of IPv6, ICMPv6, UDP and UDP-Lite over IPv6 (cluster 58). */
export function protocol6Metrics(ctx: LinuxContext): { [name: string]: MetricSpec } {
  const values = newSnmp6()
  const reading = new Reading(() => parseSnmp6(ctx.file('/proc/net/snmp6').scan(), values))
  const metrics: { [name: string]: MetricSpec } = {}
  for (const [prefix, rows] of SNMP6_FAMILIES) {
    Object.assign(
      metrics,
      fieldMetrics(
        {
          prefix: `network.${prefix}`,
          cluster: 58,
          reading,
          source: (name) => `Field ${name} of /proc/net/snmp6. No value where the kernel has no such field.`,
          pick: snmp6Field,
        },
        rows,
      ),
    )
  }
  return metrics
}
