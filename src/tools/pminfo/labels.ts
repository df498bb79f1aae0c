/** Labels of metrics, instance domains and instances, merged. */
import { isError } from '../../model/errors.ts'
import { domainOf, type Indom, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { mergeLabelSets } from '../../model/label-set.ts'
import type { LabelSet } from '../../model/labels.ts'
import { settle } from '../lib/settle.ts'
import type { Report } from './report.ts'

/** The line of a metric's labels, and those of its instances. */
export interface LabelLines {
  readonly metric: string
  readonly instances: string
}

/** Labels of a metric, and of each instance of its domain. */
export async function metricLabelLines(
  { context, io }: Report,
  id: Pmid,
  indom: Indom,
  names: ReadonlyMap<number, string>,
): Promise<LabelLines> {
  const sets = await settle(context.labelsFor(id, io))
  if (isError(sets)) return { metric: '', instances: '' }
  const found = indom === PM_INDOM_NULL ? [] : await settle(context.instancesLabels(indom, io))
  const perInstance = isError(found) ? [] : found
  const line = (inst: number, own: readonly LabelSet[]): string =>
    `    inst [${inst} or "${names.get(inst) ?? 'DISAPPEARED'}"] labels ${mergeLabelSets([...sets, ...own]).json}\n`
  // Instances without labels of their own have the metric's.
  const instances =
    perInstance.length === 0
      ? [...names.keys()].map((inst) => line(inst, [])).join('')
      : perInstance.map((set) => line(set.inst, [set])).join('')
  return { metric: labelLine(sets), instances }
}

/** Labels of an instance domain. */
export async function indomLabelLine({ context, io }: Report, indom: Indom): Promise<string> {
  const levels = await Promise.all([
    settle(context.contextLabels(io)),
    settle(context.domainLabels(domainOf(indom), io)),
    settle(context.indomLabels(indom, io)),
  ])
  return labelLine(levels.flatMap((sets) => (isError(sets) ? [] : sets)))
}

function labelLine(sets: readonly LabelSet[]): string {
  return `    labels ${mergeLabelSets(sets).json}\n`
}
