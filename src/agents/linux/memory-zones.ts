/** mem.buddyinfo and mem.zoneinfo: free blocks and statistics of memory zones. /proc/buddyinfo, /proc/zoneinfo */
import type { IndomSpec, Labels, MetricSpec } from '../../pmda/define.ts'
import { InstanceIds } from '../../pmda/instance-ids.ts'
import { Reading } from '../../pmda/reading.ts'
import type { LinuxContext } from './context.ts'
import { fieldMetrics } from './fields.ts'
import { ZONE_FIELDS } from './memory-zone-rows.ts'

const ZONE_LINE = /^Node (\d+), zone +(\S+)(.*)$/

/** Free blocks of 2^order pages, by instance name `ZONE::orderN::nodeN`, in file order. */
export function parseBuddyInfo(text: string): ReadonlyMap<string, number> {
  const blocks = new Map<string, number>()
  for (const line of text.split('\n')) {
    const match = ZONE_LINE.exec(line)
    if (match === null) continue
    const [, node, zone, rest] = match
    for (const [order, count] of rest!.trim().split(/\s+/).entries())
      if (/^\d+$/.test(count)) blocks.set(`${zone}::order${order}::node${node}`, Number(count))
  }
  return blocks
}

/** Numbers of one zone or one node: field to pages. */
export type ZoneFields = ReadonlyMap<string, number>

/** /proc/zoneinfo. */
export interface ZoneInfo {
  /** By instance name: `nodeN` for statistics of a whole node, `ZONE::nodeN` for those of a zone; in file order. */
  readonly fields: ReadonlyMap<string, ZoneFields>
  /** Pages of each zone kept back from allocations that could use a higher one: `ZONE::nodeN::lowmem_reservedI`. */
  readonly protection: ReadonlyMap<string, number>
}

/**
 * Parses /proc/zoneinfo, which comes in sections:
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
export function parseZoneInfo(text: string): ZoneInfo {
  const fields = new Map<string, Map<string, number>>()
  const protection = new Map<string, number>()
  let zone = ''
  let current: Map<string, number> | undefined
  const start = (name: string): void => {
    current = fields.get(name) ?? new Map<string, number>()
    fields.set(name, current)
  }
  for (const line of text.split('\n')) {
    const match = ZONE_LINE.exec(line)
    if (match !== null) {
      zone = `${match[2]}::node${match[1]}`
      current = undefined
      continue
    }
    const [first, second, third] = line.trim().split(/\s+/)
    if (first === 'per-node') start(zone.slice(zone.indexOf('::') + 2))
    else if (first === 'pages' && second === 'free') {
      start(zone)
      if (/^\d+$/.test(third ?? '')) current?.set('free', Number(third))
    } else if (first === 'protection:') {
      const pages = line.slice(line.indexOf('(') + 1).match(/\d+/g) ?? []
      for (const [i, count] of pages.entries()) protection.set(`${zone}::lowmem_reserved${i}`, Number(count))
    } else if (first === 'pagesets') current = undefined
    else if (second !== undefined && third === undefined && /^\d+$/.test(second))
      current?.set(first!, Number(second))
  }
  return { fields, protection }
}

/** The node, zone... in an instance name such as `DMA::order3::node0`. */
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
export function memoryZoneMetrics(ctx: LinuxContext): { [name: string]: MetricSpec } {
  return { ...buddyMetrics(ctx), ...zoneMetrics(ctx) }
}

function buddyMetrics(ctx: LinuxContext): { [name: string]: MetricSpec } {
  const reading = new Reading(() => parseBuddyInfo(ctx.file('/proc/buddyinfo').text()))
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
      help: 'Free blocks of the size that the instance names',
      text: 'From /proc/buddyinfo. Few large blocks beside many small ones mean that memory is fragmented.',
      value: blocksOf,
    },
    'mem.buddyinfo.total': {
      ...common,
      item: 1,
      units: 'Kbyte',
      help: 'Memory in free blocks of the size that the instance names',
      text: 'The number of blocks in /proc/buddyinfo times the size of a block.',
      value: (inst) => {
        const blocks = blocksOf(inst)
        const order = Number(/::order(\d+)::/.exec(nameOf(inst) ?? '')?.[1])
        return blocks === undefined ? undefined : (blocks * 2 ** order * ctx.pagesize) / 1024
      },
    },
  }
}

function zoneMetrics(ctx: LinuxContext): { [name: string]: MetricSpec } {
  const reading = new Reading(() => parseZoneInfo(ctx.file('/proc/zoneinfo').text()))
  const [zones, nameOf] = namedIndom(
    reading,
    function* () {
      // a zone without a single page is there in name only
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
    'Zones of memory, each once for every zone that an allocation may have asked for instead',
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
          `Field ${field} of /proc/zoneinfo, pages turned into KB. Some kernels keep it for each zone, others for each node; the other instances have no value then.`,
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
      help: 'Memory of a zone kept back from allocations that could be served by a higher zone',
      text: 'From the lines "protection:" of /proc/zoneinfo, pages turned into KB. vm.lowmem_reserve_ratio sets how much.',
      reading,
      value: (inst) => kilobytes(reading.value.protection.get(reserveOf(inst) ?? '')),
    },
  }
}

/** An instance domain of names that number themselves as they appear, and the way back from number to name. */
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
