/** Counters of the Internet protocols. /proc/net/snmp, /proc/net/netstat, /proc/net/snmp6 */
import type { Scanner } from '../../base/scan.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import {
  type FieldFamily,
  type FieldRow,
  type FieldValue,
  fieldMetrics,
  numberOrNone,
  readFields,
  type Slots,
  slotsOf,
} from './fields.ts'
import * as netstat from './net-netstat-rows.ts'
import * as snmp from './net-snmp-rows.ts'

/** A file of row pairs: values by row name and field. Rows missing in the kernel are missing. */
export type ProtocolTable = Map<string, Map<string, FieldValue>>

/** A line of field names, kept because it rarely changes. */
export interface ProtocolHeading {
  readonly text: string
  readonly name: string
  readonly fields: readonly string[]
  readonly row: Map<string, FieldValue>
}

const NEWLINE = 0x0a
const MINUS = 0x2d

/**
 * Fills `table` from pairs of lines: `Ip: Forwarding DefaultTTL` and below it `Ip: 2 64`. Fields and their order depend on
 * the kernel. Negative numbers become unsigned 64-bit ones. `headings` are from the last reading into this table.
 */
export function parseProtocols(
  scan: Scanner,
  table: ProtocolTable,
  headings: ProtocolHeading[] = [],
): ProtocolTable {
  let isNew = headings.length === 0
  let at = 0
  for (; !scan.atEnd; at++) {
    let heading = headings[at]
    const text = scan.rest(heading?.text)
    if (heading === undefined || text !== heading.text) {
      heading = newHeading(text)
      headings[at] = heading
      isNew = true
    }
    // the line of values repeats the name; a heading without values is ignored
    if (!scan.nextLine() || !scan.accept(heading.name)) heading.row.clear()
    else {
      readRow(scan, heading)
      scan.nextLine()
    }
  }
  if (!isNew && headings.length === at) return table
  headings.length = at
  table.clear()
  for (const { name, row } of headings) table.set(name.slice(0, -1), row)
  return table
}

function newHeading(text: string): ProtocolHeading {
  const name = `${text.split(':', 1)[0]}:`
  const fields = text
    .slice(name.length)
    .split(/[ \t]+/)
    .filter((field) => field !== '')
  return { text, name, fields, row: new Map() }
}

function readRow(scan: Scanner, { fields, row }: ProtocolHeading): void {
  let count = 0
  for (; count < fields.length; count++) {
    const value = readValue(scan)
    if (value === undefined) break
    row.set(fields[count]!, value)
  }
  if (row.size > count) for (const field of fields.slice(count)) row.delete(field)
}

function readValue(scan: Scanner): FieldValue {
  scan.skipBlanks()
  if (scan.peek() === NEWLINE) return undefined
  if (scan.peek() === MINUS) return BigInt.asUintN(64, BigInt(scan.int() || 0))
  return numberOrNone(scan.uintExact())
}

const field = (table: ProtocolTable, row: string, name: string): FieldValue => table.get(row)?.get(name)

/** Number of ICMP message types. */
const ICMP_TYPES = 256

const ICMP_TYPE_INDOM = {
  serial: 23,
  instances: Object.fromEntries(Array.from({ length: ICMP_TYPES }, (_, type) => [`Type${type}`, type])),
  help: 'Types of ICMP message, by number',
  text: 'Type3 is "destination unreachable", Type8 an echo request; the Internet Assigned Numbers Authority keeps the list.',
}

/** The metrics of IPv4, ICMP, TCP, UDP, UDP-Lite and multipath TCP (clusters 14 and 53). */
export function protocolMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const read = (path: string): Reading<ProtocolTable> => {
    const table: ProtocolTable = new Map()
    const headings: ProtocolHeading[] = []
    return new Reading(() => parseProtocols(ctx.file(path).scan(), table, headings))
  }
  const snmpReading = read('/proc/net/snmp')
  const netstatReading = read('/proc/net/netstat')
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
  return {
    ...fieldMetrics(family('snmp', 'Ip', 'ip'), snmp.IP_ROWS),
    ...fieldMetrics(family('netstat', 'IpExt', 'ip'), netstat.IPEXT_ROWS),
    ...fieldMetrics(family('snmp', 'Icmp', 'icmp'), snmp.ICMP_ROWS),
    ...fieldMetrics(
      family('snmp', 'IcmpMsg', 'icmpmsg', {
        indom: ICMP_TYPE_INDOM,
        pick: (table, name, inst) => {
          // only types that were seen are in the file
          const row = table.get('IcmpMsg')
          return row === undefined ? undefined : row.get(name.replace('N', String(inst)))
        },
      }),
      ICMP_MESSAGES,
    ),
    ...fieldMetrics(family('snmp', 'Tcp', 'tcp'), snmp.TCP_ROWS),
    ...fieldMetrics(family('netstat', 'TcpExt', 'tcp'), netstat.TCPEXT_ROWS),
    ...fieldMetrics(family('snmp', 'Udp', 'udp'), snmp.UDP_ROWS),
    ...fieldMetrics(family('snmp', 'UdpLite', 'udplite'), snmp.UDPLITE_ROWS),
    ...fieldMetrics(family('netstat', 'MPTcpExt', 'mptcp'), netstat.MPTCP_ROWS),
  }
}

/** Row IcmpMsg: N in a field name is replaced by the instance. */
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

const SNMP6_SLOTS: Slots = slotsOf(SNMP6_FAMILIES.flatMap(([, rows]) => rows.map((row) => row[2])))

/** Reads /proc/net/snmp6 into `values`, by the position of each field. */
function parseSnmp6(scan: Scanner, values: FieldValue[] = newSnmp6()): readonly FieldValue[] {
  return readFields(scan, SNMP6_SLOTS, values)
}

/** The value of a field of /proc/net/snmp6. */
function snmp6Field(values: readonly FieldValue[], name: string): FieldValue {
  const slot = SNMP6_SLOTS.of.get(name)
  return slot === undefined ? undefined : values[slot]
}

function newSnmp6(): FieldValue[] {
  return new Array<FieldValue>(SNMP6_SLOTS.of.size).fill(undefined)
}

/** The metrics of IPv6, ICMPv6, UDP and UDP-Lite over IPv6 (cluster 58). */
export function protocol6Metrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const values = newSnmp6()
  const reading = new Reading(() => parseSnmp6(ctx.file('/proc/net/snmp6').scan(), values))
  const metrics: { [name: string]: OrderedRow } = {}
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
