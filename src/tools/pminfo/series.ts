/** Series identifiers of a metric and of its instances. */

import type { MetricDesc } from '../../model/desc.ts'
import { isError } from '../../model/errors.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import type { LabelSet } from '../../model/labels.ts'
import { instanceText, metricText, sourceText } from '../../model/series.ts'
import { settle } from '../lib/settle.ts'
import type { Report } from './report.ts'

/** The lines of a metric's series, and those of its instances. */
export interface SeriesLines {
  readonly metric: string
  readonly instances: string
}

/** The identifiers of a metric with the label sets `sets`, and of the instances that are listed. */
export async function seriesLines(
  { context, io }: Report,
  name: string,
  desc: MetricDesc,
  sets: readonly LabelSet[],
  names: ReadonlyMap<number, string>,
): Promise<SeriesLines> {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex')
  const [host, found] = await Promise.all([
    sets.length === 0 ? context.hostname(io) : '',
    desc.indom === PM_INDOM_NULL || names.size === 0 ? [] : settle(context.instancesLabels(desc.indom, io)),
  ])
  const own = new Map((isError(found) ? [] : found).map((set) => [set.inst, set]))
  let instances = ''
  for (const [inst, instance] of names) {
    const set = own.get(inst)
    const id = sha1(instanceText(instance, set === undefined ? sets : [...sets, set]))
    instances += `    inst [${inst} or "${instance}"] series ${id}\n`
  }
  const metric = `    Source: ${sha1(sourceText(sets, host))}\n    Series: ${sha1(metricText(name, desc, sets))}\n`
  return { metric, instances }
}
