/** Labels of metrics, instance domains and instances, merged. */
import { isError } from '../../model/errors.ts'
import { clusterId, domainOf, type Indom, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { mergeLabelSets } from '../../model/label-set.ts'
import type { LabelSet } from '../../model/labels.ts'
import type { Context } from '../../pmapi/context.ts'
import { settle } from '../lib/settle.ts'
import type { ToolIo } from '../lib/tool.ts'

/** The line of a metric's labels, and those of its instances. */
export interface LabelLines {
  readonly metric: string
  readonly instances: string
}

/**
 * Labels known of the levels above metrics. As in the reference those of the context are asked for once, and those of a domain,
 * instance domain or cluster once for metrics in a row: in an archive they are the ones at the first metric's time.
 */
export class KnownLabels {
  readonly #context: Context
  readonly #io: ToolIo
  readonly #last = new Map<string, { readonly id: number; readonly sets: Promise<readonly LabelSet[]> }>()

  constructor(context: Context, io: ToolIo) {
    this.#context = context
    this.#io = io
  }

  /** All labels that hold for a metric, weakest first; levels below the context that nobody answers for are left out. PM_ERR_NOLABELS. */
  async of(id: Pmid, indom: Indom): Promise<readonly LabelSet[]> {
    const [context, io] = [this.#context, this.#io]
    const levels = [
      this.#keep('context', 0, () => context.contextLabels(io)),
      this.#keep('domain', domainOf(id), () => orNone(context.domainLabels(domainOf(id), io))),
      indom === PM_INDOM_NULL ? [] : this.#keep('indom', indom, () => orNone(context.indomLabels(indom, io))),
      this.#keep('cluster', clusterId(id), () => orNone(context.clusterLabels(id, io))),
      orNone(context.itemLabels(id, io)),
    ]
    return (await Promise.all(levels)).flat().filter(({ status, json }) => status >= 0 && json !== '')
  }

  /** The lines of a metric's labels, and of those of each instance of its domain. */
  async metricLines(
    sets: readonly LabelSet[],
    indom: Indom,
    names: ReadonlyMap<number, string>,
  ): Promise<LabelLines> {
    const found = indom === PM_INDOM_NULL ? [] : await settle(this.#context.instancesLabels(indom, this.#io))
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
  async indomLine(indom: Indom): Promise<string> {
    const [context, io] = [this.#context, this.#io]
    const levels = await Promise.all([
      settle(context.contextLabels(io)),
      settle(context.domainLabels(domainOf(indom), io)),
      settle(context.indomLabels(indom, io)),
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

async function orNone(asked: Promise<readonly LabelSet[]>): Promise<readonly LabelSet[]> {
  const sets = await settle(asked)
  return isError(sets) ? [] : sets
}

function labelLine(sets: readonly LabelSet[]): string {
  return `    labels ${mergeLabelSets(sets).json}\n`
}
