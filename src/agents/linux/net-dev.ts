/** Counters of network interfaces. /proc/net/dev, proc(5) */

import type { Scanner } from '../../base/scan.ts'
import { decodeText } from '../../base/text.ts'
import type { InstanceIds } from '../lib/instance-ids.ts'

/** Columns of /proc/net/dev, in file order: receive, then transmit. */
export const IN_BYTES = 0
export const IN_PACKETS = 1
export const IN_ERRORS = 2
export const IN_DROPS = 3
export const IN_FIFO = 4
export const IN_FRAME = 5
export const IN_COMPRESSED = 6
export const IN_MCASTS = 7
export const OUT_BYTES = 8
export const OUT_PACKETS = 9
export const OUT_ERRORS = 10
export const OUT_DROPS = 11
export const OUT_FIFO = 12
export const COLLISIONS = 13
export const OUT_CARRIER = 14
export const OUT_COMPRESSED = 15
/** Columns of an interface. */
const DEV_COLUMNS = 16

const COLON = 0x3a
const EXACT = 2 ** 53

/**
 * The interfaces and their counters, overwritten by each reading. Counters of 2^53 or more are also in `big`; missing ones
 * are NaN.
 */
export interface NetDev {
  /** Instances in file order; the same array as before if nothing changed. */
  ids: readonly number[]
  names: readonly string[]
  /** Line of each instance. */
  lines: ReadonlyMap<number, number>
  /** Counters of line n start at n * DEV_COLUMNS. */
  counters: Float64Array
  /** Counters too large for a double, by position in `counters`. */
  readonly big: Map<number, bigint>
}

/** An empty table for `parseNetDev` to fill. */
export function newNetDev(): NetDev {
  return { ids: [], names: [], lines: new Map(), counters: new Float64Array(0), big: new Map() }
}

/** Fills `dev` from the file and returns it; `instances` assigns identifiers to interfaces. */
export function parseNetDev(scan: Scanner, dev: NetDev, instances: InstanceIds): NetDev {
  dev.big.clear()
  const before = dev.ids
  let count = 0
  // two heading lines, then one line per interface: `  eth0: 1 2 3`, or `eth0:1 2 3` if the number is wide
  scan.nextLine()
  while (scan.nextLine()) {
    const id = readName(scan, dev, count, instances)
    if (id === undefined) continue
    readCounters(scan, dev, count * DEV_COLUMNS)
    count++
  }
  if (dev.ids.length > count) {
    dev.ids = dev.ids.slice(0, count)
    dev.names = dev.names.slice(0, count)
  }
  if (dev.ids !== before) {
    dev.lines = new Map(dev.ids.map((id, line) => [id, line]))
    instances.list(dev.names) // also marks unchanged names as in use
  }
  return dev
}

/** Skips `name:` and returns the interface's identifier. A name unchanged since the last reading needs no new string. */
function readName(scan: Scanner, dev: NetDev, place: number, instances: InstanceIds): number | undefined {
  scan.skipBlanks()
  const before = dev.names[place]
  const start = scan.pos
  if (before !== undefined && scan.accept(before) && scan.peek() === COLON) {
    scan.pos++
    return dev.ids[place]
  }
  scan.pos = start

  const end = nameEnd(scan)
  if (end === undefined) return undefined
  const name = decodeText(scan.bytes, start, end)
  scan.pos = end + 1
  const id = instances.idOf(name)
  dev.ids = [...dev.ids.slice(0, place), id]
  dev.names = [...dev.names.slice(0, place), name]
  if ((place + 1) * DEV_COLUMNS > dev.counters.length) dev.counters = grown(dev.counters, place + 1)
  return id
}

/** Position of the colon after the name: the first one, as the kernel forbids colons in names. */
function nameEnd(scan: Scanner): number | undefined {
  for (let pos = scan.pos; pos < scan.end; pos++) {
    const byte = scan.bytes[pos]
    if (byte === COLON) return pos
    if (byte === 0x0a) return undefined
  }
  return undefined
}

function readCounters(scan: Scanner, dev: NetDev, at: number): void {
  const { counters } = dev
  for (let i = 0; i < DEV_COLUMNS; i++) {
    const start = scan.pos
    const value = scan.uint()
    counters[at + i] = value
    if (value >= EXACT) {
      scan.pos = start
      dev.big.set(at + i, BigInt(scan.uintExact()))
    }
  }
}

function grown(table: Float64Array, interfaces: number): Float64Array {
  const larger = new Float64Array(Math.max(interfaces * DEV_COLUMNS, table.length * 2))
  larger.set(table)
  return larger
}

/** Returns a counter of an interface; undefined if it is missing. */
export function devCounter(dev: NetDev, id: number, column: number): number | bigint | undefined {
  const line = dev.lines.get(id)
  if (line === undefined) return undefined
  const at = line * DEV_COLUMNS + column
  const value = dev.counters[at]
  if (value === undefined || Number.isNaN(value)) return undefined
  return value >= EXACT ? (dev.big.get(at) ?? value) : value
}

/** Returns the sum of unsigned 64-bit counters, wrapped at 64 bits; undefined if one is missing. */
export function sumCounters(...parts: readonly (number | bigint | undefined)[]): number | bigint | undefined {
  let sum = 0
  let big: bigint | undefined
  for (const part of parts) {
    if (part === undefined) return undefined
    if (big === undefined && typeof part === 'number' && sum + part < EXACT) sum += part
    else big = (big ?? BigInt(sum)) + BigInt(part)
  }
  if (big === undefined) return sum
  const wrapped = BigInt.asUintN(64, big)
  return wrapped < EXACT ? Number(wrapped) : wrapped
}
