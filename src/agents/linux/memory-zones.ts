/** mem.buddyinfo and mem.zoneinfo: free blocks and statistics of memory zones. /proc/buddyinfo, /proc/zoneinfo */
import type { Scanner } from '../../base/scan.ts'
import type { IndomSpec, Labels } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { fieldMetrics } from './fields.ts'
import { ZONE_FIELDS } from './memory-zone-rows.ts'

/** Parsed words of a line `Node 0, zone   Normal` of the last reading. */
interface Heading {
  readonly words: readonly [number: string, name: string]
  /** `Normal::node0` */
  readonly zone: string
}

/** Skips `Node 0, zone   Normal`; undefined for any other line. `known` is the heading of the last reading. */
function readHeading(scan: Scanner, known: Heading | undefined): Heading | undefined {
  if (!scan.accept('Node ')) return undefined
  const number = scan.word(known?.words[0])
  if (scan.word('zone') !== 'zone') return undefined
  const name = scan.word(known?.words[1])
  if (known !== undefined && number === known.words[0] && name === known.words[1]) return known
  if (!/^\d+,$/.test(number) || name === '') return undefined
  return { words: [number, name], zone: `${name}::node${number.slice(0, -1)}` }
}

/** A line of /proc/buddyinfo in the last reading: the instance names of its numbers. */
export interface BuddyLine {
  readonly heading: Heading
  readonly names: string[]
}

/** Parses free blocks of 2^order pages, by instance name `ZONE::orderN::nodeN`, in file order. `lines` are from the last reading. */
export function parseBuddyInfo(scan: Scanner, lines: BuddyLine[] = []): ReadonlyMap<string, number> {
  const blocks = new Map<string, number>()
  for (let at = 0; !scan.atEnd; at++) {
    let line = lines[at]
    const heading = readHeading(scan, line?.heading)
    if (heading !== undefined) {
      if (line === undefined || heading !== line.heading) {
        line = { heading, names: [] }
        lines[at] = line
      }
      for (let order = 0, count = scan.uint(); !Number.isNaN(count); order++, count = scan.uint()) {
        line.names[order] ??= heading.zone.replace('::', `::order${order}::`)
        blocks.set(line.names[order]!, count)
      }
    }
    scan.nextLine()
  }
  return blocks
}

/** Numbers of one zone or one node: field to pages. */
export type ZoneFields = ReadonlyMap<string, number>

/** /proc/zoneinfo. */
export interface ZoneInfo {
  /** By instance name: `nodeN` for statistics of a whole node, `ZONE::nodeN` for those of a zone; in file order. */
  readonly fields: ReadonlyMap<string, ZoneFields>
  /** Pages of each zone reserved from allocations that could use a higher one: `ZONE::nodeN::lowmem_reservedI`. */
  readonly protection: ReadonlyMap<string, number>
}

/** A line of /proc/zoneinfo in the last reading: the heading of a zone, or its first word. */
export interface ZoneLine {
  readonly heading: Heading | undefined
  readonly word: string
}

/**
 * Parses /proc/zoneinfo, which comes in sections; `lines` are those of last time:
 *
 *     Node 0, zone      DMA        starts a zone
 *       per-node stats             the node's own numbers follow, before those of its first zone
 *           nr_active_anon 391
 *       pages free     3840        the zone's numbers
 *             min      16
 *             protection: (0, 3019, 4299)
 *           nr_free_pages 3840
 *       pagesets                   per CPU: of no use here
 */
export function parseZoneInfo(scan: Scanner, lines: ZoneLine[] = []): ZoneInfo {
  const fields = new Map<string, Map<string, number>>()
  const protection = new Map<string, number>()
  let zone = ''
  let current: Map<string, number> | undefined
  const start = (name: string): void => {
    current = fields.get(name) ?? new Map<string, number>()
    fields.set(name, current)
  }
  for (let at = 0; !scan.atEnd; at++) {
    const known = lines[at]
    const heading = readHeading(scan, known?.heading)
    const word = heading === undefined ? scan.word(known?.word) : ''
    if (known === undefined || heading !== known.heading || word !== known.word) lines[at] = { heading, word }
    if (heading !== undefined) {
      zone = heading.zone
      current = undefined
    } else if (word === 'per-node') start(zone.slice(zone.indexOf('::') + 2))
    else if (word === 'pages') {
      if (scan.word('free') === 'free') {
        start(zone)
        const free = scan.uint()
        if (!Number.isNaN(free)) current?.set('free', free)
      }
    } else if (word === 'protection:') readProtection(scan, zone, protection)
    else if (word === 'pagesets') current = undefined
    else if (current !== undefined) {
      const value = scan.uint()
      scan.skipBlanks()
      if (!Number.isNaN(value) && scan.atLineEnd) current.set(word, value)
    }
    scan.nextLine()
  }
  return { fields, protection }
}

/** `(0, 3019, 4299)` */
function readProtection(scan: Scanner, zone: string, protection: Map<string, number>): void {
  scan.skipBlanks()
  scan.accept('(')
  for (let i = 0; ; i++) {
    const pages = scan.uint()
    if (Number.isNaN(pages)) return
    protection.set(`${zone}::lowmem_reserved${i}`, pages)
    scan.accept(',')
  }
}

/** Labels from an instance name such as `DMA::order3::node0`. */
function labelsOf(name: string): Labels {
  const labels: { [label: string]: string | number } = {}
  for (const part of name.split('::')) {
    const match = /^(node|order|lowmem_reserved)(\d+)$/.exec(part)
    if (match === null) labels['zone'] = part
    else labels[match[1] === 'node' ? 'numa_node' : match[1]!] = Number(match[2])
  }
  return labels
}

/** The metrics of /proc/buddyinfo (cluster 67) and /proc/zoneinfo (clusters 68 and 70). */
export function memoryZoneMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  return { ...buddyMetrics(ctx), ...zoneMetrics(ctx) }
}

function buddyMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const lines: BuddyLine[] = []
  const reading = new Reading(() => parseBuddyInfo(ctx.file('/proc/buddyinfo').scan(), lines))
  const [indom, nameOf] = namedIndom(
    reading,
    () => reading.value.keys(),
    31,
    'Sizes of free blocks in each zone of memory, as ZONE::orderN::nodeN: 2^N pages',
    { device_type: ['memory', 'numa_node'], indom_name: 'per buddy per numa_node' },
  )
  const common = { cluster: 67, type: 'u64', sem: 'instant', indom, reading } as const
  const blocksOf = (inst: number): number | undefined => reading.value.get(nameOf(inst) ?? '')
  return {
    'mem.buddyinfo.pages': {
      ...common,
      item: 0,
      units: 'none',
      help: 'Free blocks of the size in the instance name',
      text: 'From /proc/buddyinfo. Few large blocks and many small ones mean fragmented memory.',
      value: blocksOf,
    },
    'mem.buddyinfo.total': {
      ...common,
      item: 1,
      units: 'Kbyte',
      help: 'Memory in free blocks of the size in the instance name',
      text: 'The number of blocks in /proc/buddyinfo times the size of a block.',
      value: (inst) => {
        const blocks = blocksOf(inst)
        if (blocks === undefined) return undefined
        const name = nameOf(inst)!
        const order = Number.parseInt(name.slice(name.indexOf('::order') + '::order'.length), 10)
        return (blocks * 2 ** order * ctx.pagesize) / 1024
      },
    },
  }
}

function zoneMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const lines: ZoneLine[] = []
  const reading = new Reading(() => parseZoneInfo(ctx.file('/proc/zoneinfo').scan(), lines))
  const [zones, nameOf] = namedIndom(
    reading,
    function* () {
      // skip zones without pages
      for (const [name, fields] of reading.value.fields) if (fields.get('present') !== 0) yield name
    },
    32,
    'Zones of memory as ZONE::nodeN, and whole nodes as nodeN',
    { device_type: ['memory', 'numa_node'], indom_name: 'per zone per numa_node' },
  )
  const [reserves, reserveOf] = namedIndom(
    reading,
    () => reading.value.protection.keys(),
    33,
    'Pairs of memory zones: a zone, and a higher zone requested by an allocation',
  )
  const kilobytes = (pages: number | undefined): number | undefined =>
    pages === undefined ? undefined : (pages * ctx.pagesize) / 1024
  return {
    ...fieldMetrics(
      {
        prefix: 'mem.zoneinfo',
        cluster: 68,
        reading,
        source: (field) =>
          `Field ${field} of /proc/zoneinfo, converted from pages to KB. Kernels keep it for each zone or for each node; the other instances have no value.`,
        pick: ({ fields }, field, inst) => kilobytes(fields.get(nameOf(inst) ?? '')?.get(field)),
        sem: 'instant',
        units: 'Kbyte',
        indom: zones,
      },
      ZONE_FIELDS,
    ),
    'mem.zoneinfo.protection': {
      cluster: 70,
      item: 0,
      type: 'u64',
      sem: 'instant',
      units: 'Kbyte',
      indom: reserves,
      help: 'Memory of a zone reserved from allocations that a higher zone could serve',
      text: 'From the lines "protection:" of /proc/zoneinfo, converted from pages to KB. Set by vm.lowmem_reserve_ratio.',
      reading,
      value: (inst) => kilobytes(reading.value.protection.get(reserveOf(inst) ?? '')),
    },
  }
}

/** An instance domain of names, with identifiers in order of appearance. */
function namedIndom(
  reading: Reading<unknown>,
  list: () => Iterable<string>,
  serial: number,
  help: string,
  labels?: Labels,
): readonly [IndomSpec, (inst: number) => string | undefined] {
  const instances = new InstanceIds()
  const indom: IndomSpec = {
    serial,
    reading,
    instances: () => instances.list(list()),
    help,
    ...(labels === undefined ? {} : { labels }),
    instanceLabels: (_inst, name) => labelsOf(name),
  }
  return [indom, (inst) => instances.nameOf(inst)]
}
