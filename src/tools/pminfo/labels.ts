/** Merges labels of metrics, instance domains and instances. */
import { isError } from '../../model/errors.ts'
import { clusterId, domainOf, type Indom, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { mergeLabelSets } from '../../model/label-set.ts'
import type { LabelSet } from '../../model/labels.ts'
import type { Context } from '../../pmapi/context.ts'
import { toOutcome } from '../lib/settle.ts'
import type { ToolIo } from '../lib/tool.ts'

/** The label lines of a metric and its instances. */
export interface LabelLines {
  readonly metric: string
  readonly instances: string
}

/**
 * Caches labels of the levels above metrics. As in the reference, context labels are fetched once, and those of a domain, instance
 * domain or cluster once for consecutive metrics; in an archive they are those at the time of the first metric.
 */
export class KnownLabels {
  readonly #context: Context
  readonly #io: ToolIo
  readonly #last = new Map<string, { readonly id: number; readonly sets: Promise<readonly LabelSet[]> }>()

  constructor(context: Context, io: ToolIo) {
    this.#context = context
    this.#io = io
  }

  /** Returns the label sets of a metric, lowest precedence first. Missing levels below the context are skipped. Rejects with PM_ERR_NOLABELS. */
  async of(id: Pmid, indom: Indom): Promise<readonly LabelSet[]> {
    const [context, io] = [this.#context, this.#io]
    const levels = [
      this.#keep('context', 0, () => context.contextLabels(io)),
      this.#keep('domain', domainOf(id), () => orEmpty(context.domainLabels(domainOf(id), io))),
      indom === PM_INDOM_NULL
        ? []
        : this.#keep('indom', indom, () => orEmpty(context.indomLabels(indom, io))),
      this.#keep('cluster', clusterId(id), () => orEmpty(context.clusterLabels(id, io))),
      orEmpty(context.itemLabels(id, io)),
    ]
    return (await Promise.all(levels)).flat().filter(({ status, json }) => status >= 0 && json !== '')
  }

  /** Returns the label lines of a metric and each of its instances. */
  async metricLines(
    sets: readonly LabelSet[],
    indom: Indom,
    names: ReadonlyMap<number, string>,
  ): Promise<LabelLines> {
    const found =
      indom === PM_INDOM_NULL ? [] : await toOutcome(this.#context.instancesLabels(indom, this.#io))
    const perInstance = isError(found) ? [] : found
    const line = (inst: number, own: readonly LabelSet[]): string =>
      `    inst [${inst} or "${names.get(inst) ?? 'DISAPPEARED'}"] labels ${mergeLabelSets([...sets, ...own]).json}\n`
    // Instances without labels have the metric's.
    const instances =
      perInstance.length === 0
        ? [...names.keys()].map((inst) => line(inst, [])).join('')
        : perInstance.map((set) => line(set.inst, [set])).join('')
    return { metric: labelLine(sets), instances }
  }

  /** Returns the label line of an instance domain. */
  async indomLine(indom: Indom): Promise<string> {
    const [context, io] = [this.#context, this.#io]
    const levels = await Promise.all([
      toOutcome(context.contextLabels(io)),
      toOutcome(context.domainLabels(domainOf(indom), io)),
      toOutcome(context.indomLabels(indom, io)),
    ])
    return labelLine(levels.flatMap((sets) => (isError(sets) ? [] : sets)))
  }

  #keep(level: string, id: number, ask: () => Promise<readonly LabelSet[]>): Promise<readonly LabelSet[]> {
    const last = this.#last.get(level)
    if (last?.id === id) return last.sets
    const sets = ask()
    this.#last.set(level, { id, sets })
    return sets
  }
}

async function orEmpty(asked: Promise<readonly LabelSet[]>): Promise<readonly LabelSet[]> {
  const sets = await toOutcome(asked)
  return isError(sets) ? [] : sets
}

function labelLine(sets: readonly LabelSet[]): string {
  return `    labels ${mergeLabelSets(sets).json}\n`
}
