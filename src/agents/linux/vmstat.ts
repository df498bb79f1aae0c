/** mem.vmstat: counters and levels of the page allocator and reclaim. /proc/vmstat, proc(5) */
import type { Scanner } from '../../base/scan.ts'
import type { MetricSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { type FieldFamily, type FieldValue, fieldMetrics, readFields, slotsOf } from './fields.ts'
import { VMSTAT_ROWS } from './vmstat-rows.ts'

const FIELDS: readonly string[] = [...new Set(VMSTAT_ROWS.map((row) => row[2])), 'thp_split']
const SLOTS = slotsOf(FIELDS)

/** Sums of all fields with a common prefix known to the reference. */
const SUMS = {
  pgscan_direct_total: FIELDS.filter((field) => field.startsWith('pgscan_direct')),
  pgscan_kswapd_total: FIELDS.filter((field) => field.startsWith('pgscan_kswapd')),
  pgsteal_total: FIELDS.filter((field) => field.startsWith('pgsteal_')),
} as const

/** /proc/vmstat: values by position; undefined for fields missing in this kernel. */
export type Vmstat = readonly FieldValue[]

/** Reads the file into `values`. */
export function parseVmstat(scan: Scanner, values: FieldValue[] = newVmstat()): Vmstat {
  return readFields(scan, SLOTS, values)
}

/** The value of a field. */
export function vmstatField(vmstat: Vmstat, field: string): FieldValue {
  const slot = SLOTS.of.get(field)
  return slot === undefined ? undefined : vmstat[slot]
}

/** Returns the sum of the existing `fields`; undefined if there are none. */
export function sumOf(vmstat: Vmstat, fields: readonly string[]): number | undefined {
  let sum: number | undefined
  for (const field of fields) {
    const value = vmstatField(vmstat, field)
    if (value !== undefined) sum = (sum ?? 0) + Number(value)
  }
  return sum
}

/** The metrics of /proc/vmstat (cluster 28). */
export function vmstatMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const values = newVmstat()
  const reading = new Reading(() => parseVmstat(ctx.file('/proc/vmstat').scan(), values))
  const family = {
    prefix: 'mem.vmstat',
    cluster: 28,
    reading,
    source: (field: string, { sem }: Partial<MetricSpec>) =>
      `Field ${field} of /proc/vmstat${sem === 'instant' ? ', in pages unless stated otherwise' : ''}.`,
    pick: vmstatField,
  } satisfies FieldFamily<Vmstat>
  const sum = (item: number, after: string, help: string, fields: readonly string[]): OrderedRow => ({
    after,
    cluster: 28,
    item,
    type: 'u64',
    sem: 'counter',
    units: 'count',
    help,
    text: `The sum of the existing fields of /proc/vmstat among ${fields.join(', ')}.`,
    reading,
    value: () => sumOf(reading.value, fields),
  })
  const metrics = fieldMetrics(family, VMSTAT_ROWS)
  return {
    ...metrics,
    'mem.vmstat.nr_slab': {
      ...metrics['mem.vmstat.nr_slab']!,
      value: () =>
        vmstatField(reading.value, 'nr_slab') ??
        sumOf(reading.value, ['nr_slab_reclaimable', 'nr_slab_unreclaimable']),
    },
    'mem.vmstat.thp_split': {
      ...sum(77, 'thp_file_mapped', 'Huge pages that the kernel tried to break up', [
        'thp_split_page',
        'thp_split_page_failed',
      ]),
      text: 'Field thp_split of /proc/vmstat; on newer kernels the sum of thp_split_page and thp_split_page_failed.',
      value: () =>
        vmstatField(reading.value, 'thp_split') ??
        sumOf(reading.value, ['thp_split_page', 'thp_split_page_failed']),
    },
    'mem.vmstat.pgscan_direct_total': sum(
      176,
      'pgscan_direct_throttle',
      'Pages examined by direct reclaim in any zone, and the times it was throttled',
      SUMS.pgscan_direct_total,
    ),
    'mem.vmstat.pgscan_kswapd_total': sum(
      177,
      'pgscan_kswapd_normal',
      'Pages scanned by background reclaim in any zone',
      SUMS.pgscan_kswapd_total,
    ),
    'mem.vmstat.pgsteal_total': sum(
      178,
      'pgsteal_direct_movable',
      'Pages freed by reclaim of any kind; those of files count twice',
      SUMS.pgsteal_total,
    ),
  }
}

function newVmstat(): FieldValue[] {
  return new Array<FieldValue>(FIELDS.length).fill(undefined)
}
