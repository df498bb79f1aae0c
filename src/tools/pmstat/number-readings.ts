/** What a line of pmstat is made of where an archive has it: columns of numbers, which cost a fraction of value sets. */
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import { ALL_INSTANCES, exclude, include } from '../../model/profile.ts'
import type { Context } from '../../pmapi/context.ts'
import { planConversion } from '../../pmapi/conversion.ts'
import { findInstance } from '../../pmapi/instance-names.ts'
import { hasRecordedRows } from '../../pmapi/value-rows.ts'
import { MetricReader } from '../lib/report/values.ts'
import { type FoundMetric, type NumberReader, putNumber } from './numbers.ts'

/** Readings of metrics that all are recorded numbers; undefined where they are not. They go into `numbers`. */
export async function openNumbers(
  context: Context,
  found: readonly FoundMetric[],
  numbers: Float64Array,
  wraps: boolean,
): Promise<NumberReader | undefined> {
  const descs: MetricDesc[] = []
  const readers: MetricReader[] = []
  let profile = exclude(ALL_INSTANCES, PM_INDOM_NULL)
  for (const { name, how } of found) {
    const desc = await context.desc(await context.lookupName(name))
    descs.push(desc)
    if (!hasRecordedRows(context, descs)) return undefined
    const inst = await findInstance(context, desc, how.instance)
    if (inst !== undefined) profile = include(profile, desc.indom, [inst])
    readers.push(new MetricReader({ desc, units: { conversion: planConversion(desc, how) } }, wraps))
  }
  const ids = descs.map(({ pmid }) => pmid)
  const rows = context.archive!.valueRows(ids, profile)
  const places = found.map(({ place }) => place)
  let before: Timestamp | undefined
  return {
    fetch: () => {
      const time = rows.next()
      const elapsed = before === undefined ? 0 : secondsBetween(before, time)
      for (let i = 0; i < places.length; i++)
        putNumber(
          numbers,
          places[i]!,
          Number(readers[i]!.read(rows.columns[i]!, elapsed).at(0) ?? Number.NaN),
        )
      before = time
      return time
    },
    read: () => numbers,
  }
}
