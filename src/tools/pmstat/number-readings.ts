/** What a line of pmstat is made of where an archive has it: columns of numbers, which cost a fraction of value sets. */
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import { PM_IN_NULL, PM_INDOM_NULL } from '../../model/ids.ts'
import { ALL_INSTANCES, exclude, include } from '../../model/profile.ts'
import type { Context } from '../../pmapi/context.ts'
import { planConversion } from '../../pmapi/conversion.ts'
import { findInstance } from '../../pmapi/instance-names.ts'
import { NUMBER, OTHER } from '../lib/report/cell-row.ts'
import {
  isRecordedNumber,
  isTracingValues,
  NumberCells,
  type NumberMetric,
} from '../lib/report/number-cells.ts'
import { type FoundMetric, type NumberReader, putNumber } from './numbers.ts'

/** Readings of metrics that all are recorded numbers; undefined where they are not. They go into `numbers`. */
export async function openNumbers(
  context: Context,
  found: readonly FoundMetric[],
  numbers: Float64Array,
  wraps: boolean,
): Promise<NumberReader | undefined> {
  const { archive } = context
  if (archive === undefined || isTracingValues()) return undefined
  const metrics: NumberMetric[] = []
  let profile = exclude(ALL_INSTANCES, PM_INDOM_NULL)
  for (const { name, how } of found) {
    const desc = await context.desc(await context.lookupName(name))
    if (!isRecordedNumber(desc) || metrics.some((other) => other.desc.pmid === desc.pmid)) return undefined
    const inst = await findInstance(context, desc, how.instance)
    if (inst !== undefined) profile = include(profile, desc.indom, [inst])
    metrics.push({ desc, units: { conversion: planConversion(desc, how) }, insts: [inst ?? PM_IN_NULL] })
  }
  const rows = archive.rows(metrics, profile)
  const cells = new NumberCells(metrics, rows.columns, wraps)
  const places = found.map(({ place }) => place)
  let before: Timestamp | undefined
  return {
    fetch: () => {
      const time = rows.next()
      const row = cells.read(before === undefined ? 0 : secondsBetween(before, time))
      for (let i = 0; i < places.length; i++) {
        const kind = row.kinds[i]
        const value = kind === NUMBER ? row.numbers[i]! : kind === OTHER ? Number(row.others[i]) : Number.NaN
        putNumber(numbers, places[i]!, value)
      }
      before = time
      return time
    },
    read: () => numbers,
  }
}
